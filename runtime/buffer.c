/* buffer.c - memory for a kernel's operands, with guard zones. */
#include "buffer.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  GUARD = 4096,   /* bytes on each side */
  STAGGER = 1088, /* a bit over a quarter of a page, in whole cache lines */
  POISON = 0xfb,
};

/* Arrays this large are put on huge pages where the system has them, as NumPy does. */
static const size_t huge_from = 4u << 20, huge_page = 2u << 20;

static size_t round_up(size_t value, size_t to) {
  return (value + to - 1) / to * to;
}

/* Huge values of either sign in every format, so that a kernel which reads a guard is likely to
 * give itself away in its result as well. */
static unsigned char guard_byte(const unsigned char *at) {
  return (uintptr_t)at & 8 ? 0xfe : 0x7e;
}

static void fill_guard(unsigned char *from, const unsigned char *to) {
  for (; from < to; from++)
    *from = guard_byte(from);
}

static const unsigned char *check_guard(const unsigned char *from, const unsigned char *to) {
  for (; from < to; from++)
    if (*from != guard_byte(from))
      return from;
  return NULL;
}

bool buffer_make(buffer *b, size_t size, buffer_place place) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const bool huge = size >= huge_from;
  const size_t lead = GUARD + (size_t)place.stagger * STAGGER + place.offset;
  unsigned char *map;

  memset(b, 0, sizeof *b);
  if (size > SIZE_MAX / 4)
    return false;
  b->size = size;
  b->zone_size = round_up(lead + size + (place.page_end ? 0 : GUARD), page);
  b->map_size = b->zone_size + 2 * page + (huge ? huge_page : 0);
  map = mmap(NULL, b->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED)
    return false;
  b->map = map;
  b->zone = map + page;
  if (huge)
    b->zone = (unsigned char *)round_up((uintptr_t)b->zone, huge_page);
  if (mprotect(b->zone, b->zone_size, PROT_READ | PROT_WRITE) != 0) {
    buffer_free(b);
    return false;
  }
  if (huge)
    madvise(b->zone, b->zone_size, MADV_HUGEPAGE); /* a wish: no matter where it is refused */
  b->data = place.page_end ? b->zone + b->zone_size - size : b->zone + lead;
  fill_guard(b->zone, b->data);
  memset(b->data, 0, size); /* touches the pages now, and not in the first timed call */
  fill_guard(b->data + size, b->zone + b->zone_size);
  return true;
}

void buffer_free(buffer *b) {
  if (b->map)
    munmap(b->map, b->map_size);
  memset(b, 0, sizeof *b);
}

void buffer_poison(buffer *b) {
  memset(b->data, POISON, b->size);
}

bool buffer_is_poison(const void *element, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (((const unsigned char *)element)[i] != POISON)
      return false;
  return true;
}

const unsigned char *buffer_overrun(const buffer *b) {
  const unsigned char *at = check_guard(b->zone, b->data);

  return at ? at : check_guard(b->data + b->size, b->zone + b->zone_size);
}
