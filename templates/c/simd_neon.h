/* simd_neon.h - what NEON takes more than one intrinsic for: vectors of which only the first `count` lanes are in use
 * (count below the number of lanes; loads fill the others with zero), masks as a whole, and conversions. */
#ifndef LATHE_SIMD_NEON_H
#define LATHE_SIMD_NEON_H

#include <arm_neon.h>

#include "few.h"
#include "half.h"

static inline uint32x4_t lathe_mask_part_f32(size_t count) {
  const uint32x4_t lane = {0, 1, 2, 3};
  return vcltq_u32(lane, vdupq_n_u32((uint32_t)count));
}

static inline float32x4_t lathe_load_part_f32(const float *p, size_t count) {
  if (count == 1) {
    return vld1q_lane_f32(p, vdupq_n_f32(0), 0);
  }
  const float32x4_t pair = vcombine_f32(vld1_f32(p), vdup_n_f32(0));
  return count == 2 ? pair : vld1q_lane_f32(p + 2, pair, 2);
}

static inline void lathe_store_part_f32(float *p, float32x4_t v, size_t count) {
  if (count == 1) {
    vst1q_lane_f32(p, v, 0);
    return;
  }
  vst1_f32(p, vget_low_f32(v));
  if (count == 3) {
    vst1q_lane_f32(p + 2, v, 2);
  }
}

static inline uint64x2_t lathe_mask_part_f64(size_t count) {
  const uint64x2_t lane = {0, 1};
  return vcltq_u64(lane, vdupq_n_u64(count));
}

static inline float64x2_t lathe_load_part_f64(const double *p, size_t count) {
  return count == 1 ? vld1q_lane_f64(p, vdupq_n_f64(0), 0) : vdupq_n_f64(0);
}

static inline void lathe_store_part_f64(double *p, float64x2_t v, size_t count) {
  if (count == 1) {
    vst1q_lane_f64(p, v, 0);
  }
}

/* Past the caches, as two halves: no other store has the hint. p is aligned for a vector. */
static inline void lathe_stream_f64(double *p, float64x2_t v) {
  __asm__("stnp %d1, %d2, [%3]"
          : "=m"(*(double(*)[2])p)
          : "w"(vget_low_f64(v)), "w"(vget_high_f64(v)), "r"(p));
}

static inline void lathe_stream_f32(float *p, float32x4_t v) {
  __asm__("stnp %d1, %d2, [%3]"
          : "=m"(*(float(*)[4])p)
          : "w"(vget_low_f32(v)), "w"(vget_high_f32(v)), "r"(p));
}

/* Whether a mask has any lane, and the first that it has. */

static inline int lathe_any_f32(uint32x4_t mask) {
  return vmaxvq_u32(mask) != 0;
}

static inline int lathe_any_f64(uint64x2_t mask) {
  return vmaxvq_u32(vreinterpretq_u32_u64(mask)) != 0;
}

static inline size_t lathe_first_f32(uint32x4_t mask) {
  const uint64x1_t lanes = vreinterpret_u64_u16(vmovn_u32(mask));
  return (size_t)__builtin_ctzll(vget_lane_u64(lanes, 0)) / 16;
}

static inline size_t lathe_first_f64(uint64x2_t mask) {
  const uint64x1_t lanes = vreinterpret_u64_u32(vmovn_u64(mask));
  return (size_t)__builtin_ctzll(vget_lane_u64(lanes, 0)) / 32;
}

/* The lane, counted from point `at`, that an index names; none where it lies elsewhere. */
static inline uint32x4_t lathe_hit_f32(int64_t index, size_t at) {
  const uint64_t lane = (uint64_t)index - at;
  const uint32x4_t lanes = {0, 1, 2, 3};
  return vceqq_u32(lanes, vdupq_n_u32(lane < 4 ? (uint32_t)lane : 4));
}

static inline uint64x2_t lathe_hit_f64(int64_t index, size_t at) {
  const uint64x2_t lanes = {0, 1};
  return vceqq_u64(lanes, vdupq_n_u64((uint64_t)index - at));
}

static inline float32x4_t lathe_reciprocal_near_f32(float32x4_t v) {
  const float32x4_t guess = vrecpeq_f32(v); /* 8 bits of it */
  return vmulq_f32(guess, vrecpsq_f32(v, guess));
}

/* f16 and bf16: four in memory, as many floats in a register. */

static inline float32x4_t lathe_widen_f16(uint16x4_t halves) {
  return vcvt_f32_f16(vreinterpret_f16_u16(halves));
}

static inline uint16x4_t lathe_narrow_f16(float32x4_t v) {
  return vreinterpret_u16_f16(vcvt_f16_f32(v));
}

static inline float32x4_t lathe_widen_bf16(uint16x4_t halves) {
  return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(halves), 16));
}

/* The bf16 in the upper half of each lane: to nearest, ties to even. A NaN is cut, and stays one: what
 * arithmetic gives or a bf16 was has bits set there. */
static inline uint32x4_t lathe_round_bf16(float32x4_t v) {
  const uint32x4_t bits = vreinterpretq_u32_f32(v);
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  const uint32x4_t up = vaddq_u32(odd, vdupq_n_u32(0x7fff));
  return vaddq_u32(bits, vandq_u32(up, vceqq_f32(v, v)));
}

