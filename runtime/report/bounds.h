/* bounds.h - bounds of specs that do not fit what was found: one that the spec's own rounding exceeds, and
 * one so far above all errors that it may hide a wrong kernel. */
#ifndef REPORT_BOUNDS_H
#define REPORT_BOUNDS_H

#include "report.h"

/* Whether all types of an op, and kernels of more than one backend, are off alike, by somewhat more than the bound:
 * that is the spec's doing and no kernel's. Then prints one message for them all. rows: all of one op. */
bool report_exceeds_alike(row *const *rows, size_t count);

/* Says of which ops and types all rows were off by less than a thousandth of the bound. */
void report_wide_bounds(const report *r);

#endif
