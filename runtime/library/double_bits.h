/* double_bits.h - the bits of a double, as IEEE 754 has them. */
#ifndef DOUBLE_BITS_H
#define DOUBLE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t double_bits(double value) {
  uint64_t bits;

  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double double_of_bits(uint64_t bits) {
  double value;

  memcpy(&value, &bits, sizeof value);
  return value;
}

/* 2^exponent; from -1022 to 1023. */
static inline double double_power_of_two(int exponent) {
  return double_of_bits((uint64_t)(exponent + 1023) << 52);
}

#endif
