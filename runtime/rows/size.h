/* size.h - sizes as the command line and the specs' sets give them.
 *
 *   1024x2048            the trailing dimensions; those before them are 1, and numbers too many
 *                        are multiplied into the first (so that 32x128 is n = 4096)
 *   rows=8xcols=512      dimensions by name; those before the first of these are 1, and no other may be left out
 *   batch=16xwidth=64    by place, whatever the op calls them: width is the last dimension,
 *                        sequence the one before, batch the one before that
 *   2^10:2^20            every power of two between; 2^10:2^20:4 every second one
 *   100K 4Mi             K, M, G are powers of 1000; Ki, Mi, Gi of 1024
 */
#ifndef SIZE_H
#define SIZE_H

#include "library/bench.h"

enum { SIZE_FACTORS = LATHE_MAX_DIMS, SIZE_TEXT = 22 * SIZE_FACTORS, SIZE_PLACES = 3 };

/* Names of the last dimensions, whatever the op calls them, from the last on. */
extern const char *const size_places[SIZE_PLACES];

typedef struct size_factor {
  char name[32]; /* of the dimension, or empty */
  size_t from, to, step;
} size_factor;

typedef struct size_pattern {
  int count;
  size_factor factor[SIZE_FACTORS];
} size_pattern;

/* Null, or what is wrong with the text. */
const char *size_parse(const char *text, size_pattern *pattern);

/* A size as it was asked for: extents, slowest first. An op takes the last as its last dimension and
 * so on; what it has no dimensions for is multiplied into its first. */
typedef struct size_shape {
  int ndim;
  size_t extent[SIZE_FACTORS];
} size_shape;

/* How many sizes a pattern stands for, and the index-th of them for an op: false where the op has
 * not a dimension named, or it was named twice, or one is missing. */
size_t size_count(const size_pattern *pattern);
bool size_apply(const size_pattern *pattern, size_t index, const lathe_op *op, size_shape *shape);

/* The dimension of an op that a pattern leaves out, though it names a slower one or all are slower; null
 * where there is none, or the op has not all that are named. */
const char *size_missing(const size_pattern *pattern, const lathe_op *op);

/* Whether two parts of a pattern are about the same dimension of an op, which may have several names. */
bool size_repeats(const size_pattern *pattern, const lathe_op *op);

/* Whether a shape is, in what a pattern names, one of those that it stands for. */
bool size_matches(const size_pattern *pattern, const lathe_op *op, const size_shape *shape);

/* The same of a spec: one of its sizes, and a shape of its sets with the choices combined. */
size_shape size_of_dims(const lathe_op *op, const size_t *dim);
size_t size_shape_count(const lathe_shape *shape);
size_shape size_shape_at(const lathe_shape *shape, size_t index);

/* The op's dimensions; false where one is too large to count. */
bool size_fold(const size_shape *shape, const lathe_op *op, size_t *dim);

/* Whether all operands, in the widest type that they are held in, can be addressed. */
bool size_addressable(const lathe_op *op, const size_t *dim);

/* 1024x2048 */
void size_text(const size_shape *shape, char text[SIZE_TEXT]);

#endif
