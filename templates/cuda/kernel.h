/* kernel.h - what all CUDA kernels share: 16-byte accesses, and how the terms of a reduction are
 * gathered by a thread, then merged over threads in an order that never changes. */
#ifndef LATHE_KERNEL_H
#define LATHE_KERNEL_H

#include <stddef.h>

/* N elements that are read or written by one access. */
template <typename T, int N> struct alignas(sizeof(T) * N) lathe_pack { T at[N]; };

template <int N, typename T>
static __device__ __forceinline__ lathe_pack<T, N> lathe_load(const T *from) {
  return *reinterpret_cast<const lathe_pack<T, N> *>(from);
}

template <int N, typename T>
static __device__ __forceinline__ void lathe_store(T *to, const lathe_pack<T, N> &pack) {
  *reinterpret_cast<lathe_pack<T, N> *>(to) = pack;
}

/* Elements before the first one of which the address is a multiple of 16 bytes. */
template <typename T> static __device__ __forceinline__ size_t lathe_head(const T *p) {
  return (0 - (size_t)p / sizeof(T)) % (16 / sizeof(T));
}

template <typename T> static __device__ __forceinline__ bool lathe_aligned(const T *p) {
  return (size_t)p % 16 == 0;
}

/* The larger or the smaller of two; NaN where either is. */
template <bool LARGER> static __device__ __forceinline__ float lathe_extreme_of(float a, float b) {
  float c;

  if (LARGER)
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  else
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}

template <bool LARGER>
static __device__ __forceinline__ double lathe_extreme_of(double a, double b) {
  return (LARGER ? b > a : b < a) || b != b ? b : a;
}

/* Terms combined pairwise, N a power of two: one rounding of a sum does not wait for the others, and
 * fewer come together. */
template <typename T, int N, typename Combine>
static __device__ __forceinline__ T lathe_fold(Combine combine, const T (&terms)[N]) {
  if constexpr (N == 1) {
    return terms[0];
  } else {
    T half[N / 2];
#pragma unroll
    for (int j = 0; j < N / 2; j++)
      half[j] = combine(terms[j], terms[j + N / 2]);
    return lathe_fold(combine, half);
  }
}

/* The gatherers. Each has clear(), which leaves it as nothing gathered; take(terms, at), which
 * gathers N terms, at(j) being the place of terms[j], places rising from call to call; merge();
 * result(); and nothing(), a term that changes nothing if it comes after one that counts. */
template <typename T> struct lathe_sum {
  T value;

  static __device__ __forceinline__ T nothing() {
    return T(-0.0);
  }
  __device__ __forceinline__ void clear() {
    value = nothing();
  }
  template <int N, typename At> __device__ __forceinline__ void take(const T (&terms)[N], At) {
    value += lathe_fold([](T a, T b) { return a + b; }, terms);
  }
  __device__ __forceinline__ void merge(const lathe_sum &other) {
    value += other.value;
  }
  __device__ __forceinline__ T result() const {
    return value;
  }
};

template <typename T, bool LARGER> struct lathe_extreme {
  T value;

  static __device__ __forceinline__ T nothing() {
    return LARGER ? -(T)INFINITY : (T)INFINITY;
  }
  __device__ __forceinline__ void clear() {
    value = nothing();
  }
  template <int N, typename At> __device__ __forceinline__ void take(const T (&terms)[N], At) {
    value = lathe_extreme_of<LARGER>(
        value, lathe_fold([](T a, T b) { return lathe_extreme_of<LARGER>(a, b); }, terms));
  }
  __device__ __forceinline__ void merge(const lathe_extreme &other) {
    value = lathe_extreme_of<LARGER>(value, other.value);
  }
  __device__ __forceinline__ T result() const {
    return value;
  }
};

/* The place of the first largest or smallest term, or of the first NaN. The place is looked for only
 * where some term is better than all before, so that it costs little more than the extreme. */
template <typename T, bool LARGER> struct lathe_index {
  T value;
  long long index;

  static constexpr long long NONE = 0x7fffffffffffffff;

  static __device__ __forceinline__ T nothing() {
    return LARGER ? -(T)INFINITY : (T)INFINITY;
  }
  __device__ __forceinline__ void clear() {
    value = nothing();
    index = NONE;
  }
  template <int N, typename At> __device__ __forceinline__ void take(const T (&terms)[N], At at) {
    lathe_extreme<T, LARGER> best;
    bool better;
    int first = 0;

    best.clear();
    best.take(terms, at);
    /* A NaN is no less than, nor more than anything; nothing is better than the first of them. */
    better = !(LARGER ? best.value <= value : best.value >= value) && value == value;
    if (!better && index != NONE)
      return;
#pragma unroll
    for (int j = N - 1; j >= 0; j--)
      if (terms[j] == best.value || (best.value != best.value && terms[j] != terms[j]))
        first = j;
    value = best.value;
    index = (long long)at(first);
  }
  __device__ __forceinline__ void merge(const lathe_index &other) {
    const bool nan = value != value, other_nan = other.value != other.value;
    const bool equal = nan || other_nan ? nan && other_nan : value == other.value;
    const bool better = nan         ? false
                        : other_nan ? true
                        : LARGER    ? other.value > value
                                    : other.value < value;

    if (equal ? other.index < index : better) {
      value = other.value;
      index = other.index;
    }
  }
  __device__ __forceinline__ long long result() const {
    return index;
  }
};

/* What the thread whose number differs in the bits of `mask` has. */
template <typename P> static __device__ __forceinline__ P lathe_exchange(const P &p, int mask) {
  enum { WORDS = sizeof(P) / sizeof(unsigned) };
  unsigned word[WORDS];
  P other;

  static_assert(sizeof(P) % sizeof(unsigned) == 0, "shuffles take words of four bytes");
  memcpy(word, &p, sizeof p);
#pragma unroll
  for (int w = 0; w < WORDS; w++)
    word[w] = __shfl_xor_sync(0xffffffffu, word[w], mask);
  memcpy(&other, word, sizeof other);
  return other;
}

/* Merges what groups of T threads, a power of two, have gathered: afterwards each thread has the
 * whole, the same to the bit. Groups larger than a warp are whole blocks, and need shared memory
 * for T / 32, which the block must not touch again without a barrier. */
template <int T, typename P>
static __device__ __forceinline__ void lathe_merge_threads(P &p, P *shared) {
#pragma unroll
  for (int mask = (T < 32 ? T : 32) / 2; mask > 0; mask /= 2)
    p.merge(lathe_exchange(p, mask));
  if constexpr (T > 32) {
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0)
      shared[warp] = p;
    __syncthreads();
    p = shared[lane % (T / 32)];
#pragma unroll
    for (int mask = T / 64; mask > 0; mask /= 2)
      p.merge(lathe_exchange(p, mask));
  }
}

#endif
