/* devices.h - the devices of this machine. */
#ifndef DEVICES_H
#define DEVICES_H

#include "devices/common/device.h"

/* Those that this process finds itself, by loading the kind's driver, which is a step. */
device_list device_own(lathe_kind kind);

/* Puts a list in the place of a kind's own devices, for a process that is to keep away from the
 * driver; it and what it points to must stay. */
void device_put(lathe_kind kind, const device_list *list);

/* All devices, in the order of their kinds: those put here, or else this process's own. */
size_t device_count(void);
device *device_at(size_t index);

/* The kernels that a variant's calls may launch, of a kind whose code tells without a device, at most so many; how many
 * there are, or -1 with the reason in why, static. */
int device_image_kernels(const lathe_variant *variant, device_kernel *to, int most,
                         const char **why);

/* Why there is no device of a kind; null where there is one. */
const char *device_missing(lathe_kind kind);

#endif
