/* image.c - unpacks what the build's rules `pack_...` have made: a frame of Zstandard's with a checksum. */
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

static const unsigned long long most =
    1ull << 30; /* no code has as many bytes; a damaged size may say so */

static void *damaged(const char *how, const char **why) {
  static char text[160];

  snprintf(text, sizeof text,
           "its code in this program's file is damaged (%s); build the program anew", how);
  *why = text;
  return NULL;
}

void *image_unpack(const lathe_image *image, size_t *size, const char **why) {
  const size_t packed = (size_t)(image->end - image->start);
  const unsigned long long wanted = ZSTD_getFrameContentSize(image->start, packed);
  size_t unpacked;
  void *code;

  if (wanted == ZSTD_CONTENTSIZE_ERROR || wanted == ZSTD_CONTENTSIZE_UNKNOWN || wanted > most)
    return damaged("it begins as no frame of Zstandard's that the build makes", why);
  code = malloc((size_t)wanted + 1);
  if (!code) {
    *why = "not enough memory to unpack its code";
    return NULL;
  }
  unpacked = ZSTD_decompress(code, (size_t)wanted, image->start, packed);
  if (ZSTD_isError(unpacked)) {
    free(code);
    return damaged(ZSTD_getErrorName(unpacked), why);
  }
  *size = unpacked;
  return code;
}

void *image_unpack_words(const lathe_image *image, size_t *size, const char **why) {
  enum { WORD = sizeof(uint32_t) };
  unsigned char *bytes = image_unpack(image, size, why), *words;

  if (!bytes)
    return NULL;
  if (*size % WORD != 0) {
    free(bytes);
    return damaged("it is no words of 4 bytes", why);
  }
  words = malloc(*size + 1);
  if (words) {
    const size_t count = *size / WORD;
    for (size_t word = 0; word < count; word++)
      for (size_t plane = 0; plane < WORD; plane++)
        words[word * WORD + plane] = bytes[plane * count + word];
  } else {
    *why = "not enough memory to unpack its code";
  }
  free(bytes);
  return words;
}
