/* memory.c - large pieces of memory, worked on by all processors. */
#include "memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pool.h"

/* Bytes from which on pages are huge, as buffer.c and NumPy have it, and those of one; and of a thread's part. */
static const size_t huge_from = 4u << 20, huge_page = 2u << 20, part_size = 1u << 20;

void *memory_make(size_t bytes) {
  const bool huge = bytes >= huge_from;
  void *p;

  if (posix_memalign(&p, huge ? huge_page : 64, bytes ? bytes : 64) != 0)
    return NULL;
  if (huge)
    madvise(p, bytes / huge_page * huge_page,
            MADV_HUGEPAGE); /* a wish: no matter where it is refused */
  return p;
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
