/* arithmetic.h - one core's loops that multiply and add and do nothing else, for its ceiling. */
#ifndef CPU_ARITHMETIC_H
#define CPU_ARITHMETIC_H

#include "devices/common/device.h"

/* The rate of one core; see arithmetic_rate of device.h: loops of every instruction set that the processor has. Types of 16 bits and less are
 * computed in f32. */
double cpu_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit);

#endif
