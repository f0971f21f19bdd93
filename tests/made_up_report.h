/* made_up_report.h - a report of rows that a test makes up, for what no kernel here would give. */
#ifndef MADE_UP_REPORT_H
#define MADE_UP_REPORT_H

#include "report/report.h"

/* What show prints of a report of the f32 rows of `add` at 100 that can run here, after fill has changed
 * them from right rows of 1 us each; free it. Made in a process of its own. */
char *made_up_report(void (*fill)(row *const *rows, size_t count), void (*show)(const report *r));

/* One of the rows that is not dispatch's choice. */
row *made_up_other(row *const *rows, size_t count);

#endif
