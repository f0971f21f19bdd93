/* image.h - device code as the program carries it, packed. */
#ifndef LATHE_IMAGE_H
#define LATHE_IMAGE_H

#include "launch.h"

/* The bundle that was unpacked last, for an op's images are wanted one after the other; {0} at first. */
typedef struct lathe_image_bundle {
  const unsigned char *start; /* where it lies packed */
  unsigned char *bytes;
  size_t size;
} lathe_image_bundle;

/* Unpacks an image: its code, to be released by free, and the code's bytes in size. Null where that fails, with one line
 * in why, static. */
void *lathe_image_unpack(lathe_image_bundle *kept, const lathe_image *image, size_t *size,
                         const char **why);

/* The same of words whose bytes gen/tools/bundle.c has sorted by their places. */
void *lathe_image_unpack_words(lathe_image_bundle *kept, const lathe_image *image, size_t *size,
                               const char **why);

/* Releases what is kept. */
void lathe_image_forget(lathe_image_bundle *kept);

#endif
