/* nvml.c - NVIDIA's management library, libnvidia-ml.so.1, of which three functions are called. */
#include "nvml.h"

#include <stdio.h>
#include <string.h>

#include "devices/common/shared_object.h"

enum { CLOCK_OF_MULTIPROCESSORS = 1, DEVICES = 16 };

typedef struct nvml_device *nvml_handle;

static struct {
  int (*init)(void);
  int (*by_uuid)(const char *uuid, nvml_handle *device);
  int (*clock)(nvml_handle device, int which, unsigned *mhz);
} nvml;

/* False where there is no library, or it cannot be used. */
static bool open_once(void) {
  static const char *const symbols[] = {"nvmlInit_v2", "nvmlDeviceGetHandleByUUID",
                                        "nvmlDeviceGetClockInfo"};
  static bool looked, usable;
  shared_object library = {.file = "libnvidia-ml.so.1", .what = "NVIDIA's management library"};
  char why[160];

  if (looked)
    return usable;
  looked = true;
  usable = shared_object_open(&library, why, sizeof why) &&
           shared_object_find(&library, symbols, sizeof symbols / sizeof *symbols, &nvml, why,
                              sizeof why) &&
           nvml.init() == 0;
  return usable;
}

/* "GPU-00112233-4455-6677-8899-aabbccddeeff" */
static void write_uuid(const unsigned char *uuid, char text[48]) {
  int used = snprintf(text, 48, "GPU-");

  for (int i = 0; i < 16; i++)
    used += snprintf(text + used, 48 - (size_t)used, "%s%02x",
                     i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

double nvml_clock_mhz(const unsigned char *uuid) {
  static struct {
    unsigned char uuid[16];
    nvml_handle device; /* null: the library does not have it */
  } known[DEVICES];
  static int count;
  int i = 0;
  unsigned mhz = 0;

  if (!open_once())
    return 0;
  while (i < count && memcmp(known[i].uuid, uuid, sizeof known[i].uuid) != 0)
    i++;
  if (i == DEVICES)
    return 0;
  if (i == count) {
    char text[48];
    write_uuid(uuid, text);
    memcpy(known[i].uuid, uuid, sizeof known[i].uuid);
    if (nvml.by_uuid(text, &known[i].device) != 0)
      known[i].device = NULL;
    count++;
  }
  return known[i].device && nvml.clock(known[i].device, CLOCK_OF_MULTIPROCESSORS, &mhz) == 0 ? mhz
                                                                                             : 0;
}
