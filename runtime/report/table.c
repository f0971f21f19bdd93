/* table.c - the table on standard output: a grid of backends, or for a narrow request a line for
 * each variant; as wide as the terminal is, or 100 columns where there is none. */
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "base/units.h"
#include "base/wrap.h"
#include "bounds.h"
#include "devices/devices.h"
#include "findings.h"
#include "library/cpu.h"
#include "measure/overhead.h"

static bool by_variants(const report *r) {
  return r->options->rows || r->options->variant || r->selection->one_op;
}

int report_size_width(const report *r) {
  size_t width = strlen("size");

  for (size_t i = 0; i < r->selection->count; i++)
    if (strlen(r->selection->tasks[i].size) > width)
      width = strlen(r->selection->tasks[i].size);
  return (int)width;
}

bool report_shares_calls(const report *r) {
  return r->options->layout.threads > 1;
}

/* Whether any variant of a backend, or null: of all, was asked for and can run. */
static bool can_run(const report *r, const lathe_backend *backend) {
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (r->selection->variant[i] && (!backend || lathe_variants[i].backend == backend) &&
        !selection_why_not(r->selection, &lathe_variants[i]))
      return true;
  return false;
}

static bool was_asked_for(const report *r, const lathe_backend *backend) {
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (r->selection->variant[i] && lathe_variants[i].backend == backend)
      return true;
  return false;
}

bool report_fills(const report *r, const lathe_backend *backend) {
  return was_asked_for(r, backend) &&
         (r->options->backend || can_run(r, backend) || !can_run(r, NULL));
}

/* For each device in use, the time of a launch of nothing. */
static void empty_launches(const report *r) {
  char text[400] = "";
  size_t used = 0;

  for (size_t i = 0; i < device_count() && used < sizeof text; i++) {
    const device_time taken =
        r->selection->device[i] ? overhead_of_launch(device_at(i)) : (device_time){NAN, NAN};
    if (isfinite(taken.own))
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s, %s alone",
                               used ? "; " : "", device_at(i)->id, units_time(taken.own).text,
                               units_time(taken.host).text);
  }
  if (used)
    wrap_print(text, printf("empty launch, of many in a row:"), 4);
}

static void head(const report *r) {
  const char *features = lathe_cpu_feature_names(lathe_cpu_features());
  const char *name = lathe_cpu_name();
  char text[200], threads[32] = "one thread";

  if (report_shares_calls(r))
    snprintf(threads, sizeof threads, "up to %d threads", r->options->layout.threads);
  printf("%s%s%s:", terminal_paint(STRONG), name, terminal_paint(PLAIN));
  wrap_print(*features ? features : "no features known", (int)strlen(name) + 1, 4);
  snprintf(text, sizeof text, "%llu, timer overhead %s; %s%s%s",
           (unsigned long long)r->options->seed, units_time(overhead_of_clock_ns()).text,
           r->options->check_only ? "results are checked, not timed" : "medians of a call, ",
           r->options->check_only ? "" : threads, r->options->check_only ? "" : ", warm caches");
  wrap_print(text, printf("seed"), 4);
  if (!r->options->check_only)
    empty_launches(r);
  putchar('\n');
}

void report_table_begin(const report *r) {
  head(r);
  if (by_variants(r))
    report_variants_begin(r);
  else
    report_grid_begin(r);
  output_flush_standard();
}

/* The failures of an op whose last rows have come, each task's first in a grid. */
static void failures_of_op(const report *r, const lathe_op *op) {
  size_t from = r->count, unsaid = 0;
  const task *said = NULL;

  while (from > 0 && r->rows[from - 1]->task->op == op)
    from--;
  if (report_exceeds_alike(r->rows + from, r->count - from))
    return;
  for (size_t i = from; i < r->count; i++) {
    const row *line = r->rows[i];
    if (!report_failed(line))
      continue;
    if (by_variants(r) || line->task != said)
      report_failure(line);
    else
      unsaid++;
    said = line->task;
  }
  if (unsaid)
    printf("      and %zu more (--rows shows them)\n", unsaid);
}

bool report_failed(const row *r) {
  return r->state == ROW_WRONG || r->state == ROW_UNPROVED || r->state == ROW_KILLED;
}

const char *report_failed_as(const row *r) {
  return r->foreign                 ? "FOREIGN"
         : r->peer                  ? "PEER"
         : r->state == ROW_UNPROVED ? "UNPROVED"
         : r->state == ROW_KILLED   ? "KILLED"
                                    : "WRONG";
}

void report_failure(const row *r) {
  const char *as = report_failed_as(r);

  printf("    %s%s%s %s:", terminal_paint(BAD), as, terminal_paint(PLAIN), r->variant);
  wrap_print(r->reason, (int)(strlen(as) + strlen(r->variant)) + 6, 6);
  printf("      again: %s\n", r->repro);
}

