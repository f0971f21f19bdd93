/* buffer.c - memory for a kernel's operands, with guard zones. */
#define _GNU_SOURCE /* fallocate */
#include "buffer.h"

#include <stdint.h>
#include <string.h>
#if defined __linux__
#include <fcntl.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

enum {
  GUARD = 4096, /* bytes on each side */
  LINE = 64,
  STAGGER = 1088, /* a bit over a quarter of a page, in whole cache lines */
};

const unsigned char buffer_poison_huge = 0xfb, buffer_poison_nan = 0xff;

/* Arrays this large are put on huge pages where the system has them: what of a cache small pages fall into is luck. */
static const size_t huge_from = 256u << 10, huge_page = 2u << 20;

static const size_t untouchable_most = (size_t)1 << 30; /* bytes beyond each end of a buffer */

static size_t round_up(size_t value, size_t to) {
  return (value + to - 1) / to * to;
}

/* Huge values of either sign in every format, so that a kernel which reads a guard is likely to
 * give itself away in its result as well. */
static unsigned char guard_byte(const unsigned char *at) {
  return (uintptr_t)at & 8 ? 0xfe : 0x7e;
}

enum { PERIOD = 16 /* bytes after which a guard repeats itself */ };

static void fill_guard(unsigned char *from, const unsigned char *to) {
  const size_t size = (size_t)(to - from);
  size_t done = 0;

  for (; done < size && done < PERIOD; done++)
    from[done] = guard_byte(from + done);
  for (size_t some; done < size; done += some) {
    some = size - done < done ? size - done : done;
    memcpy(from + done, from, some);
  }
}

static const unsigned char *check_guard(const unsigned char *from, const unsigned char *to) {
  const size_t size = (size_t)(to - from);
  bool whole = true;

  for (size_t i = 0; i < size && i < PERIOD; i++)
    whole = whole && from[i] == guard_byte(from + i);
  if (whole && (size <= PERIOD || memcmp(from, from + PERIOD, size - PERIOD) == 0))
    return NULL;
  while (*from == guard_byte(from))
    from++;
  return from;
}

/* The file that buffers lie in, where there is one. */
static struct {
  unsigned char *at; /* its first byte; null: there is none */
  int file;
  size_t next, end;
} shared;

void buffer_share(unsigned char *file_at, int file, size_t from, size_t end) {
  shared.at = file_at;
  shared.file = file;
  shared.next = from;
  shared.end = end;
}

/* Addresses of no memory. */
static unsigned char *reserve(size_t size) {
  unsigned char *at;

  if (!shared.at)
    at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  else if (size > shared.end - shared.next)
    return NULL;
  else
    at = mmap(shared.at + shared.next, size, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED)
    return NULL;
  shared.next += shared.at ? size : 0;
  return at;
}

/* Memory at some of them. */
static bool furnish(unsigned char *zone, size_t size) {
  const int both = PROT_READ | PROT_WRITE;

  if (!shared.at)
    return mprotect(zone, size, both) == 0;
  return mmap(zone, size, both, MAP_SHARED | MAP_FIXED, shared.file, zone - shared.at) !=
         MAP_FAILED;
}

static void give_back(const buffer *b) {
  munmap(b->map, b->map_size);
#if defined __linux__
  if (shared.at)
    fallocate(shared.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, b->zone - shared.at,
              (off_t)b->zone_size);
#endif
}

/* Maps of buffers that were freed, for the next: what the probe makes are many, and the next variant's are as large.
 * The last ones, in their order. */
enum { SPARES = 32 };
static const size_t spare_most = 64u << 20; /* bytes of all */
static buffer spare[SPARES];
static int spares;

static buffer remove_spare(int i) {
  const buffer b = spare[i];

  memmove(&spare[i], &spare[i + 1], (size_t)(--spares - i) * sizeof b);
  return b;
}

