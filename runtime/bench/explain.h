/* explain.h - --explain: all that is known of a variant. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "rows/selection.h"

/* Of what was asked for, on standard output. program: as it was called. */
void explain_print(const char *program, const selection *s);

#endif
