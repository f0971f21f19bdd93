/* references.h - ops that a test writes, as their references alone. */
#ifndef REFERENCES_H
#define REFERENCES_H

#include <stddef.h>

#include "library/dispatch.h"

/* The references of a spec's ops and of their gradients, built in the test's tree (tree.h). They stay when the
 * tree goes. What fails here fails the test. */
void *references_build(const char *spec);

/* The one whose symbol a format makes of an op's number. */
lathe_fn *references_find(void *library, const char *format, size_t number);

/* Asks a reference for everything, of buffers of its own type; unit, flushed: as reference_part has them. */
void references_ask(lathe_fn *reference, bool wide, const lathe_args *args, double unit,
                    double flushed);

#endif