static inline uint16x4_t lathe_narrow_bf16(float32x4_t v) {
  return vshrn_n_u32(lathe_round_bf16(v), 16);
}

static inline uint16x4_t lathe_few_halves(const uint16_t *p, size_t count) {
  return vcreate_u16(lathe_get_halves(p, count));
}

static inline uint64_t lathe_as_word(uint16x4_t halves) {
  return vget_lane_u64(vreinterpret_u64_u16(halves), 0);
}

static inline float32x4_t lathe_load_f16(const uint16_t *p) {
  return lathe_widen_f16(vld1_u16(p));
}

static inline void lathe_store_f16(uint16_t *p, float32x4_t v) {
  vst1_u16(p, lathe_narrow_f16(v));
}

static inline float32x4_t lathe_load_part_f16(const uint16_t *p, size_t count) {
  return lathe_widen_f16(lathe_few_halves(p, count));
}

static inline void lathe_store_part_f16(uint16_t *p, float32x4_t v, size_t count) {
  lathe_put_halves(p, lathe_as_word(lathe_narrow_f16(v)), count);
}

static inline float32x4_t lathe_load_bf16(const uint16_t *p) {
  return lathe_widen_bf16(vld1_u16(p));
}

static inline void lathe_store_bf16(uint16_t *p, float32x4_t v) {
  vst1_u16(p, lathe_narrow_bf16(v));
}

static inline float32x4_t lathe_load_part_bf16(const uint16_t *p, size_t count) {
  return lathe_widen_bf16(lathe_few_halves(p, count));
}

static inline void lathe_store_part_bf16(uint16_t *p, float32x4_t v, size_t count) {
  lathe_put_halves(p, lathe_as_word(lathe_narrow_bf16(v)), count);
}

/* Their bits: eight in memory and in a register. */

static inline uint16x8_t lathe_load_part_h16(const uint16_t *p, size_t count) {
  if (count < 4) {
    return vcombine_u16(lathe_few_halves(p, count), vdup_n_u16(0));
  }
  const uint16x4_t rest = count > 4 ? lathe_few_halves(p + 4, count - 4) : vdup_n_u16(0);
  return vcombine_u16(vld1_u16(p), rest);
}

static inline void lathe_store_part_h16(uint16_t *p, uint16x8_t v, size_t count) {
  if (count < 4) {
    lathe_put_halves(p, lathe_as_word(vget_low_u16(v)), count);
    return;
  }
  vst1_u16(p, vget_low_u16(v));
  if (count > 4) {
    lathe_put_halves(p + 4, lathe_as_word(vget_high_u16(v)), count - 4);
  }
}

/* Of eight, those at even and at odd places: without a shuffle. */

static inline float32x4_t lathe_load_even_bf16(const uint16_t *p) {
  return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_u16(vld1q_u16(p)), 16));
}

static inline float32x4_t lathe_load_odd_bf16(const uint16_t *p) {
  const uint32x4_t pairs = vreinterpretq_u32_u16(vld1q_u16(p));
  return vreinterpretq_f32_u32(vandq_u32(pairs, vdupq_n_u32(0xffff0000)));
}

static inline void lathe_store_pair_bf16(uint16_t *p, const float32x4_t pair[2]) {
  const uint32x4_t joined = vsriq_n_u32(lathe_round_bf16(pair[1]), lathe_round_bf16(pair[0]), 16);
  vst1q_u16(p, vreinterpretq_u16_u32(joined));
}

/* i8 and u8: four in memory. Writing rounds to nearest, ties to even, cuts off what is beyond the range, and makes 0 of
 * NaN: the conversions do all of it. */

static inline uint8x8_t lathe_load_bytes(const void *p, size_t count) {
  return vcreate_u8(lathe_get_bytes(p, count));
}

static inline void lathe_store_bytes(void *p, uint8x8_t bytes, size_t count) {
  lathe_put_bytes(p, vget_lane_u64(vreinterpret_u64_u8(bytes), 0), count);
}

static inline uint8x8_t lathe_load_4_bytes(const void *p) {
  return lathe_load_bytes(p, 4);
}

static inline void lathe_store_4_bytes(void *p, uint8x8_t bytes) {
  lathe_store_bytes(p, bytes, 4);
}

static inline float32x4_t lathe_widen_i8(uint8x8_t bytes) {
  return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(bytes)))));
}

static inline float32x4_t lathe_widen_u8(uint8x8_t bytes) {
  return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
}

static inline int16x8_t lathe_narrow_whole(float32x4_t v) {
  const int16x4_t whole = vqmovn_s32(vcvtnq_s32_f32(v));
  return vcombine_s16(whole, whole);
}

static inline uint8x8_t lathe_narrow_i8(float32x4_t v) {
  return vreinterpret_u8_s8(vqmovn_s16(lathe_narrow_whole(v)));
}

static inline uint8x8_t lathe_narrow_u8(float32x4_t v) {
  return vqmovun_s16(lathe_narrow_whole(v));
}

LATHE_BYTES(i8, int8_t, float32x4_t, 4)
LATHE_BYTES(u8, uint8_t, float32x4_t, 4)

#endif
