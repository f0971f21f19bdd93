/* markdown.c - a report to read: the machine, what was wrong, what is fastest, and then all rows. */
#include <math.h>
#include <string.h>

#include "against.h"
#include "base/units.h"
#include "findings.h"
#include "library/cpu.h"
#include "markdown_peers.h"
#include "measure/overhead.h"
#include "report.h"
#include "table.h"

/* Text as a table's cell, or as a line: nothing in it ends that, or is Markdown or HTML. */
static void put_cell(FILE *to, const char *text) {
  for (char last = 0; *text; last = *text++) {
    if (strchr("|\\`*<&", *text) || (last == ']' && *text == '('))
      fputc('\\', to);
    fputc(*text == '\n' || *text == '\r' ? ' ' : *text, to);
  }
}

/* A command as a cell: between more backticks than it has in a row. */
static void put_code(FILE *to, const char *text) {
  size_t fence = 1;

  for (const char *at = text; *at; at += *at != '\0') {
    const size_t ticks = strspn(at, "`");
    fence = ticks >= fence ? ticks + 1 : fence;
    at += ticks;
  }
  for (size_t i = 0; i < fence; i++)
    fputc('`', to);
  if (fence > 1)
    fputc(' ', to);
  for (; *text; text++) {
    if (*text == '|')
      fputc('\\', to);
    fputc(*text == '\n' || *text == '\r' ? ' ' : *text, to);
  }
  if (fence > 1)
    fputc(' ', to);
  for (size_t i = 0; i < fence; i++)
    fputc('`', to);
}

static void put_row(FILE *to, const row *r, bool with_threads) {
  const char *bold = r->fastest ? "**" : "";

  fprintf(to, "| %s | %s%s%s%s | ", r->size, r->dispatched ? "> " : "", bold, r->variant, bold);
  if (with_threads && r->state == ROW_RIGHT)
    fprintf(to, "%llu ", (unsigned long long)r->threads);
  if (with_threads)
    fputs("| ", to);
  if (r->state != ROW_RIGHT) {
    fprintf(to, "%s: ", r->status);
    put_cell(to, r->reason);
    fputs(" | | | | | | |\n", to);
    return;
  }
  if (r->sample_count > 0) {
    fprintf(to, "%s%s%s | %s %% | ", bold, units_time(r->real_time).text, bold,
            isfinite(r->noise) ? units_number(100 * r->noise).text : "?");
    fprintf(to, "%.3g | %s | %s | ", r->ns_per_point, units_number(r->gigabytes_per_second).text,
            report_arithmetic_rate(r).text);
    if (isfinite(r->ceiling_share))
      fprintf(to, "%.0f %% of %s%s", 100 * r->ceiling_share, r->ceiling,
              r->above_ceiling ? ", too much" : "");
  } else {
    fputs("right | | | | | ", to);
  }
  fprintf(to, " | %.3g of %g |\n", r->ulp, r->ulp_bound);
}

static void put_machine(FILE *to, const report *r) {
  cpu_cache cache[16];
  const int caches = lathe_cpu_caches(cache, sizeof cache / sizeof *cache);

  fputs("# Kernels of ", to);
  put_cell(to, r->host);
  fputs("\n\n", to);
  fprintf(to, "| | |\n| --- | --- |\n");
  fprintf(to, "| date | %s |\n", r->date);
  fputs("| command | ", to);
  put_code(to, r->command);
  fputs(" |\n| processor | ", to);
  put_cell(to, lathe_cpu_name());
  fputs(" |\n", to);
  fprintf(to, "| features | %s |\n", lathe_cpu_feature_names(lathe_cpu_features()));
  for (int i = 0; i < caches; i++)
    if (strcmp(cache[i].type, "Instruction") != 0)
      fprintf(to, "| level %d cache | %s |\n", cache[i].level,
              units_bytes((double)cache[i].size).text);
  fprintf(to, "| seed | %llu |\n", (unsigned long long)r->options->seed);
  if (report_shares_calls(r))
    fprintf(to, "| threads | up to %d |\n", r->options->layout.threads);
  fprintf(to, "| timer overhead | %s |\n", units_time(overhead_of_clock_ns()).text);
  fprintf(to, "| rows | %zu right, %zu wrong, %zu unproved, %zu killed, %zu skipped, in %.1f s |\n",
          r->right, r->wrong, r->unproved, r->killed, r->skipped, r->seconds);
  if (r->interrupted)
    fprintf(to, "| interrupted | %s |\n", report_interruption(r).text);
}

