/* ptx.h - the instructions that CUDA C has no name for. What the tests run kernels on in place of a GPU has
 * this file's functions in C++ (tests/cuda/emulator). */
#ifndef LATHE_PTX_H
#define LATHE_PTX_H

/* Each kernel begins so. From compute capability 9.0 on a launch may let it begin when the last block of the kernel
 * before it on the stream has ended (lathe_driver_launch): here it waits until what that wrote can be read. It never
 * begins earlier, which the earlier kernel could allow: its blocks would share multiprocessors with those that still
 * run, others would stand idle, and products of few blocks took up to 1.5 times as long on an H100. */
static __device__ __forceinline__ void lathe_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
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

static __device__ __forceinline__ float lathe_log2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/* Off by 2 ulp at most, numbers below the normal range included. */
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

/* Nothing, but the compiler does not see what is in the words: of narrow numbers in an access that may not be there, it
 * takes each apart as it comes, and so waits for one access after the other. */
static __device__ __forceinline__ void lathe_keep_whole(unsigned &word) {
  unsigned kept;
  asm("mov.b32 %0, %1;"
      : "=r"(kept)
      : "r"(word)); /* without a move nvcc may take another register */
  word = kept;
}

static __device__ __forceinline__ void lathe_keep_whole(uint2 &words) {
  lathe_keep_whole(words.x);
  lathe_keep_whole(words.y);
}

static __device__ __forceinline__ void lathe_keep_whole(uint4 &words) {
  lathe_keep_whole(words.x);
  lathe_keep_whole(words.y);
  lathe_keep_whole(words.z);
  lathe_keep_whole(words.w);
}

/* An access whose words the compiler does not see either. */
static __device__ __forceinline__ void lathe_read_whole(uint4 &to, const void *from) {
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
               : "l"(from)
               : "memory");
}

static __device__ __forceinline__ void lathe_read_whole(uint2 &to, const void *from) {
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(to.x), "=r"(to.y) : "l"(from) : "memory");
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

/* Clusters: blocks that run at the same time and reach each other's shared memory. */
#if __CUDA_ARCH__ >= 900
static __device__ __forceinline__ void lathe_cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

static __device__ __forceinline__ void lathe_cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* How many blocks the cluster has. */
static __device__ __forceinline__ unsigned lathe_cluster_size() {
  unsigned size;

  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  return size;
}

/* A barrier in shared memory that counts bytes: it is passed, its parity first 0, when as many have arrived as
 * one thread expects. All blocks of a cluster must have started before one is sent to. */
static __device__ __forceinline__ void lathe_begin_arrivals(unsigned long long *arrivals) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(arrivals))
      : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void lathe_expect(unsigned long long *arrivals, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   (unsigned)__cvta_generic_to_shared(arrivals)),
               "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ void lathe_await(unsigned long long *arrivals, unsigned parity) {
  unsigned passed;

  do {
    asm volatile("{ .reg .pred p; "
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : "r"((unsigned)__cvta_generic_to_shared(arrivals)), "r"(parity)
                 : "memory");
  } while (!passed);
}

/* *to = p in the shared memory of the cluster's block `block`, where `arrivals` counts it. */
template <typename P>
static __device__ __forceinline__ void lathe_send(P *to, const P &p, unsigned block,
                                                  unsigned long long *arrivals) {
  unsigned words[sizeof(P) / sizeof(unsigned)], at, counted;

  memcpy(words, &p, sizeof p);
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"((unsigned)__cvta_generic_to_shared(to)), "r"(block));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(counted)
      : "r"((unsigned)__cvta_generic_to_shared(arrivals)), "r"(block));
#pragma unroll
  for (unsigned w = 0; w < sizeof(P) / sizeof(unsigned); w++)
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     at + w * 4),
                 "r"(words[w]), "r"(counted)
                 : "memory");
}
#else
static __device__ __forceinline__ void lathe_cluster_arrive() {
}

static __device__ __forceinline__ void lathe_cluster_wait() {
}

