/* kernel.h - what all CUDA kernels share: 16-byte accesses, and how the terms of a reduction are
 * gathered by a thread, then merged over threads in an order that never changes. */
#ifndef LATHE_KERNEL_H
#define LATHE_KERNEL_H

#include <stddef.h>

/* N elements that are read or written by one access. */
template <typename T, int N> struct alignas(sizeof(T) * N) lathe_pack { T at[N]; };

template <int N, typename T>
static __device__ __forceinline__ lathe_pack<T, N> lathe_load(const T *from) {
  const uint4 words = *reinterpret_cast<const uint4 *>(from);
  lathe_pack<T, N> pack;

  static_assert(sizeof pack == sizeof words, "accesses are of 16 bytes");
  memcpy(&pack, &words, sizeof pack);
  return pack;
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

  memcpy(&pack, &words, sizeof pack);
  return pack;
}

template <int N, typename T>
static __device__ __forceinline__ void lathe_store_once(T *to, const lathe_pack<T, N> &pack) {
  uint4 words;

  memcpy(&words, &pack, sizeof words);
  __stcs(reinterpret_cast<uint4 *>(to), words);
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

/* The hardware's reciprocal and power of two, both off by less than 2 ulp. Numbers below the normal
 * range count as zero. */
static __device__ __forceinline__ float lathe_rcp(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

static __device__ __forceinline__ float lathe_power(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/* Both off by 2 ulp at most, numbers below the normal range included. */
static __device__ __forceinline__ float lathe_quotient(float x, float y) {
  float z;
  asm("div.full.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}

static __device__ __forceinline__ float lathe_root(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

static __device__ __forceinline__ float lathe_reciprocal_root(float x) {
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

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
  const float a = fabsf(x) > 104.0f ? 104.0f : fabsf(x), root = lathe_power(a * -0x1.7154p-1f), power = root * root;
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
 * at most (erfc: and 2 x^2 + 1 times that), 1.5 thousandths of one of f16's. erfc with u = 1 / (|x| + 2) for all x: 1.5e-7. */
static __device__ __forceinline__ float lathe_erfc_narrow(float x, float power, float times) {
  const float u = lathe_rcp(fabsf(x) + 2.0f);
  float far = 0x1.6fad46p+3f;
  far = fmaf(far, u, -0x1.70e756p+4f);
  far = fmaf(far, u, 0x1.901862p+3f);
  far = fmaf(far, u, 0x1.46c014p-1f);
  far = fmaf(far, u, 0x1.1e0302p+1f);
  far = fmaf(far, u, 0x1.1d0356p+0f);
  far = fmaf(far, u, 0x1.210552p-1f);
  far = far * u * power * times;
  return x < 0 ? 2.0f - far : far;
}

static __device__ __forceinline__ float lathe_erfc_f16(float x) {
  return lathe_erfc_narrow(x, lathe_power(x * x * -0x1.715476p0f), 1.0f);
}

static __device__ __forceinline__ float lathe_erfc_bf16(float x) {
  const float root = lathe_power(x * x * -0x1.715476p-1f);
  return lathe_erfc_narrow(x, root, root);
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
      half[j] = combine(terms[2 * j], terms[2 * j + 1]);
    return lathe_fold(combine, half);
  }
}

/* The gatherers. Each has clear(), which leaves it as nothing gathered; take(terms, at), which
 * gathers N terms, at(j) being the place of terms[j], places rising from call to call; merge();
 * merge_lanes(), of each T neighbouring threads; merge_copies(), of a warp in which each T threads have
 * what the others have; result(); and nothing(), a term that changes nothing if it
 * comes after one that counts. */
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

/* x / n for a whole number n, and without calls. */
static __device__ __forceinline__ float lathe_share(float x, float n) {
  const float r = lathe_rcp(n), share = x * r;
  return fmaf(fmaf(-share, n, x), r, share);
}

static __device__ __forceinline__ double lathe_share(double x, double n) {
  return x / n;
}

/* The sum, and the sum of the squares about the mean: that of n and m numbers with means apart by d is
 * those of both and n m / (n + m) d^2 (Chan, Golub and LeVeque 1979). Parts are mostly of equal size. */
template <typename T> struct lathe_moments {
  T sum, squares, count;

  static __device__ __forceinline__ T nothing() {
    return T(-0.0);
  }
  __device__ __forceinline__ void clear() {
    sum = nothing();
    squares = count = 0;
  }
  template <int N, typename At> __device__ __forceinline__ void take(const T (&terms)[N], At) {
    const auto add = [](T a, T b) { return a + b; };
    lathe_moments part;
    T square[N];

    part.count = N;
    part.sum = lathe_fold(add, terms);
#pragma unroll
    for (int j = 0; j < N; j++) {
      const T off = terms[j] - part.sum * T(1.0 / N);
      square[j] = off * off;
    }
    part.squares = lathe_fold(add, square);
    merge(part);
  }
  __device__ __forceinline__ void take_one(T term) {
    const lathe_moments part = {term, 0, 1};
    merge(part);
  }
  __device__ __forceinline__ void merge(const lathe_moments &other) {
    if (count == other.count) {
      merge_equal(other.sum, other.squares, share());
    } else if (count == 0) {
      *this = other;
    } else if (other.count != 0) {
      const T apart = lathe_share(sum, count) - lathe_share(other.sum, other.count);
      const T weight = lathe_share(count * other.count, count + other.count);
      squares = (squares + other.squares) + apart * apart * weight;
      sum += other.sum;
      count += other.count;
    }
  }
  /* 1 / count. */
  __device__ __forceinline__ T share() const {
    return lathe_share(T(1), count > 1 ? count : T(1));
  }
  __device__ __forceinline__ void merge_equal(T other_sum, T other_squares, T share) {
    const T apart = (sum - other_sum) * share;
    squares = (squares + other_squares) + apart * apart * (count / 2);
    sum += other_sum;
    count += count;
  }
  template <int THREADS> __device__ __forceinline__ void merge_lanes() {
    if (__all_sync(0xffffffffu, count == __shfl_sync(0xffffffffu, count, 0))) {
      T part = share();
#pragma unroll
      for (int mask = THREADS / 2; mask > 0; mask /= 2, part /= 2)
        merge_equal(__shfl_xor_sync(0xffffffffu, sum, mask), __shfl_xor_sync(0xffffffffu, squares, mask), part);
    } else {
#pragma unroll 1
      for (int mask = THREADS / 2; mask > 0; mask /= 2)
        merge(lathe_exchange(*this, mask));
    }
  }
  template <int THREADS> __device__ __forceinline__ void merge_copies() {
    merge_lanes<THREADS>();
  }
  __device__ __forceinline__ T result() const {
    return sum;
  }
};

/* The largest or smallest of N terms, a power of two, NaN where one is. */
template <bool LARGER, typename T, int N>
static __device__ __forceinline__ T lathe_best(const T (&terms)[N]) {
  return lathe_fold([](T a, T b) { return lathe_extreme_of<LARGER>(a, b); }, terms);
}

/* N terms of 16 bits as they are in memory, of which two are compared at once. */
template <typename S, int N> struct lathe_stored {
  unsigned words[N / 2];

  explicit __device__ __forceinline__ lathe_stored(const uint4 (&packs)[N / 8]) {
    memcpy(words, packs, sizeof words);
  }
  __device__ __forceinline__ S operator[](int nth) const {
    const unsigned short bits = words[nth / 2] >> nth % 2 * 16 & 0xffff;
    S term;
    memcpy(&term, &bits, sizeof term);
    return term;
  }
};

/* Has `nothing` in place of a term. */
template <typename T, int N>
static __device__ __forceinline__ void lathe_leave_out(T (&terms)[N], int nth, T nothing) {
  terms[nth] = nothing;
}

template <typename S, int N>
static __device__ __forceinline__ void lathe_leave_out(lathe_stored<S, N> &terms, int nth, float nothing) {
  const unsigned kept = nth % 2 ? 0xffff : 0xffff0000;
  const S term = nothing;
  unsigned short bits;

  memcpy(&bits, &term, sizeof bits);
  terms.words[nth / 2] = (terms.words[nth / 2] & kept) | (unsigned)bits << nth % 2 * 16;
}

template <typename P> struct lathe_pairs;
#ifdef __CUDA_FP16_TYPES_EXIST__
template <> struct lathe_pairs<__half> { typedef __half2 type; };
#endif
#ifdef __CUDA_BF16_TYPES_EXIST__
template <> struct lathe_pairs<__nv_bfloat16> { typedef __nv_bfloat162 type; };
#endif

template <bool LARGER, typename S, int N>
static __device__ __forceinline__ float lathe_best(const lathe_stored<S, N> &terms) {
  typedef typename lathe_pairs<S>::type pair;
  const unsigned word = lathe_fold([](unsigned a, unsigned b) {
        pair x, y;
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        x = LARGER ? __hmax2_nan(x, y) : __hmin2_nan(x, y);
        memcpy(&a, &x, sizeof a);
        return a;
      }, terms.words);
  pair last;
  memcpy(&last, &word, sizeof last);
  return lathe_extreme_of<LARGER>(float(last.x), float(last.y));
}

template <typename T, bool LARGER> struct lathe_extreme {
  T value;

  static __device__ __forceinline__ T nothing() {
    return LARGER ? -(T)INFINITY : (T)INFINITY;
  }
  __device__ __forceinline__ void clear() {
    value = nothing();
  }
  template <typename Terms, typename At> __device__ __forceinline__ void take(const Terms &terms, At) {
    value = lathe_extreme_of<LARGER>(value, lathe_best<LARGER>(terms));
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
 * where some term is better than all before. With many terms for each thread some lane of a warp is
 * nearly always so lucky: there improve() takes terms without looking, which costs little more than
 * the extreme, and find() is given those again that improved it last, where the thread leads(). */
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
  template <typename Terms, typename At> __device__ __forceinline__ void take(const Terms &terms, At at) {
    if (improve(terms))
      find(terms, at);
  }
  template <typename Terms> __device__ __forceinline__ bool improve(const Terms &terms) {
    const T best = lathe_best<LARGER>(terms);
    /* A NaN is no less than, nor more than anything; nothing is better than the first of them. */
    const bool better = !(LARGER ? best <= value : best >= value) && value == value;

    if (!better && index != NONE)
      return false;
    value = best;
    index = 0;
    return true;
  }
  /* Whether no other thread of the warp has a better value: without, the place does not matter. */
  __device__ __forceinline__ bool leads() const {
    const auto key = lathe_key<LARGER>(value + T(0)); /* -0 is as large as +0 */
    return key == lathe_warp_largest(key);
  }
  template <typename Terms, typename At> __device__ __forceinline__ void find(const Terms &terms, At at) {
    enum { N = sizeof terms / sizeof terms[0] };
    int first = 0;

    if (value == value) {
#pragma unroll
      for (int j = N - 1; j >= 0; j--)
        first = T(terms[j]) == value ? j : first;
    } else {
#pragma unroll
      for (int j = N - 1; j >= 0; j--)
        first = T(terms[j]) != T(terms[j]) ? j : first;
    }
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

/* Clusters: blocks that run at the same time and reach each other's shared memory. */
#if __CUDA_ARCH__ >= 900
static __device__ __forceinline__ void lathe_cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

static __device__ __forceinline__ void lathe_cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* *to = p in the shared memory of the cluster's block `block`. */
template <typename P>
static __device__ __forceinline__ void lathe_store_cluster(P *to, const P &p, unsigned block) {
  unsigned words[sizeof(P) / sizeof(unsigned)], at;

  memcpy(words, &p, sizeof p);
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"((unsigned)__cvta_generic_to_shared(to)), "r"(block));
#pragma unroll
  for (unsigned w = 0; w < sizeof(P) / sizeof(unsigned); w++)
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at + w * 4), "r"(words[w]) : "memory");
}
#else
static __device__ __forceinline__ void lathe_cluster_arrive() {
}

static __device__ __forceinline__ void lathe_cluster_wait() {
}

template <typename P>
static __device__ __forceinline__ void lathe_store_cluster(P *, const P &, unsigned) {
}
#endif

/* Merges what the threads that share a row have gathered: afterwards each of them has the whole,
 * the same to the bit. They are T neighbouring threads, or with T = 0 those of a block with the same
 * threadIdx.y, whole warps, in each of the cluster's `blocks` blocks. Then it needs shared memory for a P of each
 * of their warps, which is not to be touched again before another barrier. */
template <int T, typename P>
static __device__ __forceinline__ void lathe_merge_row(P &p, P *shared, unsigned blocks) {
  if constexpr (T > 0) {
    p.template merge_lanes<T>();
  } else {
    const unsigned warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    p.template merge_lanes<32>();
    if (blocks > 1) {
      if (lane < blocks)
        lathe_store_cluster(shared + blockIdx.x % blocks * warps + warp, p, lane);
      lathe_cluster_arrive();
      lathe_cluster_wait();
      p.clear();
      for (unsigned from = lane; from < blocks * warps; from += 32)
        p.merge(shared[from]);
    } else {
      if (lane == 0)
        shared[threadIdx.y * warps + warp] = p;
      __syncthreads();
      const unsigned from = warps <= 8 ? lane % 8 : warps <= 16 ? lane % 16 : lane;
      p.clear();
      if (from < warps)
        p = shared[threadIdx.y * warps + from];
      if (warps <= 8) {
        p.template merge_copies<8>();
        return;
      }
      if (warps <= 16) {
        p.template merge_copies<16>();
        return;
      }
    }
    p.template merge_lanes<32>();
  }
}

/* How a row's elements are read and written: by packs of 16 bytes, all of which lie within it; the
 * same, some beyond its end; each apart, where packs would not be at multiples of 16 bytes. */
enum { LATHE_FULL, LATHE_PACKS, LATHE_APART };

/* Copies 16 bytes to shared memory while the thread goes on; groups of copies end in their order. */
static __device__ __forceinline__ void lathe_copy_ahead(void *to, const void *from) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
      "l"(from)
      : "memory");
}

static __device__ __forceinline__ void lathe_end_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for all groups but the last MOST. */
template <int MOST> static __device__ __forceinline__ void lathe_await_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(MOST) : "memory");
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
