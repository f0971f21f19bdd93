/* simd_sse2.h - what SSE2 lacks: vectors of which only the first `count` lanes are in use (count
 * below the number of lanes; loads fill the others with zero), and a product and sum rounded once. */
#ifndef LATHE_SIMD_SSE2_H
#define LATHE_SIMD_SSE2_H

#include <emmintrin.h>

#include "simd_half.h"
#include "simd_whole.h"

static inline __m128 lathe_mask_part_f32(size_t count) {
  const __m128i lane = _mm_setr_epi32(0, 1, 2, 3);
  return _mm_castsi128_ps(_mm_cmplt_epi32(lane, _mm_set1_epi32((int)count)));
}

static inline __m128 lathe_load_part_f32(const float *p, size_t count) {
  /* Of the loads of two floats only this one takes them wherever they lie, and as what they are. */
  const __m128 pair =
      count < 2 ? _mm_setzero_ps() : _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)p));
  return count == 1 ? _mm_load_ss(p) : count == 2 ? pair : _mm_movelh_ps(pair, _mm_load_ss(p + 2));
}

static inline void lathe_store_part_f32(float *p, __m128 v, size_t count) {
  if (count == 1) {
    _mm_store_ss(p, v);
    return;
  }
  _mm_storel_pi((__m64 *)p, v);
  if (count == 3) {
    _mm_store_ss(p + 2, _mm_movehl_ps(v, v));
  }
}

static inline __m128d lathe_mask_part_f64(size_t count) {
  const int first = -(count > 0), second = -(count > 1);
  return _mm_castsi128_pd(_mm_set_epi32(second, second, first, first));
}

static inline __m128d lathe_load_part_f64(const double *p, size_t count) {
  return count == 1 ? _mm_load_sd(p) : _mm_setzero_pd();
}

static inline void lathe_store_part_f64(double *p, __m128d v, size_t count) {
  if (count == 1) {
    _mm_store_sd(p, v);
  }
}

/* The lane, counted from point `at`, that an index names; none where it lies elsewhere. */
static inline __m128 lathe_hit_f32(int64_t index, size_t at) {
  const uint64_t lane = (uint64_t)index - at;
  const __m128i lanes = _mm_setr_epi32(0, 1, 2, 3);
  return _mm_castsi128_ps(_mm_cmpeq_epi32(lanes, _mm_set1_epi32(lane < 4 ? (int)lane : -1)));
}

static inline __m128d lathe_hit_f64(int64_t index, size_t at) {
  const uint64_t lane = (uint64_t)index - at;
  return _mm_castsi128_pd(_mm_set_epi32(-(lane == 1), -(lane == 1), -(lane == 0), -(lane == 0)));
}

/* Two floats' product is exact in double; the sum is rounded to double and then to float, which
 * differs from one rounding only where the double lies within 2^-29 ulp of a tie. */
static inline __m128 lathe_fma_f32(__m128 a, __m128 b, __m128 c) {
  const __m128d low = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
  a = _mm_movehl_ps(a, a), b = _mm_movehl_ps(b, b), c = _mm_movehl_ps(c, c);
  const __m128d high = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

static inline __m128d lathe_fma_f64(__m128d a, __m128d b, __m128d c) {
  const double low = __builtin_fma(_mm_cvtsd_f64(a), _mm_cvtsd_f64(b), _mm_cvtsd_f64(c));
  a = _mm_unpackhi_pd(a, a), b = _mm_unpackhi_pd(b, b), c = _mm_unpackhi_pd(c, c);
  const double high = __builtin_fma(_mm_cvtsd_f64(a), _mm_cvtsd_f64(b), _mm_cvtsd_f64(c));
  return _mm_setr_pd(low, high);
}

/* f16 and bf16: four in memory, as many floats in a register. SSE2 has no conversion of f16; half.h
 * explains what is done. */

static inline __m128i lathe_choose(__m128i mask, __m128i a, __m128i b) {
  return _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b));
}

static inline __m128 lathe_widen_f16(__m128i halves) {
  const __m128i wide = _mm_unpacklo_epi16(halves, _mm_setzero_si128());
  const __m128i rest = _mm_slli_epi32(_mm_and_si128(wide, _mm_set1_epi32(0x7fff)), 13);
  const __m128i sign = _mm_slli_epi32(_mm_and_si128(wide, _mm_set1_epi32(0x8000)), 16);
  const __m128 value = _mm_mul_ps(_mm_castsi128_ps(rest), _mm_set1_ps(0x1p112f));
  const __m128i special =
      _mm_and_si128(_mm_cmpgt_epi32(rest, _mm_set1_epi32(0x0f7fffff)), _mm_set1_epi32(0x7f800000));
  return _mm_or_ps(value, _mm_castsi128_ps(_mm_or_si128(special, sign)));
}

static inline __m128i lathe_narrow_f16(__m128 v) {
  const __m128i bits = _mm_castps_si128(v);
  const __m128i rest = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
  const __m128i fraction = _mm_srli_epi32(rest, 13);
  const __m128i nan = _mm_cmpgt_epi32(rest, _mm_set1_epi32(0x7f800000));
  const __m128i large = _mm_cmpgt_epi32(rest, _mm_set1_epi32(0x477fefff));
  const __m128i small = _mm_cmplt_epi32(rest, _mm_set1_epi32(0x38800000));
  const __m128i odd = _mm_and_si128(fraction, _mm_set1_epi32(1));
  const __m128i normal = _mm_srli_epi32(
      _mm_add_epi32(_mm_add_epi32(rest, odd), _mm_set1_epi32(0xfff - 0x38000000)), 13);
  const __m128 half = _mm_set1_ps(0.5f);
  const __m128i denormal = _mm_sub_epi32(_mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(rest), half)),
                                         _mm_castps_si128(half));
  const __m128i quiet =
      _mm_or_si128(_mm_and_si128(fraction, _mm_set1_epi32(0x3ff)), _mm_set1_epi32(0x7e00));
  __m128i result = lathe_choose(small, denormal, normal);
  result = lathe_choose(large, _mm_set1_epi32(0x7c00), result);
  result = lathe_choose(nan, quiet, result);
  /* The packing takes its elements for signed: the sign is spread over the upper half. */
  result = _mm_or_si128(result, _mm_slli_epi32(_mm_srai_epi32(bits, 31), 15));
  return _mm_packs_epi32(result, _mm_setzero_si128());
}

