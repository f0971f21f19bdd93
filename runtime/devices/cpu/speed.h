/* speed.h - how fast the processor's clock runs now. */
#ifndef CPU_SPEED_H
#define CPU_SPEED_H

#include "devices/common/device.h"

/* MHz, as a chain of additions finds it, each of which takes a cycle. */
double cpu_clock_mhz(device *on);

#endif
