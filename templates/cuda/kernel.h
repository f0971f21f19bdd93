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

/* The same for what is touched once: first to leave the caches. */
template <int N, typename T>
static __device__ __forceinline__ lathe_pack<T, N> lathe_load_once(const T *from) {
  const uint4 words = __ldcs(reinterpret_cast<const uint4 *>(from));
  lathe_pack<T, N> pack;

  static_assert(sizeof pack == sizeof words, "streaming accesses are of 16 bytes");
  memcpy(&pack, &words, sizeof pack);
  return pack;
}

template <int N, typename T>
static __device__ __forceinline__ void lathe_store_once(T *to, const lathe_pack<T, N> &pack) {
  uint4 words;

  memcpy(&words, &pack, sizeof words);
  __stcs(reinterpret_cast<uint4 *>(to), words);
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

template <int T, typename P> static __device__ __forceinline__ void lathe_merge_by_shuffles(P &p) {
#pragma unroll
  for (int mask = T / 2; mask > 0; mask /= 2)
    p.merge(lathe_exchange(p, mask));
}

/* Numbers as integers in the same order, or with LARGER false in the opposite one, NaN above all.
 * A warp has one instruction for the largest integer. */
template <bool LARGER> static __device__ __forceinline__ unsigned lathe_key(float x) {
  const unsigned bits = __float_as_uint(x), rising = bits >> 31 ? ~bits : bits | 1u << 31;

  return x != x ? ~0u : LARGER ? rising : ~rising;
}

template <bool LARGER> static __device__ __forceinline__ unsigned long long lathe_key(double x) {
  const unsigned long long bits = (unsigned long long)__double_as_longlong(x);
  const unsigned long long rising = bits >> 63 ? ~bits : bits | 1ull << 63;

  return x != x ? ~0ull : LARGER ? rising : ~rising;
}

/* The number of a key. */
template <bool LARGER> static __device__ __forceinline__ float lathe_unkey(unsigned key) {
  const unsigned rising = LARGER ? key : ~key;

  return __uint_as_float(key == ~0u ? 0x7fc00000 : rising >> 31 ? rising & ~(1u << 31) : ~rising);
}

template <bool LARGER>
static __device__ __forceinline__ double lathe_unkey(unsigned long long key) {
  const unsigned long long rising = LARGER ? key : ~key;

  return __longlong_as_double((long long)(key == ~0ull   ? 0x7ff8000000000000
                                          : rising >> 63 ? rising & ~(1ull << 63)
                                                         : ~rising));
}

/* The largest of a warp's. */
static __device__ __forceinline__ unsigned lathe_warp_largest(unsigned key) {
  return __reduce_max_sync(0xffffffffu, key);
}

static __device__ __forceinline__ unsigned long long lathe_warp_largest(unsigned long long key) {
  const unsigned high = lathe_warp_largest((unsigned)(key >> 32));
  const unsigned low = lathe_warp_largest(key >> 32 == high ? (unsigned)key : 0);

  return (unsigned long long)high << 32 | low;
}

/* erfc by the polynomials of gen/vecmath.lua, with the hardware's reciprocal and exponential: half
 * the operations, which gelu's speed depends on; off by 3.8 ulp at most. Below 7/8 it is (1 - x) - x p(x^2), above
 * e^(-x^2) u p(u), u = 1 / (|x| + 3/2), with what rounding took from that sum and from x^2. */
static __device__ __forceinline__ float lathe_erfc(float x) {
  const float square = x * x;
  float near = -0x1.44aba8p-11f;
  near = fmaf(near, square, 0x1.499f5cp-8f);
  near = fmaf(near, square, -0x1.b6ea32p-6f);
  near = fmaf(near, square, 0x1.ce2036p-4f);
  near = fmaf(near, square, -0x1.812702p-2f);
  near = fmaf(near, square, 0x1.06eba6p-3f);
  near = fmaf(-x, near, 1.0f - x);

  const float a = fabsf(x) > 10.1f ? 10.1f : fabsf(x), w = a + 1.5f;
  const float high = a * a, low = fmaf(a, a, -high);
  float u;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(u) : "f"(w));
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
  return fabsf(x) < 0.875f ? near : far;
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
 * merge_lanes(), of each T neighbouring threads; merge_copies(), the same in a warp of copies of T
 * gatherers, which an extreme does not mind; result(); and nothing(), a term that changes nothing if it comes after one that counts. */
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
  template <int THREADS> __device__ __forceinline__ void merge_lanes() {
    lathe_merge_by_shuffles<THREADS>(*this);
  }
  template <int THREADS> __device__ __forceinline__ void merge_copies() {
    merge_lanes<THREADS>();
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
  template <int THREADS> __device__ __forceinline__ void merge_lanes() {
    if constexpr (THREADS == 32)
      value = lathe_unkey<LARGER>(lathe_warp_largest(lathe_key<LARGER>(value)));
    else
      lathe_merge_by_shuffles<THREADS>(*this);
  }
  template <int THREADS> __device__ __forceinline__ void merge_copies() {
    merge_lanes<32>();
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
  /* The largest key; of the lanes that have it the lowest index, its upper half first. */
  template <int THREADS> __device__ __forceinline__ void merge_lanes() {
    if constexpr (THREADS == 32) {
      const auto key = lathe_key<LARGER>(value + T(0)); /* -0 is as large as +0 */
      const auto largest = lathe_warp_largest(key);
      const unsigned high = key == largest ? (unsigned)(index >> 32) : ~0u;
      /* Mostly there is no upper half. */
      const bool short_ones = __all_sync(0xffffffffu, high == 0 || high == ~0u);
      const unsigned least_high = short_ones ? 0 : __reduce_min_sync(0xffffffffu, high);
      const unsigned low = high == least_high ? (unsigned)index : ~0u;
      index =
          (long long)((unsigned long long)least_high << 32 | __reduce_min_sync(0xffffffffu, low));
      value = lathe_unkey<LARGER>(largest);
    } else {
      lathe_merge_by_shuffles<THREADS>(*this);
    }
  }
  template <int THREADS> __device__ __forceinline__ void merge_copies() {
    merge_lanes<32>();
  }
  __device__ __forceinline__ long long result() const {
    return index;
  }
};

/* Merges what groups of T threads, a power of two, have gathered: afterwards each thread has the
 * whole, the same to the bit. Groups larger than a warp are whole blocks, and need shared memory
 * for T / 32, which the block must not touch again without a barrier. */
template <int T, typename P>
static __device__ __forceinline__ void lathe_merge_threads(P &p, P *shared) {
  p.template merge_lanes<(T < 32 ? T : 32)>();
  if constexpr (T > 32) {
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0)
      shared[warp] = p;
    __syncthreads();
    p = shared[lane % (T / 32)];
    p.template merge_copies<T / 32>();
  }
}

/* Room for what one block hands to another: each word with a mark beside it that it is there, in
 * the same eight bytes, so that neither needs a fence to be seen after the other. */
template <typename P> struct lathe_slot {
  enum { WORDS = sizeof(P) / sizeof(unsigned) };
  unsigned long long word[WORDS];
};

template <typename P>
static __device__ __forceinline__ void lathe_hand_over(lathe_slot<P> *slot, const P &p) {
  unsigned words[lathe_slot<P>::WORDS];

  static_assert(sizeof(P) % sizeof(unsigned) == 0, "slots are made of words of four bytes");
  memcpy(words, &p, sizeof p);
#pragma unroll
  for (int w = 0; w < lathe_slot<P>::WORDS; w++)
    *(volatile unsigned long long *)&slot->word[w] = 1ull << 32 | words[w];
}

/* Waits for it, and leaves the slot empty for the next launch. */
template <typename P> static __device__ __forceinline__ P lathe_receive(lathe_slot<P> *slot) {
  unsigned long long word[lathe_slot<P>::WORDS];
  unsigned words[lathe_slot<P>::WORDS];
  bool there;
  P p;

  do {
    there = true;
#pragma unroll
    for (int w = 0; w < lathe_slot<P>::WORDS; w++) {
      word[w] = *(volatile unsigned long long *)&slot->word[w];
      there = there && word[w] >> 32;
    }
  } while (!there);
#pragma unroll
  for (int w = 0; w < lathe_slot<P>::WORDS; w++) {
    words[w] = (unsigned)word[w];
    slot->word[w] = 0;
  }
  memcpy(&p, words, sizeof p);
  return p;
}

#endif
