/* report_table.c - the table on the terminal: a grid of backends, a line for each (op, type,
 * size); or, for a narrow request, a line for each variant. At most 100 columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cpu.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "report_findings.h"
#include "units.h"
#include "wrap.h"

/* Colours, empty where they are not wanted. */
typedef enum colour { PLAIN, GOOD, BAD, FAINT, STRONG } colour;

static const char *paint(colour c) {
  static const char *const codes[] = {"\033[0m", "\033[1;32m", "\033[1;31m", "\033[2m", "\033[1m"};
  static int wanted = -1;

  if (wanted < 0) {
    const char *term = getenv("TERM");
    const char *no = getenv("NO_COLOR");
    wanted = isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
  }
  return wanted ? codes[c] : "";
}

static bool by_rows(const report *r) {
  return r->options->rows || r->options->variant || r->selection->one_op;
}

/* The width of a column that holds the longest of some texts. */
static void widen(int *width, const char *text) {
  const int length = (int)strlen(text);

  if (length > *width)
    *width = length;
}

/* A variant's name without the op and type that its line begins with. */
static const char *short_name(const row *r) {
  const size_t op = strlen(r->op), dtype = strlen(r->dtype);
  const char *name = r->variant;

  if (strncmp(name, r->op, op) == 0 && name[op] == '_' &&
      strncmp(name + op + 1, r->dtype, dtype) == 0 && strncmp(name + op + 1 + dtype, "__", 2) == 0)
    return name + op + 1 + dtype + 2;
  return name;
}

/* Widths of the columns that depend on what was asked for. */
typedef struct widths {
  int op, size, variant;
} widths;

static widths measure_columns(const report *r) {
  widths w = {.op = 2, .size = 4, .variant = 7};

  for (size_t i = 0; i < r->selection->count; i++) {
    widen(&w.op, r->selection->tasks[i].op->name);
    widen(&w.size, r->selection->tasks[i].size);
  }
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (r->selection->variant[i])
      widen(&w.variant, lathe_variants[i].name);
  return w;
}

/* Whether the grid has a column for a backend. */
static bool has_column(const report *r, size_t backend) {
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (r->selection->variant[i] && lathe_variants[i].backend == &lathe_backends[backend])
      return true;
  return false;
}

static void head(const report *r) {
  const char *features = cpu_feature_names(lathe_cpu_features());

  printf("%s%s%s: %s\n", paint(STRONG), lathe_cpu_name(), paint(PLAIN),
         *features ? features : "no features known");
  printf("seed %llu, timer overhead %s", (unsigned long long)r->options->seed,
         units_time(clock_overhead_ns()).text);
  if (r->options->check_only)
    puts("; results are checked, not timed\n");
  else
    puts("; medians of a call, one thread, warm caches\n");
}

/* The table's rows of backends go from the most to the least preferred; columns read the other way. */
static void grid_head(const report *r) {
  const widths w = measure_columns(r);

  printf("%s%-*s ", paint(STRONG), w.op, "op");
  if (report_many_dtypes(r))
    printf("%-5s", "type");
  printf("%*s", w.size, "size");
  for (size_t b = lathe_backend_count; b-- > 0;)
    if (has_column(r, b))
      printf(" %7.8s%s", lathe_backends[b].name, r->options->check_only ? "" : " ");
  if (r->options->check_only)
    printf(" %9s %6s", "worst ulp", "bound");
  else
    printf(" %-14s %5s %5s %6s", "fastest", "GB/s", "ceil", "chosen");
  printf("%s\n", paint(PLAIN));
}

/* Whether there may be cold times to show, which take the place of the time for each point. */
static bool shows_cold(const report *r) {
  for (size_t i = 0; i < device_count(); i++)
    if (r->selection->device[i] && device_at(i)->cools)
      for (size_t b = 0; b < lathe_backend_count; b++)
        if (lathe_backends[b].kind == device_at(i)->kind && has_column(r, b))
          return true;
  return false;
}

static void rows_head(const report *r) {
  const widths w = measure_columns(r);

  printf("%s  %-*s %*s", paint(STRONG), w.variant, "variant", w.size, "size");
  if (!r->options->check_only)
    printf(" %8s %6s %8s %6s %5s", "median", "+-", shows_cold(r) ? "cold" : "ns/point", "GB/s",
           "ceil");
  printf(" %5s/%-5s", "ulp", "bound");
  printf("%s%s\n", r->options->check_only ? "" : " stop", paint(PLAIN));
}

