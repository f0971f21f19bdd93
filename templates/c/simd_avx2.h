/* simd_avx2.h - vectors of which only the first `count` lanes are in use (count below the number
 * of lanes), by AVX's masked moves. Loads fill the other lanes with zero. */
#ifndef LATHE_SIMD_AVX2_H
#define LATHE_SIMD_AVX2_H

#include "intrinsics.h"

#include "simd_half.h"
#include "simd_whole.h"

/* A window that starts `count` elements before the end of the ones selects that many lanes. */
static const int32_t lathe_window[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

static inline __m256i lathe_window_f32(size_t count) {
  return _mm256_loadu_si256((const __m256i *)(lathe_window + 8 - count));
}

static inline __m256 lathe_mask_part_f32(size_t count) {
  return _mm256_castsi256_ps(lathe_window_f32(count));
}

static inline __m256 lathe_load_part_f32(const float *p, size_t count) {
  return _mm256_maskload_ps(p, lathe_window_f32(count));
}

static inline void lathe_store_part_f32(float *p, __m256 v, size_t count) {
  _mm256_maskstore_ps(p, lathe_window_f32(count), v);
}

static inline __m256i lathe_window_f64(size_t count) {
  return lathe_window_f32(2 * count);
}

static inline __m256d lathe_mask_part_f64(size_t count) {
  return _mm256_castsi256_pd(lathe_window_f64(count));
}

static inline __m256d lathe_load_part_f64(const double *p, size_t count) {
  return _mm256_maskload_pd(p, lathe_window_f64(count));
}

static inline void lathe_store_part_f64(double *p, __m256d v, size_t count) {
  _mm256_maskstore_pd(p, lathe_window_f64(count), v);
}

/* The lane, counted from point `at`, that an index names; none where it lies elsewhere. */
static inline __m256 lathe_hit_f32(int64_t index, size_t at) {
  const uint64_t lane = (uint64_t)index - at;
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_castsi256_ps(
      _mm256_cmpeq_epi32(lanes, _mm256_set1_epi32(lane < 8 ? (int)lane : -1)));
}

static inline __m256d lathe_hit_f64(int64_t index, size_t at) {
  const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
  return _mm256_castsi256_pd(
      _mm256_cmpeq_epi64(lanes, _mm256_set1_epi64x((long long)((uint64_t)index - at))));
}

/* f16 and bf16: eight in memory, as many floats in a register. */

static inline __m256 lathe_widen_f16(__m128i halves) {
  return _mm256_cvtph_ps(halves);
}

static inline __m128i lathe_narrow_f16(__m256 v) {
  return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline __m256 lathe_widen_bf16(__m128i halves) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

/* The bf16 in the upper half of each lane: to nearest, ties to even. A NaN is cut, and stays one: what
 * arithmetic gives or a bf16 was has bits set there. */
static inline __m256i lathe_round_bf16(__m256 v) {
  const __m256i bits = _mm256_castps_si256(v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
  const __m256i number = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_ORD_Q));
  return _mm256_add_epi32(bits, _mm256_and_si256(up, number));
}

static inline __m128i lathe_narrow_bf16(__m256 v) {
  const __m256i upper =
      _mm256_setr_epi8(2, 3, 6, 7, 10, 11, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, 2, 3, 6, 7, 10,
                       11, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i packed = _mm256_shuffle_epi8(lathe_round_bf16(v), upper);
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}

static inline __m256 lathe_load_f16(const uint16_t *p) {
  return lathe_widen_f16(_mm_loadu_si128((const __m128i *)p));
}

static inline void lathe_store_f16(uint16_t *p, __m256 v) {
  _mm_storeu_si128((__m128i *)p, lathe_narrow_f16(v));
}

static inline void lathe_stream_f16(uint16_t *p, __m256 v) {
  _mm_stream_si128((__m128i *)p, lathe_narrow_f16(v));
}

static inline __m256 lathe_load_part_f16(const uint16_t *p, size_t count) {
  return lathe_widen_f16(lathe_load_halves(p, count));
}

static inline void lathe_store_part_f16(uint16_t *p, __m256 v, size_t count) {
  lathe_store_halves(p, lathe_narrow_f16(v), count);
}

static inline __m256 lathe_load_bf16(const uint16_t *p) {
  return lathe_widen_bf16(_mm_loadu_si128((const __m128i *)p));
}

static inline void lathe_store_bf16(uint16_t *p, __m256 v) {
  _mm_storeu_si128((__m128i *)p, lathe_narrow_bf16(v));
}

static inline void lathe_stream_bf16(uint16_t *p, __m256 v) {
  _mm_stream_si128((__m128i *)p, lathe_narrow_bf16(v));
}

static inline __m256 lathe_load_part_bf16(const uint16_t *p, size_t count) {
  return lathe_widen_bf16(lathe_load_halves(p, count));
}

static inline void lathe_store_part_bf16(uint16_t *p, __m256 v, size_t count) {
  lathe_store_halves(p, lathe_narrow_bf16(v), count);
}

/* Their bits: sixteen in memory and in a register. */

static inline __m256i lathe_load_part_h16(const uint16_t *p, size_t count) {
  if (count < 8) {
    return _mm256_zextsi128_si256(lathe_load_halves(p, count));
  }
  const __m128i rest = count > 8 ? lathe_load_halves(p + 8, count - 8) : _mm_setzero_si128();
  return _mm256_setr_m128i(_mm_loadu_si128((const __m128i *)p), rest);
}

static inline void lathe_store_part_h16(uint16_t *p, __m256i v, size_t count) {
  const __m128i first = _mm256_castsi256_si128(v);
  if (count < 8) {
    lathe_store_halves(p, first, count);
    return;
  }
  _mm_storeu_si128((__m128i *)p, first);
  if (count > 8) {
    lathe_store_halves(p + 8, _mm256_extracti128_si256(v, 1), count - 8);
  }
}

/* Of sixteen, those at even and at odd places: without a shuffle. */

static inline __m256 lathe_load_even_bf16(const uint16_t *p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)p), 16));
}