/* ---- the summary -------------------------------------------------------------------------------- */

/* Begins a table with its heading, before its first row. */
static void begin(FILE *to, bool *begun, const char *title, const char *heads) {
  if (!*begun)
    fprintf(to, "\n## %s\n\n%s\n", title, heads);
  *begun = true;
}

static void put_failures(FILE *to, const report *r) {
  bool begun = false;

  for (size_t i = 0; i < r->count; i++) {
    const row *line = r->rows[i];
    const bool above = line->above_ceiling && (!line->peer || line->foreign);
    if (!report_failed(line) && !above)
      continue;
    begin(to, &begun, "What was not right",
          "| variant | size | status | reason | again |\n| --- | --- | --- | --- | --- |");
    fprintf(to, "| %s | %s | %s%s | ", line->variant, line->size,
            line->peer && !line->foreign ? "peer " : "",
            above           ? "above its ceiling"
            : line->verdict ? line->verdict
                            : line->status);
    if (above) {
      fprintf(to, "%.1f %% of %s: that was measured too low, or its bytes are fewer | |\n",
              100 * line->ceiling_share, line->ceiling);
      continue;
    }
    put_cell(to, line->reason);
    fputs(" | ", to);
    put_code(to, line->repro);
    fputs(" |\n", to);
  }
}

/* Whether an earlier row says the same of its backend or, of notes, of its op and type. */
static bool said_before(const report *r, size_t i) {
  const row *line = r->rows[i];

  for (size_t j = 0; j < i; j++) {
    const row *before = r->rows[j];
    if (line->note && before->note && before->op == line->op && before->dtype == line->dtype &&
        strcmp(before->note, line->note) == 0)
      return true;
    if (line->state == ROW_SKIPPED && before->state == ROW_SKIPPED &&
        before->backend == line->backend && strcmp(before->reason, line->reason) == 0)
      return true;
  }
  return false;
}

static void put_skips(FILE *to, const report *r) {
  bool begun = false;

  for (size_t i = 0; i < r->count; i++) {
    const row *line = r->rows[i];
    if (line->state != ROW_SKIPPED || said_before(r, i))
      continue;
    begin(to, &begun, "What was skipped", "| backend | reason |\n| --- | --- |");
    fprintf(to, "| %s | ", line->backend);
    put_cell(to, line->reason);
    fputs(" |\n", to);
  }
}

static void put_notes(FILE *to, const report *r) {
  bool begun = false;

  for (size_t i = 0; i < r->count; i++) {
    const row *line = r->rows[i];
    if (!line->note || said_before(r, i))
      continue;
    begin(to, &begun, "What shows little",
          "| op | type | from size | note |\n| --- | --- | --- | --- |");
    fprintf(to, "| %s | %s | %s | ", line->op, line->dtype, line->size);
    put_cell(to, line->note);
    fputs(" |\n", to);
  }
}

