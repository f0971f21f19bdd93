/* missing.h - names that the command line has, and the run has not. */
#ifndef MISSING_H
#define MISSING_H

#include "selection.h"

/* Warns of each op, backend, type, implementation, variant and device that an option names, and of which nothing is
 * selected, since another option leaves it out: a line each. */
void missing_tell(const options *o, const selection *s);

#endif
