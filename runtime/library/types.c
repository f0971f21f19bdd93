/* types.c - what there is to know of each element type. */
#include "dtype.h"
#include "types.h" /* generated */

static const dtype_format formats[LATHE_DTYPES] = TYPES_ROWS;
const char lathe_dtype_choices[] = TYPES_OF_VARIANTS ", all";

const dtype_format *lathe_dtype_format_of(lathe_dtype dtype) {
  static const dtype_format none = {.name = "no type"};

  return (unsigned)dtype < LATHE_DTYPES ? &formats[dtype] : &none;
}

const char *lathe_dtype_name(lathe_dtype dtype) {
  return lathe_dtype_format_of(dtype)->name;
}

size_t lathe_dtype_size(lathe_dtype dtype) {
  return lathe_dtype_format_of(dtype)->size;
}

bool lathe_dtype_numeric(lathe_dtype dtype) {
  return lathe_dtype_format_of(dtype)->digits != 0;
}

const dtype_format *lathe_dtype_computed(lathe_dtype dtype) {
  return lathe_dtype_format_of(lathe_dtype_format_of(dtype)->computed);
}

bool lathe_dtype_is_narrow(lathe_dtype dtype) {
  return lathe_dtype_format_of(dtype)->computed != dtype;
}

lathe_dtype lathe_dtype_of_operand(const lathe_operand *operand, lathe_dtype variant) {
  return operand->dtype == LATHE_VARIANT_DTYPE    ? variant
         : operand->dtype == LATHE_COMPUTED_DTYPE ? lathe_dtype_format_of(variant)->computed
                                                  : operand->dtype;
}

double lathe_dtype_max(lathe_dtype dtype) {
  return lathe_dtype_format_of(dtype)->high;
}
