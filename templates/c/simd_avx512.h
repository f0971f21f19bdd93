/* simd_avx512.h - vectors of which only the first `count` lanes are in use (count below the
 * number of lanes), by AVX-512's own masks. Loads fill the other lanes with zero. */
#ifndef LATHE_SIMD_AVX512_H
#define LATHE_SIMD_AVX512_H

#include "intrinsics.h"

#include "half.h"

static inline __mmask16 lathe_mask_part_f32(size_t count) {
  return (__mmask16)((1u << count) - 1);
}

static inline __m512 lathe_load_part_f32(const float *p, size_t count) {
  return _mm512_maskz_loadu_ps(lathe_mask_part_f32(count), p);
}

static inline void lathe_store_part_f32(float *p, __m512 v, size_t count) {
  _mm512_mask_storeu_ps(p, lathe_mask_part_f32(count), v);
}

static inline __mmask8 lathe_mask_part_f64(size_t count) {
  return (__mmask8)((1u << count) - 1);
}

static inline __m512d lathe_load_part_f64(const double *p, size_t count) {
  return _mm512_maskz_loadu_pd(lathe_mask_part_f64(count), p);
}

static inline void lathe_store_part_f64(double *p, __m512d v, size_t count) {
  _mm512_mask_storeu_pd(p, lathe_mask_part_f64(count), v);
}

/* The lane, counted from point `at`, that an index names; none where it lies elsewhere. */
static inline __mmask16 lathe_hit_f32(int64_t index, size_t at) {
  const uint64_t lane = (uint64_t)index - at;
  return (__mmask16)(lane < 16 ? 1u << lane : 0);
}

static inline __mmask8 lathe_hit_f64(int64_t index, size_t at) {
  const uint64_t lane = (uint64_t)index - at;
  return (__mmask8)(lane < 8 ? 1u << lane : 0);
}

/* f16 and bf16: sixteen in memory, as many floats in a register. */

static inline __m512 lathe_widen_f16(__m256i halves) {
  return _mm512_cvtph_ps(halves);
}

static inline __m256i lathe_narrow_f16(__m512 v) {
  return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline __m512 lathe_widen_bf16(__m256i halves) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

/* The bf16 in the upper half of each lane: to nearest, ties to even. A NaN is cut, and stays one: what
 * arithmetic gives or a bf16 was has bits set there. The instruction of AVX512-BF16 flushes
 * denormals. */
static inline __m512i lathe_round_bf16(__m512 v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
  const __m512i up =
      _mm512_mask_blend_epi32(odd, _mm512_set1_epi32(0x7fff), _mm512_set1_epi32(0x8000));
  return _mm512_mask_add_epi32(bits, _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), bits, up);
}

static inline __m256i lathe_narrow_bf16(__m512 v) {
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(lathe_round_bf16(v), 16));
}

static inline void lathe_store_f16(uint16_t *p, __m512 v) {
  _mm256_storeu_si256((__m256i *)p, lathe_narrow_f16(v));
}

static inline void lathe_stream_f16(uint16_t *p, __m512 v) {
  _mm256_stream_si256((__m256i *)p, lathe_narrow_f16(v));
}

static inline __m512 lathe_load_f16(const uint16_t *p) {
  return lathe_widen_f16(_mm256_loadu_si256((const __m256i *)p));
}

static inline __m512 lathe_load_part_f16(const uint16_t *p, size_t count) {
  return lathe_widen_f16(_mm256_maskz_loadu_epi16(lathe_mask_part_f32(count), p));
}

static inline void lathe_store_part_f16(uint16_t *p, __m512 v, size_t count) {
  _mm256_mask_storeu_epi16(p, lathe_mask_part_f32(count), lathe_narrow_f16(v));
}

static inline void lathe_store_bf16(uint16_t *p, __m512 v) {
  _mm256_storeu_si256((__m256i *)p, lathe_narrow_bf16(v));
}

static inline void lathe_stream_bf16(uint16_t *p, __m512 v) {
  _mm256_stream_si256((__m256i *)p, lathe_narrow_bf16(v));
}

static inline __m512 lathe_load_bf16(const uint16_t *p) {
  return lathe_widen_bf16(_mm256_loadu_si256((const __m256i *)p));
}

static inline __m512 lathe_load_part_bf16(const uint16_t *p, size_t count) {
  return lathe_widen_bf16(_mm256_maskz_loadu_epi16(lathe_mask_part_f32(count), p));
}

