/* warp.h - what the lanes of a warp tell each other. emulator.h includes it. */
#ifndef EMULATOR_WARP_H
#define EMULATOR_WARP_H

static inline void __syncwarp() {
  emulator_exchange(0);
}

template <typename T> static inline T __shfl_xor_sync(unsigned, T value, int mask) {
  unsigned word[sizeof(T) / sizeof(unsigned)];
  const unsigned count = sizeof word / sizeof *word, lane = emulator_lane() ^ (unsigned)mask;
  static_assert(sizeof word == sizeof value && count <= EMULATOR_WORDS,
                "shuffles take a few words of four bytes");
  memcpy(word, &value, sizeof word);
  const emulator_words &all = *emulator_exchange_all(word, count);
  for (unsigned nth = 0; nth < count; nth++)
    word[nth] = all[nth][lane];
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

static inline unsigned __ballot_sync(unsigned, int holds) {
  const unsigned *of = emulator_exchange(holds != 0);
  unsigned all = 0;
  for (int lane = 0; lane < 32; lane++)
    all |= of[lane] << lane;
  return all;
}

static inline unsigned __match_any_sync(unsigned, unsigned word) {
  const unsigned *of = emulator_exchange(word);
  unsigned same = 0;
  for (int lane = 0; lane < 32; lane++)
    same |= (unsigned)(of[lane] == word) << lane;
  return same;
}

static inline unsigned __reduce_max_sync(unsigned, unsigned word) {
  const unsigned *of = emulator_exchange(word);
  for (int lane = 0; lane < 32; lane++)
    word = of[lane] > word ? of[lane] : word;
  return word;
}

static inline unsigned __reduce_or_sync(unsigned, unsigned word) {
  const unsigned *of = emulator_exchange(word);
  for (int lane = 0; lane < 32; lane++)
    word |= of[lane];
  return word;
}

static inline unsigned __reduce_min_sync(unsigned, unsigned word) {
  return ~__reduce_max_sync(0, ~word);
}

#endif
