/* image.c - unpacks what the build's rule `pack` has made: a bundle of gen/tools/bundle.c's, packed by xz with
 * checksums. */
#include "image.h"

#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t most = 1 << 30; /* no code has as many bytes; a damaged size may say so */

#define DAMAGED(how) "its code in this program's file is damaged (" how "); build the program anew"

static void *damaged(const char *text, const char **why) {
  *why = text;
  return NULL;
}

static void *no_memory(const char **why) {
  *why = "not enough memory to unpack its code";
  return NULL;
}

/* The bytes that a stream of xz's says it will be unpacked; 0 where it does not end as one. */
static uint64_t size_of_stream(const unsigned char *stream, size_t packed) {
  const size_t ends = 2 * LZMA_STREAM_HEADER_SIZE;
  lzma_stream_flags flags;
  lzma_index *index = NULL;
  uint64_t memory = most, size = 0;
  size_t at;

  if (packed <= ends || lzma_stream_footer_decode(&flags, stream + packed - ends / 2) ||
      flags.backward_size > packed - ends)
    return 0;
  at = packed - ends / 2 - (size_t)flags.backward_size;
  if (!lzma_index_buffer_decode(&index, &memory, NULL, stream, &at, packed - ends / 2))
    size = lzma_index_uncompressed_size(index);
  lzma_index_end(index, NULL);
  return size;
}

/* Unpacks the bundle that an image is of; false with the reason in why. */
static bool open_bundle(lathe_image_bundle *kept, const lathe_image *image, const char **why) {
  const size_t packed = (size_t)(image->end - image->start);
  uint64_t memory = most, size;
  size_t from = 0;
  lzma_ret error;

  if (kept->start == image->start)
    return true;
  size = size_of_stream(image->start, packed);
  if (size == 0 || size > most)
    return damaged(DAMAGED("it ends as no stream of xz's that the build makes"), why);
  lathe_image_forget(kept);
  kept->bytes = malloc((size_t)size);
  if (!kept->bytes)
    return no_memory(why);
  error = lzma_stream_buffer_decode(&memory, 0, NULL, image->start, &from, packed, kept->bytes,
                                    &kept->size, (size_t)size);
  if (error || from != packed || kept->size != size) {
    lathe_image_forget(kept);
    return error == LZMA_MEM_ERROR ? no_memory(why)
                                   : damaged(DAMAGED("it is not what its checksums say"), why);
  }
  kept->start = image->start;
  return true;
}

void lathe_image_forget(lathe_image_bundle *kept) {
  free(kept->bytes);
  *kept = (lathe_image_bundle){0};
}

/* The nth of the numbers that a bundle begins with; false where it has no room for them. */
static bool get_number(const lathe_image_bundle *b, uint64_t nth, uint64_t *number) {
  enum { BYTES = sizeof *number };

  *number = 0;
  if (nth >= b->size / BYTES)
    return false;
  for (int byte = BYTES - 1; byte >= 0; byte--)
    *number = *number << 8 | b->bytes[nth * BYTES + (uint64_t)byte];
  return true;
}

/* Where an image lies in its bundle, and its bytes in size; null with the reason in why. */
static const unsigned char *find(lathe_image_bundle *kept, const lathe_image *image, size_t *size,
                                 const char **why) {
  uint64_t count, one, at;

  if (!open_bundle(kept, image, why))
    return NULL;
  if (!get_number(kept, 0, &count) || image->nth >= count || !get_number(kept, count, &one))
    return damaged(DAMAGED("it has no such image"), why);
  at = (count + 1) * sizeof count;
  for (uint32_t before = 0; before <= image->nth; before++) {
    at += before > 0 ? one : 0;
    get_number(kept, before + 1, &one);
    if (at > kept->size || one > kept->size - at)
      return damaged(DAMAGED("an image is longer than all of it"), why);
  }
  *size = (size_t)one;
  return kept->bytes + at;
}

void *lathe_image_unpack(lathe_image_bundle *kept, const lathe_image *image, size_t *size,
                         const char **why) {
  const unsigned char *code = find(kept, image, size, why);
  void *copy = code ? malloc(*size + 1) : NULL;

  if (copy)
    memcpy(copy, code, *size);
  else if (code)
    no_memory(why);
  return copy;
}

void *lathe_image_unpack_words(lathe_image_bundle *kept, const lathe_image *image, size_t *size,
                               const char **why) {
  enum { WORD = sizeof(uint32_t) };
  const unsigned char *bytes = find(kept, image, size, why);
  unsigned char *words;

  if (!bytes)
    return NULL;
  if (*size % WORD != 0)
    return damaged(DAMAGED("it is no words of 4 bytes"), why);
  words = malloc(*size + 1);
  if (!words)
    return no_memory(why);
  for (size_t word = 0; word < *size / WORD; word++)
    for (size_t plane = 0; plane < WORD; plane++)
      words[word * WORD + plane] = bytes[plane * (*size / WORD) + word];
  return words;
}

static void forget_codes(lathe_unpacked *u, size_t bytes) {
  for (size_t i = 0; i < u->codes; i++) {
    void *start;
    memcpy(&start, u->code + i * bytes, sizeof start);
    free(start);
  }
  free(u);
}

lathe_unpacked *lathe_images_of(lathe_images *all, const lathe_image *first, const char **why) {
  lathe_unpacked *u = all->first;
  size_t count = 0;

  while (u && u->of != first)
    u = u->next;
  if (u)
    return u;
  for (const lathe_image *image = first; image; image = image->next)
    count++;
  u = calloc(1, sizeof *u + count * all->bytes);
  if (!u)
    return no_memory(why);
  for (const lathe_image *image = first; image; image = image->next, u->codes++)
    if (!all->fill(&all->bundle, image, u->code + u->codes * all->bytes, why)) {
      forget_codes(u, all->bytes);
      return NULL;
    }
  u->of = first;
  u->next = all->first;
  all->first = u;
  return u;
}

void lathe_images_forget(lathe_images *all) {
  while (all->first) {
    lathe_unpacked *next = all->first->next;
    forget_codes(all->first, all->bytes);
    all->first = next;
  }
  lathe_image_forget(&all->bundle);
}
