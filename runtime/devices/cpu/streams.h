/* streams.h - one core's loops that move memory and do nothing else, for its ceiling. */
#ifndef CPU_STREAMS_H
#define CPU_STREAMS_H

#include "devices/common/device.h"

/* The rate of one core; see streams_rate of device.h: tuned loops, of every instruction set that the processor has. */
double cpu_streams_rate(int streams, size_t bytes, int *way);

#endif
