/* ptx.h - the instructions that CUDA C has no name for. What the tests run kernels on in place of a GPU has
 * this file's functions in C++ (tests/cuda/emulator). */
#ifndef LATHE_PTX_H
#define LATHE_PTX_H

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
static __device__ __forceinline__ void lathe_keep_whole(uint4 &words) {
  asm("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
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

#endif
