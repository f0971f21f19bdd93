/* params.h - a variant's tuning parameters, which the dispatch table has as text: unroll=4 store=streaming */
#ifndef PARAMS_H
#define PARAMS_H

#include <stdbool.h>

typedef struct param {
  char name[32], value[32];
} param;

/* Takes the next parameter from the text at *at, which moves on; false at its end. */
bool params_next(const char **at, param *p);

/* Whether its value is a whole number. */
bool params_number(const param *p);

#endif
