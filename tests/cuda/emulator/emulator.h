/* emulator.h - CUDA C as a C++ compiler takes it: what the kernels use of the language, of CUDA's headers
 * and of templates/cuda/ptx.h. This folder's nvcc includes it before a kernel's file. */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A kernel's place: that of the thread, or the block, which runs now. */
typedef struct emulator_place {
  unsigned x, y, z;
} emulator_place;

enum { EMULATOR_SHARED = 227 << 10 }; /* bytes of shared memory that a launch may ask for */

typedef struct emulator_places {
  emulator_place thread, block, threads, blocks;
} emulator_places;

#ifdef __cplusplus
extern "C" {
#endif

/* emulator.c */

/* A thread's own, of which there is little: found without a call. */
#define EMULATOR_THREAD __thread __attribute__((tls_model("initial-exec")))
extern EMULATOR_THREAD const emulator_places *emulator_at;

/* What each thread of a kernel calls that may be launched before the one before it ends. */
void emulator_begin(void);

/* Waits for all threads of the block that have not ended; or of the cluster, its blocks' too. */
void emulator_await_block(void);
void emulator_await_cluster(void);
unsigned emulator_cluster_size(void);

/* Hands `count` words to the warp; what its 32 threads have handed of each, until the next call but one. Or one word. */
enum { EMULATOR_WORDS = 6 }; /* at most */
typedef unsigned emulator_words[EMULATOR_WORDS][32];
const emulator_words *emulator_exchange_all(const unsigned *words, unsigned count);

__attribute__((always_inline)) static inline const unsigned *emulator_exchange(unsigned word) {
  return (*emulator_exchange_all(&word, 1))[0];
}

/* What a thread has begun and goes on without: copies of 16 bytes, and multiplications. They take effect where it waits
 * for their group, `most` of which it leaves; till then what is copied to is no number. */
void emulator_copy(void *to, const void *from);
void emulator_end_copies(void);
void emulator_await_copies(int most);
typedef void emulator_multiply(float *sums, const void *a, const void *b);
void emulator_begin_multiplying(void);
void emulator_multiply_ahead(emulator_multiply *f, float *sums, const void *a, const void *b);
void emulator_end_multiplying(void);
void emulator_await_products(int most);

/* Bytes of the shared memory that the launch has given. */
unsigned emulator_shared(void);

/* Where what this block has at `shared` is in the cluster's block `block`. */
void *emulator_in_block(void *shared, unsigned block);

#ifdef __F16C__ /* without it a function of the compiler's library, slow wherever it is called from */
#define EMULATOR_HALF static inline
#else
#define EMULATOR_HALF
#endif
EMULATOR_HALF float emulator_from_half(uint16_t bits);
EMULATOR_HALF uint16_t emulator_to_half(float x);

#ifdef __cplusplus
}

/* Kernels are compiled quickly, and are short. Nearly all of their time is spent here. */
#pragma GCC push_options
#pragma GCC optimize("O2")

/* ---- the language ------------------------------------------------------------------------------- */

#define asm(...) /* there is none outside ptx.h but in what configure tries */
#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__
#define __shared__ thread_local /* every block has an operating system's thread */
#define threadIdx (emulator_at->thread)
#define blockIdx (emulator_at->block)
#define blockDim (emulator_at->threads)
#define gridDim (emulator_at->blocks)

/* Something in shared memory: what else is there lies as far from it in every block. */
extern "C" void *emulator_anchor() {
  static thread_local char anchor;
  return &anchor;
}

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

struct alignas(8) uint2 {
  unsigned x, y;
};

struct alignas(8) float2 {
  float x, y;
};

/* Shared memory whose size a launch gives, by the name that the kernels have for it. */
alignas(1024) thread_local uint4 room[EMULATOR_SHARED / sizeof(uint4)];

/* The same as tensor cores see it: what threads have written, once that is shown to them. */
alignas(1024) thread_local uint4 room_shown[EMULATOR_SHARED / sizeof(uint4)];

static inline unsigned emulator_lane() {
  const unsigned nth = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return nth % 32;
}

static inline void __syncthreads() {
  emulator_await_block();
}

#include "warp.h"

/* ---- values ------------------------------------------------------------------------------------- */

template <typename To, typename From> static inline To emulator_bits(From from) {
  To to;
  static_assert(sizeof to == sizeof from, "bits are taken as they are");
  memcpy(&to, &from, sizeof to);
  return to;
}

static inline float __uint_as_float(unsigned x) {
  return emulator_bits<float>(x);
}

static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
  return (unsigned)(((uint64_t)high << 32 | low) >> bits % 32);
}

static inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}

static inline unsigned __float_as_uint(float x) {
  return emulator_bits<unsigned>(x);
}

static inline double __longlong_as_double(long long x) {
  return emulator_bits<double>(x);
}

