/* compare.c - which rows of a run take longer than in an earlier one. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/terminal.h"
#include "base/units.h"
#include "measure/stats.h"
#include "stored.h"

static const double least = 0.02; /* a difference that is worth a word */
static const double alike = 0.05; /* within this two times are the same */
static const double level = 0.05; /* how often chance may call a row different, in all of them */
static const double sure = 1.96;  /* standard errors of a 95 % interval */
enum { ENOUGH = 8 /* rows whose ratios show how much two runs differ */ };

typedef enum verdict { SAME, UNKNOWN, FASTER, SLOWER, BROKEN } verdict;

typedef struct pair {
  const json_t *base, *now;
  double before, after; /* the times that are compared */
  double ratio;         /* of these, its logarithm */
  double medians;       /* the same of the medians */
  double error;         /* the logarithm's standard error */
  verdict verdict;
} pair;

typedef struct pairs {
  pair *at;
  size_t count, untimed, only_base, only_now;
} pairs;

const char *compare_refusal(const json_t *base, const json_t *new_run) {
  static const char *const members[] = {"cpu_name", "cpu_features"};
  static char why[512];

  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    const char *one = stored_text(json_object_get(base, "context"), members[i]);
    const char *other = stored_text(json_object_get(new_run, "context"), members[i]);
    if (strcmp(one, other) != 0) {
      snprintf(why, sizeof why,
               "the runs are of different machines: %s is '%.150s' in the base and '%.150s' now",
               members[i], one, other);
      return why;
    }
  }
  return NULL;
}

/* ---- pairs of rows ------------------------------------------------------------------------------ */

static bool is_timed(const json_t *row) {
  return stored_number(row, "real_time") > 0;
}

static bool is_right(const json_t *row) {
  return strcmp(stored_text(row, "status"), "right") == 0;
}

static bool is_skipped(const json_t *row) {
  return strcmp(stored_text(row, "status"), "skipped") == 0;
}

/* A row's name by which it is found again, on any device of the kind. */
static void key_of(const json_t *run, const json_t *row, char *key, size_t size) {
  snprintf(key, size, "%s on %s", stored_text(row, "name"), stored_device(run, row));
}

/* Rows by their keys; what there is twice counts once. */
static json_t *index_of(const json_t *run) {
  const json_t *rows = json_object_get(run, "benchmarks");
  json_t *all = json_object();
  char key[512];

  for (size_t i = 0; i < json_array_size(rows); i++) {
    key_of(run, json_array_get(rows, i), key, sizeof key);
    json_object_set(all, key, json_array_get(rows, i));
  }
  return all;
}

/* A time, and half of its 95 % interval over it. */
typedef struct figure {
  const char *time, *noise;
} figure;

static const figure median = {"real_time", "noise"}, best = {"best", "best_noise"};

static bool has(const json_t *row, figure f) {
  return stored_number(row, f.time) > 0 && isfinite(stored_number(row, f.noise));
}

/* The standard error of the logarithm of a row's time; one of which nothing is known is off by half. */
static double error_of(const json_t *row, figure f) {
  const double noise = stored_number(row, f.noise), unknown = 0.5;

  return (isfinite(noise) ? noise : unknown) / sure;
}

/* Other programs only add time: what a row takes in its best round says more of the row, and what it takes in the
 * middle one more of the machine. But one round may be the best by luck of where its buffers lay, and then the middle
 * one is what it was. */
static pair compared(const json_t *base, const json_t *now) {
  const figure f = has(base, best) && has(now, best) ? best : median;
  pair p = {.base = base,
            .now = now,
            .before = stored_number(base, f.time),
            .after = stored_number(now, f.time),
            .error = hypot(error_of(base, f), error_of(now, f))};

  p.ratio = log(p.after / p.before);
  p.medians = log(stored_number(now, median.time) / stored_number(base, median.time));
  return p;
}

static void add(pairs *p, const json_t *base, const json_t *now) {
  pair *made = &p->at[p->count];

  if (is_right(base) && !is_right(now) && !is_skipped(now)) {
    *made = (pair){.base = base, .now = now, .verdict = BROKEN};
    p->count++;
  } else if (is_timed(base) && is_timed(now)) {
    *made = compared(base, now);
    p->count++;
  } else {
    p->untimed++;
  }
}

static pairs pairs_of(const json_t *base, const json_t *new_run) {
  json_t *before = index_of(base), *now = index_of(new_run);
  pairs p = {.at = message_need(calloc(json_object_size(now) + 1, sizeof *p.at))};

  for (void *at = json_object_iter(now); at; at = json_object_iter_next(now, at)) {
    const json_t *old = json_object_get(before, json_object_iter_key(at));
    if (old)
      add(&p, old, json_object_iter_value(at));
    else
      p.only_now++;
  }
  for (void *at = json_object_iter(before); at; at = json_object_iter_next(before, at))
    p.only_base += !json_object_get(now, json_object_iter_key(at));
  json_decref(before); /* the rows are their runs' */
  json_decref(now);
  return p;
}

/* ---- what they show ------------------------------------------------------------------------------ */

