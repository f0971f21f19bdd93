/* call.h - what a kernel in C is called with, what it says of itself, and what it may ask of a processor: all that
 * generated C knows of the library.
 */
#ifndef CALL_H
#define CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  LATHE_MAX_DIMS = 16,
  LATHE_MAX_OPERANDS = 24, /* inputs, then outputs, in the order of the spec's function */
  LATHE_MAX_SCALARS = 8,
};

/* One call: buffers in operand order, scalars and dimensions in the op's order. Inputs may be the same memory as each
 * other, and are only read; an output shares none with another operand, but the first with the first input, where the
 * op works in place. workspace has as many bytes as the variant wants, at a multiple of 64, or is null where that is
 * none; on a device other than the CPU it is zero before the first call, and a call leaves it fit for the next.
 *
 * A call that several threads share (lathe_sharing) is calls for one part each of a phase; `parts` is 0 of one that is
 * not. A part's own workspace is `part * apart` bytes from one thread's. */
typedef struct lathe_args {
  void *buf[LATHE_MAX_OPERANDS];
  double scalar[LATHE_MAX_SCALARS];
  size_t dim[LATHE_MAX_DIMS];
  void *workspace;
  int phase;
  size_t part, parts, apart;
} lathe_args;

/* A kernel, and the bytes of workspace that it wants. */
typedef void lathe_fn(const lathe_args *args);
typedef double lathe_cost(const size_t *dim);

/* Calls that a kernel is for, before others: with so many bytes of all operands and, along each of some dimensions, a
 * bit each, at most so many points (0: any), and a multiple of some. */
typedef struct lathe_prefer {
  double from, to;
  uint32_t dims;
  size_t width, multiple;
} lathe_prefer;
enum { LATHE_PREFERS = 2 }; /* that a kernel has: a call is for it by either */

static inline bool lathe_prefers(const lathe_prefer *prefer, const size_t *dim, double bytes) {
  bool prefers = false;
  for (const lathe_prefer *p = prefer; p < prefer + LATHE_PREFERS && !prefers; p++) {
    prefers = bytes >= p->from && bytes < p->to;
    for (uint32_t dims = p->dims; dims && prefers; dims &= dims - 1) {
      const size_t points = dim[__builtin_ctz(dims)];
      prefers = (p->width == 0 || points <= p->width) && points % p->multiple == 0;
    }
  }
  return prefers;
}

/* How several threads share the calls of a kernel: in phases, one after the other, each of parts at the same time. */
typedef struct lathe_sharing {
  int phases;
  size_t (*parts)(const size_t *dim, int phase); /* that a phase has at most */
  lathe_cost *common; /* bytes of the workspace that parts have in common, at its beginning */
} lathe_sharing;

/* A part's units of a phase: from *first to before *end. */
static inline void lathe_units(const lathe_args *args, size_t units, size_t *first, size_t *end) {
  const size_t parts = args->parts > 0 ? args->parts : 1, each = units / parts,
               more = units % parts;

  *first = each * args->part + (args->part < more ? args->part : more);
  *end = *first + each + (args->part < more ? 1 : 0);
}

/* Features that a processor must have for a variant to run: a bit each. */
enum {
  LATHE_SSE2 = 1u << 0,
  LATHE_AVX2 = 1u << 1,
  LATHE_FMA = 1u << 2,
  LATHE_F16C = 1u << 3,
  LATHE_AVX512F = 1u << 4,
  LATHE_AVX512BW = 1u << 5,
  LATHE_AVX512DQ = 1u << 6,
  LATHE_AVX512VL = 1u << 7,
  LATHE_AMX_BF16 = 1u << 8, /* tiles of bf16, which the operating system lets this process use */
  LATHE_AMX_INT8 = 1u << 9, /* and of 8 bits */
  LATHE_AVX512VNNI = 1u << 10,
};

/* A way in which a kernel computes a product of matrices, for what tries all of its code. */
typedef struct lathe_way {
  uint32_t m, n, k;  /* the dimensions whose products are its rows, columns and terms: a bit each */
  uint32_t above[3]; /* for more rows, columns and terms than these */
  /* Rows and columns that are taken at once, at most; 0: this ends a list. On a GPU also of rows that are no product:
   * for more columns than `above`, or with 0 there any number, another kernel, whose accesses are of tile[0] of them;
   * tile[1] is 0. */
  uint32_t tile[2];
  /* Past so many rows, columns, terms and terms again it begins anew; 0: never. */
  uint32_t block[4];
  const struct lathe_way *more; /* a list in this one's place; null: it is one way */
  uint32_t cut; /* on a GPU: which of the cuts of its step this one is, from 1 on; 0: any */
} lathe_way;

#endif