static inline long long __double_as_longlong(double x) {
  return emulator_bits<long long>(x);
}

template <typename T> static inline T __ldcg(const T *from) {
  return *from;
}

/* Blocks run in threads of the operating system's. */
static inline unsigned atomicAdd(unsigned *to, unsigned by) {
  return __atomic_fetch_add(to, by, __ATOMIC_SEQ_CST);
}

static inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

template <typename T> static inline T __ldg(const T *from) {
  return *from;
}

template <typename T> static inline T __ldcs(const T *from) {
  return *from;
}

template <typename T> static inline void __stcs(T *to, T value) {
  *to = value;
}

static inline int __float2int_rn(float x) {
  return x != x ? 0 : x <= -0x1p31f ? INT32_MIN : x >= 0x1p31f ? INT32_MAX : (int)rintf(x);
}

template <typename T> static inline T max(T a, T b) {
  return a > b ? a : b;
}

template <typename T> static inline T min(T a, T b) {
  return a < b ? a : b;
}

#define __CUDA_FP16_TYPES_EXIST__
struct __half {
  uint16_t bits;
  __half() = default;
  __half(float x) : bits(emulator_to_half(x)) {
  }
  operator float() const {
    return emulator_from_half(bits);
  }
};

/* The upper half of an f32, rounded to even; a NaN stays one. */
#define __CUDA_BF16_TYPES_EXIST__
struct __nv_bfloat16 {
  uint16_t bits;
  __nv_bfloat16() = default;
  __nv_bfloat16(float x) {
    const unsigned whole = __float_as_uint(x);
    bits = (uint16_t)(x != x ? 0x7fff : (whole + 0x7fff + (whole >> 16 & 1)) >> 16);
  }
  operator float() const {
    return __uint_as_float((unsigned)bits << 16);
  }
};

template <typename T> struct alignas(4) emulator_pair { T x, y; };
typedef emulator_pair<__half> __half2;
typedef emulator_pair<__nv_bfloat16> __nv_bfloat162;

template <typename T> static inline T emulator_larger(T a, T b) {
  return float(b) > float(a) || float(b) != float(b) ? b : a;
}

template <typename T> static inline T emulator_smaller(T a, T b) {
  return float(b) < float(a) || float(b) != float(b) ? b : a;
}

template <typename T> static inline T __hmax2_nan(T a, T b) {
  return {emulator_larger(a.x, b.x), emulator_larger(a.y, b.y)};
}

template <typename T> static inline T __hmin2_nan(T a, T b) {
  return {emulator_smaller(a.x, b.x), emulator_smaller(a.y, b.y)};
}

/* CUDA's library has them, C's does not. */
static inline float rsqrtf(float x) {
  return 1 / sqrtf(x);
}

static inline double rsqrt(double x) {
  return 1 / sqrt(x);
}

static inline float exp(float x) {
  return expf(x);
}

/* ---- ptx.h -------------------------------------------------------------------------------------- */

#define LATHE_PTX_H

static inline void lathe_begin() {
  emulator_begin();
}

