/* device.c - Vulkan devices: those that its loader finds. */
#include "device.h"

#include "call.h"

#ifdef HAVE_VULKAN
#include "devices/cuda/nvml.h"

static double memory(device *on) {
  return vulkan_device_memory((const vulkan_device *)on);
}

static double clock_mhz(device *on) {
  const vulkan_device *d = (const vulkan_device *)on;

  return d->nvidia ? nvml_clock_mhz(d->uuid) : 0;
}

device_list device_vulkan(void) {
  static vulkan_device devices[VULKAN_DEVICES];
  static device *found[VULKAN_DEVICES];
  static char missing[400]; /* why there is none */
  static size_t count;
  static bool looked;

  if (!looked)
    count = vulkan_device_find(devices, missing, sizeof missing);
  looked = true;
  for (size_t i = 0; i < count; i++) {
    device *on = &devices[i].head;
    on->remote = &vulkan_remote;
    on->memory = memory;
    on->prepare = vulkan_prepare;
    on->release = vulkan_release;
    on->expect = vulkan_expect;
    on->reset = remote_reset;
    on->load = vulkan_load;
    on->take_turns = vulkan_take_turns;
    on->run = vulkan_run;
    on->run_under = vulkan_run_under;
    on->ask = vulkan_ask;
    on->kernels = vulkan_kernels;
    on->empty_launch = vulkan_empty_launch;
    on->clock_mhz = clock_mhz;
    on->time = vulkan_time_calls;
    on->cool = vulkan_cool;
    on->output = remote_output;
    on->intact = remote_intact;
    on->peek = remote_peek;
    on->poke = remote_poke;
    on->streams_rate = vulkan_streams_rate;
    on->arithmetic_rate = vulkan_arithmetic_rate;
    found[i] = on;
  }
  return (device_list){.count = count, .at = found, .missing = missing};
}

#else

device_list device_vulkan(void) {
  return (device_list){.missing = "this program was built without Vulkan's headers"};
}

#endif