static __device__ __forceinline__ unsigned lathe_cluster_size() {
  return 1;
}

static __device__ __forceinline__ void lathe_begin_arrivals(unsigned long long *) {
}

static __device__ __forceinline__ void lathe_expect(unsigned long long *, unsigned) {
}

static __device__ __forceinline__ void lathe_await(unsigned long long *, unsigned) {
}

template <typename P>
static __device__ __forceinline__ void lathe_send(P *, const P &, unsigned, unsigned long long *) {
}
#endif

/* *to = p in the shared memory of the cluster's block `block`, to be read after a barrier of the cluster. */
static __device__ __forceinline__ void lathe_put(float2 *to, float2 p, unsigned block) {
#if __CUDA_ARCH__ >= 900
  unsigned at;

  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"((unsigned)__cvta_generic_to_shared(to)), "r"(block));
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(p.x), "f"(p.y)
               : "memory");
#endif
}

/* The 16 bytes that the cluster's block `block` has where this one has `from` in shared memory, after a barrier of the
 * cluster. */
static __device__ __forceinline__ uint4 lathe_take_from(const void *from, unsigned block) {
  uint4 words = {};
#if __CUDA_ARCH__ >= 900
  unsigned at;

  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"((unsigned)__cvta_generic_to_shared(from)), "r"(block));
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "r"(at)
               : "memory");
#endif
  return words;
}

/* Copies 16 bytes to shared memory while the thread goes on; groups of copies end in their order. */
static __device__ __forceinline__ void lathe_copy_ahead(void *to, const void *from) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
      "l"(from)
      : "memory");
}

/* The same of the first `bytes` bytes, and zeros after them. */
static __device__ __forceinline__ void lathe_copy_some(void *to, const void *from, int bytes) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
      "l"(from), "r"(bytes)
      : "memory");
}

static __device__ __forceinline__ void lathe_end_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for all groups but the last MOST. */
template <int MOST> static __device__ __forceinline__ void lathe_await_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(MOST) : "memory");
}

/* A barrier of the block's first THREADS threads alone. */
template <int THREADS> static __device__ __forceinline__ void lathe_await_first() {
  asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
}

/* Two groups of threads that take turns: one waits for its own, which the other gives it. They differ in time alone. */
template <int THREADS> static __device__ __forceinline__ void lathe_await_turn(int turn) {
  asm volatile("bar.sync %0, %1;" ::"r"(turn + 2), "n"(THREADS) : "memory");
}

template <int THREADS> static __device__ __forceinline__ void lathe_give_turn(int turn) {
  asm volatile("bar.arrive %0, %1;" ::"r"(turn + 2), "n"(THREADS) : "memory");
}

/* Four 8 x 8 matrices of 16-bit elements from shared memory, the rows of the nth at the addresses that threads 8 nth
 * ... 8 nth + 7 of a warp have: of each, thread t gets elements 2 (t % 4) and the next of row t / 4, or of a matrix
 * that is TRANSPOSED on the way. */
