/* telling.h - what the expected results of a problem can show of a kernel that has them. Outputs are
 * poisoned before a call, so that zeros were written where they are right; but a wrong formula may
 * give them just as well, and NaN or an infinity says no more than that. */
#ifndef TELLING_H
#define TELLING_H

#include "problem/problem.h"

/* False where a kernel that has all of the expected results is not proved right by them: where inputs
 * of which none is special, and all are finite, give an output that is nowhere finite, so that the spec
 * has them in a wrong range; and where what is certainly wrong would pass as well, for the bound is far
 * larger than the results. Writes what is to be said of the results, one line: why not, or else how
 * little they show; nothing where they show enough. */
bool telling_proves(const problem *p, char *text, size_t size);

#endif
