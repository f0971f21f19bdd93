/* vulkan.c - plans on Vulkan devices, which are borrowed: calls are recorded into command buffers of the caller's. */
#include "plan.h"

#pragma GCC visibility push(default)
#include "lathe_vulkan.h"
#pragma GCC visibility pop

#if __has_include(<vulkan/vulkan_core.h>)
#define VK_NO_PROTOTYPES
#include <stdio.h>
#include <time.h>

#include "image.h"
#include "lathe_tune.h"
#include "vulkan_device.h"

typedef struct vulkan_device {
  lathe_device head;
  lathe_vulkan_device on;
  PFN_vkBeginCommandBuffer begin; /* and what follows: for measuring */
  PFN_vkEndCommandBuffer end;
  PFN_vkQueueSubmit submit;
  PFN_vkQueueWaitIdle idle;
  pthread_mutex_t lock; /* of what follows */
  lathe_images images;
} vulkan_device;

static bool fill(lathe_image_bundle *kept, const lathe_image *image, void *record,
                 const char **why) {
  lathe_vulkan_code *code = record;
  size_t bytes;

  code->words = lathe_image_unpack_words(kept, image, &bytes, why);
  if (!code->words)
    return false;
  code->count = bytes / sizeof *code->words;
  code->loose = image->loose;
  return true;
}

lathe_vulkan_device *lathe_vulkan_of(lathe_device *device) {
  return &((vulkan_device *)device)->on;
}

const lathe_vulkan_code *lathe_vulkan_codes(lathe_device *device, const lathe_image *first,
                                            const char **why) {
  vulkan_device *d = (vulkan_device *)device;
  const lathe_unpacked *u;

  pthread_mutex_lock(&d->lock);
  u = lathe_images_of(&d->images, first, why);
  pthread_mutex_unlock(&d->lock);
  return u ? (const void *)u->code : NULL;
}

/* ---- plans ------------------------------------------------------------------------------------- */

/* A kernel's arguments, in the order of gen/pour/lower_glsl.lua, and their bytes: more than LATHE_VULKAN_PUSHED go into
 * a buffer. */
typedef struct arguments {
  unsigned char at[8 * (LATHE_MAX_OPERANDS + 1 + LATHE_MAX_DIMS + LATHE_MAX_SCALARS)];
  uint32_t size;
} arguments;

static void add(arguments *to, const void *value, uint32_t size) {
  memcpy(to->at + to->size, value, size);
  to->size += size;
}

static arguments give(const lathe_made *made, const lathe_args *args) {
  const lathe_op *op = made->variant->op;
  const uint64_t workspace = (uintptr_t)args->workspace;
  arguments given = {.size = 0};

  for (int o = 0; o < op->noperands; o++) {
    const uint64_t address = (uintptr_t)args->buf[o];
    add(&given, &address, sizeof address);
  }
  add(&given, &workspace, sizeof workspace);
  for (int d = 0; d < op->ndim; d++) {
    const uint64_t extent = args->dim[d];
    add(&given, &extent, sizeof extent);
  }
  for (int s = 0; s < op->nscalars; s++) {
    const float number = (float)args->scalar[s];
    if (made->variant->dtype == LATHE_F64)
      add(&given, &args->scalar[s], sizeof args->scalar[s]);
    else
      add(&given, &number, sizeof number);
  }
  return given;
}

static int run(const lathe_made *made, void *const *operand, const double *scalar, void *workspace,
               void *stream) {
  vulkan_device *d = (vulkan_device *)made->device; /* pipelines may be made */
  lathe_args args = {0};
  arguments given;
  int error;

  lathe_fill_args(&args, made, operand, scalar, workspace);
  given = give(made, &args);
  if (given.size > LATHE_VULKAN_PUSHED) {
    const lathe_commands *to = stream;
    lathe_vulkan_give(&d->on, to->commands, (VkBuffer)(uintptr_t)to->buffer, to->offset, given.at,
                      given.size);
    error = lathe_vulkan_record(&d->on, to->commands, made->variant->schedule, made->loaded, &args,
                                &to->address, sizeof to->address);
  } else {
    error = lathe_vulkan_record(&d->on, stream, made->variant->schedule, made->loaded, &args,
                                given.at, given.size);
  }
  return error == LATHE_VULKAN_NO_LAUNCH   ? LATHE_SHAPE
         : error == LATHE_VULKAN_NO_MEMORY ? LATHE_MEMORY
                                           : error;
}

/* Makes the pipelines of calls, however operands lie. */
static lathe_status prepare(vulkan_device *d, const lathe_made *made, lathe_line *line) {
  static const uintptr_t anywhere = 1u << 20;
  lathe_launch launches[LATHE_MAX_LAUNCHES];
  VkPipeline pipeline[LATHE_MAX_LAUNCHES];

  for (uintptr_t off = 0; off <= 8; off += 8) {
    lathe_args args = {0};
    int count, error;
    for (int o = 0; o < made->noperands; o++)
      args.buf[o] = (void *)(anywhere + off); /* NOLINT */
    memcpy(args.dim, made->dim, sizeof args.dim);
    args.workspace = (void *)anywhere; /* NOLINT */
    error = lathe_vulkan_launches(&d->on, made->variant->schedule, made->loaded, &args, launches,
                                  pipeline, &count);
    if (!error || (error == LATHE_VULKAN_NO_LAUNCH && off > 0))
      continue;
    lathe_say(line, error == LATHE_VULKAN_NO_LAUNCH ? ": the variant has no launch for this size"
                                                    : ": no pipeline could be made of it");
    return error == LATHE_VULKAN_NO_LAUNCH   ? LATHE_SHAPE
           : error == LATHE_VULKAN_NO_MEMORY ? LATHE_MEMORY
                                             : LATHE_DRIVER;
  }
  return LATHE_OK;
}