static inline __m256 lathe_load_odd_bf16(const uint16_t *p) {
  const __m256i upper = _mm256_set1_epi32((int)0xffff0000);
  return _mm256_castsi256_ps(_mm256_and_si256(_mm256_loadu_si256((const __m256i *)p), upper));
}

static inline __m256i lathe_join_bf16(const __m256 pair[2]) {
  return _mm256_blend_epi16(_mm256_srli_epi32(lathe_round_bf16(pair[0]), 16),
                            lathe_round_bf16(pair[1]), 0xaa);
}

static inline void lathe_store_pair_bf16(uint16_t *p, const __m256 pair[2]) {
  _mm256_storeu_si256((__m256i *)p, lathe_join_bf16(pair));
}

/* p is aligned for eight. */
static inline void lathe_stream_pair_bf16(uint16_t *p, const __m256 pair[2]) {
  const __m256i joined = lathe_join_bf16(pair);
  _mm_stream_si128((__m128i *)p, _mm256_castsi256_si128(joined));
  _mm_stream_si128((__m128i *)(p + 8), _mm256_extracti128_si256(joined, 1));
}

/* i8 and u8: eight in memory. */

static inline __m256 lathe_widen_i8(__m128i bytes) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

static inline __m256 lathe_widen_u8(__m128i bytes) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
}

/* Whole numbers of 16 bits: see simd_sse2.h. */
static inline __m128i lathe_narrow_whole(__m256 v) {
  const __m256 number = _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
  const __m256 low = _mm256_set1_ps(-512), high = _mm256_set1_ps(512);
  const __m256i whole = _mm256_cvtps_epi32(_mm256_max_ps(_mm256_min_ps(number, high), low));
  return _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
}

static inline __m128i lathe_narrow_i8(__m256 v) {
  const __m128i whole = lathe_narrow_whole(v);
  return _mm_packs_epi16(whole, whole);
}

static inline __m128i lathe_narrow_u8(__m256 v) {
  const __m128i whole = lathe_narrow_whole(v);
  return _mm_packus_epi16(whole, whole);
}

LATHE_BYTES(i8, int8_t, __m256, 8)
LATHE_BYTES(u8, uint8_t, __m256, 8)

static inline void lathe_stream_i8(int8_t *p, __m256 v) {
  lathe_stream_8_bytes(p, lathe_narrow_i8(v));
}

static inline void lathe_stream_u8(uint8_t *p, __m256 v) {
  lathe_stream_8_bytes(p, lathe_narrow_u8(v));
}

#endif
