/* call.h - calls on Vulkan devices: device.h's functions of them, and of what a device can do at best. */
#ifndef VULKAN_CALL_H
#define VULKAN_CALL_H

#include "devices/common/remote.h"
#include "physical.h"

#ifdef HAVE_VULKAN
typedef struct vulkan_call {
  remote_call remote;
  vulkan_buffer buffer[REMOTE_BUFFERS];
  const struct foreign *foreign; /* what somebody else wrote; null: it is ours */
  unsigned char arguments[VULKAN_ARGUMENTS];
  uint32_t arguments_size;
  vulkan_buffer given; /* arguments that push constants have no room for, of each set */
  int count;           /* launches of a call */
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  VkPipeline pipeline[LATHE_MAX_LAUNCHES];
  /* Sets of operands that timed calls take in turn, a power of two: the first is `buffer`, the
   * others lie one after the other in `copies`, each operand in its slot. */
  uint64_t sets, next_set;
  vulkan_buffer copies;
  size_t set_size, slot[LATHE_MAX_OPERANDS];
  bool broken; /* what went wrong leaves nothing to be done with it */
} vulkan_call;

device_call *vulkan_prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why);
void vulkan_release(device_call *call);
bool vulkan_load(device_call *call, const problem *p);
bool vulkan_take_turns(device_call *call, const problem *other);
bool vulkan_run(device_call *call);
bool vulkan_run_under(device_call *call, device_load load);
bool vulkan_ask(device_call *call, double *ns);
bool vulkan_time_calls(device_call *call, uint64_t calls, device_time *taken);
bool vulkan_cool(device_call *call);
extern const remote_kind vulkan_remote;

/* kernels.c: the launches of a call and their pipelines, false with the reason in why, static; device.h's expect and
 * kernels. */
bool vulkan_load_kernels(vulkan_call *c, const char **why);

/* foreign.c: the same of what somebody else wrote; and the bytes of workspace that it wants. */
bool vulkan_load_foreign(vulkan_call *c, const char **why);
size_t vulkan_foreign_workspace(const vulkan_call *c);

void vulkan_expect(device *on, const device_call *calls, size_t count);
int vulkan_kernels(device_call *call, device_kernel *to);

/* rates.c */
double vulkan_streams_rate(device *on, int streams, size_t bytes, int threads, int *way);
bool vulkan_empty_launch(device *on, device_time *taken);
double vulkan_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads,
                              int *way);
#endif

#endif
