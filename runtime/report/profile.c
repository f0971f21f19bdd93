/* profile.c - where the time of each row's call goes: below the table, and in the report to read. */
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

/* A row's figures, by column. */
typedef struct figures {
  units_text of[COLUMNS];
} figures;

static figures figures_of(const row *r) {
  const double per_cycle = r->profile.instructions / r->profile.cycles;

  return (figures){{
      [HOST] = time_of(r->profile.host),
      [LAUNCH] = time_of(r->profile.launch),
      [KERNEL] = time_of(r->kernel_time),
      [COPY_IN] = time_of(r->profile.copy_in),
      [COPY_OUT] = time_of(r->profile.copy_out),
      [PINNED_IN] = time_of(r->profile.pinned_in),
      [PINNED_OUT] = time_of(r->profile.pinned_out),
      [MEMORY] = time_of(r->memory_time),
      [PER_CYCLE] = isfinite(per_cycle) ? units_number(per_cycle) : (units_text){"-"},
      [CYCLES] = count_of(r->profile.cycles),
      [MISSES] = count_of(r->profile.cache_misses),
  }};
}

/* The figures that are known. */
typedef struct shown {
  bool any;
  bool elsewhere;      /* than on a processor are calls, which the host asks for */
  const char *missing; /* why a processor's calls are not counted; null where none were to be */
} shown;

/* Finds out what there is, and which columns that takes. */
static shown choose(const report *r) {
  bool pinned = false, processor = false;
  shown s = {0};

  for (size_t i = 0; i < r->count; i++) {
    const row *of = r->rows[i];
    if (!of->profile.taken)
      continue;
    s.any = true;
    s.elsewhere = s.elsewhere || isfinite(of->profile.launch);
    pinned = pinned || isfinite(of->profile.pinned_in);
    processor = processor || !isfinite(of->profile.launch);
  }
  s.missing = processor ? counters_missing() : NULL;
  columns[LAUNCH].unwanted = columns[COPY_IN].unwanted = columns[COPY_OUT].unwanted = !s.elsewhere;
  columns[PINNED_IN].unwanted = columns[PINNED_OUT].unwanted = !pinned;
  columns[PER_CYCLE].unwanted = columns[CYCLES].unwanted = columns[MISSES].unwanted =
      !processor || s.missing;
  return s;
}

static const char title[] = "Where the time of a call goes";
static const char not_counted[] = "Instructions, cycles and cache misses are not counted:";

static const char *legend(const shown *s) {
  return s->elsewhere
             ? "host: one alone, until it is known to have ended, with no copies; launch: of that "
               "for which the host asks; kernel: one of many in a row; copy: all inputs to the "
               "device, all outputs from there, in the host's usual memory; pin: the same in "
               "memory that the device reads and writes itself; memory: the operands' bytes at the "
               "ceiling"
             : "host: one alone; kernel: one of many in a row; memory: the operands' bytes at the "
               "ceiling";
}

static void line(const row *r, int variant_width, int size_width) {
  const figures f = figures_of(r);

  printf("  %-*s %*s", variant_width, r->variant, size_width, r->size);
  for (int c = 0; c < COLUMNS; c++)
    report_columns_cell(&columns[c], f.of[c].text);
  report_columns_end();
}

void report_profile(const report *r) {
  const shown s = choose(r);
  int variant_width = (int)strlen("variant"), size_width = report_size_width(r);

  if (!s.any)
    return;
  for (size_t i = 0; i < r->count; i++)
    if (r->rows[i]->profile.taken && (int)strlen(r->rows[i]->variant) > variant_width)
      variant_width = (int)strlen(r->rows[i]->variant);
  report_columns_fit(columns, COLUMNS, 2 + variant_width + 1 + size_width);
  putchar('\n');
  wrap_print(legend(&s), printf("%s;", title), 2);
  if (s.missing)
    wrap_print(s.missing, printf("%s", not_counted), 2);
  printf("%s  %-*s %*s", terminal_paint(STRONG), variant_width, "variant", size_width, "size");
  report_columns_heads(columns, COLUMNS);
  fputs(terminal_paint(PLAIN), stdout);
  report_columns_end();
  for (size_t i = 0; i < r->count; i++)
    if (r->rows[i]->profile.taken)
      line(r->rows[i], variant_width, size_width);
}

void report_profile_markdown(FILE *to, const report *r) {
  const shown s = choose(r);

  if (!s.any)
    return;
  fprintf(to, "\n## %s\n\n%s.\n", title, legend(&s));
  if (s.missing)
    fprintf(to, "%s %s.\n", not_counted, s.missing);
  fputs("\n| variant | size |", to);
  for (int c = 0; c < COLUMNS; c++)
    if (!columns[c].unwanted)
      fprintf(to, " %s |", columns[c].head);
  fputs("\n| --- | --- |", to);
  for (int c = 0; c < COLUMNS; c++)
    if (!columns[c].unwanted)
      fputs(" --- |", to);
  fputc('\n', to);
  for (size_t i = 0; i < r->count; i++) {
    const figures f = figures_of(r->rows[i]);
    if (!r->rows[i]->profile.taken)
      continue;
    fprintf(to, "| %s | %s |", r->rows[i]->variant, r->rows[i]->size);
    for (int c = 0; c < COLUMNS; c++)
      if (!columns[c].unwanted)
        fprintf(to, " %s |", f.of[c].text);
    fputc('\n', to);
  }
}
