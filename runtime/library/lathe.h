/* lathe.h - what your own program reads: it finds an op by its name, has a variant chosen for a device and a size, and
 * calls that. The library prints nothing, ends no program, and every name in it begins with lathe_.
 *
 *   const lathe_op *op = lathe_find("add");
 *   const lathe_variant *v = lathe_select(op, LATHE_F32, &n, lathe_cpu_features(), NULL);
 *   lathe_args args = {.buf = {x, y, out}, .dim = {n}};
 *   lathe_run_parts(v, &args, 1, NULL);
 *
 * What is null where it may not be, or no row of the table, comes to null, 0 or nothing, so that only lathe_select's
 * result needs to be looked at. What buffers hold is not.
 *
 * dispatch.h has the rows of the table, such as an op's operands in their order, and launch.h what calls launch on a GPU.
 */
#ifndef LATHE_H
#define LATHE_H

#include "call.h"

const char *lathe_dtype_name(lathe_dtype dtype);
size_t lathe_dtype_size(lathe_dtype dtype);

typedef struct lathe_op lathe_op;
typedef struct lathe_variant lathe_variant;

/* The op of that name, or null. */
const lathe_op *lathe_find(const char *name);

/* The features of this processor, less those not named in the environment variable LATHE_CPU_FEATURES where that is set
 * (for trying another machine's choice). */
uint64_t lathe_cpu_features(void);

/* The variant to call for an op, type and size (all of the op's dimensions) on a device with these features; null where
 * none can run, or no memory has such a size. With force not null, only variants whose name matches that glob are
 * considered, whatever size they prefer and however they round products. */
const lathe_variant *lathe_select(const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                                  uint64_t features, const char *force);

/* Bytes of workspace that a variant's calls want, 0 for none, infinite where no memory has such a size; where the
 * variant can run. */
double lathe_workspace(const lathe_variant *variant, const size_t *dim);

/* Calls on a processor, which several threads may share. run(pool, work, context, parts) calls work(context, nth) for
 * each nth below `parts`, on as many threads as it has, and returns when all are done. */
typedef void lathe_part_fn(void *context, size_t nth);
typedef struct lathe_threads {
  void (*run)(void *pool, lathe_part_fn *work, void *context, size_t parts);
  void *pool;
} lathe_threads;

/* How many parts to cut a call into for some threads: 1 where the op cannot be cut, or is done too soon to be. Results
 * do not depend on it. */
size_t lathe_parts(const lathe_variant *variant, const size_t *dim, int threads);

/* Bytes of workspace, at a multiple of 64, that a call in parts wants. */
double lathe_workspace_of_parts(const lathe_variant *variant, const size_t *dim, size_t parts);

/* Makes a call in parts, or as many of these as it can have; one after the other where threads is null. On a processor
 * alone. */
void lathe_run_parts(const lathe_variant *variant, const lathe_args *args, size_t parts,
                     const lathe_threads *threads);

#endif