/* The fastest row of a task, and what dispatch chooses on the same device. */
static void put_fastest(FILE *to, row *const *rows, size_t count) {
  const row *fastest = row_fastest(rows, count);
  const row *chosen = fastest ? row_chosen(rows, count, fastest) : NULL;
  const double loss = chosen ? row_loss(chosen, fastest) : NAN;

  fprintf(to, "| %s | %s | %s | ", rows[0]->op, rows[0]->dtype, rows[0]->size);
  if (!fastest) {
    fputs("none | | | | | | |\n", to);
    return;
  }
  fprintf(to, "%s | %s | %s | %s | ", fastest->variant, units_time(fastest->real_time).text,
          units_number(fastest->gigabytes_per_second).text, report_arithmetic_rate(fastest).text);
  if (isfinite(fastest->ceiling_share))
    fprintf(to, "%.0f %%", 100 * fastest->ceiling_share);
  fprintf(to, " | %s | ", chosen ? chosen->variant : "not in this run");
  if (chosen == fastest)
    fputs("the same", to);
  else if (isfinite(loss))
    fprintf(to, "%+.0f %%", 100 * loss);
  else if (chosen)
    fputs("not known well", to);
  fputs(" |\n", to);
}

/* How many of a task's rows are right, and the largest error. */
static void put_checked(FILE *to, row *const *rows, size_t count) {
  size_t right = 0, run = 0;
  double worst = 0, bound = NAN;

  for (size_t i = 0; i < count; i++)
    if (rows[i]->state != ROW_SKIPPED && !rows[i]->peer) {
      run++;
      right += rows[i]->state == ROW_RIGHT;
      worst = fmax(worst, rows[i]->ulp);
      bound = rows[i]->ulp_bound;
    }
  fprintf(to, "| %s | %s | %s | %zu of %zu | ", rows[0]->op, rows[0]->dtype, rows[0]->size, right,
          run);
  if (isfinite(bound))
    fprintf(to, "%.3g of %g", worst, bound);
  fputs(" |\n", to);
}

static void put_tasks(FILE *to, const report *r) {
  const bool timed = row_fastest(r->rows, r->count) != NULL;
  size_t count;

  if (timed)
    fputs("\n## The fastest\n\n| op | type | size | fastest | time | GB/s | FLOP/s | ceiling | "
          "dispatch's choice | takes longer |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
          to);
  else
    fputs("\n## What was checked\n\n| op | type | size | right | worst ulp |\n| --- | --- | --- | "
          "--- | --- |\n",
          to);
  for (size_t i = 0; i < r->count; i += count) {
    count = report_task_rows(r, i);
    if (timed)
      put_fastest(to, &r->rows[i], count);
    else
      put_checked(to, &r->rows[i], count);
  }
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static void put_details(FILE *to, const report *r) {
  const bool with_threads = report_shares_calls(r);
  const task *last = NULL;

  fputs("\n# All rows\n\nTimes are medians of one call, with the data in whatever cache holds "
        "it;\n+- is half of the median's 95 % interval; the fastest of a size is in "
        "bold, `>` is before dispatch's\nchoice. GB/s counts each operand once, in 10^9 bytes; its "
        "ceiling is what this machine was seen to\nmove at that size, or to compute where that is "
        "nearer.\n",
        to);
  for (size_t i = 0; i < r->count; i++) {
    const task *t = r->rows[i]->task;
    if (!last || t->op != last->op || t->dtype != last->dtype) {
      fprintf(to, "\n## %s %s\n\n", t->op->name, lathe_dtype_name(t->dtype));
      put_cell(to, t->op->doc ? t->op->doc : "");
      fprintf(to, " (%s)\n\n", t->op->source);
      fprintf(to,
              "| size | variant |%s time | +- | ns/point | GB/s | FLOP/s | ceiling | ulp |\n"
              "| --- | --- |%s --- | --- | --- | --- | --- | --- | --- |\n",
              with_threads ? " threads |" : "", with_threads ? " --- |" : "");
    }
    put_row(to, r->rows[i], with_threads);
    last = t;
  }
}

void report_markdown(FILE *to, const report *r) {
  put_machine(to, r);
  markdown_peers_summary(to, r);
  put_failures(to, r);
  against_markdown(to, r);
  put_skips(to, r);
  put_notes(to, r);
  put_tasks(to, r);
  markdown_peers_rows(to, r);
  report_profile_markdown(to, r);
  put_details(to, r);
}
