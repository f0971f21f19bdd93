/* philox.h - random numbers. */
#ifndef LATHE_PHILOX_H
#define LATHE_PHILOX_H

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

/* The random number of one point. A call: ten rounds at each of many points that are unrolled take ptxas minutes. */
template <bool NARROW, typename T>
static __device__ __noinline__ T lathe_random_at(long long seed, long long offset, size_t point) {
  const lathe_keys keys(seed);
  T number[1];

  lathe_random<NARROW>(number, keys, offset, point);
  return number[0];
}

#endif
