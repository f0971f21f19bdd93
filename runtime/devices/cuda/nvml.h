/* nvml.h - what NVIDIA's management library says of a GPU; it is opened at run time. */
#ifndef CUDA_NVML_H
#define CUDA_NVML_H

/* MHz of its multiprocessors now, of the GPU with these 16 bytes; 0 where that is not known. */
double nvml_clock_mhz(const unsigned char *uuid);

#endif
