/* profile.c - below the table: where the time of each row's call goes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "base/wrap.h"
#include "columns.h"
#include "measure/counters.h"
#include "table.h"

enum {
  HOST,
  LAUNCH,
  KERNEL,
  COPY_IN,
  COPY_OUT,
  PINNED_IN,
  PINNED_OUT,
  MEMORY,
  PER_CYCLE,
  CYCLES,
  MISSES,
  COLUMNS
};

static report_column columns[COLUMNS] = {
    [HOST] = {.head = "host", .width = 7, .rank = 1},
    [LAUNCH] = {.head = "launch", .width = 7, .rank = 2},
    [KERNEL] = {.head = "kernel", .width = 7, .rank = 0},
    [COPY_IN] = {.head = "copy in", .width = 7, .rank = 4},
    [COPY_OUT] = {.head = "copy out", .width = 8, .rank = 5},
    [PINNED_IN] = {.head = "pin in", .width = 7, .rank = 9},
    [PINNED_OUT] = {.head = "pin out", .width = 7, .rank = 10},
    [MEMORY] = {.head = "memory", .width = 7, .rank = 3},
    [PER_CYCLE] = {.head = "inst/cyc", .width = 8, .rank = 6},
    [CYCLES] = {.head = "cycles", .width = 6, .rank = 7},
    [MISSES] = {.head = "misses", .width = 6, .rank = 8},
};

static units_text time_of(double ns) {
  return isfinite(ns) ? units_time(ns) : (units_text){"-"};
}

static units_text count_of(double count) {
  return isfinite(count) ? units_count(count) : (units_text){"-"};
}

static void line(const row *r, int variant_width, int size_width) {
  printf("  %-*s %*s", variant_width, r->variant, size_width, r->size);
  report_columns_cell(&columns[HOST], time_of(r->host_time).text);
  report_columns_cell(&columns[LAUNCH], time_of(r->launch_time).text);
  report_columns_cell(&columns[KERNEL], time_of(r->kernel_time).text);
  report_columns_cell(&columns[COPY_IN], time_of(r->copy_in_time).text);
  report_columns_cell(&columns[COPY_OUT], time_of(r->copy_out_time).text);
  report_columns_cell(&columns[PINNED_IN], time_of(r->pinned_in_time).text);
  report_columns_cell(&columns[PINNED_OUT], time_of(r->pinned_out_time).text);
  report_columns_cell(&columns[MEMORY], time_of(r->memory_time).text);
  report_columns_cell(&columns[PER_CYCLE], isfinite(r->instructions / r->cycles)
                                               ? units_number(r->instructions / r->cycles).text
                                               : "-");
  report_columns_cell(&columns[CYCLES], count_of(r->cycles).text);
  report_columns_cell(&columns[MISSES], count_of(r->cache_misses).text);
  report_columns_end();
}

void report_profile(const report *r) {
  const char *missing = counters_missing();
  int variant_width = (int)strlen("variant"), size_width = report_size_width(r);
  bool any = false, elsewhere = false, pinned = false, processor = false;

  for (size_t i = 0; i < r->count; i++) {
    const row *of = r->rows[i];
    if (!of->profiled)
      continue;
    any = true;
    elsewhere = elsewhere || isfinite(of->launch_time);
    pinned = pinned || isfinite(of->pinned_in_time);
    processor = processor || !isfinite(of->launch_time);
    if ((int)strlen(of->variant) > variant_width)
      variant_width = (int)strlen(of->variant);
  }
  if (!any)
    return;
  columns[LAUNCH].unwanted = columns[COPY_IN].unwanted = columns[COPY_OUT].unwanted = !elsewhere;
  columns[PINNED_IN].unwanted = columns[PINNED_OUT].unwanted = !pinned;
  columns[PER_CYCLE].unwanted = columns[CYCLES].unwanted = columns[MISSES].unwanted =
      !processor || missing;
  report_columns_fit(columns, COLUMNS, 2 + variant_width + 1 + size_width);
  putchar('\n');
  wrap_print(
      elsewhere
          ? "host: one alone, until it is known to have ended, with no copies; launch: of that for "
            "which the host asks; kernel: one of many in a row; copy: all inputs to the device, "
            "all "
            "outputs from there, in the host's usual memory; pin: the same in memory that the "
            "device reads and writes itself; memory: the operands' bytes at the ceiling"
          : "host: one alone; kernel: one of many in a row; memory: the operands' bytes at the "
            "ceiling",
      printf("Where the time of a call goes;"), 2);
  if (processor && missing)
    wrap_print(missing, printf("Instructions, cycles and cache misses are not counted:"), 2);
  printf("%s  %-*s %*s", terminal_paint(STRONG), variant_width, "variant", size_width, "size");
  report_columns_heads(columns, COLUMNS);
  fputs(terminal_paint(PLAIN), stdout);
  report_columns_end();
  for (size_t i = 0; i < r->count; i++)
    if (r->rows[i]->profiled)
      line(r->rows[i], variant_width, size_width);
}
