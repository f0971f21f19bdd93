/* cuda.h - what a plan launches on a CUDA device, for who tells of it. */
#ifndef LATHE_CUDA_H
#define LATHE_CUDA_H

#include "on_cuda.h"
#include "plan.h"

/* Makes a plan cut its products in one of the ways there are: see lathe_limits. */
void lathe_cuda_cut(lathe_plan *plan, uint32_t cut);

/* The launches of a plan's call and their kernels: 0, or the driver's error, of the launch *count. */
int lathe_cuda_launches(const lathe_plan *plan, const lathe_args *args, lathe_launch *launches,
                        lathe_driver_function *function, int *count);

#endif
