/* mutate.h - would wrong kernels of an op be found out? The results of kernels that are wrong on purpose are judged as
 * a kernel's own would be, on small problems: nothing is compiled. The results are right
 * ones, for which no kernel runs, or where `from` is not null a variant's own, judged as its device's. One that
 * would pass on all of them is a survivor: either the bound says nothing, or the inputs' ranges show nothing. */
#ifndef MUTATE_H
#define MUTATE_H

#include "library/dispatch.h"
#include "result.h"

typedef struct mutate_survivor {
  const char *output; /* the operand whose wrong result would pass */
  char what[72];      /* "a result of 0", "a result without x" */
  bool gross;         /* it is the right one times a factor: nothing at all is proved */
} mutate_survivor;

/* Judges wrong results of every output in a type. Writes at most `most` survivors and returns how many there are; -1
 * where memory is short, the op has no reference for the type, or a variant's results are wrong by themselves. It is
 * the same from run to run. */
int mutate_survivors(const lathe_op *op, lathe_dtype dtype, result_source *from,
                     mutate_survivor *survivors, int most);

typedef enum mutate_verdict {
  MUTATE_NONE_PASSES,
  MUTATE_SOME_PASS,    /* some that are wrong in part */
  MUTATE_GROSS_PASSES, /* the right result times a factor */
  MUTATE_UNABLE        /* -1 above */
} mutate_verdict;

/* The same in a line: "weak: a result of 0, the next row's result would pass for y", and what to change in the spec;
 * empty where none would. */
mutate_verdict mutate_note(const lathe_op *op, lathe_dtype dtype, result_source *from, char *text,
                           size_t size);

#endif
