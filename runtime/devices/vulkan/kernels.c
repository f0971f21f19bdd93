/* kernels.c - which kernels a call launches on a Vulkan device. */
#include "call.h"

#ifdef HAVE_VULKAN
#include <math.h>
#include <stdio.h>

bool vulkan_load_kernels(vulkan_call *c, const char **why) {
  static char text[320];
  vulkan_device *d = (vulkan_device *)c->remote.head.on;
  const lathe_variant *v = c->remote.head.variant;

  c->count = lathe_launch_vulkan(v->schedule, &c->args, &d->limits, c->launch);
  if (c->count == 0) {
    *why = "the variant has no launch for this size on this device";
    return false;
  }
  for (int l = 0; l < c->count; l++) {
    const char *none = vulkan_code_get(&d->code, v->image, &c->launch[l], &c->pipeline[l]);
    if (none) {
      snprintf(text, sizeof text, "no pipeline could be made of kernel %s: %s", c->launch[l].kernel,
               none);
      *why = text;
      return false;
    }
  }
  return true;
}

/* Drivers tell no more of them than was asked for. */
int vulkan_kernels(device_call *call, device_kernel *to) {
  const vulkan_call *c = (const vulkan_call *)call;

  for (int l = 0; l < c->count; l++) {
    const lathe_launch *k = &c->launch[l];
    to[l] = (device_kernel){.grid = {k->grid[0], k->grid[1], k->grid[2]},
                            .block = {k->block[0], k->block[1], k->block[2]},
                            .fixed = -1,
                            .registers = -1,
                            .local = -1,
                            .at_once = -1,
                            .occupancy = NAN};
    snprintf(to[l].name, sizeof to[l].name, "%s", k->kernel);
  }
  return c->count;
}

#endif
