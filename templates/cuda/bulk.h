/* bulk.h - instructions of compute capability 9.0 by which a thread has tiles of tensors copied to shared memory, and
 * others wait for them. As for ptx.h, the tests have them in C++ (tests/cuda/emulator). */
#ifndef LATHE_BULK_H
#define LATHE_BULK_H

/* A tensor's place, extents and tiles, as the driver has written them: a parameter of kernels. */
struct alignas(64) lathe_map {
  unsigned long long words[16];
};

#if __CUDA_ARCH__ >= 900
/* A barrier in shared memory, whose phases end when `arrivals` threads have arrived and all bytes that they expect. */
static __device__ __forceinline__ void lathe_open(unsigned long long *barrier, unsigned arrivals) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)),
      "r"(arrivals)
      : "memory");
}

/* Whether this thread is the one of its warp that the warp elects: of what it then does the compiler knows that one
 * thread does it, so that the copy engine's registers, which a warp has once, are not filled thread by thread. */
static __device__ __forceinline__ bool lathe_is_elected() {
  unsigned is;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(is));
  return is;
}

/* Has a map on its way to the copy engine, which otherwise asks for it when it has the first slice to bring. */
static __device__ __forceinline__ void lathe_expect_map(const lathe_map &map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/* The copy engine sees the barriers that were opened. */
static __device__ __forceinline__ void lathe_show_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void lathe_arrive(unsigned long long *barrier) {
  asm volatile(
      "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"((unsigned)__cvta_generic_to_shared(barrier))
      : "memory");
}

/* Arrives, and some bytes are still to come. */
static __device__ __forceinline__ void lathe_arrive_before(unsigned long long *barrier,
                                                           unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   (unsigned)__cvta_generic_to_shared(barrier)),
               "r"(bytes)
               : "memory");
}

/* Waits for the end of a phase: of the first with parity 0, of the next with 1, and so on. With 1 it does not wait for
 * the first's. */
static __device__ __forceinline__ void lathe_await_phase(unsigned long long *barrier,
                                                         unsigned parity) {
  unsigned passed;

  do {
    asm volatile("{ .reg .pred p; "
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(parity)
                 : "memory");
  } while (!passed);
}

/* Has the tile copied whose first element is at some indexes, the innermost first. */
#define LATHE_FETCH(DIMS, PLACES, ...)                                                             \
  asm volatile("cp.async.bulk.tensor." DIMS                                                        \
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" PLACES     \
               "}], [%2];" ::"r"((unsigned)__cvta_generic_to_shared(to)),                          \
               "l"(&map), "r"((unsigned)__cvta_generic_to_shared(barrier)), __VA_ARGS__            \
               : "memory")

static __device__ __forceinline__ void lathe_fetch(void *to, const lathe_map &map,
                                                   unsigned long long *barrier, int x, int y) {
  LATHE_FETCH("2d", "%3, %4", "r"(x), "r"(y));
}

static __device__ __forceinline__ void
lathe_fetch(void *to, const lathe_map &map, unsigned long long *barrier, int x, int y, int z) {
  LATHE_FETCH("3d", "%3, %4, %5", "r"(x), "r"(y), "r"(z));
}

static __device__ __forceinline__ void lathe_fetch(void *to, const lathe_map &map,
                                                   unsigned long long *barrier, int x, int y, int z,
                                                   int u) {
  LATHE_FETCH("4d", "%3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(u));
}

static __device__ __forceinline__ void lathe_fetch(void *to, const lathe_map &map,
                                                   unsigned long long *barrier, int x, int y, int z,
                                                   int u, int v) {
  LATHE_FETCH("5d", "%3, %4, %5, %6, %7", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v));
}
#else
/* Kernels that call these are for sm_90a alone. */
static __device__ __forceinline__ bool lathe_is_elected() {
  return false;
}

static __device__ __forceinline__ void lathe_expect_map(const lathe_map &) {
}

static __device__ __forceinline__ void lathe_open(unsigned long long *, unsigned) {
}

static __device__ __forceinline__ void lathe_show_barriers() {
}

static __device__ __forceinline__ void lathe_arrive(unsigned long long *) {
}

static __device__ __forceinline__ void lathe_arrive_before(unsigned long long *, unsigned) {
}

static __device__ __forceinline__ void lathe_await_phase(unsigned long long *, unsigned) {
}

template <typename... Indexes>
static __device__ __forceinline__ void lathe_fetch(void *, const lathe_map &, unsigned long long *,
                                                   Indexes...) {
}
#endif

/* From here on each thread of a group of four warps has no more registers than that, or as many. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
template <int REGISTERS> static __device__ __forceinline__ void lathe_leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS> static __device__ __forceinline__ void lathe_take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
#else
template <int REGISTERS> static __device__ __forceinline__ void lathe_leave_registers() {
}

template <int REGISTERS> static __device__ __forceinline__ void lathe_take_registers() {
}
#endif

#endif
