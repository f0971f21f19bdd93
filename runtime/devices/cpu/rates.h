/* rates.h - how fast a processor's threads move memory and compute. */
#ifndef CPU_RATES_H
#define CPU_RATES_H

#include "devices/common/device.h"

/* streams_rate and arithmetic_rate of device.h, for each device whose calls run on this processor. */
double cpu_threads_streams_rate(device *on, int streams, size_t bytes, int threads, int *way);
double cpu_threads_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads,
                                   int *way);

#endif
