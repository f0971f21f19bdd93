/* dtype.c - number formats: widening and narrowing. */
#include "dtype.h"

#include <math.h>
#include <string.h>

#include "cpu.h"
#include "double_bits.h"

/* The two 16-bit formats differ only in where the fraction ends: 10 bits in f16, 7 in bf16. */

/* Without branches, so that compilers make vectors of it. */
static inline double widen16(uint16_t half, int fraction) {
  const uint64_t exponent_mask = (1u << (15 - fraction)) - 1;
  const int bias = (int)exponent_mask >> 1;
  const uint64_t bits = half, size = bits & 0x7fff;
  const double scale = double_power_of_two(1023 - bias);
  const uint64_t number = double_bits(double_of_bits(size << (52 - fraction)) * scale);
  const uint64_t beyond = size >= exponent_mask << fraction ? 0x7ff0000000000000u : 0;

  return double_of_bits((bits >> 15 << 63) | number | beyond);
}

static inline void widen_halves(const uint16_t *from, size_t count, int fraction, double *to) {
  for (size_t i = 0; i < count; i++)
    to[i] = widen16(from[i], fraction);
}

#if defined __x86_64__
__attribute__((target("avx2"))) static void widen_halves_avx2(const uint16_t *from, size_t count,
                                                              int fraction, double *to) {
  widen_halves(from, count, fraction, to);
}
#endif

static void widen_all16(const uint16_t *from, size_t count, int fraction, double *to) {
#if defined __x86_64__
  if (lathe_cpu_features() & LATHE_AVX2) {
    widen_halves_avx2(from, count, fraction, to);
    return;
  }
#endif
  widen_halves(from, count, fraction, to);
}

static inline uint16_t narrow16(double value, int fraction) {
  const int exponent_mask = (1 << (15 - fraction)) - 1;
  const int lowest = 1 - (exponent_mask >> 1), highest = exponent_mask >> 1;
  const int drop = 52 - fraction;
  const uint64_t infinity = (uint64_t)exponent_mask << fraction;
  const uint64_t wide = double_bits(value) & INT64_MAX, sign = double_bits(value) >> 63 << 15;
  const int exponent = (int)(wide >> 52) - 1023;

  if (exponent < lowest) { /* the sum's last digit is the smallest value's: it is rounded to that */
    const double steps = double_of_bits(wide) * double_power_of_two(fraction - lowest);
    return (uint16_t)(sign | (double_bits(steps + 0x1p52) & 0xffff));
  }
  if (exponent <= highest) { /* a carry is the next exponent, or infinity */
    const uint64_t half = (1ull << (drop - 1)) - 1 + (wide >> drop & 1);
    return (uint16_t)(sign | (((wide + half) >> drop) - ((uint64_t)(1022 + lowest) << fraction)));
  }
  if (value != value) /* keep what fits of a NaN's payload, and make it quiet */
    return (uint16_t)(sign | infinity | 1u << (fraction - 1) |
                      ((wide >> drop) & ((1u << fraction) - 1)));
  return (uint16_t)(sign | infinity);
}

double lathe_dtype_within(lathe_dtype dtype, double value) {
  const dtype_format *f = lathe_dtype_format_of(dtype);

  return value != value ? 0 : value < f->low ? f->low : value > f->high ? f->high : value;
}

static double whole_of(lathe_dtype dtype, double value) {
  return nearbyint(lathe_dtype_within(dtype, value));
}

void lathe_dtype_widen(lathe_dtype dtype, const void *from, size_t count, double *to) {
  switch (dtype) {
  case LATHE_F64: memcpy(to, from, count * sizeof *to); break;
  case LATHE_F32:
    for (size_t i = 0; i < count; i++)
      to[i] = ((const float *)from)[i];
    break;
  case LATHE_F16: widen_all16(from, count, 10, to); break;
  case LATHE_BF16: widen_all16(from, count, 7, to); break;
  case LATHE_I8:
    for (size_t i = 0; i < count; i++)
      to[i] = ((const int8_t *)from)[i];
    break;
  case LATHE_U8:
    for (size_t i = 0; i < count; i++)
      to[i] = ((const uint8_t *)from)[i];
    break;
  case LATHE_I64:
    for (size_t i = 0; i < count; i++)
      to[i] = (double)((const int64_t *)from)[i];
    break;
  case LATHE_DTYPES:
  case LATHE_VARIANT_DTYPE:
  case LATHE_COMPUTED_DTYPE: break;
  }
}

void lathe_dtype_widen_long(lathe_dtype dtype, const void *from, size_t count, long double *to) {
  if (dtype == LATHE_I64) {
    for (size_t i = 0; i < count; i++)
      to[i] = ((const int64_t *)from)[i];
    return;
  }
  /* Everything else is exact in a double. */
  for (size_t i = 0, some; i < count; i += some) {
    double values[64] = {0}; /* for compilers that see no type set them */
    some = count - i < 64 ? count - i : 64;
    lathe_dtype_widen(dtype, (const char *)from + i * lathe_dtype_size(dtype), some, values);
    for (size_t j = 0; j < some; j++)
      to[i + j] = values[j];
  }
}

void lathe_dtype_narrow(lathe_dtype dtype, const double *from, size_t count, void *to) {
  switch (dtype) {
  case LATHE_F64: memcpy(to, from, count * sizeof *from); break;
  case LATHE_F32:
    for (size_t i = 0; i < count; i++)
      ((float *)to)[i] = (float)from[i];
    break;
  case LATHE_F16:
    for (size_t i = 0; i < count; i++)
      ((uint16_t *)to)[i] = narrow16(from[i], 10);
    break;
  case LATHE_BF16:
    for (size_t i = 0; i < count; i++)
      ((uint16_t *)to)[i] = narrow16(from[i], 7);
    break;
  case LATHE_I8:
    for (size_t i = 0; i < count; i++)
      ((int8_t *)to)[i] = (int8_t)whole_of(dtype, from[i]);
    break;
  case LATHE_U8:
    for (size_t i = 0; i < count; i++)
      ((uint8_t *)to)[i] = (uint8_t)whole_of(dtype, from[i]);
    break;
  case LATHE_I64:
    for (size_t i = 0; i < count; i++)
      ((int64_t *)to)[i] = (int64_t)from[i];
    break;
  case LATHE_DTYPES:
  case LATHE_VARIANT_DTYPE:
  case LATHE_COMPUTED_DTYPE: break;
  }
}
