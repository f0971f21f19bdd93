/* tables.c - finds an op by its name, among all that the library has. */
#include <string.h>

#include "plan.h"

/* The first table of an op, by halves; where it would be if there is none. */
static size_t first_of(const char *op) {
  size_t first = 0, end = lathe_all_kernels_count;

  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (strcmp(lathe_all_kernels[middle]->op->name, op) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

lathe_status lathe_make(lathe_plan *made, const lathe_device *device, const char *op,
                        lathe_dtype type, const size_t *dim, const lathe_options *options) {
  const lathe_kind kind = device ? device->kind : LATHE_CPU;
  const size_t first = op ? first_of(op) : lathe_all_kernels_count;
  lathe_line line = lathe_begin_line(made->why);
  const char *between = " is built in ";
  size_t nth = first;

  while (nth < lathe_all_kernels_count && strcmp(lathe_all_kernels[nth]->op->name, op) == 0) {
    const lathe_kernels *table = lathe_all_kernels[nth++];
    if (table->kind == kind && table->dtype == type)
      return lathe_make_of(made, table, device, dim, options);
  }
  made->variant = made->source = NULL;
  if (nth == first) {
    lathe_say(&line, op ? "there is no op '" : "op is null; expected a name such as '");
    lathe_say(&line, op ? op : lathe_all_kernels_count ? lathe_all_kernels[0]->op->name : "add");
    lathe_say(&line,
              op ? "' in this library; include/lathe has a header for each that there is" : "'");
    return LATHE_NO_OP;
  }
  lathe_say(&line, op);
  lathe_say(&line, ": for ");
  lathe_say(&line, lathe_kind_name(kind));
  lathe_say(&line, " it");
  for (size_t t = first; t < nth; t++)
    if (lathe_all_kernels[t]->kind == kind) {
      lathe_say(&line, between);
      lathe_say(&line, lathe_dtype_name(lathe_all_kernels[t]->dtype));
      between = ", ";
    }
  lathe_say(&line, between[0] == ',' ? ", not in " : " is not built, nor in ");
  lathe_say(&line, lathe_dtype_name(type));
  return LATHE_NO_TYPE;
}
