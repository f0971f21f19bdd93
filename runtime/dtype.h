/* dtype.h - number formats: widening, narrowing, and the spacing of their values. */
#ifndef DTYPE_H
#define DTYPE_H

#include "lathe.h"

/* A binary floating format: its values are m * 2^(e - digits + 1) with |m| < 2^digits and
 * emin <= e <= emax. digits is 0 for the integer types. */
typedef struct dtype_format {
  const char *name;
  size_t size; /* bytes of an element */
  int digits, emin, emax;
} dtype_format;

const dtype_format *dtype_format_of(lathe_dtype dtype);
bool dtype_floating(lathe_dtype dtype);

/* The type an operand has in a variant of the given type. */
lathe_dtype dtype_of_operand(const lathe_operand *operand, lathe_dtype variant);

/* The largest finite value of a floating type. */
double dtype_max(lathe_dtype dtype);

/* Convert count elements. Widening is exact, i64 to double excepted; narrowing rounds to
 * nearest even, and overflows to infinity in the floating types. */
void dtype_widen(lathe_dtype dtype, const void *from, size_t count, double *to);
void dtype_widen_long(lathe_dtype dtype, const void *from, size_t count, long double *to);
void dtype_narrow(lathe_dtype dtype, const double *from, size_t count, void *to);

#endif
