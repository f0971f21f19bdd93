/* vulkan_calls.c - plans on the first Vulkan device that computes: results are the processor's, but for rounding. Exits
 * with 2 where there is none. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <lathe/softmax.h>
#include <lathe_ops.h>
#include <lathe_tune.h>
#include <lathe_vulkan.h>

static int failed;

#define EXPECT(what)                                                                               \
  ((what) ? (void)0 : (void)(failed = 1, printf("line %d: expected %s\n", __LINE__, #what)))

#define FUNCTIONS(ROW)                                                                             \
  ROW(EnumeratePhysicalDevices)                                                                    \
  ROW(GetPhysicalDeviceQueueFamilyProperties)                                                      \
  ROW(GetPhysicalDeviceFeatures2)                                                                  \
  ROW(GetPhysicalDeviceMemoryProperties)                                                           \
  ROW(CreateDevice)                                                                                \
  ROW(DestroyDevice)                                                                               \
  ROW(GetDeviceQueue)                                                                              \
  ROW(CreateCommandPool)                                                                           \
  ROW(DestroyCommandPool)                                                                          \
  ROW(AllocateCommandBuffers)                                                                      \
  ROW(BeginCommandBuffer)                                                                          \
  ROW(EndCommandBuffer)                                                                            \
  ROW(QueueSubmit)                                                                                 \
  ROW(QueueWaitIdle)                                                                               \
  ROW(CreateBuffer)                                                                                \
  ROW(DestroyBuffer)                                                                               \
  ROW(GetBufferMemoryRequirements)                                                                 \
  ROW(AllocateMemory)                                                                              \
  ROW(FreeMemory)                                                                                  \
  ROW(BindBufferMemory)                                                                            \
  ROW(MapMemory)                                                                                   \
  ROW(GetBufferDeviceAddress)

static struct {
#define MEMBER(name) PFN_vk##name name;
  FUNCTIONS(MEMBER)
#undef MEMBER
} vk;

static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;
static VkCommandBuffer commands;

static void skip(const char *why) {
  puts(why);
  exit(2);
}

/* Memory that the host sees too. */
typedef struct room {
  VkBuffer buffer;
  VkDeviceMemory memory;
  VkDeviceAddress address;
  void *mapped;
} room;

static room make_room(size_t size) {
  const VkMemoryPropertyFlags wanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = size,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT,
  };
  const VkMemoryAllocateFlagsInfo flags = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
      .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
  };
  VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags};
  VkBufferDeviceAddressInfo at = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  VkPhysicalDeviceMemoryProperties types;
  VkMemoryRequirements needs;
  room r = {0};

  vk.GetPhysicalDeviceMemoryProperties(physical, &types);
  EXPECT(!vk.CreateBuffer(device, &info, NULL, &r.buffer));
  vk.GetBufferMemoryRequirements(device, r.buffer, &needs);
  memory.allocationSize = needs.size;
  while (memory.memoryTypeIndex < types.memoryTypeCount &&
         (!(needs.memoryTypeBits >> memory.memoryTypeIndex & 1) ||
          (types.memoryTypes[memory.memoryTypeIndex].propertyFlags & wanted) != wanted))
    memory.memoryTypeIndex++;
  EXPECT(!vk.AllocateMemory(device, &memory, NULL, &r.memory));
  EXPECT(!vk.BindBufferMemory(device, r.buffer, r.memory, 0));
  EXPECT(!vk.MapMemory(device, r.memory, 0, VK_WHOLE_SIZE, 0, &r.mapped));
  at.buffer = r.buffer;
  r.address = vk.GetBufferDeviceAddress(device, &at);
  memset(r.mapped, 0, size);
  return r;
}

static void free_room(room *r) {
  vk.DestroyBuffer(device, r->buffer, NULL);
  vk.FreeMemory(device, r->memory, NULL);
}

/* A softmax of so many rows, of operands that begin some elements after a multiple of 16 bytes; twice, one in the
 * command buffer after the other. */
