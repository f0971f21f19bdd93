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

/* Asks the reference of a map or of rows, of two dimensions, for everything, in one part (reference.h). */
void references_ask(lathe_fn *reference, const char *template_name, lathe_args args);
/* The same of kernels that compute by such units, and of which `flushed` is what reference_part has it for. */
void references_ask_of(lathe_fn *reference, const char *template_name, lathe_args args, double unit,
                       double flushed);

#endif