static inline float emulator_flush(float x) {
  return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static inline float lathe_rcp(float x) {
  return emulator_flush(1 / emulator_flush(x));
}

static inline float lathe_power(float x) {
  return emulator_flush(exp2f(emulator_flush(x)));
}

static inline float lathe_log2(float x) {
  return emulator_flush(log2f(emulator_flush(x)));
}

static inline float lathe_quotient(float x, float y) {
  return x / y;
}

static inline float lathe_root(float x) {
  return sqrtf(x);
}

static inline float lathe_reciprocal_root(float x) {
  return 1 / sqrtf(x);
}

template <typename W> static inline void lathe_keep_whole(W &) {
}

template <typename W> static inline void lathe_read_whole(W &to, const void *from) {
  memcpy(&to, from, sizeof to);
}

template <bool LARGER> static inline float lathe_extreme_of(float a, float b) {
  return LARGER ? emulator_larger(a, b) : emulator_smaller(a, b);
}

static inline void lathe_cluster_arrive() {
}

static inline void lathe_cluster_wait() {
  emulator_await_cluster();
}

static inline void lathe_begin_arrivals(unsigned long long *) {
}

static inline void lathe_expect(unsigned long long *, unsigned) {
}

static inline void lathe_await(unsigned long long *, unsigned) {
  emulator_await_cluster();
}

static inline unsigned lathe_cluster_size() {
  return emulator_cluster_size();
}

template <typename P>
static inline void lathe_send(P *to, const P &p, unsigned block, unsigned long long *) {
  *static_cast<P *>(emulator_in_block(to, block)) = p;
}

static inline void lathe_put(float2 *to, float2 p, unsigned block) {
  *static_cast<float2 *>(emulator_in_block(to, block)) = p;
}

static inline uint4 lathe_take_from(const void *from, unsigned block) {
  return *static_cast<const uint4 *>(emulator_in_block(const_cast<void *>(from), block));
}

/* A GPU faults where an access of 16 bytes is not aligned. */
static inline void emulator_align(const void *at) {
  if ((uintptr_t)at % 16 != 0)
    __builtin_trap();
}

static inline void lathe_copy_some(void *to, const void *from, int bytes) {
  const size_t at = (size_t)((char *)to - (char *)room);
  uint4 line = {};

  emulator_align(to);
  if (bytes > 0)
    emulator_align(from);
  memcpy(&line, from, (size_t)bytes);
  emulator_copy(to, &line);
  if (at < sizeof room_shown)
    memset((char *)room_shown + at, 0xff, sizeof line);
}

static inline void lathe_copy_ahead(void *to, const void *from) {
  lathe_copy_some(to, from, 16);
}

static inline void lathe_end_group() {
  emulator_end_copies();
}

template <int MOST> static inline void lathe_await_groups() {
  emulator_await_copies(MOST);
}

template <bool TRANSPOSED>
static inline void lathe_load_matrices(unsigned (&to)[4], const void *from) {
  const uint64_t at = (uint64_t)from;
  const unsigned mine[2] = {(unsigned)at, (unsigned)(at >> 32)}, lane = emulator_lane();
  emulator_align(from);
  const emulator_words &all = *emulator_exchange_all(mine, 2);
  auto element = [&](unsigned line, unsigned nth) {
    return ((const uint16_t *)(all[0][line] | (uint64_t)all[1][line] << 32))[nth];
  };

  for (unsigned matrix = 0; matrix < 4; matrix++) {
    const unsigned first = matrix * 8, row = lane / 4, column = lane % 4 * 2;
    to[matrix] =
        TRANSPOSED
            ? element(first + column, row) | (unsigned)element(first + column + 1, row) << 16
            : element(first + row, column) | (unsigned)element(first + row, column + 1) << 16;
  }
}

template <typename T> static inline unsigned lathe_round_two(const T *, float first, float second) {
  return T(first).bits | (unsigned)T(second).bits << 16;
}

/* What tensor cores make of a sum: their NaN has all bits set but the sign. */
static inline float emulator_sum(double sum) {
  return sum == sum ? (float)sum : __uint_as_float(0x7fffffff);
}

/* Of 16 x 16 elements of a, and 16 x 8 of b: what each thread has of them. */
template <typename T>
static inline void lathe_mma(const T *, float (&sums)[4], const unsigned (&a)[4], unsigned b0,
                             unsigned b1) {
  const unsigned mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
  const emulator_words &all = *emulator_exchange_all(mine, 6);
  auto half = [&](int nth, unsigned row, unsigned k) {
    T x;
    x.bits = (uint16_t)(all[nth][row * 4 + k / 2 % 4] >> k % 2 * 16);
    return float(x);
  };
  for (unsigned nth = 0; nth < 4; nth++) {
    const unsigned row = emulator_lane() / 4, column = emulator_lane() % 4 * 2 + nth % 2;
    double sum = sums[nth];
    for (unsigned k = 0; k < 16; k++)
      sum += half((int)(nth / 2 + k / 8 * 2), row, k % 8) * half((int)(4 + k / 8), column, k % 8);
    sums[nth] = emulator_sum(sum);
  }
}

/* Of 16 x 8 numbers of a, and 8 x 8 of b, whose last 13 bits do not count. */
static inline void lathe_mma_numbers(float (&sums)[4], const unsigned (&a)[4], unsigned b0,
                                     unsigned b1) {
  const unsigned mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
  const emulator_words &all = *emulator_exchange_all(mine, 6);
  auto number = [&](unsigned nth, unsigned row, unsigned k) {
    return __uint_as_float(all[nth][row * 4 + k] & ~0x1fffu);
  };
  for (unsigned nth = 0; nth < 4; nth++) {
    const unsigned row = emulator_lane() / 4, column = emulator_lane() % 4 * 2 + nth % 2;
    double sum = sums[nth];
    for (unsigned k = 0; k < 8; k++)
      sum += (double)number(nth / 2 + k / 4 * 2, row, k % 4) * number(4 + k / 4, column, k % 4);
    sums[nth] = emulator_sum(sum);
  }
}

/* Tensor cores that read shared memory by themselves. They find an element by its address, of which the three bits from
 * 128 on rotate the chunk. */
static inline void lathe_show_tensor_cores() {
  memcpy(room_shown, room, emulator_shared());
}

static inline void lathe_begin_mma() {
  emulator_begin_multiplying();
}

static inline void lathe_end_mma() {
  emulator_end_multiplying();
}

template <int TILES> static inline void lathe_settle(float (&)[TILES][4]) {
}

template <int MOST, int TILES> static inline void lathe_await_mma(float (&)[TILES][4]) {
  emulator_await_products(MOST);
  emulator_exchange(0); /* of all of a warp */
}

/* What counts of an element: 11 digits of a number. */
template <typename T> static inline float emulator_factor(T x) {
  return float(x);
}

static inline float emulator_factor(float x) {
  return __uint_as_float(__float_as_uint(x) & ~0x1fffu);
}

template <bool ALONG_K, typename T>
static inline float emulator_element(const void *from, unsigned row, unsigned k) {
  static_assert(ALONG_K || sizeof(T) == 2, "numbers lie along terms");
  const uint64_t at =
      (uint64_t)from + (ALONG_K ? row / 8 * 1024 + row % 8 * 128 + k * sizeof(T)
                                : row / 64 * 8192 + k / 8 * 1024 + k % 8 * 128 + row % 64 * 2);
  return emulator_factor(
      *(const T *)((at ^ (at >> 7 & 7) << 4) - (uint64_t)room + (uint64_t)room_shown));
}

template <int N, bool A_ALONG_K, bool B_ALONG_K, typename T>
static void emulator_group_mma(float *sums, const void *a, const void *b) {
  const unsigned row = threadIdx.x / 32 % 4 * 16 + emulator_lane() / 4,
                 column = emulator_lane() % 4 * 2;

  for (unsigned tile = 0; tile < N / 8; tile++)
    for (unsigned nth = 0; nth < 4; nth++) {
      double sum = sums[tile * 4 + nth];
      for (unsigned k = 0; k < 32 / sizeof(T); k++)
        sum += (double)emulator_element<A_ALONG_K, T>(a, row + nth / 2 * 8, k) *
               emulator_element<B_ALONG_K, T>(b, tile * 8 + column + nth % 2, k);
      sums[tile * 4 + nth] = emulator_sum(sum);
    }
}

template <int N, bool A_ALONG_K, bool B_ALONG_K, typename T>
static inline void lathe_group_mma(const T *, float (&sums)[N / 8][4], const uint4 *a, int of_a,
                                   const uint4 *b, int of_b) {
  emulator_multiply_ahead(emulator_group_mma<N, A_ALONG_K, B_ALONG_K, T>, sums[0], a + of_a,
                          b + of_b);
}

/* Of what a warp has of a, multiplied at once: TERMS products are added to each sum, product(its half of a, the row's
 * first lane, the column, the term). */
template <unsigned TERMS, int TILES, typename F>
static inline void emulator_multiply_at_once(float (&sums)[TILES][4], const unsigned (&a)[4],
                                             F product) {
  const emulator_words &all = *emulator_exchange_all(a, 4);

  for (unsigned tile = 0; tile < TILES; tile++)
    for (unsigned nth = 0; nth < 4; nth++) {
      const unsigned column = emulator_lane() % 4 * 2 + nth % 2;
      double sum = sums[tile][nth];
      for (unsigned k = 0; k < TERMS; k++)
        sum += product(all + nth / 2, emulator_lane() / 4 * 4, tile * 8 + column, k);
      sums[tile][nth] = emulator_sum(sum);
    }
}

/* As lathe_mma. */
template <int N, bool B_ALONG_K, typename T>
static inline void lathe_group_mma_of_threads(const T *, float (&sums)[N / 8][4],
                                              const unsigned (&a)[4], const uint4 *b, int of_b) {
  b += of_b;
  emulator_multiply_at_once<16>(
      sums, a, [b](const unsigned(*half)[32], unsigned lane, unsigned column, unsigned k) {
        T x;
        x.bits = (uint16_t)(half[k / 8 * 2][lane + k / 2 % 4] >> k % 2 * 16);
        return (double)float(x) * emulator_element<B_ALONG_K, T>(b, column, k);
      });
}

/* As lathe_mma_numbers. */
template <int N>
static inline void lathe_group_mma_numbers(float (&sums)[N / 8][4], const unsigned (&a)[4],
                                           const uint4 *b, int of_b) {
  b += of_b;
  emulator_multiply_at_once<8>(
      sums, a, [b](const unsigned(*half)[32], unsigned lane, unsigned column, unsigned k) {
        return (double)emulator_factor(__uint_as_float(half[k / 4 * 2][lane + k % 4])) *
               emulator_element<true, float>(b, column, k);
      });
}
#include "bulk_copies.h"
#pragma GCC pop_options
#endif

#ifdef __F16C__
static inline float emulator_from_half(uint16_t bits) {
  _Float16 x;

  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint16_t emulator_to_half(float x) {
  const _Float16 half = (_Float16)x;
  uint16_t bits;

  memcpy(&bits, &half, sizeof bits);
  return bits;
}
#endif

#endif
