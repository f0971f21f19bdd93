/* functions.h - functions that CUDA's library lacks, or that are cheaper where less will do, and random
 * numbers. */
#ifndef LATHE_FUNCTIONS_H
#define LATHE_FUNCTIONS_H

#include "ptx.h"

/* e^x and erfc(x) of an argument that has been rounded itself, and so is off by half an ulp: that
 * makes them wrong by |x| / 2 and by x^2 ulp, and these are wrong by about three times as much, and
 * by 4 ulp. Half the power squared has results below the normal range too. */
static __device__ __forceinline__ float lathe_exp_near(float x) {
  const float root = lathe_power(x * 0x1.715476p-1f);
  return root * root;
}

/* The same where what is below the normal range does not matter, as in f16. */
static __device__ __forceinline__ float lathe_exp_near_f16(float x) {
  return lathe_power(x * 0x1.715476p0f);
}

/* e^-|x| of an x of 11 bits, or of 8: log2(e) in two parts, of which the first has so few bits that its
 * product with x is exact. The second's power is 1 + y, near enough. */
static __device__ __forceinline__ float lathe_fall_f16(float x) {
  const float a = fabsf(x) > 104.0f ? 104.0f : fabsf(x), power = lathe_power(a * -0x1.715p0f);
  return fmaf(power, a * -0x1.8be626p-15f, power);
}

static __device__ __forceinline__ float lathe_fall_bf16(float x) {
  const float a = fabsf(x) > 104.0f ? 104.0f : fabsf(x), root = lathe_power(a * -0x1.7154p-1f),
              power = root * root;
  return fmaf(power, a * -0x1.480fb6p-18f, power);
}

/* 1 / (1 + e^-x) and 1 - that for results that are rounded to half the bits: with e = e^-|x|, 1 / (1 + e)
 * or e / (1 + e). near: of an argument that has been rounded. */
static __device__ __forceinline__ float lathe_sigmoid_of(float x, float power) {
  return (x < 0 ? power : 1.0f) * lathe_rcp(1.0f + power);
}

static __device__ __forceinline__ float lathe_complement_of(float x, float power) {
  return (x < 0 ? 1.0f : power) * lathe_rcp(1.0f + power);
}

static __device__ __forceinline__ float lathe_sigmoid_f16(float x) {
  return lathe_sigmoid_of(x, lathe_fall_f16(x));
}

static __device__ __forceinline__ float lathe_complement_f16(float x) {
  return lathe_complement_of(x, lathe_fall_f16(x));
}

static __device__ __forceinline__ float lathe_sigmoid_bf16(float x) {
  return lathe_sigmoid_of(x, lathe_fall_bf16(x));
}

static __device__ __forceinline__ float lathe_complement_bf16(float x) {
  return lathe_complement_of(x, lathe_fall_bf16(x));
}

static __device__ __forceinline__ float lathe_sigmoid_near(float x) {
  return lathe_sigmoid_of(x, lathe_exp_near(-fabsf(x)));
}

static __device__ __forceinline__ float lathe_complement_near(float x) {
  return lathe_complement_of(x, lathe_exp_near(-fabsf(x)));
}

/* erfc by the polynomials of gen/vecmath.lua. Below 7/8 it is (1 - x) - x p(x^2), above
 * e^(-x^2) u p(u), with a polynomial of its own. */
static __device__ __forceinline__ float lathe_erfc_below(float x, float square) {
  float near = -0x1.44aba8p-11f;
  near = fmaf(near, square, 0x1.499f5cp-8f);
  near = fmaf(near, square, -0x1.b6ea32p-6f);
  near = fmaf(near, square, 0x1.ce2036p-4f);
  near = fmaf(near, square, -0x1.812702p-2f);
  near = fmaf(near, square, 0x1.06eba6p-3f);
  return fmaf(-x, near, 1.0f - x);
}

/* Off by 3.8 ulp: u = 1 / (|x| + 3/2), with what rounding took from that sum and from x^2. */
static __device__ __forceinline__ float lathe_erfc(float x) {
  const float a = fabsf(x) > 10.1f ? 10.1f : fabsf(x), w = a + 1.5f;
  const float high = a * a, low = fmaf(a, a, -high);
  float u = lathe_rcp(w);
  u = fmaf(fmaf(-w, u, 1.0f), u, u);
  const float off = fmaf(1.4f * u, w - 1.5f - a, -low);
  float far = -0x1.3eee68p2f;
  far = fmaf(far, u, 0x1.65c872p3f);
  far = fmaf(far, u, -0x1.0c85cap3f);
  far = fmaf(far, u, 0x1.27492ep0f);
  far = fmaf(far, u, 0x1.77b83p-2f);
  far = fmaf(far, u, 0x1.0343dep0f);
  far = fmaf(far, u, 0x1.b09eaep-1f);
  far = fmaf(far, u, 0x1.20e142p-1f);
  far = far * u * expf(-high);
  far = fmaf(far, off, far);
  far = x < 0 ? 2.0f - far : far;
  return fabsf(x) < 0.875f ? lathe_erfc_below(x, x * x) : far;
}

/* u = 1 / (|x| + 7/4): 5e-9 of the result and 2 x^2 + 1 times as much. */
static __device__ __forceinline__ float lathe_erfc_near(float x) {
  const float square = x * x, u = lathe_rcp(fabsf(x) + 1.75f);
  const float root = lathe_power(square * -0x1.715476p-1f);
  float far = 0x1.befc3cp+2f;
  far = fmaf(far, u, -0x1.519b08p+3f);
  far = fmaf(far, u, 0x1.8d023cp+1f);
  far = fmaf(far, u, 0x1.1d671cp+0f);
  far = fmaf(far, u, 0x1.7c1faap+0f);
  far = fmaf(far, u, 0x1.f89b26p-1f);
  far = fmaf(far, u, 0x1.20e136p-1f);
  far = far * u * root * root;
  far = x < 0 ? 2.0f - far : far;
  return fabsf(x) < 0.875f ? lathe_erfc_below(x, square) : far;
}