static lathe_status make(const lathe_device *device, lathe_plan *plan, lathe_made *made,
                         lathe_line *line) {
  static const lathe_args none;
  vulkan_device *d = (vulkan_device *)device; /* what is unpacked grows */
  const char *why;

  made->run = run;
  plan->workspace = (size_t)lathe_workspace(made->variant, made->dim);
  plan->arguments = give(made, &none).size;
  if (plan->arguments <= LATHE_VULKAN_PUSHED)
    plan->arguments = 0;
  made->loaded = lathe_vulkan_codes(&d->head, made->variant->image, &why);
  lathe_say(line, made->variant->name);
  if (made->loaded) {
    const lathe_status status = prepare(d, made, line);
    if (!status)
      lathe_begin_line(plan->why);
    return status;
  }
  lathe_say(line, ": ");
  lathe_say(line, why);
  return LATHE_MEMORY;
}

/* The time of some calls, each after the one before, from when they are submitted to the caller's queue. */
static int time_calls(lathe_device *device, const lathe_plan *plan, const lathe_tuning *with,
                      size_t calls, double *seconds) {
  vulkan_device *d = (vulkan_device *)device;
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  const lathe_commands *given = plan->arguments ? with->stream : NULL;
  const VkCommandBuffer commands = given ? given->commands : with->stream;
  const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
  const VkMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
  };
  const size_t most = 1024; /* that a command buffer is given */
  struct timespec from, to;
  int error = 0;

  *seconds = 0;
  for (size_t left = calls, some; left > 0 && !error; left -= some) {
    some = left < most ? left : most;
    error = d->begin(commands, &info);
    for (size_t i = 0; i < some && !error; i++) {
      error = lathe_run(plan, with->operand, with->scalar, with->workspace, with->stream);
      d->on.wait(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                 VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    }
    error = error ? error : d->end(commands);
    clock_gettime(CLOCK_MONOTONIC, &from);
    error = error ? error : d->submit(with->queue, 1, &submit, VK_NULL_HANDLE);
    error = error ? error : d->idle(with->queue);
    clock_gettime(CLOCK_MONOTONIC, &to);
    *seconds += (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
  }
  return error;
}

static bool look(vulkan_device *d, VkInstance instance, PFN_vkGetInstanceProcAddr from) {
  const PFN_vkGetDeviceProcAddr get =
      (PFN_vkGetDeviceProcAddr)from(instance, "vkGetDeviceProcAddr");

  d->begin = (PFN_vkBeginCommandBuffer)get(d->on.device, "vkBeginCommandBuffer");
  d->end = (PFN_vkEndCommandBuffer)get(d->on.device, "vkEndCommandBuffer");
  d->submit = (PFN_vkQueueSubmit)get(d->on.device, "vkQueueSubmit");
  d->idle = (PFN_vkQueueWaitIdle)get(d->on.device, "vkQueueWaitIdle");
  return d->begin && d->end && d->submit && d->idle;
}

/* As the bench program calls it. */
static void name_device(vulkan_device *d, VkInstance instance, PFN_vkGetInstanceProcAddr from,
                        VkPhysicalDevice physical) {
  const PFN_vkGetPhysicalDeviceProperties2 get =
      (PFN_vkGetPhysicalDeviceProperties2)from(instance, "vkGetPhysicalDeviceProperties2");
  VkPhysicalDeviceVulkan12Properties v12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &v12};

  get(physical, &all);
  snprintf(d->head.name, sizeof d->head.name, "%.100s, %.60s %.80s", all.properties.deviceName,
           v12.driverName, v12.driverInfo);
}

/* ---- devices ----------------------------------------------------------------------------------- */

static void close_device(lathe_device *device) {
  vulkan_device *d = (vulkan_device *)device;

  lathe_vulkan_close(&d->on);
  lathe_images_forget(&d->images);
  pthread_mutex_destroy(&d->lock);
  free(d);
}

lathe_status lathe_open_vulkan(lathe_device **made, const lathe_vulkan *yours) {
  vulkan_device *d = calloc(1, sizeof *d);
  PFN_vkGetInstanceProcAddr get;
  int error;

  *made = NULL;
  if (!d)
    return LATHE_MEMORY;
  memcpy(&get, &yours->get_instance_proc_addr, sizeof get);
  error = lathe_vulkan_open(&d->on, yours->instance, get, yours->physical, yours->device,
                            yours->enabled, VK_NULL_HANDLE);
  if (!error && !look(d, yours->instance, get)) {
    lathe_vulkan_close(&d->on);
    error = LATHE_VULKAN_LACKS;
  }
  if (error) {
    free(d);
    return LATHE_DRIVER;
  }
  d->head = (lathe_device){.kind = LATHE_VULKAN,
                           .features = d->on.features,
                           .make = make,
                           .close = close_device,
                           .time = time_calls,
                           .needs_queue = true};
  name_device(d, yours->instance, get, yours->physical);
  pthread_mutex_init(&d->lock, NULL);
  d->images = (lathe_images){.bytes = sizeof(lathe_vulkan_code), .fill = fill};
  *made = &d->head;
  return LATHE_OK;
}

#else

lathe_status lathe_open_vulkan(lathe_device **made, const lathe_vulkan *yours) {
  (void)yours;
  *made = NULL;
  return LATHE_DRIVER;
}

#endif