static inline __m128 lathe_widen_bf16(__m128i halves) {
  return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), halves));
}

/* The bf16 in the upper half of each lane: to nearest, ties to even. A NaN is cut, and stays one: what
 * arithmetic gives or a bf16 was has bits set there. */
static inline __m128i lathe_round_bf16(__m128 v) {
  const __m128i bits = _mm_castps_si128(v);
  const __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
  const __m128i up = _mm_add_epi32(odd, _mm_set1_epi32(0x7fff));
  const __m128i number = _mm_castps_si128(_mm_cmpord_ps(v, v));
  return _mm_add_epi32(bits, _mm_and_si128(up, number));
}

static inline __m128i lathe_narrow_bf16(__m128 v) {
  return _mm_packs_epi32(_mm_srai_epi32(lathe_round_bf16(v), 16), _mm_setzero_si128());
}

static inline __m128 lathe_load_f16(const uint16_t *p) {
  return lathe_widen_f16(_mm_loadl_epi64((const __m128i *)p));
}

static inline void lathe_store_f16(uint16_t *p, __m128 v) {
  _mm_storel_epi64((__m128i *)p, lathe_narrow_f16(v));
}

static inline __m128 lathe_load_part_f16(const uint16_t *p, size_t count) {
  return lathe_widen_f16(lathe_load_halves(p, count));
}

static inline void lathe_store_part_f16(uint16_t *p, __m128 v, size_t count) {
  lathe_store_halves(p, lathe_narrow_f16(v), count);
}

static inline __m128 lathe_load_bf16(const uint16_t *p) {
  return lathe_widen_bf16(_mm_loadl_epi64((const __m128i *)p));
}

static inline void lathe_store_bf16(uint16_t *p, __m128 v) {
  _mm_storel_epi64((__m128i *)p, lathe_narrow_bf16(v));
}

static inline __m128 lathe_load_part_bf16(const uint16_t *p, size_t count) {
  return lathe_widen_bf16(lathe_load_halves(p, count));
}

static inline void lathe_store_part_bf16(uint16_t *p, __m128 v, size_t count) {
  lathe_store_halves(p, lathe_narrow_bf16(v), count);
}

/* Their bits: eight in memory and in a register. */

static inline __m128i lathe_load_part_h16(const uint16_t *p, size_t count) {
  return lathe_load_halves(p, count);
}

static inline void lathe_store_part_h16(uint16_t *p, __m128i v, size_t count) {
  lathe_store_halves(p, v, count);
}

/* Of eight, those at even and at odd places: without a shuffle. */

static inline __m128 lathe_load_even_bf16(const uint16_t *p) {
  return _mm_castsi128_ps(_mm_slli_epi32(_mm_loadu_si128((const __m128i *)p), 16));
}

static inline __m128 lathe_load_odd_bf16(const uint16_t *p) {
  const __m128i upper = _mm_set1_epi32((int)0xffff0000);
  return _mm_castsi128_ps(_mm_and_si128(_mm_loadu_si128((const __m128i *)p), upper));
}

static inline void lathe_store_pair_bf16(uint16_t *p, const __m128 pair[2]) {
  const __m128i upper = _mm_set1_epi32((int)0xffff0000);
  const __m128i low = _mm_srli_epi32(lathe_round_bf16(pair[0]), 16);
  _mm_storeu_si128((__m128i *)p,
                   _mm_or_si128(low, _mm_and_si128(lathe_round_bf16(pair[1]), upper)));
}

/* i8 and u8: four in memory. */

static inline __m128 lathe_widen_i8(__m128i bytes) {
  const __m128i pairs = _mm_unpacklo_epi8(bytes, bytes);
  return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(pairs, pairs), 24));
}

static inline __m128 lathe_widen_u8(__m128i bytes) {
  const __m128i zero = _mm_setzero_si128();
  return _mm_cvtepi32_ps(_mm_unpacklo_epi16(_mm_unpacklo_epi8(bytes, zero), zero));
}

/* Whole numbers of 16 bits. Those beyond 8 bits are left to the last step, so that nothing is beyond an int but what
 * is cut here; NaN is 0. */
static inline __m128i lathe_narrow_whole(__m128 v) {
  const __m128 number = _mm_and_ps(v, _mm_cmpord_ps(v, v));
  const __m128 within = _mm_max_ps(_mm_min_ps(number, _mm_set1_ps(512)), _mm_set1_ps(-512));
  const __m128i whole = _mm_cvtps_epi32(within);
  return _mm_packs_epi32(whole, whole);
}

static inline __m128i lathe_narrow_i8(__m128 v) {
  const __m128i whole = lathe_narrow_whole(v);
  return _mm_packs_epi16(whole, whole);
}

static inline __m128i lathe_narrow_u8(__m128 v) {
  const __m128i whole = lathe_narrow_whole(v);
  return _mm_packus_epi16(whole, whole);
}

LATHE_BYTES(i8, int8_t, __m128, 4)
LATHE_BYTES(u8, uint8_t, __m128, 4)

#endif