template <bool TRANSPOSED>
static __device__ __forceinline__ void lathe_load_matrices(unsigned (&to)[4], const void *from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(from);
  if (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}

/* Two numbers rounded to elements of a type, as tensor cores take neighbours. */
#define LATHE_ROUND_TWO(T, TYPE)                                                                   \
  static __device__ __forceinline__ unsigned lathe_round_two(const T *, float first,               \
                                                             float second) {                       \
    unsigned word;                                                                                 \
    asm("cvt.rn." TYPE ".f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));                 \
    return word;                                                                                   \
  }
#ifdef __CUDA_BF16_TYPES_EXIST__
LATHE_ROUND_TWO(__nv_bfloat16, "bf16x2")
#endif
#ifdef __CUDA_FP16_TYPES_EXIST__
LATHE_ROUND_TWO(__half, "f16x2")
#endif

/* sums += a * b, of 16 x 16 and 16 x 8 elements of a type, by C's name and by PTX's. */
#define LATHE_MMA(T, TYPE)                                                                         \
  static __device__ __forceinline__ void lathe_mma(                                                \
      const T *, float(&sums)[4], const unsigned(&a)[4], unsigned b0, unsigned b1) {               \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 "                             \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                          \
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                               \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                           \
  }
#ifdef __CUDA_BF16_TYPES_EXIST__
LATHE_MMA(__nv_bfloat16, "bf16")
#endif
#ifdef __CUDA_FP16_TYPES_EXIST__
LATHE_MMA(__half, "f16")
#endif

/* sums += a * b, of 16 x 8 and 8 x 8 numbers, of whose digits 11 count (tf32). */
static __device__ __forceinline__ void lathe_mma_numbers(float (&sums)[4], const unsigned (&a)[4],
                                                         unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Tensor cores that read shared memory by themselves, for groups of four warps: sums += a * b of 64 x 16 and 16 x N
 * elements, of which each thread has what it has of mma's sums. A factor's first line is at a chunk from an address in
 * shared memory on, where chunks lie as in tensor.h. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/* What threads have written, before the tensor cores read it. */
static __device__ __forceinline__ void lathe_show_tensor_cores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ __forceinline__ void lathe_begin_mma() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void lathe_end_mma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* What is computed of sums ahead of here is done before what comes after. */
template <int TILES> static __device__ __forceinline__ void lathe_settle(float (&sums)[TILES][4]) {
#pragma unroll
  for (int tile = 0; tile < TILES; tile++)
    asm volatile(""
                 : "+f"(sums[tile][0]), "+f"(sums[tile][1]), "+f"(sums[tile][2]),
                   "+f"(sums[tile][3])::"memory");
}

/* Waits for all but the last MOST that were ended; sums are to be touched after that alone. */
template <int MOST, int TILES>
static __device__ __forceinline__ void lathe_await_mma(float (&sums)[TILES][4]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(MOST) : "memory");
  if (MOST == 0)
    lathe_settle(sums);
}

/* How lines lie from a chunk on: 1024 bytes from eight to the next, and with lines of rows 8192 from 64 rows to the
 * next. The chunk is added alone, to what is the same for many: what it would take to find an address for each product
 * takes as long as the product. */
template <bool ALONG_K>
static __device__ __forceinline__ unsigned long long lathe_lines(const uint4 *from, int chunk) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(from) >> 4 | (ALONG_K ? 1u : 8192u >> 4)
                                                                          << 16;
  return (unsigned long long)(1024u >> 4 | 1u << 30) << 32 | (at + (unsigned)chunk);
}

#define LATHE_SUMS_8(t) LATHE_SUMS_4(t), LATHE_SUMS_4(t + 1)
#define LATHE_SUMS_4(t) "+f"(sums[t][0]), "+f"(sums[t][1]), "+f"(sums[t][2]), "+f"(sums[t][3])
#define LATHE_SUMS_32(t)                                                                           \
  LATHE_SUMS_8(t), LATHE_SUMS_8(t + 2), LATHE_SUMS_8(t + 4), LATHE_SUMS_8(t + 6)
#define LATHE_SUMS_16(t) LATHE_SUMS_8(t), LATHE_SUMS_8(t + 2)
#define LATHE_SUMS_64 LATHE_SUMS_32(0), LATHE_SUMS_32(8)
#define LATHE_SUMS_128 LATHE_SUMS_64, LATHE_SUMS_32(16), LATHE_SUMS_32(24)

#define LATHE_PLACES_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define LATHE_PLACES_16 LATHE_PLACES_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define LATHE_PLACES_32                                                                            \
  LATHE_PLACES_16                                                                                  \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define LATHE_PLACES_64                                                                            \
  LATHE_PLACES_32                                                                                  \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "   \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LATHE_PLACES_128                                                                           \
  LATHE_PLACES_64                                                                                  \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "   \
  "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "     \
  "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, "     \
  "%115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

/* Of N columns and a type as above. */
#define LATHE_GROUP_MMA_OF(COLUMNS, TYPE, PLACES, SUMS, A, B, TURN_A, TURN_B)                      \
  if constexpr (N == COLUMNS)                                                                      \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." TYPE "." TYPE " {" PLACES   \
               "}, " A ", " B ", 1, 1, 1, " TURN_A ", " TURN_B ";"                                 \
               : SUMS                                                                              \
               : "l"(lathe_lines<A_ALONG_K>(a, of_a)), "l"(lathe_lines<B_ALONG_K>(b, of_b)),       \
                 "n"(!A_ALONG_K), "n"(!B_ALONG_K))
#define LATHE_GROUP_MMA(T, TYPE)                                                                   \
  template <int N, bool A_ALONG_K, bool B_ALONG_K>                                                 \
  static __device__ __forceinline__ void lathe_group_mma(                                          \
      const T *, float(&sums)[N / 8][4], const uint4 *a, int of_a, const uint4 *b, int of_b) {     \
    static_assert(N == 16 || N == 64 || N == 128 || N == 256, "those are written out");            \
    LATHE_GROUP_MMA_OF(16, TYPE, LATHE_PLACES_8, LATHE_SUMS_8(0), "%8", "%9", "%10", "%11");       \
    LATHE_GROUP_MMA_OF(64, TYPE, LATHE_PLACES_32, LATHE_SUMS_32(0), "%32", "%33", "%34", "%35");   \
    LATHE_GROUP_MMA_OF(128, TYPE, LATHE_PLACES_64, LATHE_SUMS_64, "%64", "%65", "%66", "%67");     \
    LATHE_GROUP_MMA_OF(256, TYPE, LATHE_PLACES_128, LATHE_SUMS_128, "%128", "%129", "%130",        \
                       "%131");                                                                    \
  }
#ifdef __CUDA_BF16_TYPES_EXIST__
LATHE_GROUP_MMA(__nv_bfloat16, "bf16")
#endif
#ifdef __CUDA_FP16_TYPES_EXIST__
LATHE_GROUP_MMA(__half, "f16")
#endif

/* The same where each thread gives what mma has of a. */
#define LATHE_GROUP_MMA_BY_THREADS(COLUMNS, TYPE, PLACES, SUMS, A, B, TURN)                        \
  if constexpr (N == COLUMNS)                                                                      \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." TYPE "." TYPE " {" PLACES   \
               "}, {" A "}, " B ", 1, 1, 1, " TURN ";"                                             \
               : SUMS                                                                              \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(lathe_lines<B_ALONG_K>(b, of_b)), \
                 "n"(!B_ALONG_K))
#define LATHE_GROUP_MMA_OF_THREADS(T, TYPE)                                                        \
  template <int N, bool B_ALONG_K>                                                                 \
  static __device__ __forceinline__ void lathe_group_mma_of_threads(                               \
      const T *, float(&sums)[N / 8][4], const unsigned(&a)[4], const uint4 *b, int of_b) {        \
    static_assert(N == 16 || N == 32 || N == 64 || N == 128, "those are written out");             \
    LATHE_GROUP_MMA_BY_THREADS(16, TYPE, LATHE_PLACES_8, LATHE_SUMS_8(0), "%8, %9, %10, %11",      \
                               "%12", "%13");                                                      \
    LATHE_GROUP_MMA_BY_THREADS(32, TYPE, LATHE_PLACES_16, LATHE_SUMS_16(0), "%16, %17, %18, %19",  \
                               "%20", "%21");                                                      \
    LATHE_GROUP_MMA_BY_THREADS(64, TYPE, LATHE_PLACES_32, LATHE_SUMS_32(0), "%32, %33, %34, %35",  \
                               "%36", "%37");                                                      \
    LATHE_GROUP_MMA_BY_THREADS(128, TYPE, LATHE_PLACES_64, LATHE_SUMS_64, "%64, %65, %66, %67",    \
                               "%68", "%69");                                                      \
  }
#ifdef __CUDA_BF16_TYPES_EXIST__
LATHE_GROUP_MMA_OF_THREADS(__nv_bfloat16, "bf16")
#endif
#ifdef __CUDA_FP16_TYPES_EXIST__
LATHE_GROUP_MMA_OF_THREADS(__half, "f16")
#endif

/* Of numbers, of whose digits 11 count (tf32), and of 8 terms, along which both factors lie; or a is what mma has of
 * it. */
#define LATHE_GROUP_MMA_OF_NUMBERS(COLUMNS, PLACES, SUMS, A, B, ...)                               \
  if constexpr (N == COLUMNS)                                                                      \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k8.f32.tf32.tf32 {" PLACES "}, " A    \
               ", " B ", 1, 1, 1;"                                                                 \
               : SUMS                                                                              \
               : __VA_ARGS__, "l"(lathe_lines<true>(b, of_b)))
template <int N, bool A_ALONG_K, bool B_ALONG_K>
static __device__ __forceinline__ void lathe_group_mma(const float *, float (&sums)[N / 8][4],
                                                       const uint4 *a, int of_a, const uint4 *b,
                                                       int of_b) {
  static_assert(A_ALONG_K && B_ALONG_K, "numbers lie along terms");
  static_assert(N == 64 || N == 128 || N == 256, "those are written out");
  LATHE_GROUP_MMA_OF_NUMBERS(64, LATHE_PLACES_32, LATHE_SUMS_32(0), "%32", "%33",
                             "l"(lathe_lines<true>(a, of_a)));
  LATHE_GROUP_MMA_OF_NUMBERS(128, LATHE_PLACES_64, LATHE_SUMS_64, "%64", "%65",
                             "l"(lathe_lines<true>(a, of_a)));
  LATHE_GROUP_MMA_OF_NUMBERS(256, LATHE_PLACES_128, LATHE_SUMS_128, "%128", "%129",
                             "l"(lathe_lines<true>(a, of_a)));
}

template <int N>
static __device__ __forceinline__ void
lathe_group_mma_numbers(float (&sums)[N / 8][4], const unsigned (&a)[4], const uint4 *b, int of_b) {
  static_assert(N == 64 || N == 128 || N == 256, "those are written out");
  LATHE_GROUP_MMA_OF_NUMBERS(64, LATHE_PLACES_32, LATHE_SUMS_32(0), "{%32, %33, %34, %35}", "%36",
                             "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
  LATHE_GROUP_MMA_OF_NUMBERS(128, LATHE_PLACES_64, LATHE_SUMS_64, "{%64, %65, %66, %67}", "%68",
                             "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
  LATHE_GROUP_MMA_OF_NUMBERS(256, LATHE_PLACES_128, LATHE_SUMS_128, "{%128, %129, %130, %131}",
                             "%132", "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
}
#else
/* Kernels that call these are for sm_90a alone. */
static __device__ __forceinline__ void lathe_show_tensor_cores() {
}

static __device__ __forceinline__ void lathe_begin_mma() {
}

static __device__ __forceinline__ void lathe_end_mma() {
}

template <int TILES> static __device__ __forceinline__ void lathe_settle(float (&)[TILES][4]) {
}

template <int MOST, int TILES>
static __device__ __forceinline__ void lathe_await_mma(float (&)[TILES][4]) {
}

template <int N, bool A_ALONG_K, bool B_ALONG_K, typename T>
static __device__ __forceinline__ void lathe_group_mma(const T *, float (&)[N / 8][4],
                                                       const uint4 *, int, const uint4 *, int) {
}

template <int N, bool B_ALONG_K, typename T>
static __device__ __forceinline__ void lathe_group_mma_of_threads(const T *, float (&)[N / 8][4],
                                                                  const unsigned (&)[4],
                                                                  const uint4 *, int) {
}

template <int N>
static __device__ __forceinline__ void
lathe_group_mma_numbers(float (&)[N / 8][4], const unsigned (&)[4], const uint4 *, int) {
}
#endif

#endif