static void call(const lathe_device *on, size_t rows, size_t columns, size_t off) {
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
  const size_t count = rows * columns, dim[] = {rows, columns};
  float *right = malloc(count * sizeof *right);
  room x = make_room((count + off) * 4), y = make_room((count + off) * 4), workspace;
  const float *found = (float *)y.mapped + off;
  float *given = (float *)x.mapped + off;
  double worst = 0;
  lathe_plan plan;

  for (size_t i = 0; i < count; i++)
    given[i] = (float)(i * 7919 % 1000) / 100;
  EXPECT(lathe_softmax_f32(given, right, rows, columns) == LATHE_OK);
  EXPECT(lathe_make_of(&plan, &lathe_softmax_f32_vulkan, on, dim, NULL) == LATHE_OK);
  if (plan.why[0])
    puts(plan.why);
  EXPECT(strncmp(plan.variant, "softmax_f32__vulkan", 19) == 0);
  workspace = make_room(plan.workspace + 64);
  EXPECT(!vk.BeginCommandBuffer(commands, &begin));
  EXPECT(!lathe_softmax_f32_run(&plan, (const float *)(uintptr_t)(x.address + 4 * off),
                                (float *)(uintptr_t)(y.address + 4 * off),
                                (void *)(uintptr_t)workspace.address, commands));
  EXPECT(!vk.EndCommandBuffer(commands));
  EXPECT(!vk.QueueSubmit(queue, 1, &submit, VK_NULL_HANDLE) && !vk.QueueWaitIdle(queue));
  for (size_t i = 0; i < count; i++)
    worst = fmax(worst, fabs((double)found[i] - right[i]) / right[i]);
  printf("softmax of %zux%zu: %s, %g off\n", rows, columns, plan.variant, worst);
  EXPECT(worst < 1e-6);
  free(right);
  free_room(&x);
  free_room(&y);
  free_room(&workspace);
}

/* An op of that name in f32, of more arguments than are pushed, whose operands have a single axis; twice, with other
 * scalars: each finds its own arguments. */
static void call_many(lathe_device *on, const char *name) {
  enum { POINTS = 1000, OPERANDS = 24 };
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
  const size_t dim[] = {POINTS};
  room given[OPERANDS], arguments = make_room(2 * 384), y = make_room(POINTS * 4);
  void *there[OPERANDS] = {NULL}, *here[OPERANDS] = {NULL};
  lathe_op_info op = {.size = sizeof op};
  lathe_plan plan, right;
  int output;

  for (size_t nth = 0; !lathe_describe(&op, nth) && strcmp(op.name, name) != 0; nth++)
    continue;
  output = op.operands - 1;
  EXPECT(!strcmp(op.name, name) && op.axes == 1 && op.scalars > 0);
  for (int o = 0; o < op.operands; o++) {
    given[o] = make_room(POINTS * 4);
    there[o] = (void *)(uintptr_t)given[o].address;
    here[o] = given[o].mapped;
    for (int i = 0; i < POINTS; i++)
      ((float *)here[o])[i] = (float)(i * (o + 3) * 7919 % 1000) / 100;
  }
  EXPECT(!lathe_make(&plan, on, name, LATHE_F32, dim, NULL));
  EXPECT(!lathe_make(&right, NULL, name, LATHE_F32, dim, NULL));
  EXPECT(plan.arguments > 128 && plan.arguments <= 384 && right.arguments == 0);
  printf("%s: %s, %zu bytes of arguments%s\n", name, plan.variant, plan.arguments, plan.why);
  EXPECT(!vk.BeginCommandBuffer(commands, &begin));
  for (int call = 0; call < 2; call++) {
    const uint64_t offset = 384 * (uint64_t)call;
    lathe_commands to = {commands, (uint64_t)(uintptr_t)arguments.buffer, offset,
                         arguments.address + offset};
    for (int s = 0; s < op.scalars; s++)
      op.scalar_value[s] += call;
    if (call == 0)
      there[output] = (void *)(uintptr_t)y.address;
    else
      there[output] = (void *)(uintptr_t)given[output].address;
    EXPECT(!lathe_run(&plan, there, op.scalar_value, NULL, &to));
  }
  EXPECT(!vk.EndCommandBuffer(commands));
  EXPECT(!vk.QueueSubmit(queue, 1, &submit, VK_NULL_HANDLE) && !vk.QueueWaitIdle(queue));
  for (int call = 1; call >= 0; call--) {
    float wanted[POINTS] = {0};
    const float *found = call ? here[output] : y.mapped;
    double worst = 0;
    void *const kept = here[output];
    here[output] = wanted;
    EXPECT(!lathe_run(&right, here, op.scalar_value, NULL, NULL));
    here[output] = kept;
    for (int i = 0; i < POINTS; i++)
      worst = fmax(worst, fabs((double)found[i] - wanted[i]) / (1 + fabs((double)wanted[i])));
    EXPECT(worst < 1e-5);
    for (int s = 0; s < op.scalars; s++)
      op.scalar_value[s] -= 1;
  }
  for (int o = 0; o < op.operands; o++)
    free_room(&given[o]);
  free_room(&arguments);
  free_room(&y);
}

