/* whole.h - i8 and u8 in memory, f32 in registers: conversions of one number. Reading is exact. Writing rounds to
 * nearest, ties to even, beyond the range to its end, and NaN to 0. */
#ifndef LATHE_WHOLE_H
#define LATHE_WHOLE_H

#include <stdint.h>

static inline float lathe_from_i8(int8_t x) {
  return x;
}

static inline float lathe_from_u8(uint8_t x) {
  return x;
}

/* The nearest whole number of one between -2^22 and 2^22: the sum's last place is 1. */
static inline float lathe_nearest_whole(float x) {
  return (x + 0x1.8p23f) - 0x1.8p23f;
}

static inline int8_t lathe_to_i8(float x) {
  const float least = x > -128 ? x : -128, within = least < 127 ? least : 127;
  return (int8_t)(x != x ? 0 : lathe_nearest_whole(within));
}

static inline uint8_t lathe_to_u8(float x) {
  const float least = x > 0 ? x : 0, within = least < 255 ? least : 255;
  return (uint8_t)lathe_nearest_whole(within); /* NaN is not above 0 */
}

#endif
