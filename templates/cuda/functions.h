/* functions.h - functions that CUDA's library computes to fewer digits, or more slowly than gatherers need. */
#ifndef LATHE_FUNCTIONS_H
#define LATHE_FUNCTIONS_H

#include "ptx.h"

/* e^x for results that are rounded to half the bits, without those below the normal range. */
static __device__ __forceinline__ float lathe_exp_near_f16(float x) {
  return lathe_power(x * 0x1.715476p0f);
}

/* erfc by the polynomials of gen/pour/vecmath.lua. Below 7/8 it is (1 - x) - x p(x^2), above
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

#endif
