/* timing.c - the rounds in which a call was timed, and what they say together. */
#include "timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

enum {
  SLOWEST = 4,     /* times the limit after which no round is added, however few there are */
  FEWEST = 3,      /* rounds whose medians tell an interval */
  SLOW = 50000000, /* ns of a row that is slow by itself */
  SEVERAL = 6,     /* samples whose order tells one, in fewer rounds */
  RESAMPLES = 999, /* of the bootstrap */
};

void timing_add(timing *t, const measurement *m, bool host) {
  const double *samples = host ? m->host : m->own, *other = host ? m->own : m->host;
  const timing_round r = {
      .median = stats_median(samples, m->count, sizeof *samples),
      .other = stats_median(other, m->count, sizeof *other),
      .samples = m->count,
      .clock_mhz = m->clock_mhz,
  };

  if (m->count == 0)
    return;
  t->samples = message_need(realloc(t->samples, (t->count + m->count) * sizeof *t->samples));
  t->round = message_need(realloc(t->round, (t->rounds + 1) * sizeof *t->round));
  memcpy(t->samples + t->count, samples, m->count * sizeof *samples);
  t->count += m->count;
  t->round[t->rounds++] = r;
  t->calls = m->calls;
  t->retaken += m->retaken;
  /* A sample during which another process had the processor does not count. */
  t->spent_ns += r.median * (double)m->calls * (double)m->count;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* A figure of some values, whose order may change. */
typedef double figure(double *values, size_t count);

static double median_of(double *values, size_t count) {
  return stats_of(values, count).median;
}

static double least_of(double *values, size_t count) {
  double least = INFINITY;

  for (size_t i = 0; i < count; i++)
    least = fmin(least, values[i]);
  return least;
}

/* The 95 % interval of a figure: of as many values, drawn among these again and again. The factor and term are
 * Knuth's, of MMIX; the same values have the same interval. */
static void draw_interval(const double *values, size_t count, figure *of, double *low,
                          double *high) {
  double drawn[RESAMPLES], *some = message_need(malloc(count * sizeof *some));
  uint64_t chance = count;

  for (int i = 0; i < RESAMPLES; i++) {
    for (size_t n = 0; n < count; n++) {
      chance = chance * 6364136223846793005u + 1442695040888963407u;
      some[n] = values[(size_t)((double)(chance >> 11) * 0x1p-53 * (double)count)];
    }
    drawn[i] = of(some, count);
  }
  free(some);
  qsort(drawn, RESAMPLES, sizeof *drawn, compare);
  *low = drawn[(RESAMPLES + 1) / 40 - 1];
  *high = drawn[RESAMPLES - (RESAMPLES + 1) / 40];
}

static void interval_of_rounds(timing *t) {
  double *medians = message_need(malloc(t->rounds * sizeof *medians));
  double low, high;

  for (size_t i = 0; i < t->rounds; i++)
    medians[i] = t->round[i].median;
  draw_interval(medians, t->rounds, median_of, &t->low, &t->high);
  draw_interval(medians, t->rounds, least_of, &low, &high);
  t->best_noise = (high - low) / 2 / t->best;
  free(medians);
}

timing_ratio timing_compare(const timing *one, const timing *other) {
  const size_t rounds = one->rounds < other->rounds ? one->rounds : other->rounds;
  timing_ratio r = {NAN, NAN, NAN};
  double *ratios = message_need(malloc((rounds + 1) * sizeof *ratios));

  for (size_t i = 0; i < rounds; i++)
    ratios[i] = one->round[i].median / other->round[i].median;
  r.median = stats_median(ratios, rounds, sizeof *ratios);
  if (rounds >= FEWEST)
    draw_interval(ratios, rounds, median_of, &r.low, &r.high);
  free(ratios);
  return r;
}

static void judge_clock(timing *t) {
  t->clock_mhz = stats_median(&t->round->clock_mhz, t->rounds, sizeof *t->round);
  t->clock_low = INFINITY;
  t->clock_high = 0;
  for (size_t i = 0; i < t->rounds; i++) {
    t->clock_low = fmin(t->clock_low, t->round[i].clock_mhz);
    t->clock_high = fmax(t->clock_high, t->round[i].clock_mhz);
  }
  if (!(t->clock_low > 0))
    t->clock_mhz = t->clock_low = t->clock_high = NAN;
}

static const char *reason_to_stop(const timing *t, const measure_limits *limits) {
  if (limits->samples > 0)
    return t->count >= (size_t)limits->samples ? "count" : NULL;
  /* With too few rounds for an interval it may be but the system that took the processor away. */
  if (t->spent_ns >= SLOWEST * limits->most_ns && (t->rounds >= FEWEST || t->spent_ns >= SLOW))
    return "time";
  if (t->rounds < (size_t)limits->rounds || t->spent_ns < limits->least_ns)
    return NULL;
  if (t->noise <= limits->max_noise)
    return "noise";
  return t->spent_ns >= limits->most_ns ? "time" : NULL;
}

void timing_judge(timing *t, const measure_limits *limits) {
  double *copy = message_need(malloc((t->count + 1) * sizeof *copy));

  memcpy(copy, t->samples, t->count * sizeof *copy);
  t->all = stats_of(copy, t->count);
  free(copy);
  t->median = stats_median(&t->round->median, t->rounds, sizeof *t->round);
  t->other_one = stats_median(&t->round->other, t->rounds, sizeof *t->round);
  judge_clock(t);
  t->best = INFINITY;
  for (size_t i = 0; i < t->rounds; i++)
    t->best = fmin(t->best, t->round[i].median);
  t->low = t->high = t->best_noise = NAN;
  if (t->rounds >= FEWEST) {
    interval_of_rounds(t);
  } else if (t->count >= SEVERAL) {
    t->low = t->all.low;
    t->high = t->all.high;
  }
  t->noise = isnan(t->low) ? INFINITY : (t->high - t->low) / 2 / t->median;
  t->stop = reason_to_stop(t, limits);
}

long timing_samples(const timing *t, const measure_limits *limits) {
  const long rounds = limits->samples < limits->rounds ? limits->samples : limits->rounds;
  const long left = limits->samples - (long)t->count;
  const long rounds_left = rounds - (long)t->rounds;

  if (limits->samples <= 0)
    return 0;
  return rounds_left > 1 ? (left + rounds_left - 1) / rounds_left : left;
}

void timing_free(timing *t) {
  free(t->samples);
  free(t->round);
  *t = (timing){0};
}