static bool take_spare(buffer *b, size_t map_size) {
  for (int i = 0; i < spares; i++)
    if (spare[i].map_size == map_size) {
      *b = remove_spare(i);
      return true;
    }
  return false;
}

static void keep_spare(const buffer *b) {
  size_t bytes = b->zone_size;

  for (int i = 0; i < spares; i++)
    bytes += spare[i].zone_size;
  while (spares > 0 && (bytes > spare_most || spares == SPARES)) {
    const buffer oldest = remove_spare(0);
    bytes -= oldest.zone_size;
    give_back(&oldest);
  }
  if (bytes > spare_most)
    give_back(b);
  else
    spare[spares++] = *b;
}

/* A writable zone of whole pages between pages that are not: as many on each side, so that what is off by the zone's
 * size does not end up in another's. They are addresses alone. */
static bool make_zone(buffer *b, size_t zone_size, bool huge) {
  const size_t beyond = zone_size < untouchable_most ? zone_size : untouchable_most;
  const size_t map_size = zone_size + 2 * beyond + (huge ? huge_page : 0);
  unsigned char *map;

  if (take_spare(b, map_size))
    return true;
  b->zone_size = zone_size;
  b->map_size = map_size;
  map = reserve(b->map_size);
  if (!map)
    return false;
  b->map = map;
  b->zone = map + beyond;
  if (huge)
    b->zone = (unsigned char *)round_up((uintptr_t)b->zone, huge_page);
  if (!furnish(b->zone, b->zone_size)) {
    munmap(map, map_size);
    b->map = NULL;
    return false;
  }
  if (huge)
    madvise(b->zone, b->zone_size, MADV_HUGEPAGE); /* a wish: no matter where it is refused */
  return true;
}

static unsigned char *guard_end(const buffer *b) {
  unsigned char *zone_end = b->zone + b->zone_size, *end = b->data + b->size + GUARD;

  return b->brief && end < zone_end ? end : zone_end;
}

bool buffer_make(buffer *b, size_t size, buffer_place place) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t lead =
      GUARD + (size_t)place.stagger * STAGGER + (size_t)place.lines * LINE + place.offset;

  const bool huge = size >= huge_from && !place.page_end;
  const size_t room = lead + size + (place.page_end ? 0 : GUARD);

  memset(b, 0, sizeof *b);
  if (size > SIZE_MAX / 4 || !make_zone(b, round_up(room, huge ? huge_page : page), huge))
    return false;
  b->brief = place.brief;
  b->size = size;
  b->data = place.page_end ? b->zone + b->zone_size - size : b->zone + lead;
  fill_guard(b->zone, b->data);
  memset(b->data, 0, size); /* touches the pages now, and not in the first timed call */
  fill_guard(b->data + size, guard_end(b));
  return true;
}

void buffer_protect(buffer *b, bool from_writing) {
  if (b->map && b->is_protected != from_writing &&
      mprotect(b->zone, b->zone_size, from_writing ? PROT_READ : PROT_READ | PROT_WRITE) == 0)
    b->is_protected = from_writing;
}

void buffer_free(buffer *b) {
  buffer_protect(b, false);
  if (b->map)
    keep_spare(b);
  memset(b, 0, sizeof *b);
}

void buffer_forget(void) {
  while (spares > 0) {
    const buffer b = remove_spare(0);
    give_back(&b);
  }
}

void buffer_poison(buffer *b, unsigned char with) {
  memory_fill(b->data, with, b->size);
}

bool buffer_is_poison(const void *element, size_t size) {
  const unsigned char *bytes = element;

  return (*bytes == buffer_poison_huge || *bytes == buffer_poison_nan) &&
         memcmp(bytes, bytes + 1, size - 1) == 0;
}

const unsigned char *buffer_overrun(const buffer *b) {
  const unsigned char *at = check_guard(b->zone, b->data);

  return at ? at : check_guard(b->data + b->size, guard_end(b));
}