static inline void lathe_store_part_bf16(uint16_t *p, __m512 v, size_t count) {
  _mm256_mask_storeu_epi16(p, lathe_mask_part_f32(count), lathe_narrow_bf16(v));
}

/* Their bits: thirty-two in memory and in a register. */

static inline __m512i lathe_load_part_h16(const uint16_t *p, size_t count) {
  return _mm512_maskz_loadu_epi16((1u << count) - 1, p);
}

static inline void lathe_store_part_h16(uint16_t *p, __m512i v, size_t count) {
  _mm512_mask_storeu_epi16(p, (1u << count) - 1, v);
}

/* Of thirty-two, those at even and at odd places: without a shuffle. */

static inline __m512 lathe_load_even_bf16(const uint16_t *p) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(p), 16));
}

static inline __m512 lathe_load_odd_bf16(const uint16_t *p) {
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
  return _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(p), upper));
}

static inline __m512i lathe_join_bf16(const __m512 pair[2]) {
  return _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(lathe_round_bf16(pair[0]), 16),
                                 lathe_round_bf16(pair[1]));
}

static inline void lathe_store_pair_bf16(uint16_t *p, const __m512 pair[2]) {
  _mm512_storeu_si512(p, lathe_join_bf16(pair));
}

/* p is aligned for sixteen. */
static inline void lathe_stream_pair_bf16(uint16_t *p, const __m512 pair[2]) {
  const __m512i joined = lathe_join_bf16(pair);
  _mm256_stream_si256((__m256i *)p, _mm512_castsi512_si256(joined));
  _mm256_stream_si256((__m256i *)(p + 16), _mm512_extracti64x4_epi64(joined, 1));
}

/* i8 and u8: sixteen in memory. Writing cuts off what is beyond the range; NaN is 0. */

static inline __m512i lathe_narrow_whole(__m512 v, float low, float high) {
  const __m512 number = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
  const __m512 least = _mm512_max_ps(number, _mm512_set1_ps(low));
  return _mm512_cvtps_epi32(_mm512_min_ps(least, _mm512_set1_ps(high)));
}

static inline __m512 lathe_widen_i8(__m128i bytes) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
}

static inline __m512 lathe_widen_u8(__m128i bytes) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
}

static inline __m128i lathe_narrow_i8(__m512 v) {
  return _mm512_cvtepi32_epi8(lathe_narrow_whole(v, -128, 127));
}

static inline __m128i lathe_narrow_u8(__m512 v) {
  return _mm512_cvtepi32_epi8(lathe_narrow_whole(v, 0, 255));
}

static inline __m512 lathe_load_i8(const int8_t *p) {
  return lathe_widen_i8(_mm_loadu_si128((const __m128i *)p));
}

static inline void lathe_store_i8(int8_t *p, __m512 v) {
  _mm_storeu_si128((__m128i *)p, lathe_narrow_i8(v));
}

static inline void lathe_stream_i8(int8_t *p, __m512 v) {
  _mm_stream_si128((__m128i *)p, lathe_narrow_i8(v));
}

static inline __m512 lathe_load_part_i8(const int8_t *p, size_t count) {
  return lathe_widen_i8(_mm_maskz_loadu_epi8(lathe_mask_part_f32(count), p));
}

static inline void lathe_store_part_i8(int8_t *p, __m512 v, size_t count) {
  _mm_mask_storeu_epi8(p, lathe_mask_part_f32(count), lathe_narrow_i8(v));
}

static inline __m512 lathe_load_u8(const uint8_t *p) {
  return lathe_widen_u8(_mm_loadu_si128((const __m128i *)p));
}

static inline void lathe_store_u8(uint8_t *p, __m512 v) {
  _mm_storeu_si128((__m128i *)p, lathe_narrow_u8(v));
}

static inline void lathe_stream_u8(uint8_t *p, __m512 v) {
  _mm_stream_si128((__m128i *)p, lathe_narrow_u8(v));
}

static inline __m512 lathe_load_part_u8(const uint8_t *p, size_t count) {
  return lathe_widen_u8(_mm_maskz_loadu_epi8(lathe_mask_part_f32(count), p));
}

static inline void lathe_store_part_u8(uint8_t *p, __m512 v, size_t count) {
  _mm_mask_storeu_epi8(p, lathe_mask_part_f32(count), lathe_narrow_u8(v));
}

#endif
