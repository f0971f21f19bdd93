/* scalar.h - what generated C needs beyond operators, for plain numbers. */
#ifndef LATHE_SCALAR_H
#define LATHE_SCALAR_H

#include <stdint.h>
#include <string.h>

static inline uint32_t lathe_bits_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline uint64_t lathe_bits_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float lathe_real_f32(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline double lathe_real_f64(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The second argument where either is NaN, as the vector instructions have it. */
static inline float lathe_max_f32(float a, float b) {
  return a > b ? a : b;
}

static inline float lathe_min_f32(float a, float b) {
  return a < b ? a : b;
}

static inline double lathe_max_f64(double a, double b) {
  return a > b ? a : b;
}

static inline double lathe_min_f64(double a, double b) {
  return a < b ? a : b;
}

#endif
