/* size.h - sizes as the command line gives them.
 *
 *   1024x2048            the trailing dimensions; those before them are 1, and numbers too many
 *                        are multiplied into the first (so that 32x128 is n = 4096)
 *   rows=8xcols=512      dimensions by name; those not named are 1
 *   2^10:2^20            every power of two between; 2^10:2^20:4 every second one
 *   100K 4Mi             K, M, G are powers of 1000; Ki, Mi, Gi of 1024
 */
#ifndef SIZE_H
#define SIZE_H

#include "lathe.h"

enum { SIZE_FACTORS = 8, SIZE_TEXT = 96 };

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

/* How many sizes a pattern stands for, and the index-th of them for an op. */
size_t size_count(const size_pattern *pattern);
typedef enum size_fit {
  SIZE_FITS,
  SIZE_NO_DIM,    /* the op has not the dimension named */
  SIZE_TOO_LARGE, /* an operand would not be addressable */
} size_fit;
size_fit size_apply(const size_pattern *pattern, size_t index, const lathe_op *op, size_t *dim);

/* 1024x2048 */
void size_text(const lathe_op *op, const size_t *dim, char text[SIZE_TEXT]);

#endif