bool report_contracts(const report *r) {
  for (size_t i = 0; i < r->selection->count; i++)
    if (lathe_contracted_flops(r->selection->tasks[i].op, r->selection->tasks[i].dim) > 0)
      return true;
  return false;
}

units_text report_arithmetic_rate(const row *r) {
  const bool known =
      isfinite(r->flops_per_second) && lathe_contracted_flops(r->task->op, r->task->dim) > 0;

  return known ? units_count(r->flops_per_second) : (units_text){"-"};
}

const char *report_ceiling_legend(const report *r) {
  return report_contracts(r) ? "; ceil: share of what this machine can move at that size or "
                               "compute, whichever is nearer"
                             : "; ceil: share of what this machine can move at that size";
}

report_share report_ceiling_share(const row *r) {
  report_share share = {"-"};

  if (isfinite(r->ceiling_share))
    snprintf(share.text, sizeof share.text, "%s%.0f%%", r->above_ceiling ? "!" : "",
             100 * r->ceiling_share);
  return share;
}

report_share report_ratio(const row *peer) {
  const double off = peer->ratio_high / peer->ratio - 1;
  report_share share = {"-"};
  int length;

  if (!isfinite(peer->ratio))
    return share;
  length =
      snprintf(share.text, sizeof share.text, peer->ratio < 10 ? "%.2fx" : "%.0fx", peer->ratio);
  if (off < 1)
    snprintf(share.text + length, sizeof share.text - (size_t)length, "+-%.0f%%", 100 * off);
  else
    snprintf(share.text + length, sizeof share.text - (size_t)length, "+-?");
  return share;
}

report_cut report_interruption(const report *r) {
  report_cut cut = {"all rows have run, but not in as many rounds as were wanted"};

  if (r->total > r->count)
    snprintf(cut.text, sizeof cut.text, "%zu rows not run", r->total - r->count);
  return cut;
}

void report_table_task(const report *r, row *const *rows, size_t count, bool last_of_op) {
  progress_clear();
  if (by_variants(r)) {
    for (size_t i = 0; i < count; i++)
      report_variants_line(rows[i]);
  } else {
    report_grid_line(r, rows, count);
  }
  if (last_of_op)
    failures_of_op(r, rows[0]->task->op);
  output_flush_standard();
}

/* How many rows there were, and what became of them. */
static void totals(const report *r) {
  char *text = NULL;
  size_t length;
  FILE *to = message_need(open_memstream(&text, &length));

  if (r->interrupted)
    fprintf(to, "of %zu ", r->total);
  fprintf(to, "rows: %zu right, %zu wrong, ", r->right, r->wrong);
  if (r->unproved)
    fprintf(to, "%zu unproved, ", r->unproved);
  if (r->killed)
    fprintf(to, "%zu killed, ", r->killed);
  fprintf(to, "%zu skipped", r->skipped);
  report_left_out(to, r);
  if (r->peers)
    fprintf(to, ", beside %zu of other libraries, %zu of them right", r->peers, r->peers_right);
  fprintf(to, ", in %.1f s", r->seconds);
  fclose(to);
  fputs(terminal_paint(r->wrong || r->unproved || r->killed || r->above ? BAD : GOOD), stdout);
  wrap_print(text, printf("%zu", r->interrupted ? r->count : r->total), 4);
  fputs(terminal_paint(PLAIN), stdout);
  free(text);
}

/* The verdict on each kernel that somebody else wrote, and its time beside ours. */
static void verdicts(const report *r) {
  for (size_t i = 0; i < r->count; i++) {
    const row *line = r->rows[i];
    char beside[160] = "";
    if (!line->foreign || !line->verdict)
      continue;
    if (isfinite(line->ratio))
      snprintf(beside, sizeof beside, ", in %s the time of %s", report_ratio(line).text,
               line->against);
    printf("%sverdict: %s%s: %s%s\n",
           terminal_paint(strcmp(line->verdict, "right") == 0 ? GOOD : BAD), line->name,
           terminal_paint(PLAIN), line->verdict, beside);
    if (line->reason && line->state == ROW_RIGHT)
      printf("  %s\n", line->reason);
  }
}

void report_table_end(const report *r) {
  progress_clear();
  if (!r->options->check_only)
    report_crossovers(r);
  report_implementations(r);
  report_profile(r);
  report_samples(r);
  putchar('\n');
  report_above_ceiling(r);
  if (!by_variants(r))
    report_skips(r);
  report_unasked(r);
  report_notes(r);
  report_wide_bounds(r);
  totals(r);
  verdicts(r);
  report_next(r);
  output_flush_standard();
  if (r->interrupted)
    message_warn("interrupted: %s", report_interruption(r).text);
  report_noise(r);
}
