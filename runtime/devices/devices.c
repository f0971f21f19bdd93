/* devices.c - the devices of this machine. */
#include "devices.h"

#include <string.h>

#include "devices/cpu/device.h"
#include "devices/cuda/device.h"
#include "devices/foreign/device.h"
#include "devices/peer/device.h"
#include "devices/vulkan/device.h"

static device_list the_cpu(void) {
  static device *cpu;

  cpu = device_cpu();
  return (device_list){.count = 1, .at = &cpu};
}

/* Other libraries, and what somebody else wrote. */
static device_list not_ours(void) {
  enum { MOST = 32 };
  static device *at[MOST];
  const device_list libraries = device_peer();

  memcpy(at, libraries.at, libraries.count * sizeof *at);
  at[libraries.count] = device_foreign();
  return (device_list){.count = libraries.count + 1, .at = at};
}

static device_list (*const finders[])(void) = {
    [LATHE_CPU] = the_cpu,
    [LATHE_CUDA] = device_cuda,
    [LATHE_VULKAN] = device_vulkan,
    [LATHE_PEER] = not_ours,
};

static const device_list *put[DEVICE_KINDS];

device_list device_own(lathe_kind kind) {
  device_list list;

  device_step_begins();
  list = finders[kind]();
  device_step_ends();
  return list;
}

void device_put(lathe_kind kind, const device_list *list) {
  put[kind] = list;
}

static device_list of_kind(lathe_kind kind) {
  return put[kind] ? *put[kind] : device_own(kind);
}

size_t device_count(void) {
  size_t sum = 0;

  for (int k = 0; k < DEVICE_KINDS; k++)
    sum += of_kind((lathe_kind)k).count;
  return sum;
}

device *device_at(size_t index) {
  for (int k = 0; k < DEVICE_KINDS; k++) {
    const device_list list = of_kind((lathe_kind)k);
    if (index < list.count)
      return list.at[index];
    index -= list.count;
  }
  return NULL;
}

const char *device_missing(lathe_kind kind) {
  const device_list list = of_kind(kind);

  return list.count ? NULL : list.missing;
}

int device_image_kernels(const lathe_variant *variant, device_kernel *to, int most,
                         const char **why) {
  static int (*const tellers[DEVICE_KINDS])(const lathe_variant *, device_kernel *, int,
                                            const char **) = {[LATHE_CUDA] = cuda_image_kernels};

  *why = "its code tells that only on a device";
  return tellers[variant->backend->kind] ? tellers[variant->backend->kind](variant, to, most, why)
                                         : -1;
}
