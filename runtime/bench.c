/* bench.c - the bench program: checks what was asked for, times what is right, and reports. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "cpu.h"
#include "list.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "report_files.h"
#include "signals.h"
#include "worker.h"

/* Fills in the row of one variant. */
static void run_variant(const report *r, row *line, device *on) {
  const task *t = line->task;
  const options *o = r->options;
  const char *why = selection_why_not(r->selection, line->of);
  problem about = {.op = t->op, .dtype = t->dtype};
  device_call call = {.variant = line->of, .problem = &about};
  job j = {.variant = line->of,
           .seed = o->seed,
           .special = o->special,
           .layout = o->layout,
           .check_only = o->check_only,
           .limits = o->limits};
  outcome out = {0};
  worker_fate fate;
  char repro[512];

  if (why) {
    row_skip(line, why);
    return;
  }
  memcpy(j.dim, t->dim, sizeof j.dim);
  fate = worker_run(on, &j, &out, &why);
  if (fate != WORKER_LIVES)
    out.at = job_now();
  memcpy(about.dim, out.at.dim, sizeof about.dim);
  about.seed = out.at.seed;
  about.special = out.at.special;
  call.layout = out.at.layout;
  check_repro(&call, r->program, repro, sizeof repro);
  if (fate == WORKER_KILLED) {
    row_kill(line, why, repro);
    return;
  }
  if (fate == WORKER_FAILED) {
    snprintf(call.error, sizeof call.error, "%s", why);
    out.check = check_failed(&call);
  }
  row_judge(line, &out.check, repro);
  if (line->state == ROW_RIGHT && out.warm.count > 0)
    row_measure(line, &out, on);
  outcome_free(&out);
}

static void count_rows(report *r, size_t from) {
  for (size_t i = from; i < r->count; i++) {
    r->right += r->rows[i]->state == ROW_RIGHT;
    r->wrong += r->rows[i]->state == ROW_WRONG;
    r->unproved += r->rows[i]->state == ROW_UNPROVED;
    r->killed += r->rows[i]->state == ROW_KILLED;
    r->skipped += r->rows[i]->state == ROW_SKIPPED;
  }
}

static size_t rows_in_all(const selection *s) {
  size_t count = 0;

  for (size_t t = 0; t < s->count; t++)
    for (size_t i = 0; i < lathe_variant_count; i++)
      count += selection_has(s, &s->tasks[t], &lathe_variants[i]);
  return count;
}

/* All variants of a task, one after the other. An interrupt leaves the unfinished row out. */
static void run_task(report *r, const task *t) {
  const size_t from = r->count;
  row *fastest;

  for (size_t i = 0; i < lathe_variant_count && !signals_interrupted(); i++) {
    const lathe_variant *v = &lathe_variants[i];
    device *on;
    row *line;
    if (!selection_has(r->selection, t, v))
      continue;
    on = selection_device(r->selection, v->backend->kind);
    line = row_make(t, v, on, r->options->seed);
    progress_show(r->count, r->total, line->name);
    run_variant(r, line, on);
    if (signals_interrupted())
      row_free(line);
    else
      r->rows[r->count++] = line;
  }
  fastest = row_fastest(r->rows + from, r->count - from);
  if (fastest)
    fastest->fastest = true;
  count_rows(r, from);
  if (r->count > from)
    report_table_task(r, r->rows + from, r->count - from);
}

static char *join(int argc, char **argv) {
  size_t size = 1;
  char *all;

  for (int i = 0; i < argc; i++)
    size += strlen(argv[i]) + 1;
  all = calloc(size, 1);
  if (!all)
    message_refuse("out of memory");
  for (int i = 0; i < argc; i++) {
    if (i > 0)
      strcat(all, " ");
    strcat(all, argv[i]);
  }
  return all;
}

static void describe_run(report *r, int argc, char **argv) {
  const time_t now = time(NULL);

  r->program = argv[0];
  r->command = join(argc, argv);
  strftime(r->date, sizeof r->date, "%Y-%m-%dT%H:%M:%S%z", localtime(&now));
  if (gethostname(r->host, sizeof r->host - 1) != 0)
    snprintf(r->host, sizeof r->host, "unknown");
}

static int exit_status(const report *r) {
  if (r->wrong || r->unproved)
    return EXIT_WRONG;
  if (r->killed)
    return EXIT_KILLED;
  return r->right ? EXIT_RIGHT : EXIT_NOTHING;
}

static void run_all(report *r) {
  const double start = clock_ns();

  r->total = rows_in_all(r->selection);
  r->rows = calloc(r->total + 1, sizeof *r->rows);
  if (!r->rows)
    message_refuse("out of memory");
  signals_note_interrupts(output_abandon);
  report_table_begin(r);
  for (size_t t = 0; t < r->selection->count && !signals_interrupted(); t++)
    run_task(r, &r->selection->tasks[t]);
  r->interrupted = signals_interrupted();
  r->seconds = (clock_ns() - start) / 1e9;
  report_table_end(r);
}

int main(int argc, char **argv) {
  options o;
  selection s;
  int status = EXIT_RIGHT;

  output_guard_standard();
  o = options_parse(argc, argv);
  cpu_check_variable();
  job_share();
  worker_begin(o.timeout, o.in_process);
  s = selection_make(&o);
  report_files_check(&o);
  if (o.list) {
    list_print(&o, &s);
    status = !o.json || list_json(o.json, &s) ? EXIT_RIGHT : EXIT_REQUEST;
  } else {
    report r = {.options = &o, .selection = &s};
    describe_run(&r, argc, argv);
    run_all(&r);
    status = report_files_write(&r) ? exit_status(&r) : EXIT_REQUEST;
    if (signals_interrupted()) /* also where all rows were finished */
      status = EXIT_SIGNAL + signals_interrupted();
    for (size_t i = 0; i < r.count; i++)
      row_free(r.rows[i]);
    free(r.rows);
    free(r.command);
  }
  worker_end();
  selection_free(&s);
  options_free(&o);
  return status;
}
