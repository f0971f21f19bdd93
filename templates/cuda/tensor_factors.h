/* tensor_factors.h - factors of layers as tensor cores take them: what a warp has of a matrix for 16 terms and 16
 * columns (tensor_layers.h). */
#ifndef LATHE_TENSOR_FACTORS_H
#define LATHE_TENSOR_FACTORS_H

#include "tf32.h"

/* What a factor's numbers are multiplied as: as they are, for they have no more than 11 digits; rounded to 11; or the
 * sum of two of 11 digits each, with no digit lost. */
enum lathe_factor { LATHE_AS_IT_IS, LATHE_ROUNDED, LATHE_HALVED };

/* A number as a factor's `high` and, of one that is halved, `low`. Of one below the normal range nothing may be left:
 * it makes a sum NaN, which is then mended. */
template <lathe_factor HOW>
static __device__ __forceinline__ void lathe_part(float x, unsigned &high, unsigned &low) {
  if (HOW != LATHE_HALVED) {
    high = HOW == LATHE_ROUNDED ? lathe_rounded(x) : __float_as_uint(x);
    low = 0;
    return;
  }
  lathe_halve(x, high, low);
  if (x != 0 && fabsf(x) < 0x1p-126f)
    low = __float_as_uint(NAN);
}

/* The right factor of a step of 16 terms: two tiles of 8 columns. Of 16-bit elements, words of neighbouring terms as an
 * mma has them. */
template <typename T> struct lathe_right {
  unsigned words[4];

  template <bool ALONG_K>
  __device__ __forceinline__ void load(const T *slice, int length, int n, int k) {
    const int lane = (int)threadIdx.x % 32, row = lane / 16 * 8 + (ALONG_K ? lane % 8 : 0);
    const int term = lane / 8 % 2 * 8 + (ALONG_K ? 0 : lane % 8);
    lathe_load_matrices<!ALONG_K>(words, ALONG_K ? slice + (n + row) * length + k + term
                                                 : slice + (k + term) * length + n + row);
  }
  /* Terms 2t and 2t + 1 of thread t, or those 8 further, of a tile. */
  __device__ __forceinline__ float2 numbers(int tile, int further) const {
    lathe_pack<T, 2> pack;
    memcpy(&pack, &words[tile * 2 + further], sizeof pack);
    return {lathe_number(pack, 0), lathe_number(pack, 1)};
  }
};

template <> struct lathe_right<float> {
  float2 all[4];

  template <bool ALONG_K>
  __device__ __forceinline__ void load(const float *slice, int length, int n, int k) {
    const int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int nth = 0; nth < 4; nth++) {
      const int row = n + nth / 2 * 8 + lane / 4, term = k + nth % 2 * 8 + lane % 4 * 2;
      if (ALONG_K)
        all[nth] = *reinterpret_cast<const float2 *>(slice + row * length + term);
      else
        all[nth] = {slice[term * length + row], slice[(term + 1) * length + row]};
    }
  }
  __device__ __forceinline__ float2 numbers(int tile, int further) const {
    return all[tile * 2 + further];
  }
};

#endif
