/* cudnn.h - functions of NVIDIA's cuDNN, on a CUDA device's own buffers and stream. */
#ifndef CUDNN_H
#define CUDNN_H

#include "devices/cuda/others.h"

/* Calls of an op whose spec names one of these functions among its peers: softmax, log_softmax. */
extern const cuda_other cudnn_calls;

#endif
