/* description.h - what a call of device code launches, as a file in JSON says: that of `lathe-gen export --raw`, which
 * begins with how it is read (templates/gpu/scheme.txt). Steps, clusters and tensor maps are not taken. */
#ifndef FOREIGN_DESCRIPTION_H
#define FOREIGN_DESCRIPTION_H

#include "library/launch.h"

enum { DESCRIPTION_CONSTANTS = 8, DESCRIPTION_BYTES = 512, DESCRIPTION_FIELDS = 48 };

typedef struct description description;

typedef struct description_launch {
  const char *kernel; /* its name; of Vulkan's the file that it is in */
  uint32_t grid[3], block[3], shared;
  uint32_t constant[DESCRIPTION_CONSTANTS]; /* Vulkan: of these so many */
  int constants;
} description_launch;

/* Arguments as a kernel takes them: where each begins in `bytes`, and whether each is a parameter of its own. */
typedef struct description_arguments {
  _Alignas(16) unsigned char bytes[DESCRIPTION_BYTES];
  size_t at[DESCRIPTION_FIELDS], size;
  int fields;
  bool apart;
} description_arguments;

/* Null with the reason in why, static. */
description *description_read(const char *path, const char **why);

/* The op that it is of; null where it says none. */
const char *description_op(const description *d);

/* Whether it has variants for a kind of devices and a type. */
bool description_has(const description *d, lathe_kind kind, lathe_dtype dtype);

/* The first variant that such a device runs; its launches, at most LATHE_MAX_LAUNCHES, and how many there are; negative
 * with the reason in why, static. */
int description_launches(const description *d, const lathe_variant *v, const lathe_args *args,
                         const lathe_limits *limits, description_launch *to, const char **why);

/* Bytes of workspace of the variant that is taken; negative with the reason in why. */
double description_workspace(const description *d, const lathe_variant *v, const lathe_args *args,
                             const lathe_limits *limits, const char **why);

/* The nth file of code of the variant that is taken; null past the last one. */
const char *description_code(const description *d, const lathe_variant *v, const lathe_args *args,
                             const lathe_limits *limits, int nth);

/* The nth of all files of code that it names, of all types; null past the last one. */
const char *description_file(const description *d, lathe_kind kind, size_t nth);

/* False with the reason in why. */
bool description_fill(const description *d, const lathe_variant *v, const lathe_args *args,
                      description_arguments *to, const char **why);

#endif
