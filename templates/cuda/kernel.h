/* kernel.h - what all CUDA kernels share: 16-byte accesses, and how threads, blocks and clusters merge what
 * they have gathered. */
#ifndef LATHE_KERNEL_H
#define LATHE_KERNEL_H

#include <stddef.h>

#include "../gpu/modes.h"
#include "functions.h"
#include "gather.h"

/* N elements that are read or written by one access. */
template <typename T, int N> struct alignas(sizeof(T) * N) lathe_pack { T at[N]; };

/* Its words: a pack has 16 bytes, or fewer of an operand whose type is narrower than another's. */
template <int BYTES> struct lathe_access;
template <> struct lathe_access<16> {
  typedef uint4 words;
  typedef unsigned __int128 number;
};
template <> struct lathe_access<8> {
  typedef uint2 words;
  typedef unsigned long long number;
};
template <> struct lathe_access<4> { typedef unsigned words; };

/* The words of one: as these is read what may not be there. */
template <typename W, typename T>
static __device__ __forceinline__ W lathe_words_of(const T *from) {
  return *reinterpret_cast<const W *>(from);
}

template <typename T> static __device__ __forceinline__ uint4 lathe_words(const T *from) {
  return lathe_words_of<uint4>(from);
}

/* The same of what is touched once: first to leave the caches. */
template <typename W, typename T>
static __device__ __forceinline__ W lathe_words_of_once(const T *from) {
  return __ldcs(reinterpret_cast<const W *>(from));
}

template <typename T> static __device__ __forceinline__ uint4 lathe_words_once(const T *from) {
  return lathe_words_of_once<uint4>(from);
}

template <int N, typename T>
static __device__ __forceinline__ lathe_pack<T, N> lathe_load(const T *from) {
  const auto words = lathe_words_of<typename lathe_access<sizeof(T) * N>::words>(from);
  lathe_pack<T, N> pack;

  memcpy(&pack, &words, sizeof pack);
  return pack;
}

template <int N, typename T>
static __device__ __forceinline__ lathe_pack<T, N> lathe_load_once(const T *from) {
  const auto words = lathe_words_of_once<typename lathe_access<sizeof(T) * N>::words>(from);
  lathe_pack<T, N> pack;

  memcpy(&pack, &words, sizeof pack);
  return pack;
}

/* Packs of words that may not all be there. */
template <typename T, int N, int H, typename W>
static __device__ __forceinline__ void lathe_unpack(lathe_pack<T, N> (&packs)[H], const W *words) {
#pragma unroll
  for (int nth = 0; nth < H; nth++) {
    W whole = words[nth];
    lathe_keep_whole(whole);
    memcpy(&packs[nth], &whole, sizeof whole);
  }
}

/* As one number: compilers split a pack whose elements are stored one by one elsewhere. */
template <int N, typename T>
static __device__ __forceinline__ void lathe_store(T *to, const lathe_pack<T, N> &pack) {
  if constexpr (sizeof pack == 8 || sizeof pack == 16) {
    typename lathe_access<sizeof pack>::words words;
    typename lathe_access<sizeof pack>::number whole;
    memcpy(&words, &pack, sizeof pack);
    lathe_keep_whole(words);
    memcpy(&whole, &words, sizeof words);
    *reinterpret_cast<decltype(whole) *>(to) = whole;
  } else {
    *reinterpret_cast<lathe_pack<T, N> *>(to) = pack;
  }
}

/* Number `lane` of a pack. */
template <typename T, int N>
static __device__ __forceinline__ T lathe_number(const lathe_pack<T, N> &pack, int lane) {
  return pack.at[lane];
}

#ifdef __CUDA_BF16_TYPES_EXIST__
/* The upper half of a word takes one operation, as the lower does. */
template <int N>
static __device__ __forceinline__ float lathe_number(const lathe_pack<__nv_bfloat16, N> &pack,
                                                     int lane) {
  unsigned words[N / 2];

  memcpy(words, &pack, sizeof words);
  return __uint_as_float(lane % 2 ? words[lane / 2] & 0xffff0000 : words[lane / 2] << 16);
}
#endif

/* The place that is `packs` packs of N elements further. */
template <int N, typename T>
static __device__ __forceinline__ T *lathe_further(T *from, unsigned packs) {
  return from + (size_t)packs * N;
}

template <int N, typename T>
static __device__ __forceinline__ void lathe_store_once(T *to, const lathe_pack<T, N> &pack) {
  typename lathe_access<sizeof(T) * N>::words words;

  memcpy(&words, &pack, sizeof words);
  __stcs(reinterpret_cast<decltype(words) *>(to), words);
}

/* What is gathered of several rows, to be merged at once. */
template <typename P, int ROWS> struct lathe_rows {
  P of[ROWS];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++)
      of[nth].clear();
  }
  template <int T> __device__ __forceinline__ void merge_lanes() {
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++)
      of[nth].template merge_lanes<T>();
  }
  template <int T> __device__ __forceinline__ void merge_copies() {
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++)
      of[nth].template merge_copies<T>();
  }
  __device__ __forceinline__ void merge(const lathe_rows &other) {
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++)
      of[nth].merge(other.of[nth]);
  }
};

