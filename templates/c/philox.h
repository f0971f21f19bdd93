/* philox.h - random numbers by their place: Philox4x32-10 (Salmon and others, "Parallel random numbers:
 * as easy as 1, 2, 3", SC 2011). Point i takes word i % 4 of counter (i / 4, offset) under key seed, and
 * of it the upper 24 bits, as a number from 0 to 1 - 2^-24. In the types of 16 bits, of which twice as
 * many come in the same time, it takes 16 bits: half i % 8 of counter (i / 8, offset), the lower half of
 * a word first, as a number from 0 to 1 - 2^-16. */
#ifndef LATHE_PHILOX_H
#define LATHE_PHILOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  LATHE_NUMBERS = 1024, /* numbers made at a time */
  LATHE_COUNTERS = 64,  /* counters that are worked on side by side */
};

/* Word `nth` of a counter, step by step as the paper has it: the references' way. */
static inline uint32_t lathe_word(int64_t seed, int64_t offset, uint64_t counter, size_t nth) {
  uint32_t key[2] = {(uint32_t)seed, (uint32_t)((uint64_t)seed >> 32)};
  uint32_t word[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)offset,
                      (uint32_t)((uint64_t)offset >> 32)};
  for (int round = 0; round < 10; round++) {
    const uint64_t even = (uint64_t)word[0] * 0xd2511f53, odd = (uint64_t)word[2] * 0xcd9e8d57;
    const uint32_t mixed[4] = {(uint32_t)(odd >> 32) ^ word[1] ^ key[0], (uint32_t)odd,
                               (uint32_t)(even >> 32) ^ word[3] ^ key[1], (uint32_t)even};
    for (int w = 0; w < 4; w++) {
      word[w] = mixed[w];
    }
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return word[nth];
}

/* The number of one point. */
static inline double lathe_random(int64_t seed, int64_t offset, size_t point, bool narrow) {
  const uint32_t word = narrow ? lathe_word(seed, offset, point / 8, point % 8 / 2)
                               : lathe_word(seed, offset, point / 4, point % 4);
  return narrow ? (double)(word >> point % 2 * 16 & 0xffff) * 0x1p-16
                : (double)(word >> 8) * 0x1p-24;
}

/* The words of some counters from `first` on, LATHE_COUNTERS at most; word w of counter c is at [w][c]. */
static inline void lathe_philox(int64_t seed, int64_t offset, uint64_t first, int counters,
                                uint32_t words[4][LATHE_COUNTERS]) {
  uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)((uint64_t)seed >> 32);
  for (int c = 0; c < counters; c++) {
    words[0][c] = (uint32_t)(first + (uint64_t)c);
    words[1][c] = (uint32_t)((first + (uint64_t)c) >> 32);
    words[2][c] = (uint32_t)offset;
    words[3][c] = (uint32_t)((uint64_t)offset >> 32);
  }
  for (int round = 0; round < 10; round++) {
    for (int c = 0; c < counters; c++) {
      const uint64_t product0 = (uint64_t)0xd2511f53 * words[0][c];
      const uint64_t product1 = (uint64_t)0xcd9e8d57 * words[2][c];
      words[0][c] = (uint32_t)(product1 >> 32) ^ words[1][c] ^ key0;
      words[1][c] = (uint32_t)product1;
      words[2][c] = (uint32_t)(product0 >> 32) ^ words[3][c] ^ key1;
      words[3][c] = (uint32_t)product0;
    }
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
}

/* What the numbers of some points side by side are multiples of 2^-24 by, or narrow ones of 2^-16: 16 at most. */
static inline void lathe_random_beside(int64_t seed, int64_t offset, size_t first, bool narrow,
                                       size_t count, uint32_t *multiples) {
  const size_t each = narrow ? 8 : 4;
  uint32_t words[4][LATHE_COUNTERS];
  lathe_philox(seed, offset, first / each, count > 4 ? count > 8 ? 8 : 4 : 2, words);
  for (size_t nth = 0; nth < count; nth++) {
    const size_t at = first % each + nth;
    multiples[nth] =
        narrow ? words[at % 8 / 2][at / 8] >> at % 2 * 16 & 0xffff : words[at % 4][at / 4] >> 8;
  }
}

/* The numbers of at least the `count` points from `first`, a multiple of 8, on; there is room for
 * LATHE_NUMBERS, at least as many. */
static inline void lathe_randoms_f32(int64_t seed, int64_t offset, size_t first, size_t count,
                                     float *numbers) {
  uint32_t words[4][LATHE_COUNTERS];
  for (size_t c = 0; 4 * c < count; c += LATHE_COUNTERS) {
    lathe_philox(seed, offset, first / 4 + c, LATHE_COUNTERS, words);
    for (size_t i = 0; i < 4 * LATHE_COUNTERS; i++) {
      numbers[4 * c + i] = (float)(int32_t)(words[i % 4][i / 4] >> 8) * 0x1p-24f;
    }
  }
}

/* Those of the types of 16 bits. */
static inline void lathe_randoms_narrow(int64_t seed, int64_t offset, size_t first, size_t count,
                                        float *numbers) {
  uint32_t words[4][LATHE_COUNTERS];
  for (size_t c = 0; 8 * c < count; c += LATHE_COUNTERS) {
    lathe_philox(seed, offset, first / 8 + c, LATHE_COUNTERS, words);
    for (size_t i = 0; i < 4 * LATHE_COUNTERS; i++) {
      const uint32_t word = words[i % 4][i / 4];
      numbers[8 * c + 2 * i] = (float)(int32_t)(word & 0xffff) * 0x1p-16f;
      numbers[8 * c + 2 * i + 1] = (float)(int32_t)(word >> 16) * 0x1p-16f;
    }
  }
}

static inline void lathe_randoms_f64(int64_t seed, int64_t offset, size_t first, size_t count,
                                     double *numbers) {
  uint32_t words[4][LATHE_COUNTERS];
  for (size_t c = 0; 4 * c < count; c += LATHE_COUNTERS) {
    lathe_philox(seed, offset, first / 4 + c, LATHE_COUNTERS, words);
    for (size_t i = 0; i < 4 * LATHE_COUNTERS; i++) {
      numbers[4 * c + i] = (double)(words[i % 4][i / 4] >> 8) * 0x1p-24;
    }
  }
}

#endif
