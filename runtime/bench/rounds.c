/* rounds.c - all rows of a run, checked once and timed in rounds. */
#include "rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/signals.h"
#include "check/describe.h"
#include "devices/foreign/foreign.h"
#include "devices/peer/peers.h"
#include "report/against.h"
#include "rows/beside.h"
#include "turns.h"
#include "worker.h"

/* A row that is to be run, on the device that its kind of backend has here. */
typedef struct entry {
  row *line;
  device *on;
  bool open; /* it is to have another round */
} entry;

/* The entries of one task. */
typedef struct group {
  entry *entries;
  size_t count;
} group;

static uint64_t chance; /* what it has come to */

/* A number below a limit; the factor and term are Knuth's, of MMIX. */
static size_t draw(size_t limit) {
  chance = chance * 6364136223846793005u + 1442695040888963407u;
  return (size_t)((double)(chance >> 11) * 0x1p-53 * (double)limit);
}

/* An order of 0 to count - 1 (Fisher and Yates). */
static void shuffle(size_t *order, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const size_t other = draw(i + 1);
    order[i] = order[other];
    order[other] = i;
  }
}

static job job_of(const report *r, const row *line, int round) {
  const options *o = r->options;
  const double longer = 5;
  job j = {.variant = line->of,
           .seed = o->seed,
           .special = o->special,
           .layout = o->layout,
           .check_only = o->check_only,
           .mutants = o->mutants,
           .no_probe = o->no_probe,
           .profile = o->profile,
           .peer = line->peer && !line->foreign,
           .limits = o->limits,
           .round = round,
           .calls = line->warm.calls,
           .cold_calls = line->cold.calls,
           .results = line->results,
           .samples = timing_samples(&line->warm, &o->limits)};

  if (line->foreign) /* whose times include asking */
    j.limits.round_ns *= longer;
  memcpy(j.dim, line->task->dim, sizeof j.dim);
  return j;
}

/* Null where a variant can run here; else the reason. */
static const char *why_not(const report *r, const lathe_variant *v) {
  return peers_has(v->backend) ? beside_why_not(r->selection, v)
                               : selection_why_not(r->selection, v);
}

/* A row's turn in a round. False where it is to have no other one. */
static bool run_row(const report *r, row *line, device *on, int round) {
  const task *t = line->task;
  const char *why = why_not(r, line->of);
  problem about = {.op = t->op, .dtype = t->dtype};
  device_call call = {.variant = line->of, .problem = &about};
  outcome out = {0};
  worker_fate fate;
  char repro[512];
  bool more = false;
  job j;

  if (why) {
    row_skip(line, why);
    line->seen = true;
    return false;
  }
  line->threads = lathe_parts(line->of, t->dim, r->options->layout.threads);
  j = job_of(r, line, round);
  fate = worker_run(on, &j, &out, &why);
  if (signals_interrupted() && fate != WORKER_LIVES)
    return false; /* what it has of earlier rounds stays */
  if (fate != WORKER_LIVES)
    out.at = job_now();
  memcpy(about.dim, out.at.dim, sizeof about.dim);
  about.seed = out.at.seed;
  about.special = out.at.special;
  call.layout = out.at.layout;
  if (line->peer)
    beside_repro(line, r->program, repro, sizeof repro);
  else
    describe_repro(&call, r->program, repro, sizeof repro);
  if (r->options->mutants)
    snprintf(repro + strlen(repro), sizeof repro - strlen(repro), " --mutants");
  line->seen = true;
  if (fate == WORKER_KILLED) {
    row_kill(line, why, repro);
    return false;
  }
  if (fate == WORKER_FAILED || fate == WORKER_LATE) {
    call.fate = fate == WORKER_LATE ? DEVICE_LATE : DEVICE_CRASHED;
    snprintf(call.error, sizeof call.error, "%s", why);
    out.check = check_failed(&call);
  }
  if (round == 0 || out.check.verdict == CHECK_WRONG)
    row_judge(line, &out.check, repro);
  if (line->state == ROW_RIGHT && out.warm.count > 0)
    more = row_add(line, &out, on, &r->options->limits);
  outcome_free(&out);
  return more;
}

static void add(group *g, const report *r, const task *t, const lathe_variant *v) {
  device *on = peers_has(v->backend) ? beside_device(r->selection, v)
                                     : selection_device(r->selection, v->backend->kind);

  g->entries[g->count++] = (entry){row_make(t, v, on, r->options->seed), on, true};
}

