/* image.h - device code as the program carries it, packed. */
#ifndef IMAGE_H
#define IMAGE_H

#include "library/launch.h"

/* Unpacks an image: its code, to be released by free, and the code's bytes in size. Null where that fails, with one line
 * in why, which the next call overwrites. */
void *image_unpack(const lathe_image *image, size_t *size, const char **why);

/* The same of words whose bytes gen/tools/planes.c has sorted by their places. */
void *image_unpack_words(const lathe_image *image, size_t *size, const char **why);

#endif
