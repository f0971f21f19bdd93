/* kernels.c - which kernels a call launches on a Vulkan device. */
#include "call.h"

#ifdef HAVE_VULKAN
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int launches_of(const vulkan_device *d, const device_call *call, const lathe_args *args,
                       lathe_launch *to) {
  lathe_limits limits = d->limits;

  limits.cut = call->layout.cut;
  return call->variant->schedule->launches(call->variant->schedule, args, &limits, to);
}

bool vulkan_load_kernels(vulkan_call *c, const char **why) {
  static char text[320];
  vulkan_device *d = (vulkan_device *)c->remote.head.on;
  const lathe_variant *v = c->remote.head.variant;

  if (c->foreign)
    return vulkan_load_foreign(c, why);
  c->count = launches_of(d, &c->remote.head, &c->remote.args, c->launch);
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

/* Which kernels a call launches depends on how its operands lie, not on where. */
static int launches_anywhere(const vulkan_device *d, const device_call *call, lathe_launch *to) {
  const uintptr_t anywhere = 1u << 20;
  lathe_args args = problem_args(call->problem);

  for (int o = 0; o < call->variant->op->noperands; o++)
    args.buf[o] = (void *)(anywhere + device_offset(call, device_home(call, o))); /* NOLINT */
  args.workspace = (void *)anywhere;                                              /* NOLINT */
  return launches_of(d, call, &args, to);
}

void vulkan_expect(device *on, const device_call *calls, size_t count) {
  vulkan_device *d = (vulkan_device *)on;
  lathe_launch *launches = NULL;
  size_t found = 0;

  if (count == 0 || !calls->variant->schedule || on->lost || vulkan_device_open(d))
    return;
  launches = calloc(count * LATHE_MAX_LAUNCHES, sizeof *launches);
  for (size_t i = 0; i < count && launches; i++)
    found += (size_t)launches_anywhere(d, &calls[i], launches + found);
  if (launches)
    vulkan_code_expect(&d->code, calls->variant->image, launches, found);
  free(launches);
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
