/* gather.h - how the terms of a reduction are gathered by a thread, then merged over the threads of a warp in
 * an order that never changes. */
#ifndef LATHE_GATHER_H
#define LATHE_GATHER_H

#include "functions.h"

/* As ptx.h has it for float. */
template <bool LARGER>
static __device__ __forceinline__ double lathe_extreme_of(double a, double b) {
  return (LARGER ? b > a : b < a) || b != b ? b : a;
}

/* What another thread of the warp has: move(word) is a shuffle of one word. */
template <typename P, typename Move>
static __device__ __forceinline__ P lathe_moved(const P &p, Move move) {
  enum { WORDS = sizeof(P) / sizeof(unsigned) };
  unsigned word[WORDS];
  P other;

  static_assert(sizeof(P) % sizeof(unsigned) == 0, "shuffles take words of four bytes");
  memcpy(word, &p, sizeof p);
#pragma unroll
  for (int w = 0; w < WORDS; w++)
    word[w] = move(word[w]);
  memcpy(&other, word, sizeof other);
  return other;
}

/* What the thread whose number differs in the bits of `mask` has. */
template <typename P> static __device__ __forceinline__ P lathe_exchange(const P &p, int mask) {
  return lathe_moved(p, [&](unsigned word) { return __shfl_xor_sync(0xffffffffu, word, mask); });
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
 * gathers N terms, at(j) being the place of terms[j], places rising from call to call (moments take there(j),
 * whether terms[j] counts, powers the terms as they are in memory); merge();
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
  /* Those of N terms that are there, `nothing` in place of others. */
  template <int N, typename There>
  __device__ __forceinline__ void take(const T (&terms)[N], There there) {
    const auto add = [](T a, T b) { return a + b; };
    lathe_moments part;
    T square[N];
    int found = 0;

#pragma unroll
    for (int j = 0; j < N; j++)
      found += there(j);
    part.count = found;
    part.sum = lathe_fold(add, terms);
    const T mean = found == N ? part.sum * T(1.0 / N) : lathe_share(part.sum, part.count);
#pragma unroll
    for (int j = 0; j < N; j++) {
      const T off = terms[j] - mean;
      square[j] = there(j) ? off * off : T(0);
    }
    part.squares = lathe_fold(add, square);
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
        merge_equal(__shfl_xor_sync(0xffffffffu, sum, mask),
                    __shfl_xor_sync(0xffffffffu, squares, mask), part);
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
  __device__ __forceinline__ T second() const {
    return squares;
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

  /* Of as many accesses of 16 bytes. */
  template <typename P> explicit __device__ __forceinline__ lathe_stored(const P (&packs)[N / 8]) {
    static_assert(sizeof packs == sizeof words, "accesses are of 16 bytes");
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
static __device__ __forceinline__ void lathe_leave_out(lathe_stored<S, N> &terms, int nth,
                                                       float nothing) {
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
  const unsigned word = lathe_fold(
      [](unsigned a, unsigned b) {
        pair x, y;
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        x = LARGER ? __hmax2_nan(x, y) : __hmin2_nan(x, y);
        memcpy(&a, &x, sizeof a);
        return a;
      },
      terms.words);
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
  template <typename Terms, typename At>
  __device__ __forceinline__ void take(const Terms &terms, At) {
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

/* The largest term, and the sum of e^(term - largest): those of two parts, each about its own largest, are
 * brought to the larger one (M. Milakov and N. Gimelshein, Online normalizer calculation for softmax, 2018).
 * NARROW: for results of half the bits. */
template <typename T, bool NARROW = false> struct lathe_powers {
  T value, total;

  static __device__ __forceinline__ T nothing() {
    return -(T)INFINITY;
  }
  __device__ __forceinline__ void clear() {
    value = nothing();
    total = 0;
  }
  /* e^(x - largest), 0 where there is nothing yet. */
  static __device__ __forceinline__ T power(T x, T largest) {
    const T below = x - (largest == nothing() ? T(0) : largest);
    return NARROW ? lathe_exp_near_f16(below) : exp(below);
  }
  template <int N, typename Best>
  __device__ __forceinline__ void take(const T (&terms)[N], const Best &stored) {
    lathe_powers part;
    T powers[N];

    part.value = lathe_best<true>(stored);
#pragma unroll
    for (int j = 0; j < N; j++)
      powers[j] = power(terms[j], part.value);
    part.total = lathe_fold([](T a, T b) { return a + b; }, powers);
    merge(part);
  }
  /* Brings the total to a larger value. */
  __device__ __forceinline__ void raise(T to) {
    total *= power(value, to);
    value = to;
  }
  __device__ __forceinline__ void merge(lathe_powers other) {
    const T larger = lathe_extreme_of<true>(value, other.value);
    raise(larger);
    other.raise(larger);
    total += other.total;
  }
  /* Of threads of which merge() merges what others gather. */
  template <typename Merge> __device__ __forceinline__ void merge_as(Merge merge) {
    lathe_extreme<T, true> most = {value};
    lathe_sum<T> sum;

    merge(most);
    raise(most.value);
    sum.value = total;
    merge(sum);
    total = sum.value;
  }
  template <int THREADS> __device__ __forceinline__ void merge_lanes() {
    merge_as([](auto &part) { part.template merge_lanes<THREADS>(); });
  }
  template <int THREADS> __device__ __forceinline__ void merge_copies() {
    merge_as([](auto &part) { part.template merge_copies<THREADS>(); });
  }
  __device__ __forceinline__ T result() const {
    return value;
  }
  /* Of nothing but -inf: as it would be with the result known before, NaN. */
  __device__ __forceinline__ T second() const {
    return value == nothing() ? value - value : total;
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
  template <typename Terms, typename At>
  __device__ __forceinline__ void take(const Terms &terms, At at) {
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
  template <typename Terms, typename At>
  __device__ __forceinline__ void find(const Terms &terms, At at) {
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
    return index == NONE ? -1 : index;
  }
};

#endif
