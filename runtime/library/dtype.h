/* dtype.h - number formats: widening, narrowing, and the spacing of their values. */
#ifndef DTYPE_H
#define DTYPE_H

#include "dispatch.h"

/* A row of gen/base/types.lua. A binary format: its values are m * 2^(e - digits + 1) with |m| < 2^digits and
 * emin <= e <= emax. digits is 0 for indexes and seeds, of which nothing is computed. */
typedef struct dtype_format {
  const char *name;
  size_t size; /* bytes of an element */
  int digits, emin, emax;
  int decimals; /* that tell any two values apart */
  bool integer;
  lathe_dtype computed; /* the type that is computed in */
  double low, high;     /* the smallest and the largest finite value */
} dtype_format;

/* The values of --dtype, as a list for messages. */
extern const char lathe_dtype_choices[];

/* Of what is no element type: a format of no bytes, of which nothing is converted. */
const dtype_format *lathe_dtype_format_of(lathe_dtype dtype);

/* Whether the elements are numbers, which references keep in a wider type, and not indexes or seeds. */
bool lathe_dtype_numeric(lathe_dtype dtype);

/* The format that a type's numbers are computed in, and whether it is another. */
const dtype_format *lathe_dtype_computed(lathe_dtype dtype);
bool lathe_dtype_is_narrow(lathe_dtype dtype);

/* The type an operand has in a variant of the given type. */
lathe_dtype lathe_dtype_of_operand(const lathe_operand *operand, lathe_dtype variant);

/* The largest finite value of a floating type. */
double lathe_dtype_max(lathe_dtype dtype);

/* The number of a type's range that is nearest to a value, which need be no element of the type; 0 for NaN. */
double lathe_dtype_within(lathe_dtype dtype, double value);

/* Convert count elements. Widening is exact, i64 to double excepted; narrowing rounds to
 * nearest even, and overflows to infinity in the floating types. Beyond the range of i8 and u8 it gives the end of
 * that, and 0 for NaN. */
void lathe_dtype_widen(lathe_dtype dtype, const void *from, size_t count, double *to);
void lathe_dtype_widen_long(lathe_dtype dtype, const void *from, size_t count, long double *to);
void lathe_dtype_narrow(lathe_dtype dtype, const double *from, size_t count, void *to);

#endif
