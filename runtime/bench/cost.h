/* cost.h - what the variants of this program cost to build: seconds, and bytes of the program. */
#ifndef COST_H
#define COST_H

#include "library/dispatch.h"

typedef struct cost {
  /* Of compiling its files, shared equally among the variants in each; NaN: not known. */
  double seconds;
  double
      bytes; /* of its machine code: its own function's on a processor, its share of the image elsewhere;
                     NaN: not known, or not built */
} cost;

/* Of each of lathe_variants; to be freed. Seconds are of the build in whose folder the program
 * lies, by ninja's log; bytes on a processor need the program's symbols. */
cost *cost_all(void);

#endif