void report_table_begin(const report *r) {
  head(r);
  if (by_rows(r))
    rows_head(r);
  else
    grid_head(r);
  output_flush_standard();
}

/* Whether a row was run and is not right, and what it goes as. */
static bool has_failed(const row *r) {
  return r->state == ROW_WRONG || r->state == ROW_UNPROVED || r->state == ROW_KILLED;
}

static const char *failed_as(const row *r) {
  return r->state == ROW_UNPROVED ? "UNPROVED" : r->state == ROW_KILLED ? "KILLED" : "WRONG";
}

/* "4 ok", or how many of a backend's variants are wrong, or that none was right. */
static void check_cell(row *const *rows, size_t count, const lathe_backend *backend) {
  int right = 0, wrong = 0, others = 0;
  char text[24];

  for (size_t i = 0; i < count; i++)
    if (rows[i]->of->backend == backend) {
      right += rows[i]->state == ROW_RIGHT;
      wrong += rows[i]->state == ROW_WRONG;
      others += has_failed(rows[i]) && rows[i]->state != ROW_WRONG;
    }
  if (wrong)
    snprintf(text, sizeof text, "%d wrong", wrong);
  else
    snprintf(text, sizeof text, right || others ? "%d ok" : "-", right);
  printf(" %s%7s%s", paint(wrong || others ? BAD : PLAIN), text, paint(PLAIN));
}

/* A backend's best time. */
static void time_cell(row *const *rows, size_t count, const lathe_backend *backend) {
  const row *fastest = row_fastest(rows, count), *best = NULL, *failed = NULL;
  units_text time;
  const char *text = "-";

  for (size_t i = 0; i < count; i++) {
    if (rows[i]->of->backend != backend)
      continue;
    if (has_failed(rows[i]) && (!failed || rows[i]->state == ROW_WRONG))
      failed = rows[i];
    if (rows[i]->sample_count > 0 && (!best || rows[i]->real_time < best->real_time))
      best = rows[i];
  }
  if (best) {
    time = units_time(best->real_time);
    text = time.text;
  } else if (failed) {
    text = failed_as(failed);
  }
  printf(" %s%7s%s%s",
         paint(best && best == fastest ? GOOD
               : failed && !best       ? BAD
                                       : PLAIN),
         text,
         best && best == fastest ? "*"
         : strlen(text) > 7      ? ""
                                 : " ",
         paint(PLAIN));
}

static void worst_error(row *const *rows, size_t count) {
  double worst = 0, bound = NAN;

  for (size_t i = 0; i < count; i++)
    if (rows[i]->state != ROW_SKIPPED) {
      worst = fmax(worst, rows[i]->ulp);
      bound = rows[i]->ulp_bound;
    }
  if (isnan(bound))
    printf(" %9s %6s", "-", "-");
  else
    printf(" %9.3g %6.4g", worst, bound);
}

/* How much longer the variant takes that dispatch chooses. */
static void chosen(row *const *rows, size_t count, const row *fastest) {
  for (size_t i = 0; i < count; i++)
    if (rows[i]->dispatched && rows[i]->sample_count > 0) {
      if (rows[i] == fastest)
        printf(" %6s", "same");
      else
        printf(" %+5.0f%%", 100 * (rows[i]->real_time / fastest->real_time - 1));
      return;
    }
  printf(" %6s", "-");
}

/* A share of the ceiling, marked where it is beyond what was measured as the most. */
static void ceiling_cell(const row *r) {
  char text[24] = "-";

  if (isfinite(r->ceiling_share))
    snprintf(text, sizeof text, "%s%.0f%%", r->above_ceiling ? "!" : "", 100 * r->ceiling_share);
  printf(" %5s", text);
}

