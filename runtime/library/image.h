/* image.h - device code as the program carries it, packed. */
#ifndef LATHE_IMAGE_H
#define LATHE_IMAGE_H

#include <stddef.h>

#include "launch.h"

/* The bundle that was unpacked last, for an op's images are wanted one after the other; {0} at first. */
typedef struct lathe_image_bundle {
  const unsigned char *start; /* where it lies packed */
  unsigned char *bytes;
  size_t size;
} lathe_image_bundle;

/* Unpacks an image: its code, to be released by free, and the code's bytes in size. Null where that fails, with one
 * line in why, static. */
void *lathe_image_unpack(lathe_image_bundle *kept, const lathe_image *image, size_t *size,
                         const char **why);

/* The same of words whose bytes gen/tools/bundle.c has sorted by their places. */
void *lathe_image_unpack_words(lathe_image_bundle *kept, const lathe_image *image, size_t *size,
                               const char **why);

/* Releases the bundle. */
void lathe_image_forget(lathe_image_bundle *kept);

/* The codes of a chain of images. Each is a record of the device's own type, whose first field points to the code. */
typedef struct lathe_unpacked {
  struct lathe_unpacked *next;
  const lathe_image *of; /* the first image of the chain */
  size_t codes;
  _Alignas(max_align_t) unsigned char code[];
} lathe_unpacked;

/* The chains that a device has unpacked. */
typedef struct lathe_images {
  size_t bytes; /* of a record */
  /* Fills in a record; false with one line in why, static. */
  bool (*fill)(lathe_image_bundle *kept, const lathe_image *image, void *code, const char **why);
  lathe_unpacked *first;
  lathe_image_bundle bundle;
} lathe_images;

/* The codes of a chain, unpacked at the first call for it; null with one line in why, static. */
lathe_unpacked *lathe_images_of(lathe_images *all, const lathe_image *first, const char **why);

/* Releases all chains. */
void lathe_images_forget(lathe_images *all);

#endif
