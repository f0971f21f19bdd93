/* half.h - f16 and bf16 in memory, f32 in registers: conversions without the hardware's help. */
#ifndef LATHE_HALF_H
#define LATHE_HALF_H

#include "scalar.h"
#include "whole.h"

/* Every f16 is a float. The exponent is moved over by a product, which also makes normal numbers
 * of those below f16's normal range. */
static inline float lathe_from_f16(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  const uint32_t rest = (uint32_t)(half & 0x7fff) << 13;
  const float value = lathe_real_f32(rest) * 0x1p112f;
  const uint32_t special = rest >= 0x0f800000 ? 0x7f800000 : 0; /* infinity or NaN */
  return lathe_real_f32(lathe_bits_f32(value) | special | sign);
}

/* To nearest, ties to even. Adding a number whose last place is that of the result makes the
 * processor round there; above 65504 and a half place this gives infinity. NaN stays NaN. */
static inline uint16_t lathe_to_f16(float x) {
  const uint32_t bits = lathe_bits_f32(x);
  const uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) {
    return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x3ff));
  }
  if (rest >= 0x477ff000) {
    return (uint16_t)(sign | 0x7c00);
  }
  if (rest < 0x38800000) { /* below the normal range: units of 2^-24 */
    const float shifted = lathe_real_f32(rest) + 0.5f;
    return (uint16_t)(sign | (lathe_bits_f32(shifted) - lathe_bits_f32(0.5f)));
  }
  return (uint16_t)(sign | (rest + 0xfff + (rest >> 13 & 1) - 0x38000000) >> 13);
}

static inline float lathe_from_bf16(uint16_t half) {
  return lathe_real_f32((uint32_t)half << 16);
}

static inline uint16_t lathe_to_bf16(float x) {
  const uint32_t bits = lathe_bits_f32(x);
  return (uint16_t)((x != x ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
