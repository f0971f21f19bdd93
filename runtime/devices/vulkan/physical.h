/* physical.h - Vulkan devices: which there are, what each can do, memory on one, and commands to it. */
#ifndef VULKAN_PHYSICAL_H
#define VULKAN_PHYSICAL_H

#include "devices/common/device.h"
#include "vulkan.h"

#ifdef HAVE_VULKAN
enum {
  VULKAN_DEVICES = 8,       /* at most */
  VULKAN_STAGING = 8 << 20, /* bytes of the buffer through which copies go */
};

typedef struct vulkan_buffer {
  VkBuffer buffer;
  VkDeviceMemory memory;
  VkDeviceAddress address;   /* of the data */
  size_t lead, size, length; /* where the data starts, its bytes, and all bytes */
} vulkan_buffer;

typedef struct vulkan_device {
  device head;
  char id[16], name[800], notes[400];
  VkPhysicalDevice physical;
  VkPhysicalDeviceType type;
  uint32_t family;       /* of the queue */
  uint64_t clock_mask;   /* the bits of a timestamp that count; 0: it has no clock */
  double clock_ns;       /* nanoseconds of one tick */
  double most_allocated; /* bytes of one allocation */
  bool size_control, budget, f64, f16, storage16, storage8, memory_model, workgroup_matrix, vector,
      nvidia;
  unsigned char uuid[VK_UUID_SIZE];
  lathe_limits limits;

  VkDevice made; /* null: to be made */
  VkQueue queue;
  VkCommandPool pool;
  VkCommandBuffer transfer, batch;
  VkFence fence;
  VkQueryPool clock;
  double asked_ns; /* what asking for the last batch or copy took the host */
  vulkan_code code;
  vulkan_buffer staging;
  vulkan_buffer traffic;   /* that is copied for the device to be busy; none yet */
  void *mapped;            /* the staging buffer */
  const void *recorded_of; /* the call that the batch is of, */
  uint64_t recorded;       /* how many times it has it, */
  uint64_t recorded_from;  /* and on which set of operands it begins */
} vulkan_device;

/* Those that the kernels can run on, GPUs first, and how many there are. In head is all but the functions.
 * Where one is left out, and where there is none, the reason is in why. */
size_t vulkan_device_find(vulkan_device found[VULKAN_DEVICES], char *why, size_t size);

/* logical.c */

/* Makes the logical device, where that is not done: all from `made` to `mapped`. On failure nothing is
 * left of it. */
VkResult vulkan_device_open(vulkan_device *d);

/* memory.c */

/* Bytes of its own memory that can be had now; -1 where it has none. */
double vulkan_device_memory(const vulkan_device *d);

/* So many bytes, in memory that has all the properties; of several types of memory in one that has
 * `better` too. On failure nothing is left of it. */
VkResult vulkan_buffer_make(vulkan_device *d, vulkan_buffer *b, size_t length,
                            VkMemoryPropertyFlags needed, VkMemoryPropertyFlags better);
void vulkan_buffer_free(vulkan_device *d, vulkan_buffer *b);

/* commands.c */

/* Begins a command buffer, and runs what was recorded, to its end: a launch that has none is ended with the process
 * (see worker.h). */
VkResult vulkan_begin(VkCommandBuffer to);
VkResult vulkan_submit(vulkan_device *d, VkCommandBuffer recorded);

/* The same for what was recorded in d->transfer. */
VkResult vulkan_finish_transfer(vulkan_device *d);

/* All that was written before is there for all that follows. */
void vulkan_barrier(VkCommandBuffer to, VkPipelineStageFlags before, VkPipelineStageFlags after);

/* Copies between the host and a buffer, at an offset of it; one of `from` and `to` is null. */
VkResult vulkan_copy(vulkan_device *d, const vulkan_buffer *b, size_t at, const void *from,
                     void *to, size_t bytes);

/* Sets the bytes from `at` to `end` of a buffer. */
VkResult vulkan_fill(vulkan_device *d, const vulkan_buffer *b, size_t at, size_t end,
                     unsigned char value);

/* Commands between these in d->batch are timed by the device's clock, which vulkan_read_clock reads once they ran. */
VkResult vulkan_begin_batch(vulkan_device *d);
VkResult vulkan_end_batch(vulkan_device *d);
VkResult vulkan_read_clock(vulkan_device *d, double *ns);

#endif
#endif
