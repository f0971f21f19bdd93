/* columns.h - which columns of a table fit the terminal. */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include <stdbool.h>

typedef struct report_column {
  const char *head;
  int width; /* of its cells; a space is before each */
  int rank;  /* a column of a low rank is left out last */
  bool left; /* aligned */
  bool unwanted, shown;
} report_column;

/* How wide a table may be: as the terminal is, or 100 where there is none. */
int report_columns_width(void);

/* Shows the columns that are wanted and fit beside what takes so much of a line already. */
void report_columns_fit(report_column *columns, int count, int taken);

/* The heads of those that are shown. */
void report_columns_heads(const report_column *columns, int count);

/* A cell; nothing where the column is not shown. */
void report_columns_cell(const report_column *column, const char *text);

/* The end of a line of cells. */
void report_columns_end(void);

#endif
