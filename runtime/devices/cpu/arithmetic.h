/* arithmetic.h - one core's loops that multiply and add and do nothing else, for its ceiling. */
#ifndef CPU_ARITHMETIC_H
#define CPU_ARITHMETIC_H

#include "devices/common/device.h"

/* The rate of one core; see arithmetic_rate of device.h: loops of every instruction set that the processor has. Vectors
 * compute types of 16 bits in f32, and i8 too where they have no instruction for it. */
double cpu_arithmetic_rate(lathe_dtype dtype, device_unit unit, int *way);

#endif
