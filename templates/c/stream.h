/* stream.h - what streams are made with, in kernels of each instruction set. */
#ifndef LATHE_STREAM_H
#define LATHE_STREAM_H

#include <math.h>

#include "contract.h"
#include "places.h"

/* The larger of two numbers; NaN where either is. */
static inline float lathe_peak_f32(float a, float b) {
  return a != a || a > b ? a : b;
}

static inline double lathe_peak_f64(double a, double b) {
  return a != a || a > b ? a : b;
}

static inline size_t lathe_larger(size_t a, size_t b) {
  return a > b ? a : b;
}

#endif
