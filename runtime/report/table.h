/* table.h - the two forms of the table on standard output, and what they share. */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "base/units.h"
#include "report.h"

/* The grid: a column for each backend, a line for each (op, type, size). */
void report_grid_begin(const report *r);
void report_grid_line(const report *r, row *const *rows, size_t count);

/* A line for each variant. */
void report_variants_begin(const report *r);
void report_variants_line(const row *line);

/* Below the table, and in Markdown: where the time goes of the rows that were profiled. */
void report_profile(const report *r);
void report_profile_markdown(FILE *to, const report *r);

/* Whether calls may have had more than one thread. */
bool report_shares_calls(const report *r);

/* Whether a row was run and is not right, and what it goes as. */
bool report_failed(const row *r);
const char *report_failed_as(const row *r);
/* Why it failed, and how to have that again. */
void report_failure(const row *r);

/* The width of the column of sizes. */
int report_size_width(const report *r);

/* Whether there may be variants of a backend that can run here, or that were asked for by name. */
bool report_fills(const report *r, const lathe_backend *backend);

/* Whether an op of the table has a contraction; the arithmetic operations per second of a row's op that has one. */
bool report_contracts(const report *r);
units_text report_arithmetic_rate(const row *r);

/* A share of the ceiling, marked where it is beyond what was measured as the most. */
typedef struct report_share {
  char text[24];
} report_share;
report_share report_ceiling_share(const row *r);

/* The column's meaning, for the legend. */
const char *report_ceiling_legend(const report *r);

/* A peer's time in units of ours, with half of the interval: "2.31x+-3%"; "+-?" where that is as much
 * as the ratio, or not known. */
report_share report_ratio(const row *peer);

/* The part of a run that an interrupt cut off. */
typedef struct report_cut {
  char text[64];
} report_cut;
report_cut report_interruption(const report *r);

#endif
