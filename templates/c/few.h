/* few.h - fewer elements of 8 or 16 bits in memory than a vector has lanes, by moves of what is there alone. They are
 * the low bits of a word of 64, the first lowest; the other bits are zero. */
#ifndef LATHE_FEW_H
#define LATHE_FEW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One to three of 16 bits: the first, middle and last, some of them the same. */
static inline uint64_t lathe_get_halves(const uint16_t *p, size_t count) {
  const size_t middle = count / 2, last = count - 1;
  return p[0] | (uint64_t)p[middle] << 16 * middle | (uint64_t)p[last] << 16 * last;
}

static inline void lathe_put_halves(uint16_t *p, uint64_t halves, size_t count) {
  const size_t middle = count / 2, last = count - 1;
  p[0] = (uint16_t)halves;
  p[middle] = (uint16_t)(halves >> 16 * middle);
  p[last] = (uint16_t)(halves >> 16 * last);
}

/* Four of 16 bits, wherever they lie. */
static inline uint64_t lathe_load_64(const uint16_t *p) {
  uint64_t four;
  memcpy(&four, p, sizeof four);
  return four;
}

static inline void lathe_store_64(uint16_t *p, uint64_t four) {
  memcpy(p, &four, sizeof four);
}

/* One to seven of 8 bits: of less than four again three, else the first four and the last four. */
static inline uint64_t lathe_get_bytes(const void *from, size_t count) {
  const unsigned char *p = (const unsigned char *)from;
  if (count < 4) {
    const size_t middle = count / 2, last = count - 1;
    return p[0] | (uint64_t)p[middle] << 8 * middle | (uint64_t)p[last] << 8 * last;
  }
  uint32_t first, rest;
  memcpy(&first, p, sizeof first);
  memcpy(&rest, p + count - 4, sizeof rest);
  return first | (uint64_t)rest << 8 * (count - 4);
}

static inline void lathe_put_bytes(void *to, uint64_t bytes, size_t count) {
  unsigned char *p = (unsigned char *)to;
  if (count < 4) {
    const size_t middle = count / 2, last = count - 1;
    p[0] = (unsigned char)bytes;
    p[middle] = (unsigned char)(bytes >> 8 * middle);
    p[last] = (unsigned char)(bytes >> 8 * last);
    return;
  }
  const uint32_t first = (uint32_t)bytes, rest = (uint32_t)(bytes >> 8 * (count - 4));
  memcpy(p, &first, sizeof first);
  memcpy(p + count - 4, &rest, sizeof rest);
}

/* What kernels call, for a type of 8 bits whose elements are `number` in memory, LANES of them in a vector. The
 * including header has lathe_load_LANES_bytes and lathe_load_bytes, of the first `count`, which give a register of
 * bytes, lathe_store_LANES_bytes and lathe_store_bytes, which take one, and lathe_widen_TYPE and lathe_narrow_TYPE. */
#define LATHE_BYTES(type, number, vector, LANES)                                                   \
  static inline vector lathe_load_##type(const number *p) {                                        \
    return lathe_widen_##type(lathe_load_##LANES##_bytes(p));                                      \
  }                                                                                                \
  static inline void lathe_store_##type(number *p, vector v) {                                     \
    lathe_store_##LANES##_bytes(p, lathe_narrow_##type(v));                                        \
  }                                                                                                \
  static inline vector lathe_load_part_##type(const number *p, size_t count) {                     \
    return lathe_widen_##type(lathe_load_bytes(p, count));                                         \
  }                                                                                                \
  static inline void lathe_store_part_##type(number *p, vector v, size_t count) {                  \
    lathe_store_bytes(p, lathe_narrow_##type(v), count);                                           \
  }

#endif
