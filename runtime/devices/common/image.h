/* image.h - device code as the program carries it, packed. */
#ifndef IMAGE_H
#define IMAGE_H

#include "library/launch.h"

/* The bundle that was unpacked last, for an op's images are wanted one after the other; {0} at first. */
typedef struct image_bundle {
  const unsigned char *start; /* where it lies packed */
  unsigned char *bytes;
  size_t size;
} image_bundle;

/* Unpacks an image: its code, to be released by free, and the code's bytes in size. Null where that fails, with one line
 * in why, which the next call overwrites. */
void *image_unpack(image_bundle *kept, const lathe_image *image, size_t *size, const char **why);

/* The same of words whose bytes gen/tools/bundle.c has sorted by their places. */
void *image_unpack_words(image_bundle *kept, const lathe_image *image, size_t *size,
                         const char **why);

/* Releases what is kept. */
void image_forget(image_bundle *kept);

#endif
