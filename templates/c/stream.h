/* stream.h - what streams are made with, in kernels of each instruction set. */
#ifndef LATHE_STREAM_H
#define LATHE_STREAM_H

#include <math.h>

#include "contract.h"
#include "places.h"

/* The larger of two numbers; NaN where either is. Without a branch on which it is, which nothing foretells. */
static inline float lathe_peak_f32(float a, float b) {
  const float larger = b > a ? b : a;
  return b != b ? b : larger;
}

static inline double lathe_peak_f64(double a, double b) {
  const double larger = b > a ? b : a;
  return b != b ? b : larger;
}

/* Blocks of rows in turn from either end: what neighbours take together is much the same under a causal mask. */
static inline size_t lathe_from_either_end(size_t nth, size_t all) {
  return nth % 2 == 0 ? nth / 2 : all - 1 - nth / 2;
}

static inline size_t lathe_larger(size_t a, size_t b) {
  return a > b ? a : b;
}

#endif
