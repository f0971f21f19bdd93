/* device.c - the devices of this machine. */
#include "device.h"

static device *(*const finders[])(void) = {device_cpu};

size_t device_count(void) {
  return sizeof finders / sizeof *finders;
}

device *device_at(size_t index) {
  return finders[index]();
}

const char *device_kind_name(lathe_kind kind) {
  static const char *const names[DEVICE_KINDS] = {
      [LATHE_CPU] = "cpu", [LATHE_CUDA] = "cuda", [LATHE_VULKAN] = "vulkan"};

  return names[kind];
}
