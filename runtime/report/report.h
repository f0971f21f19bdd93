/* report.h - the results of a run, as a table on the terminal and as files. */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "rows/row.h"

typedef struct report {
  const options *options;
  const selection *selection;
  const char *program; /* as it was called */
  char *command;       /* with its arguments */
  char date[40], host[72];
  row **rows;
  size_t count, total; /* rows finished, and asked for: an interrupt leaves some out */
  bool interrupted;
  size_t right, wrong, unproved, killed, skipped;
  size_t peers, peers_right; /* rows of other libraries, which the above leave out */
  /* Rows that somebody else wrote, and those of the verdict "right". */
  size_t foreign, foreign_right;
  size_t above; /* rows that are right, and faster than their ceiling allows */
  double seconds;
  const char *base_commit; /* of the program that --against names; null where it is not known */
} report;

/* The table, on standard output: its head, then the rows of each task as they are finished, with
 * what failed of an op after its last task; then what can be said of all of them. */
void report_table_begin(const report *r);
void report_table_task(const report *r, row *const *rows, size_t count, bool last_of_op);
void report_table_end(const report *r);

/* The whole as a file; whether writing worked is for the file to say. */
void report_json(FILE *to, const report *r);
void report_csv(FILE *to, const report *r);
void report_markdown(FILE *to, const report *r);
void report_html(FILE *to, const report *r);

#endif
