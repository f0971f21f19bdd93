/* device.c - the devices of this machine. */
#include "device.h"

static size_t one(void) {
  return 1;
}

static device *the_cpu(size_t index) {
  (void)index;
  return device_cpu();
}

static const struct {
  const char *name;
  size_t (*count)(void);
  device *(*at)(size_t index);
  const char *(*missing)(void);
} kinds[DEVICE_KINDS] = {
    [LATHE_CPU] = {"cpu", one, the_cpu, NULL},
    [LATHE_CUDA] = {"cuda", device_cuda_count, device_cuda_at, device_cuda_missing},
    [LATHE_VULKAN] = {"vulkan", device_vulkan_count, device_vulkan_at, device_vulkan_missing},
};

size_t device_count(void) {
  size_t sum = 0;

  for (int k = 0; k < DEVICE_KINDS; k++)
    sum += kinds[k].count();
  return sum;
}

device *device_at(size_t index) {
  for (int k = 0; k < DEVICE_KINDS; k++) {
    const size_t here = kinds[k].count();
    if (index < here)
      return kinds[k].at(index);
    index -= here;
  }
  return NULL;
}

const char *device_missing(lathe_kind kind) {
  return kinds[kind].missing ? kinds[kind].missing() : NULL;
}

const char *device_kind_name(lathe_kind kind) {
  return kinds[kind].name;
}
