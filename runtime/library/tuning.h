/* tuning.h - choices that were measured on a device: lathe_select takes them, for their sizes and those near them,
 * before the table's own. `bench tune` writes files of them.
 *
 * A file begins with a line "lathe-tuning 1". Lines "device cpu NAME" say of which devices it is. All others are of one
 * call each: the op, its type, the kind of device, the op's dimensions, the variant that was the fastest, how many
 * times as long the variant took that the table chooses, and the mark of the variants that were compared:
 *
 *   softmax f32 cpu 64x1024 softmax_f32__avx512_a4 1.08 9f3c2a11
 */
#ifndef TUNING_H
#define TUNING_H

#include "bench.h"
#include "choice.h"

enum { LATHE_TUNING_ERROR = 512 };

/* Reads the choices for one kind of device, in the place of those read before: how many there are. A null path is for
 * what `./configure --tuning=FILE` put into the program, of which there are none for another device. *stale: how many
 * more are of other variants than this table's, and are left out. -1, with a message in `error` and no choices for that
 * kind, where a file cannot be read, or is of another device. No other thread may select meanwhile. */
long lathe_tuning_load(const char *path, lathe_kind kind, const char *device, long *stale,
                       char error[LATHE_TUNING_ERROR]);
void lathe_tuning_clear(void);

/* A hash of the names of an op's variants in a type (FNV-1a), which tells these from others. */
uint32_t lathe_tuning_mark(const lathe_op *op, lathe_dtype dtype);

/* The variant of the nearest size that a file has, which no dimension is more than a factor of 4 away from; null where
 * there is none that can run. */
const lathe_variant *lathe_tuned(const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                                 uint64_t features);

#endif
