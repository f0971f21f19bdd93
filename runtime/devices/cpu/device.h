/* device.h - this processor, one thread of it, as a device. */
#ifndef CPU_DEVICE_H
#define CPU_DEVICE_H

#include "devices/common/device.h"

device *device_cpu(void);

#endif
