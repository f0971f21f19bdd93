/* bench.h - what of an op only the bench program asks: sizes to run, how far results may be off, references, peers, and
 * of which files variants were made. A call needs none of it. */
#ifndef BENCH_H
#define BENCH_H

#include "dispatch.h"

typedef struct lathe_size {
  const char *name;
  size_t dim[LATHE_MAX_DIMS];
} lathe_size;

/* Sizes that are run when the set is asked for by name: for each shape its extents, slowest first, each one of some
 * choices; all are combined. What an op's dimensions become of it: size.h. */
typedef struct lathe_shape {
  int ndim;
  int count[LATHE_MAX_DIMS];
  const size_t *choice[LATHE_MAX_DIMS];
} lathe_shape;

typedef struct lathe_set {
  const char *name;
  int nshapes;
  const lathe_shape *shapes;
} lathe_set;

/* The most that a result may be off, in units of the last place of max(|reference|, magnitude); see judge.h. */
typedef struct lathe_bound {
  lathe_dtype dtype;
  double ulp;
} lathe_bound;

typedef struct lathe_peer {
  const char *name;       /* numpy, torch, blas */
  const char *expression; /* over the operands' names */
} lathe_peer;

/* A way to compute an op and its gradient, of several that are to be compared: the implementations of both; null for
 * none of the gradient. */
typedef struct lathe_compared {
  const char *name, *forward, *backward;
} lathe_compared;

struct lathe_bench {
  int nsizes, nsets, nbounds, npeers, ncompared;
  const lathe_size *sizes; /* what is run when no size is asked for */
  const lathe_set *sets;
  const lathe_bound *bounds;
  const lathe_peer *peers;
  const lathe_compared *compared; /* the first with all others */
  bool any_zero_sign;             /* +0 and -0 are equally right */
  /* A bit for each operand: an index of terms that are rounded, see judge.h; what an extreme of several points is
   * in. */
  unsigned rounded_terms, extremes;
  /* The operation of the graph whose kernels may be furthest off by themselves, and by how many ulp of the type
   * computed in; null where all is exact. */
  const char *roughest;
  double roughest_ulp;
  /* By output, a bit for each dimension: along which its elements stand for themselves, so that those at some places
   * can be asked for alone (sampling.h). */
  unsigned apart[LATHE_MAX_OPERANDS];
  /* A bit for each input of a gradient that is a result of gradient_of; whether the other inputs say what it is. */
  unsigned saved;
  bool said;
  /* By operand: the dimensions at whose points one element each is all that is read of it; 0: all are. */
  unsigned read[LATHE_MAX_OPERANDS];
  /* The dimensions whose places say which points masks leave, a bit each, and their share; null where all count. */
  unsigned masked;
  lathe_cost *share;
  bool leaves_out; /* kernels may leave out more, by indexes or 0s: how much is not known */
  /* References in higher precision. Floating operands are arrays of double (f64) or long double (wide, for checking f64
   * itself; null where none of that is built); after the operands comes one more buffer for each floating output, in
   * order, which takes its magnitude, and three for each output among the rounded terms: the indexes asked about, their
   * terms (NaN for none), and the terms' magnitudes. Inputs are as they are in memory; one written by hand, of an op
   * without a template, has them as numbers too, and is asked for all at once. Others are asked in parts: reference.h.
   */
  lathe_fn *reference_f64, *reference_wide;
};

/* The table. Ops are sorted by name; variants by op, dtype, then falling preference, so that the first that fits is the
 * one to call. */
extern const lathe_backend lathe_backends[];
extern const size_t lathe_backend_count;
extern const lathe_op lathe_ops[];
extern const size_t lathe_op_count;
extern const lathe_variant lathe_variants[];
extern const size_t lathe_variant_count;

/* Where in it the variants of one op and type stand. */
typedef struct lathe_span {
  size_t first, count;  /* rows of lathe_variants */
  const char *left_out; /* by which option of configure none of them was built, or null */
} lathe_span;

/* Of each of lathe_ops, by type. */
extern const lathe_span lathe_spans[][LATHE_DTYPES];

/* Empty for an op that is not in the table. */
lathe_span lathe_span_of(const lathe_op *op, lathe_dtype dtype);

/* The op of that name, or null. */
const lathe_op *lathe_find(const char *name);

/* The variant to call for an op, type and size (all of the op's dimensions) on a device with these features: one that
 * was measured to be the fastest (tuning.h), else lathe_choose's; null where none can run, or no memory has such a
 * size. */
const lathe_variant *lathe_select(const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                                  uint64_t features, const char *force);

/* A file that the build made, below out/gen, and how many variants are in it. */
typedef struct lathe_made {
  const char *path; /* null for none */
  size_t variants;
} lathe_made;

/* Of each of lathe_variants: the file with its code, and the one with the host's side of it. */
enum { LATHE_MADE_OF = 2 };
extern const lathe_made lathe_variants_made[][LATHE_MADE_OF];

#endif