static void grid_line(const report *r, row *const *rows, size_t count) {
  const widths w = measure_columns(r);
  const row *fastest = row_fastest(rows, count);

  printf("%-*s ", w.op, rows[0]->op);
  if (report_many_dtypes(r))
    printf("%-5s", rows[0]->dtype);
  printf("%*s", w.size, rows[0]->size);
  for (size_t b = lathe_backend_count; b-- > 0;)
    if (has_column(r, b)) {
      if (r->options->check_only)
        check_cell(rows, count, &lathe_backends[b]);
      else
        time_cell(rows, count, &lathe_backends[b]);
    }
  if (r->options->check_only) {
    worst_error(rows, count);
  } else if (fastest) {
    printf(" %-14s %5s", short_name(fastest), units_number(fastest->throughput_gbps).text);
    ceiling_cell(fastest);
    chosen(rows, count, fastest);
  }
  putchar('\n');
}

static void failure(const row *r) {
  const char *as = failed_as(r);

  printf("    %s%s%s %s:", paint(BAD), as, paint(PLAIN), r->variant);
  wrap_print(r->reason, (int)(strlen(as) + strlen(r->variant)) + 6, 6);
  printf("      again: %s\n", r->repro);
}

static void variant_line(const report *r, const row *line) {
  const widths w = measure_columns(r);

  printf("%s%c%c%-*s%s %*s", paint(line->fastest ? GOOD : PLAIN), line->fastest ? '*' : ' ',
         line->dispatched ? '>' : ' ', w.variant, line->variant, paint(PLAIN), w.size, line->size);
  if (line->state == ROW_SKIPPED) {
    printf(" %sskipped:", paint(FAINT));
    wrap_print(line->reason, 2 + w.variant + 1 + w.size + 9, 6);
    fputs(paint(PLAIN), stdout);
    return;
  }
  if (has_failed(line)) {
    printf(" %s%s%s\n", paint(BAD), line->status, paint(PLAIN));
    failure(line);
    return;
  }
  if (line->sample_count > 0) {
    printf(" %8s", units_time(line->real_time).text);
    if (isfinite(line->noise))
      printf(" %5.1f%%", 100 * line->noise);
    else
      printf(" %6s", "?");
    if (!shows_cold(r))
      printf(" %8.3g", line->ns_per_point);
    else
      printf(" %8s", isfinite(line->cold_time) ? units_time(line->cold_time).text : "-");
    printf(" %6s", units_number(line->throughput_gbps).text);
    ceiling_cell(line);
  }
  printf(" %5.2f/%-5g %s\n", line->ulp, line->ulp_bound, line->stop ? line->stop : "");
}

void report_table_task(const report *r, row *const *rows, size_t count) {
  progress_clear();
  if (by_rows(r)) {
    for (size_t i = 0; i < count; i++)
      variant_line(r, rows[i]);
  } else {
    size_t failed = 0;
    grid_line(r, rows, count);
    for (size_t i = 0; i < count; i++)
      if (has_failed(rows[i]) && failed++ == 0)
        failure(rows[i]);
    if (failed > 1)
      printf("      and %zu more (--rows shows them)\n", failed - 1);
  }
  output_flush_standard();
}

void report_table_end(const report *r) {
  size_t above = 0;

  progress_clear();
  if (!r->options->check_only)
    report_crossovers(r);
  putchar('\n');
  if (by_rows(r) && !r->options->check_only)
    puts(
        "* fastest   > dispatch's choice   ceil: share of what this machine can move at that size");
  else if (!r->options->check_only)
    puts("* fastest   ceil: share of what this machine can move at that size\n"
         "chosen: how much longer dispatch's choice takes");
  if (shows_cold(r) && by_rows(r) && !r->options->check_only)
    puts(
        "cold: with operands in memory and in no cache; the others find them where they were left");
  for (size_t i = 0; i < r->count; i++)
    above += r->rows[i]->above_ceiling;
  if (above)
    printf("!: %zu rows above it, so that it was measured too low (a busy machine?)\n", above);
  if (!by_rows(r))
    report_skips(r);
  report_notes(r);
  fputs(paint(r->wrong || r->unproved || r->killed ? BAD : GOOD), stdout);
  if (r->interrupted)
    printf("%zu of ", r->count);
  printf("%zu rows: %zu right, %zu wrong, ", r->total, r->right, r->wrong);
  if (r->unproved)
    printf("%zu unproved, ", r->unproved);
  if (r->killed)
    printf("%zu killed, ", r->killed);
  printf("%zu skipped, in %.1f s%s\n", r->skipped, r->seconds, paint(PLAIN));
  output_flush_standard();
  if (r->interrupted)
    message_warn("interrupted: %zu rows not run", r->total - r->count);
  report_noise(r);
}
