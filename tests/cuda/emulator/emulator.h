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

/* Waits for all threads of the block that have not ended; or of the cluster, its blocks' too. */
void emulator_await_block(void);
void emulator_await_cluster(void);
unsigned emulator_cluster_size(void);

/* Hands a word to the warp; what its 32 threads have handed, until the next call but one. */
const unsigned *emulator_exchange(unsigned word);

/* Where what this block has at `shared` is in the cluster's block `block`. */
void *emulator_in_block(void *shared, unsigned block);

float emulator_from_half(uint16_t bits);
uint16_t emulator_to_half(float x);

#ifdef __cplusplus
}

/* ---- the language ------------------------------------------------------------------------------- */

#define asm(...) /* there is none outside ptx.h but in what configure tries */
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
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

/* Shared memory whose size a launch gives, by the name that the kernels have for it. */
thread_local uint4 room[EMULATOR_SHARED / sizeof(uint4)];

static inline unsigned emulator_lane() {
  const unsigned nth = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return nth % 32;
}

static inline void __syncthreads() {
  emulator_await_block();
}

template <typename T> static inline T __shfl_xor_sync(unsigned, T value, int mask) {
  unsigned word[sizeof(T) / sizeof(unsigned)];
  static_assert(sizeof word == sizeof value, "shuffles take words of four bytes");
  memcpy(word, &value, sizeof word);
  for (unsigned &w : word)
    w = emulator_exchange(w)[emulator_lane() ^ (unsigned)mask];
  memcpy(&value, word, sizeof word);
  return value;
}

static inline unsigned __shfl_sync(unsigned, unsigned word, int from) {
  return emulator_exchange(word)[from];
}

static inline int __all_sync(unsigned, int holds) {
  const unsigned *of = emulator_exchange(holds != 0);
  int all = 1;
  for (int lane = 0; lane < 32; lane++)
    all = all && of[lane];
  return all;
}

static inline unsigned __reduce_max_sync(unsigned, unsigned word) {
  const unsigned *of = emulator_exchange(word);
  for (int lane = 0; lane < 32; lane++)
    word = of[lane] > word ? of[lane] : word;
  return word;
}

static inline unsigned __reduce_min_sync(unsigned, unsigned word) {
  return ~__reduce_max_sync(0, ~word);
}

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

static inline unsigned __float_as_uint(float x) {
  return emulator_bits<unsigned>(x);
}

static inline double __longlong_as_double(long long x) {
  return emulator_bits<double>(x);
}

static inline long long __double_as_longlong(double x) {
  return emulator_bits<long long>(x);
}

template <typename T> static inline T __ldcs(const T *from) {
  return *from;
}

template <typename T> static inline void __stcs(T *to, T value) {
  *to = value;
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

/* ---- ptx.h -------------------------------------------------------------------------------------- */

#define LATHE_PTX_H

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

static inline void lathe_keep_whole(uint4 &) {
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

static inline void lathe_copy_ahead(void *to, const void *from) {
  memcpy(to, from, 16);
}

static inline void lathe_end_group() {
}

template <int MOST> static inline void lathe_await_groups() {
}
#endif

#endif