/* All variants of a task, and then its peers. */
static group group_of(const report *r, const task *t) {
  const size_t most = lathe_variant_count + peers_count() + 1;
  group g = {.entries = message_need(calloc(most, sizeof *g.entries))};

  for (size_t i = 0; i < lathe_variant_count; i++)
    if (selection_has(r->selection, t, &lathe_variants[i]) &&
        beside_shows(r->options, r->selection, t, &lathe_variants[i]))
      add(&g, r, t, &lathe_variants[i]);
  for (size_t i = 0; i < peers_count(); i++)
    if (peers_at(i)->op == t->op && peers_at(i)->dtype == t->dtype &&
        (!foreign_of(peers_at(i)) || beside_shows(r->options, r->selection, t, peers_at(i))))
      add(&g, r, t, peers_at(i));
  g.entries = message_need(realloc(g.entries, (g.count + 1) * sizeof *g.entries));
  return g;
}

/* Both programs have their turn, the one first that chance draws. */
static bool run_turns(const report *r, entry *e, int round) {
  const bool base_first = draw(2) == 1;
  base_turn base = {0};
  const size_t rounds = e->line->warm.rounds;
  bool more;

  if (base_first)
    base = turns_ask(e->line, e->on);
  if (rounds == 0)
    e->line->warm.calls = base.calls;
  more = run_row(r, e->line, e->on, round);
  if (!base_first)
    base = turns_ask(e->line, e->on);
  if (!e->line->base_status)
    e->line->base_status = base.status;
  if (base.median > 0 && e->line->warm.rounds > rounds)
    row_add_turn(e->line, e->line->warm.round[rounds].median, base.median);
  return more &&
         (e->line->turns.count < (size_t)r->options->limits.rounds || against_is_open(e->line));
}

/* The open entries of a task have their turns, in an order that chance draws. */
static void run_group(const report *r, group *g, int round, size_t *done, size_t total) {
  size_t *order = message_need(malloc((g->count + 1) * sizeof *order));

  shuffle(order, g->count);
  for (size_t i = 0; i < g->count && !signals_interrupted(); i++) {
    entry *e = &g->entries[order[i]];
    if (!e->open)
      continue;
    progress_show((*done)++, total, e->line->name);
    e->open = turns_are_taken() && !e->line->peer ? run_turns(r, e, round)
                                                  : run_row(r, e->line, e->on, round);
  }
  free(order);
}

static size_t count_open(const group *groups, size_t count) {
  size_t open = 0;

  for (size_t t = 0; t < count; t++)
    for (size_t i = 0; i < groups[t].count; i++)
      open += groups[t].entries[i].open;
  return open;
}

static void run_round(const report *r, group *groups, int round) {
  const size_t count = r->selection->count, total = count_open(groups, count);
  size_t *order = message_need(malloc((count + 1) * sizeof *order)), done = 0;

  shuffle(order, count);
  for (size_t t = 0; t < count && !signals_interrupted(); t++)
    run_group(r, &groups[order[t]], round, &done, total);
  free(order);
}

/* Rows that are not known well enough when all had the rounds that they are to have at least go on for a while. */
static void run_rounds(const report *r, group *groups) {
  const measure_limits *limits = &r->options->limits;
  const double start = clock_ns();
  double enough = INFINITY;

  for (int round = 0;
       count_open(groups, r->selection->count) > 0 && clock_ns() < enough && !signals_interrupted();
       round++) {
    run_round(r, groups, round);
    turns_renew();
    if (peers_count() == 0) /* their processes take seconds to begin */
      worker_renew();
    if (round + 1 == limits->rounds && limits->samples <= 0)
      enough = clock_ns() + limits->longer * (clock_ns() - start);
  }
}

/* The entry of a name and device, from one on and around; null where there is none. */
static entry *entry_named(const report *r, group *groups, size_t *from, const char *name,
                          const char *on) {
  for (size_t t = 0; t < r->selection->count; t++) {
    group *g = &groups[(*from + t) % r->selection->count];
    for (size_t i = 0; i < g->count; i++) {
      const row *line = g->entries[i].line;
      if (strcmp(line->name, name) == 0 && strcmp(line->device ? line->device : "-", on) == 0) {
        *from += t;
        return &g->entries[i];
      }
    }
  }
  return NULL;
}