/* Merges what the threads that share a row have gathered: afterwards each of them has the whole, the
 * same to the bit; or, where not ALL need it, those of the first warp. They are T neighbouring threads,
 * or with T = 0 those of a block with the same threadIdx.y, whole warps. Then it needs shared memory for a P of
 * each of the block's warps, which is not to be touched again before another barrier. */
template <int T, bool ALL = true, typename P>
static __device__ __forceinline__ void lathe_merge_row(P &p, P *shared) {
  if constexpr (T > 0) {
    p.template merge_lanes<T>();
  } else {
    const unsigned warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    p.template merge_lanes<32>();
    if (lane == 0)
      shared[threadIdx.y * warps + warp] = p;
    __syncthreads();
    if (!ALL && warp > 0)
      return;
    const unsigned from = warps <= 8 ? lane % 8 : warps <= 16 ? lane % 16 : lane;
    p.clear();
    if (from < warps)
      p = shared[threadIdx.y * warps + from];
    if (warps <= 8)
      p.template merge_copies<8>();
    else if (warps <= 16)
      p.template merge_copies<16>();
    else
      p.template merge_lanes<32>();
  }
}

/* The blocks that share a row, if they are more than one, a cluster. Each sends what it has gathered to all, and
 * waits for what they send and nothing else: a barrier of the cluster would wait for what threads have written to
 * memory too, and rows of softmax then take a fifth longer. One that is ahead may send for the next merge but not for
 * that after it, so that two counts of what arrives take turns, as must the shared memory that is sent to. */
struct lathe_cluster {
  unsigned long long *const arrivals; /* two, in shared memory */
  const unsigned blocks;
  unsigned merges;

  __device__ __forceinline__ lathe_cluster(unsigned long long *arrivals, unsigned blocks)
      : arrivals(arrivals), blocks(blocks), merges(0) {
    if (blocks > 1) {
      if (threadIdx.x == 0) {
        lathe_begin_arrivals(arrivals);
        lathe_begin_arrivals(arrivals + 1);
      }
      lathe_cluster_arrive();
    }
  }
  /* Before the first merge: all of them have started. */
  __device__ __forceinline__ void await_start() const {
    if (blocks > 1)
      lathe_cluster_wait();
  }
  /* As lathe_merge_row; shared: for a P of each warp of all blocks. */
  template <int T, bool ALL = true, typename P>
  __device__ __forceinline__ void merge_row(P &p, P *shared) {
    if (blocks == 1) {
      lathe_merge_row<T, ALL>(p, shared);
      return;
    }
    const unsigned warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned long long *const count = arrivals + merges % 2;
    if (threadIdx.x == 0)
      lathe_expect(count, blocks * warps * (unsigned)sizeof(P));
    p.template merge_lanes<32>();
    if (lane < blocks)
      lathe_send(shared + blockIdx.x % blocks * warps + warp, p, lane, count);
    lathe_await(count, merges / 2 % 2);
    merges++;
    if (!ALL && warp > 0)
      return;
    p.clear();
    for (unsigned from = lane; from < blocks * warps; from += 32)
      p.merge(shared[from]);
    p.template merge_lanes<32>();
  }
};

/* How many of a row's elements lie ahead of the first that a pack may start at. */
template <int N, typename T, typename C>
static __device__ __forceinline__ unsigned lathe_head(const T *row, C count) {
  const unsigned ahead = (unsigned)(-((uintptr_t)row / sizeof(T)) % N);

  return ahead < count ? ahead : (unsigned)count;
}

/* The words that lie `past` elements past some: some of these, then of the next. */
template <typename T>
static __device__ __forceinline__ uint4 lathe_past(uint4 words, uint4 next, unsigned past) {
  const unsigned bytes = past * (unsigned)sizeof(T);
  unsigned word[8] = {words.x, words.y, words.z, words.w, next.x, next.y, next.z, next.w};

#pragma unroll
  for (int w = 0; w < 6; w++)
    word[w] = bytes & 8 ? word[w + 2] : word[w];
#pragma unroll
  for (int w = 0; w < 5; w++)
    word[w] = bytes & 4 ? word[w + 1] : word[w];
#pragma unroll
  for (int w = 0; w < 4; w++)
    word[w] = sizeof(T) < 4 ? __funnelshift_r(word[w], word[w + 1], bytes * 8) : word[w];
  return {word[0], word[1], word[2], word[3]};
}

template <typename T>
static __device__ __forceinline__ uint2 lathe_past(uint2 words, uint2 next, unsigned past) {
  const unsigned bytes = past * (unsigned)sizeof(T);
  const bool word = bytes & 4;
  const unsigned first = word ? words.y : words.x, second = word ? next.x : words.y;

  return {__funnelshift_r(first, second, bytes * 8),
          __funnelshift_r(second, word ? next.y : next.x, bytes * 8)};
}

template <typename T>
static __device__ __forceinline__ unsigned lathe_past(unsigned words, unsigned next,
                                                      unsigned past) {
  return __funnelshift_r(words, next, past * (unsigned)sizeof(T) * 8);
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
