/* findings.h - what is said below the table of all rows together, on standard output; nothing where there is
 * nothing to say. */
#ifndef REPORT_FINDINGS_H
#define REPORT_FINDINGS_H

#include "report.h"

/* Whether there are rows of more than one type. */
bool report_many_dtypes(const report *r);

/* How many of the rows from i on are of the same task. */
size_t report_task_rows(const report *r, size_t i);

/* Which backend is fastest at which sizes, ops of which the same is to be said together. */
void report_crossovers(const report *r);

/* Of ops whose specs compare implementations: how long each takes at each size, and how far they may be apart. */
void report_implementations(const report *r);
/* Of networks, whose rows of a batch share parameters, who is fastest at each size, and by how much. */
void report_samples(const report *r);
/* Rows that take less time than their ceiling says, which make the run fail. */
void report_above_ceiling(const report *r);
/* Why rows were skipped, each reason of a backend once. */
void report_skips(const report *r);
/* Which device was left out because it is a processor that emulates a GPU. */
void report_unasked(const report *r);
/* After a run of everything, what else can be asked for. */
void report_next(const report *r);
/* In parentheses, the backends of which no row could be run, and what a processor lacks for its own. */
void report_left_out(FILE *to, const report *r);
/* How little some right rows show: once for each op, those together of which the same is to be said. */
void report_notes(const report *r);
/* A warning, on standard error, of rows that vary much or of which that is not known. */
void report_noise(const report *r);

#endif
