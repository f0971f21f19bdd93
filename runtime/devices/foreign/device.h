/* device.h - kernels that somebody else wrote and that run on the host: each library in a process of its own (guest.h),
 * of which this one sees the buffers, keeps the time, and judges what is in them. */
#ifndef FOREIGN_DEVICE_H
#define FOREIGN_DEVICE_H

#include "devices/common/device.h"

device *device_foreign(void);

#endif
