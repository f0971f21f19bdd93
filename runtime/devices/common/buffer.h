/* buffer.h - memory for a kernel's operands, with guard zones that show what a kernel wrote
 * outside of it, and pages beyond them that cannot be touched at all. */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct buffer {
  unsigned char *data;
  size_t size; /* bytes */
  bool brief;  /* see buffer_place */
  /* The writable zone around data: guards on both sides. */
  unsigned char *zone;
  size_t zone_size;
  bool is_protected;
  void *map;
  size_t map_size;
} buffer;

/* Where the data begins. */
typedef struct buffer_place {
  size_t offset; /* bytes after a 64-byte boundary */
  int stagger;   /* moves data by this many times 1088 bytes, so that operands do not share cache
                    sets, and loads do not wait for stores with the same low address bits */
  int lines;     /* moves it by so many cache lines */
  bool brief; /* only so much after the data is guarded as is before it, not all of a huge page */
  bool page_end; /* the data ends where an untouchable page begins, whatever its alignment */
} buffer_place;

/* False when there is no memory. The guards are filled, the data is zero. */
bool buffer_make(buffer *b, size_t size, buffer_place place);
void buffer_free(buffer *b);

/* From here on buffers lie in a file that another process has as well, and this one at a place of its own: its bytes
 * from `from` to before `end`, of which each is used once. */
void buffer_share(unsigned char *file_at, int file, size_t from, size_t end);

/* Buffers made from here on lie in other memory than buffers freed before. */
void buffer_forget(void);

/* Bytes that memory is filled with before a call writes it: hugely negative numbers in every floating format, that no
 * right result has, and NaN, which what is multiplied by 0 keeps. */
extern const unsigned char buffer_poison_huge, buffer_poison_nan;

/* From here on the data and its guards can only be read, or written as well, as at first and when freed. */
void buffer_protect(buffer *b, bool from_writing);

/* Fills the data. */
void buffer_poison(buffer *b, unsigned char with);
bool buffer_is_poison(const void *element, size_t size);

/* Null where the guards are as they were; else the first byte changed, which lies before data
 * or at or after data + size. */
const unsigned char *buffer_overrun(const buffer *b);

#endif
