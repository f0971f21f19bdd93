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

void memory_keep(void) {
#if defined __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
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
