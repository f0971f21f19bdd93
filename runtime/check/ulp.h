/* ulp.h - errors in units of the last place. */
#ifndef ULP_H
#define ULP_H

#include "library/dtype.h"

/* A difference in units of the last place of a value. */
double ulp_of(const dtype_format *f, double difference, double value);

/* The error of a result where it or the reference is not finite, or is beyond the format. */
double ulp_at_edge(const dtype_format *f, double got, long double expected);

#endif