/* How much two runs of one program differ by, of one standard deviation; 0 where too few rows tell. */
static double between_runs(const pairs *p) {
  const double of_a_median = 1.4826; /* a standard deviation in units of the median deviation */
  double *values = message_need(calloc(p->count + 1, sizeof *values)), spread = 0;
  size_t count = 0;

  for (size_t i = 0; i < p->count; i++)
    if (p->at[i].verdict != BROKEN)
      values[count++] = p->at[i].ratio;
  if (count >= ENOUGH)
    spread = of_a_median * stats_of(values, count).mad;
  free(values);
  return spread;
}

static int by_ratio(const void *a, const void *b) {
  const pair *x = a, *y = b;

  if ((x->verdict == BROKEN) != (y->verdict == BROKEN))
    return x->verdict == BROKEN ? -1 : 1;
  return (x->ratio < y->ratio) - (x->ratio > y->ratio);
}

/* Holm's test of the rows that are not broken. */
static void judge(pairs *p, double spread) {
  double *probabilities = message_need(calloc(p->count + 1, sizeof *probabilities));
  bool *told = message_need(calloc(p->count + 1, sizeof *told));
  size_t tested = 0;

  for (size_t i = 0; i < p->count; i++)
    if (p->at[i].verdict != BROKEN) {
      pair *x = &p->at[i];
      x->error = hypot(x->error, spread);
      probabilities[tested++] = erfc(fabs(x->ratio) / x->error / sqrt(2));
    }
  stats_holm(probabilities, tested, level, told);
  tested = 0;
  for (size_t i = 0; i < p->count; i++) {
    pair *x = &p->at[i];
    if (x->verdict == BROKEN)
      continue;
    if (told[tested++] && fabs(x->ratio) > log1p(least) &&
        copysign(1, x->ratio) * x->medians > log1p(least) / 2)
      x->verdict = x->ratio > 0 ? SLOWER : FASTER;
    else
      x->verdict = fabs(x->ratio) + sure * x->error <= log1p(alike) ? SAME : UNKNOWN;
  }
  free(probabilities);
  free(told);
}

/* ---- the table ----------------------------------------------------------------------------------- */

static void put_line(const pair *x, int width) {
  static const char *const words[] = {
      [FASTER] = "faster", [SLOWER] = "SLOWER", [BROKEN] = "BROKEN"};
  units_text before, now;

  printf("%s%s%s  %-*s", terminal_paint(x->verdict == FASTER ? GOOD : BAD), words[x->verdict],
         terminal_paint(PLAIN), width, stored_text(x->now, "name"));
  if (x->verdict == BROKEN) {
    printf("  %s: %s\n", stored_text(x->now, "status"), stored_text(x->now, "reason"));
    return;
  }
  before = units_time(x->before);
  now = units_time(x->after);
  printf(" %8s %8s  %+6.1f%%  %+.1f to %+.1f%%\n", before.text, now.text, 100 * expm1(x->ratio),
         100 * expm1(x->ratio - sure * x->error), 100 * expm1(x->ratio + sure * x->error));
}

static bool is_worth_a_line(const pair *x) {
  return x->verdict == FASTER || x->verdict == SLOWER || x->verdict == BROKEN;
}

static void put_table(const pairs *p) {
  int width = 0;

  for (size_t i = 0; i < p->count; i++)
    if (is_worth_a_line(&p->at[i]) && (int)strlen(stored_text(p->at[i].now, "name")) > width)
      width = (int)strlen(stored_text(p->at[i].now, "name"));
  if (width)
    printf("%s        %-*s %8s %8s %8s  interval%s\n", terminal_paint(STRONG), width, "row", "base",
           "now", "change", terminal_paint(PLAIN));
  for (size_t i = 0; i < p->count; i++)
    if (is_worth_a_line(&p->at[i]))
      put_line(&p->at[i], width);
  if (width)
    putchar('\n');
}

bool compare_print(const json_t *base, const json_t *new_run) {
  pairs p = pairs_of(base, new_run);
  const double spread = between_runs(&p);
  size_t of[BROKEN + 1] = {0};

  judge(&p, spread);
  qsort(p.at, p.count, sizeof *p.at, by_ratio);
  for (size_t i = 0; i < p.count; i++)
    of[p.at[i].verdict]++;
  put_table(&p);
  printf("%zu rows compared: %zu slower, %zu faster, %zu the same, %zu cannot be told", p.count,
         of[SLOWER], of[FASTER], of[SAME], of[UNKNOWN]);
  if (of[BROKEN])
    printf(", %zu no longer right", of[BROKEN]);
  printf("; %zu in the base alone, %zu new", p.only_base, p.only_now);
  if (p.untimed)
    printf(", %zu not timed in both", p.untimed);
  putchar('\n');
  if (p.count == 0)
    message_warn("nothing was compared: no row is timed in both runs");
  if (spread > 0)
    printf("between the runs times differ by %.1f%% (one standard deviation)\n",
           100 * expm1(spread));
  free(p.at);
  return p.count > 0 && of[SLOWER] + of[BROKEN] == 0;
}
