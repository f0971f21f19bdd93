/* cuda.h - code for CUDA devices that somebody else wrote: its launches on a call's stream. No code of theirs runs on
 * the host. */
#ifndef FOREIGN_CUDA_H
#define FOREIGN_CUDA_H

#include "devices/cuda/others.h"

extern const cuda_other foreign_cuda_calls;

#endif
