/* call.h - calls on Vulkan devices: device.h's functions of them, and of what a device can do at best. */
#ifndef VULKAN_CALL_H
#define VULKAN_CALL_H

#include "devices/common/remote.h"
#include "physical.h"

#ifdef HAVE_VULKAN
device_call *vulkan_prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why);
void vulkan_release(device_call *call);
bool vulkan_load(device_call *call, const problem *p);
bool vulkan_take_turns(device_call *call, const problem *other);
bool vulkan_run(device_call *call);
int vulkan_kernels(device_call *call, device_kernel *to);
bool vulkan_ask(device_call *call, double *ns);
bool vulkan_time_calls(device_call *call, uint64_t calls, device_time *taken);
bool vulkan_cool(device_call *call);
extern const remote_kind vulkan_remote;

/* rates.c */
double vulkan_streams_rate(device *on, int streams, size_t bytes);
bool vulkan_empty_launch(device *on, device_time *taken);
double vulkan_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit);
#endif

#endif