void rounds_in_turns(report *r) {
  const size_t count = r->selection->count;
  group *groups = message_need(calloc(count + 1, sizeof *groups));
  turns_row next;
  size_t at = 0;

  for (size_t t = 0; t < count; t++)
    groups[t] = group_of(r, &r->selection->tasks[t]);
  signals_note_interrupts(NULL);
  turns_begin();
  while (!signals_interrupted() && turns_next(&next)) {
    entry *e = entry_named(r, groups, &at, next.name, next.on);
    const size_t rounds = e ? e->line->warm.rounds : 0;
    if (!*next.name) {
      worker_renew();
      continue;
    }
    if (e && next.calls)
      e->line->warm.calls = next.calls;
    if (e && e->open)
      run_row(r, e->line, e->on, (int)rounds);
    if (e)
      e->open = e->line->state == ROW_RIGHT;
    turns_answer(e ? e->line->status : "none",
                 e && e->line->warm.rounds > rounds ? e->line->warm.round[rounds].median : NAN,
                 e ? e->line->warm.calls : 0);
  }
  for (size_t t = 0; t < count; t++) {
    for (size_t i = 0; i < groups[t].count; i++)
      row_free(groups[t].entries[i].line);
    free(groups[t].entries);
  }
  free(groups);
}

static void count_rows(report *r, size_t from) {
  for (size_t i = from; i < r->count; i++) {
    row_sentence(r->rows[i]);
    if (r->rows[i]->foreign)
      r->foreign++;
    if (r->rows[i]->foreign && r->rows[i]->verdict && strcmp(r->rows[i]->verdict, "right") == 0)
      r->foreign_right++;
    if (r->rows[i]->peer &&
        !r->rows[i]->foreign) { /* what another library does is no failure of ours */
      r->peers++;
      r->peers_right += r->rows[i]->state == ROW_RIGHT;
      continue;
    }
    r->right += r->rows[i]->state == ROW_RIGHT;
    r->wrong += r->rows[i]->state == ROW_WRONG;
    r->unproved += r->rows[i]->state == ROW_UNPROVED;
    r->killed += r->rows[i]->state == ROW_KILLED;
    r->skipped += r->rows[i]->state == ROW_SKIPPED;
    r->above += r->rows[i]->state == ROW_RIGHT && r->rows[i]->above_ceiling;
  }
}

static size_t count_seen(const group *g) {
  size_t seen = 0;

  for (size_t i = 0; i < g->count; i++)
    seen += g->entries[i].line->seen;
  return seen;
}

/* Whether no task after one, of the same op, has rows to show, or will have. */
static bool ends_op(const report *r, const group *groups, size_t t) {
  const task *tasks = r->selection->tasks;
  const bool more = r->options->check_only && !signals_interrupted();

  for (size_t next = t + 1; next < r->selection->count && tasks[next].op == tasks[t].op; next++)
    if (more || count_seen(&groups[next]) > 0)
      return false;
  return true;
}

/* The rows of a task that had a turn become the report's, and are printed. */
static void finish(report *r, const group *groups, size_t nth) {
  const group *g = &groups[nth];
  const size_t from = r->count;
  row *fastest;

  for (size_t i = 0; i < g->count; i++) {
    row *line = g->entries[i].line;
    if (!line->seen) {
      row_free(line);
      continue;
    }
    if (line->state == ROW_RIGHT && line->warm.rounds > 0)
      row_measure(line, g->entries[i].on);
    r->rows[r->count++] = line;
  }
  beside_compare(r->rows + from, r->count - from);
  fastest = row_fastest(r->rows + from, r->count - from);
  if (fastest)
    fastest->fastest = true;
  count_rows(r, from);
  if (r->count > from)
    report_table_task(r, r->rows + from, r->count - from, ends_op(r, groups, nth));
}

void rounds_run(report *r) {
  const size_t count = r->selection->count;
  const double start = clock_ns();
  group *groups = message_need(calloc(count + 1, sizeof *groups));
  size_t done = 0, finished = 0;

  chance = r->options->seed;
  for (size_t t = 0; t < count; t++) {
    groups[t] = group_of(r, &r->selection->tasks[t]);
    r->total += groups[t].count;
  }
  r->rows = message_need(calloc(r->total + 1, sizeof *r->rows));
  signals_note_interrupts(output_abandon);
  report_table_begin(r);
  for (; finished < count && r->options->check_only && !signals_interrupted(); finished++) {
    run_group(r, &groups[finished], 0, &done, r->total);
    finish(r, groups, finished);
  }
  if (!r->options->check_only)
    run_rounds(r, groups);
  r->interrupted = signals_interrupted();
  for (; finished < count; finished++)
    finish(r, groups, finished);
  for (size_t t = 0; t < count; t++)
    free(groups[t].entries);
  free(groups);
  r->interrupted = signals_interrupted(); /* while it was printed as well */
  r->seconds = (clock_ns() - start) / 1e9;
  report_table_end(r);
}
