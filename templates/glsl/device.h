/* ---- the device: the first that Vulkan's loader has for compute shaders, with memory that the host sees ---- */

#define DEVICE_FUNCTIONS(ROW)                                                                      \
  ROW(EnumeratePhysicalDevices)                                                                    \
  ROW(GetPhysicalDeviceQueueFamilyProperties)                                                      \
  ROW(GetPhysicalDeviceFeatures2)                                                                  \
  ROW(GetPhysicalDeviceMemoryProperties)                                                           \
  ROW(CreateDevice)                                                                                \
  ROW(GetDeviceQueue)                                                                              \
  ROW(CreateCommandPool)                                                                           \
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
  DEVICE_FUNCTIONS(MEMBER)
#undef MEMBER
} vk;

enum { MOST_ROOMS = 64 };

/* Memory of the device's. */
static struct {
  VkBuffer buffer;
  VkDeviceMemory memory;
  VkDeviceAddress address; /* 0: there is none */
  unsigned char *mapped;
} rooms[MOST_ROOMS];

static VkPhysicalDevice device_physical;
static VkDevice device_made;
static VkQueue device_queue;
static VkCommandBuffer device_commands;
static VkInstance device_instance;
static PFN_vkGetInstanceProcAddr device_get;

/* All that the device has, which is enabled. */
static VkPhysicalDeviceVulkan12Features device_features_12 = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
};
static VkPhysicalDeviceVulkan11Features device_features_11 = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
    .pNext = &device_features_12,
};
static VkPhysicalDeviceFeatures2 device_features = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
    .pNext = &device_features_11,
};

static void device_failed(const char *what, int error) {
  if (!error)
    return;
  fprintf(stderr, "%s: %s: %d\n", DEVICE_TEST, what, error);
  exit(2);
}

/* Makes the device with all that it has; null, or why there is none. */
static const char *device_start(void) {
  const float priority = 1;
  VkQueueFamilyProperties families[32];
  uint32_t found = 1, family = 0;
  VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueCount = 1,
      .pQueuePriorities = &priority,
  };
  const VkDeviceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = &device_features,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue,
  };
  VkCommandPoolCreateInfo pool = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
  };
  VkCommandBufferAllocateInfo buffers = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1,
  };

  if (vk.EnumeratePhysicalDevices(device_instance, &found, &device_physical) < 0 || found == 0)
    return "Vulkan has no device";
  found = sizeof families / sizeof *families;
  vk.GetPhysicalDeviceQueueFamilyProperties(device_physical, &found, families);
  while (family < found && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
    family++;
  if (family == found)
    return "the device has no queue for compute shaders";
  vk.GetPhysicalDeviceFeatures2(device_physical, &device_features);
  queue.queueFamilyIndex = pool.queueFamilyIndex = family;
  device_failed("a device", vk.CreateDevice(device_physical, &info, NULL, &device_made));
  vk.GetDeviceQueue(device_made, family, 0, &device_queue);
  device_failed("commands", vk.CreateCommandPool(device_made, &pool, NULL, &buffers.commandPool));
  device_failed("commands", vk.AllocateCommandBuffers(device_made, &buffers, &device_commands));
  return NULL;
}

/* The same, of the first that Vulkan's loader has. */
static const char *device_find(void) {
  void *library = dlopen("libvulkan.so.1", RTLD_NOW),
       *found = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
      .apiVersion = VK_API_VERSION_1_2,
  };
  const VkInstanceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pApplicationInfo = &application,
  };

  if (!found)
    return "there is no libvulkan.so.1";
  memcpy(&device_get, &found, sizeof device_get);
  const PFN_vkCreateInstance make = (PFN_vkCreateInstance)device_get(NULL, "vkCreateInstance");
  if (!make || make(&info, NULL, &device_instance))
    return "Vulkan has no instance of version 1.2";
#define FIND(name)                                                                                 \
  vk.name = (PFN_vk##name)device_get(device_instance, "vk" #name);                                 \
  if (!vk.name)                                                                                    \
    return "vk" #name;
  DEVICE_FUNCTIONS(FIND)
#undef FIND
  return device_start();
}

/* The memory where an address is. */
static int room_of(VkDeviceAddress address) {
  for (int i = 0; i < MOST_ROOMS; i++)
    if (rooms[i].address == address)
      return i;
  device_failed("too much memory at once", 1);
  return 0;
}

/* Memory of zeros. */
static void *device_room(size_t size) {
  const VkMemoryPropertyFlags wanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = size + 256,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT,
  };
  const VkMemoryAllocateFlagsInfo flags = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
      .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
  };
  VkBufferDeviceAddressInfo where = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .pNext = &flags};
  VkPhysicalDeviceMemoryProperties memory;
  VkMemoryRequirements needs;
  const int i = room_of(0);
  void *mapped;

  device_failed("a buffer", vk.CreateBuffer(device_made, &info, NULL, &rooms[i].buffer));
  vk.GetBufferMemoryRequirements(device_made, rooms[i].buffer, &needs);
  vk.GetPhysicalDeviceMemoryProperties(device_physical, &memory);
  allocate.allocationSize = needs.size;
  while (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
         (memory.memoryTypes[allocate.memoryTypeIndex].propertyFlags & wanted) != wanted)
    allocate.memoryTypeIndex++;
  device_failed("memory", vk.AllocateMemory(device_made, &allocate, NULL, &rooms[i].memory));
  device_failed("memory", vk.BindBufferMemory(device_made, rooms[i].buffer, rooms[i].memory, 0));
  device_failed("memory", vk.MapMemory(device_made, rooms[i].memory, 0, VK_WHOLE_SIZE, 0, &mapped));
  where.buffer = rooms[i].buffer;
  rooms[i].address = vk.GetBufferDeviceAddress(device_made, &where);
  rooms[i].mapped = mapped;
  memset(mapped, 0, size + 256);
  const size_t lead = (64 - rooms[i].address % 64) % 64;
  rooms[i].address += lead;
  rooms[i].mapped += lead;
  return (void *)(uintptr_t)rooms[i].address;
}

static void device_release(void *memory) {
  const int i = room_of((VkDeviceAddress)(uintptr_t)memory);
  vk.DestroyBuffer(device_made, rooms[i].buffer, NULL);
  vk.FreeMemory(device_made, rooms[i].memory, NULL);
  rooms[i].address = 0;
}

static void device_send(void *to, const void *from, size_t size) {
  memcpy(rooms[room_of((VkDeviceAddress)(uintptr_t)to)].mapped, from, size);
}

static void device_fetch(void *to, const void *from, size_t size) {
  memcpy(to, rooms[room_of((VkDeviceAddress)(uintptr_t)from)].mapped, size);
}

static void device_begin_commands(void) {
  const VkCommandBufferBeginInfo begin = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
  };
  device_failed("commands", vk.BeginCommandBuffer(device_commands, &begin));
}

static void device_finish(void) {
  const VkSubmitInfo submit = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .commandBufferCount = 1,
      .pCommandBuffers = &device_commands,
  };
  device_failed("commands", vk.EndCommandBuffer(device_commands));
  device_failed("the kernels", vk.QueueSubmit(device_queue, 1, &submit, VK_NULL_HANDLE));
  device_failed("the kernels", vk.QueueWaitIdle(device_queue));
}