/* What is measured is what plans take, and is found again. */
static void tune(lathe_device *on, lathe_device *other) {
  const size_t dim[] = {64, 256};
  room x = make_room(64 * 256 * 4), y = make_room(64 * 256 * 4), workspace;
  void *const operand[] = {(void *)(uintptr_t)x.address, (void *)(uintptr_t)y.address};
  lathe_tuning with = {.size = sizeof with, .operand = operand, .seconds = 0.01};
  char text[4096], why[160];
  lathe_plan plan, again;

  EXPECT(lathe_tune(on, &lathe_softmax_f32_vulkan, dim, &with, &plan) == LATHE_OPTIONS);
  EXPECT(strstr(plan.why, "VkQueue"));
  with.queue = queue;
  with.stream = commands;
  with.workspace_bytes = lathe_tuning_workspace(on, &lathe_softmax_f32_vulkan, dim) + 64;
  workspace = make_room(with.workspace_bytes);
  with.workspace = (void *)(uintptr_t)workspace.address;
  EXPECT(!lathe_tune(on, &lathe_softmax_f32_vulkan, dim, &with, &plan));
  if (plan.why[0])
    puts(plan.why);
  lathe_save_tuning(on, text, sizeof text);
  EXPECT(strstr(text, "softmax f32 vulkan 64x256 softmax_f32__vulkan"));
  EXPECT(!lathe_load_tuning(other, text, why));
  EXPECT(!lathe_make(&again, other, "softmax", LATHE_F32, dim, NULL));
  EXPECT(plan.variant && !strcmp(plan.variant, again.variant));
  EXPECT(fabs(((float *)y.mapped)[5] - 1 / 256.) < 1e-9);
  free_room(&x);
  free_room(&y);
  free_room(&workspace);
}

int main(int arguments, char **argument) {
  void *library = dlopen("libvulkan.so.1", RTLD_NOW);
  PFN_vkGetInstanceProcAddr get =
      library ? (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr") : NULL;
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                         .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                     .pApplicationInfo = &application};
  VkPhysicalDeviceVulkan12Features v12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceVulkan11Features v11 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &v12};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                        .pNext = &v11};
  const float priority = 1;
  VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                    .queueCount = 1,
                                    .pQueuePriorities = &priority};
  const VkDeviceCreateInfo made = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &features,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queues};
  VkCommandPoolCreateInfo pools = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                   .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
  VkCommandBufferAllocateInfo buffers = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
  VkQueueFamilyProperties families[32];
  uint32_t count = 1, family = 0;
  VkInstance instance;
  lathe_device *on, *other;
  lathe_vulkan mine;
  lathe_plan plan;
  const size_t dim[] = {5, 7};

  const PFN_vkCreateInstance create =
      get ? (PFN_vkCreateInstance)get(NULL, "vkCreateInstance") : NULL;
  if (!create || create(&info, NULL, &instance))
    skip("there is no Vulkan 1.2");
#define FIND(name) vk.name = (PFN_vk##name)get(instance, "vk" #name);
  FUNCTIONS(FIND)
#undef FIND
  if (vk.EnumeratePhysicalDevices(instance, &count, &physical) < 0 || count == 0)
    skip("Vulkan has no device");
  count = sizeof families / sizeof *families;
  vk.GetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
  while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
    family++;
  vk.GetPhysicalDeviceFeatures2(physical, &features);
  queues.queueFamilyIndex = pools.queueFamilyIndex = family;
  if (family == count || vk.CreateDevice(physical, &made, NULL, &device))
    skip("the device does not compute");
  vk.GetDeviceQueue(device, family, 0, &queue);
  EXPECT(!vk.CreateCommandPool(device, &pools, NULL, &pool));
  buffers.commandPool = pool;
  EXPECT(!vk.AllocateCommandBuffers(device, &buffers, &commands));

  mine = (lathe_vulkan){instance, physical, device, (void (*)(void))get, &features};
  v12.bufferDeviceAddress = 0;
  EXPECT(lathe_open_vulkan(&on, &mine) == LATHE_DRIVER && !on);
  v12.bufferDeviceAddress = 1;
  EXPECT(lathe_open_vulkan(&on, &mine) == LATHE_OK);
  call(on, 3, 7, 0);
  call(on, 3, 7, 1);
  call(on, 1, 100000, 0);
  call(on, 300, 64, 0);
  EXPECT(lathe_make(&plan, on, "softmax", LATHE_F32, dim, NULL) == LATHE_OK);
  EXPECT(lathe_make(&plan, on, "softmax", LATHE_U8, dim, NULL) == LATHE_NO_TYPE);
  EXPECT(lathe_make_of(&plan, &lathe_softmax_f32_cpu, on, dim, NULL) == LATHE_NO_VARIANT);
  EXPECT(lathe_open_vulkan(&other, &mine) == LATHE_OK);
  tune(on, other);
  if (arguments > 1)
    call_many(on, argument[1]);
  lathe_close(other);
  lathe_close(on);
  vk.DestroyCommandPool(device, pool, NULL);
  vk.DestroyDevice(device, NULL);
  return failed;
}
