/* variants.c - the table with a line for each variant. */
#include <math.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "base/wrap.h"
#include "columns.h"
#include "devices/peer/peers.h"
#include "devices/devices.h"
#include "table.h"

enum { MEDIAN, THREADS, NOISE, COLD, PER_POINT, RATE, ARITHMETIC, CEILING, ERROR, STOP, COLUMNS };

static report_column columns[COLUMNS] = {
    [MEDIAN] = {.head = "median", .width = 8, .rank = 1},
    [THREADS] = {.head = "threads", .width = 7, .rank = 1},
    [NOISE] = {.head = "+-", .width = 6, .rank = 2},
    [COLD] = {.head = "cold", .width = 8, .rank = 5},
    [PER_POINT] = {.head = "ns/point", .width = 8, .rank = 7},
    [RATE] = {.head = "GB/s", .width = 6, .rank = 6},
    [ARITHMETIC] = {.head = "FLOP/s", .width = 6, .rank = 4},
    [CEILING] = {.head = "ceil", .width = 5, .rank = 3},
    [ERROR] = {.head = "  ulp/bound", .width = 11, .left = true, .rank = 0},
    [STOP] = {.head = "stop", .width = 5, .left = true, .rank = 8},
};

static int variant_width, size_width;

/* Whether there may be cold times to show, which take the place of the time for each point. */
static bool shows_cold(const report *r) {
  for (size_t i = 0; i < device_count(); i++)
    if (r->selection->device[i] && device_at(i)->cools)
      for (size_t b = 0; b < lathe_backend_count; b++)
        if (lathe_backends[b].kind == device_at(i)->kind && report_fills(r, &lathe_backends[b]))
          return true;
  return false;
}

static void measure_columns(const report *r) {
  const bool cold = shows_cold(r), contracts = report_contracts(r);

  variant_width = (int)strlen("variant");
  for (size_t i = 0; i < peers_count(); i++)
    if ((int)strlen(peers_at(i)->name) > variant_width)
      variant_width = (int)strlen(peers_at(i)->name);
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (r->selection->variant[i] && (int)strlen(lathe_variants[i].name) > variant_width)
      variant_width = (int)strlen(lathe_variants[i].name);
  size_width = report_size_width(r);
  for (int c = 0; c < COLUMNS; c++)
    columns[c].unwanted = (r->options->check_only && c != ERROR) ||
                          c == (cold ? PER_POINT : COLD) || (c == ARITHMETIC && !contracts) ||
                          (c == THREADS && !report_shares_calls(r));
  report_columns_fit(columns, COLUMNS, 2 + variant_width + 1 + size_width);
}

static void legend(const report *r) {
  char text[400] = "* fastest; > dispatch's choice";

  if (columns[NOISE].shown)
    strcat(text, "; +-: half of the median's 95 % interval");
  if (columns[CEILING].shown)
    strcat(text, report_ceiling_legend(r));
  if (columns[COLD].shown)
    strcat(text,
           "; cold: with operands in memory and in no cache, where the others find them where "
           "they were left");
  wrap_print(text, 0, 3);
  putchar('\n');
}

void report_variants_begin(const report *r) {
  measure_columns(r);
  if (!r->options->check_only)
    legend(r);
  printf("%s  %-*s %*s", terminal_paint(STRONG), variant_width, "variant", size_width, "size");
  report_columns_heads(columns, COLUMNS);
  fputs(terminal_paint(PLAIN), stdout);
  report_columns_end();
}

static void time_cells(const row *r) {
  char text[24];

  report_columns_cell(&columns[MEDIAN], units_time(r->real_time).text);
  snprintf(text, sizeof text, "%llu", (unsigned long long)r->threads);
  report_columns_cell(&columns[THREADS], text);
  strcpy(text, "?");
  if (isfinite(r->noise))
    snprintf(text, sizeof text, "%.1f%%", 100 * r->noise);
  report_columns_cell(&columns[NOISE], text);
  report_columns_cell(&columns[COLD], isfinite(r->cold_time) ? units_time(r->cold_time).text : "-");
  snprintf(text, sizeof text, "%.3g", r->ns_per_point);
  report_columns_cell(&columns[PER_POINT], text);
  report_columns_cell(&columns[RATE], units_number(r->gigabytes_per_second).text);
  report_columns_cell(&columns[ARITHMETIC], report_arithmetic_rate(r).text);
  report_columns_cell(&columns[CEILING], report_ceiling_share(r).text);
}

void report_variants_line(const row *line) {
  char error[48];

  printf("%s%c%c%-*s%s %*s", terminal_paint(line->fastest ? GOOD : PLAIN),
         line->fastest ? '*' : ' ', line->dispatched ? '>' : ' ', variant_width, line->variant,
         terminal_paint(PLAIN), size_width, line->size);
  if (line->state == ROW_SKIPPED) {
    printf(" %sskipped:", terminal_paint(FAINT));
    wrap_print(line->reason, 2 + variant_width + 1 + size_width + 9, 6);
    fputs(terminal_paint(PLAIN), stdout);
    return;
  }
  if (report_failed(line)) {
    printf(" %s%s%s\n", terminal_paint(BAD), line->status, terminal_paint(PLAIN));
    return;
  }
  if (line->sample_count > 0)
    time_cells(line);
  snprintf(error, sizeof error, "%5.2f/%g", line->ulp, line->ulp_bound);
  report_columns_cell(&columns[ERROR], error);
  report_columns_cell(&columns[STOP], line->stop ? line->stop : "");
  report_columns_end();
  if (isfinite(line->ratio))
    printf("  %*s= %s of %s\n", variant_width - 2, "", report_ratio(line).text, line->against);
}
