/* columns.c - which columns of a table fit the terminal. */
#include "columns.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"

enum { WIDTH = 100 }; /* where standard output is no terminal */

static int blanks; /* owed by a cell, where another follows */

int report_columns_width(void) {
  return terminal_width(STDOUT_FILENO, WIDTH);
}

void report_columns_fit(report_column *columns, int count, int taken) {
  int left = report_columns_width() - taken;

  for (int rank = 0; rank < count; rank++)
    for (int i = 0; i < count; i++)
      if (columns[i].rank == rank && !columns[i].unwanted && columns[i].width + 1 <= left) {
        columns[i].shown = true;
        left -= columns[i].width + 1;
      }
}

void report_columns_heads(const report_column *columns, int count) {
  for (int i = 0; i < count; i++)
    report_columns_cell(&columns[i], columns[i].head);
}

void report_columns_cell(const report_column *column, const char *text) {
  const int gap = column->width - (int)strlen(text);

  if (!column->shown)
    return;
  printf("%*s %*s%s", blanks, "", column->left || gap < 0 ? 0 : gap, "", text);
  blanks = column->left && gap > 0 ? gap : 0;
}

void report_columns_end(void) {
  putchar('\n');
  blanks = 0;
}