/* The functions below are for results that are rounded to half the bits: they are off by 12 ulp of f32
 * at most (the next three: and x^2 + 1 times that), 1.5 thousandths of one of f16's.
 *
 * The normal distribution's bell, e^(-x^2 / 2). Half the power squared has results below the normal range. */
static __device__ __forceinline__ float lathe_bell_f16(float x) {
  return lathe_power(x * x * -0x1.715476p-1f);
}

static __device__ __forceinline__ float lathe_bell_bf16(float x) {
  const float root = lathe_power(x * x * -0x1.715476p-2f);
  return root * root;
}

/* Its function, erfc(-x / sqrt(2)) / 2, by the bell u p(u) with u = 1 / (|x| + 2 sqrt(2)): 1.5e-7. */
static __device__ __forceinline__ float lathe_normal(float x, float bell) {
  const float u = lathe_rcp(fabsf(x) + 0x1.6a09e6p1f);
  float far = 0x1.03fc9ep+6f;
  far = fmaf(far, u, -0x1.70e756p+6f);
  far = fmaf(far, u, 0x1.1ae8fap+5f);
  far = fmaf(far, u, 0x1.46c014p+0f);
  far = fmaf(far, u, 0x1.947b5p+1f);
  far = fmaf(far, u, 0x1.1d0356p+0f);
  far = fmaf(far, u, 0x1.98bcb4p-2f);
  far = far * u * bell;
  return x > 0 ? 1.0f - far : far;
}

/* x + x^3 p(x^2), or 1 - 2 / (e^(2|x|) + 1). */
static __device__ __forceinline__ float lathe_tanh_narrow(float x) {
  const float square = x * x;
  const float far = fmaf(-2.0f, lathe_rcp(1.0f + lathe_power(fabsf(x) * 0x1.715476p1f)), 1.0f);
  float near = 0x1.e43334p-7f;
  near = fmaf(near, square, -0x1.a734dcp-5f);
  near = fmaf(near, square, 0x1.106ea4p-3f);
  near = fmaf(near, square, -0x1.5551e0p-2f);
  near = fmaf(near * square, x, x);
  return copysignf(fabsf(x) < 0.65f ? near : far, x);
}

/* From -1/2 to 1 2 atanh(s) with s = x / (2 + x), s^2 at most 1/9; elsewhere log2(1 + x) is 1 at least, and as good
 * as that sum. */
static __device__ __forceinline__ float lathe_log1p_narrow(float x) {
  const float s = x * lathe_rcp(2.0f + x), square = s * s;
  float near = 0x1.5c1d36p-2f;
  near = fmaf(near, square, 0x1.95db46p-2f);
  near = fmaf(near, square, 0x1.555e52p-1f);
  near = fmaf(near * square, s, 2.0f * s);
  return fabsf(x - 0.25f) <= 0.75f ? near : lathe_log2(1.0f + x) * 0x1.62e43p-1f;
}

/* Philox4x32-10 (Salmon and others 2011) as templates/c/philox.h has it: its ten rounds of 64-bit products
 * are what dropout is limited by. */
struct lathe_keys {
  unsigned even[10], odd[10]; /* of each round */

  explicit __device__ __forceinline__ lathe_keys(long long seed) {
#pragma unroll
    for (int round = 0; round < 10; round++) {
      even[round] = (unsigned)((unsigned long long)seed >> 32) + round * 0xbb67ae85u;
      odd[round] = (unsigned)seed + round * 0x9e3779b9u;
    }
  }
};

static __device__ __forceinline__ uint4 lathe_philox(const lathe_keys &keys, long long offset,
                                                     unsigned long long counter) {
  uint4 word = {(unsigned)counter, (unsigned)(counter >> 32), (unsigned)offset,
                (unsigned)((unsigned long long)offset >> 32)};

#pragma unroll
  for (int round = 0; round < 10; round++) {
    const unsigned long long even = 0xd2511f53ull * word.x, odd = 0xcd9e8d57ull * word.z;
    word = {(unsigned)(odd >> 32) ^ word.y ^ keys.odd[round], (unsigned)odd,
            (unsigned)(even >> 32) ^ word.w ^ keys.even[round], (unsigned)even};
  }
  return word;
}

/* The numbers in [0, 1) of N points from `first` on, a multiple of N, in the order of the points: of a
 * counter four, or eight of 16 bits. */
template <bool NARROW, typename T, int N>
static __device__ __forceinline__ void lathe_random(T (&numbers)[N], const lathe_keys &keys,
                                                    long long offset, size_t first) {
  enum { EACH = NARROW ? 8 : 4 };
#pragma unroll
  for (int begin = 0; begin < N; begin += EACH) {
    const uint4 word = lathe_philox(keys, offset, first / EACH + begin / EACH);
    const unsigned words[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
    for (int j = begin; j < N && j < begin + EACH; j++) {
      const unsigned nth = N < EACH ? first % EACH + j : j - begin, w = NARROW ? nth / 2 : nth;
      /* Chosen by conditions, for an index that is not known would put them in memory. */
      const unsigned low = w < 1 ? words[0] : words[1], high = w < 3 ? words[2] : words[3];
      const unsigned mine = w < 2 ? low : high;
      numbers[j] =
          NARROW ? T(mine >> nth % 2 * 16 & 0xffff) * T(0x1p-16) : T(mine >> 8) * T(0x1p-24);
    }
  }
}

#endif
