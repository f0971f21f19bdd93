/* memory.c - large pieces of memory, worked on by all processors. */
#include "memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined __GLIBC__
#include <malloc.h>
#endif

#include "pool.h"

static const size_t part_size = 1u << 20; /* bytes of a thread's part */

/* Large memory begins where a huge page does: softmax's reference takes 13 ns an element there, and 21 elsewhere.
 * But no such pages are asked for, which take twice as long to come as small ones where memory is in pieces. */
static const size_t large = 4u << 20, large_align = 2u << 20;

void *memory_make(size_t bytes) {
  void *p;

  return posix_memalign(&p, bytes >= large ? large_align : 64, bytes ? bytes : 64) == 0 ? p : NULL;
}

typedef struct pieces {
  unsigned char *to;
  const unsigned char *from;
  unsigned char byte;
  size_t bytes;
  atomic_size_t differs;
  uint64_t start;
  atomic_uint_least64_t sum;
} pieces;

static void copy_part(void *context, size_t nth, int thread) {
  const pieces *p = context;
  const size_t at = nth * part_size;

  (void)thread;
  memcpy(p->to + at, p->from + at, pool_part_size(p->bytes, part_size, nth));
}

static void fill_part(void *context, size_t nth, int thread) {
  const pieces *p = context;

  (void)thread;
  memset(p->to + nth * part_size, p->byte, pool_part_size(p->bytes, part_size, nth));
}

static void compare_part(void *context, size_t nth, int thread) {
  pieces *p = context;
  size_t at = nth * part_size, first = atomic_load(&p->differs);

  (void)thread;
  if (at > first || memcmp(p->to + at, p->from + at, pool_part_size(p->bytes, part_size, nth)) == 0)
    return;
  while (p->to[at] == p->from[at])
    at++;
  while (at < first && !atomic_compare_exchange_weak(&p->differs, &first, at))
    ;
}

/* Words are hashed by multiplication (Knuth), in lanes that do not wait for each other. */
static void sum_part(void *context, size_t nth, int thread) {
  enum { LANES = 4 };
  const uint64_t factor = 0x9e3779b97f4a7c15; /* 2^64 over the golden ratio */
  pieces *p = context;
  const unsigned char *bytes = p->from + nth * part_size;
  const size_t size = pool_part_size(p->bytes, part_size, nth);
  uint64_t lane[LANES], word[LANES];

  (void)thread;
  for (int i = 0; i < LANES; i++)
    lane[i] = p->start + nth * LANES + (uint64_t)i;
  for (size_t at = 0; at < size; at += sizeof word) {
    const size_t left = size - at;
    if (left < sizeof word)
      memset(word, 0, sizeof word);
    memcpy(word, bytes + at, left < sizeof word ? left : sizeof word);
    for (int i = 0; i < LANES; i++) {
      lane[i] = (lane[i] ^ word[i]) * factor;
      lane[i] ^= lane[i] >> 32;
    }
  }
  for (int i = 1; i < LANES; i++)
    lane[0] = (lane[0] ^ lane[i]) * factor;
  atomic_fetch_add(&p->sum, lane[0]);
}

void memory_keep(void) {
#if defined __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_ARENA_MAX, 1); /* of all threads */
#endif
}

double memory_kept(void) {
#if defined __GLIBC_PREREQ && __GLIBC_PREREQ(2, 33)
  return (double)mallinfo2().fordblks;
#else
  return 0;
#endif
}

void memory_release(void) {
#if defined __GLIBC__
  malloc_trim(0);
#endif
}

void memory_copy(void *to, const void *from, size_t bytes) {
  pieces p = {.to = to, .from = from, .bytes = bytes};

  pool_run(copy_part, &p, pool_parts(bytes, part_size));
}

void memory_fill(void *to, unsigned char byte, size_t bytes) {
  pieces p = {.to = to, .byte = byte, .bytes = bytes};

  pool_run(fill_part, &p, pool_parts(bytes, part_size));
}

size_t memory_differs(const void *a, const void *b, size_t bytes) {
  pieces p = {.to = (unsigned char *)a, .from = b, .bytes = bytes, .differs = bytes}; /* NOLINT */

  pool_run(compare_part, &p, pool_parts(bytes, part_size));
  return p.differs;
}

uint64_t memory_sum(const void *p, size_t bytes, uint64_t start) {
  pieces all = {.from = p, .bytes = bytes, .start = start};

  pool_run(sum_part, &all, pool_parts(bytes, part_size));
  return atomic_load(&all.sum) + start;
}
