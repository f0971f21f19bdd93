/* overhead.h - what measuring itself takes. */
#ifndef OVERHEAD_H
#define OVERHEAD_H

#include "devices/common/device.h"

/* Nanoseconds that an empty timed section reads: measured once, the median of many. */
double overhead_of_clock_ns(void);

/* The time of a launch of nothing on a device (device.h's empty_launch), measured once; NaN where it is not known. */
device_time overhead_of_launch(device *on);

#endif
