/* steps.c - where a series of figures changes its level for good. */
#include "steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "stats.h"

enum { SHORTEST = 3 /* figures of a level */, AROUND = 3 /* before and after one */, MOST = 512 };
static const double far = 5; /* deviations from those around it: a blip */
/* Of a step, times the logarithm of how many figures there are. */
static const double fee_in_deviations = 2.5;
static const double least_deviation = 0.002;

/* One standard deviation of figures about their level, by how far neighbours are apart. */
static double deviation_of(const double *figures, size_t count) {
  const double of_a_median = 1.4826 / sqrt(2);
  double *apart = message_need(malloc(count * sizeof *apart)), deviation;

  for (size_t i = 0; i + 1 < count; i++)
    apart[i] = fabs(figures[i + 1] - figures[i]);
  deviation = of_a_median * stats_median(apart, count - 1, sizeof *apart);
  free(apart);
  return fmax(deviation, least_deviation);
}

/* The figures, but for blips, which are far off the medians of those before and of those after, to the same side: in
 * their place is the nearer one of these. */
static void leave_out_blips(const double *figures, size_t count, double deviation, double *clean) {
  for (size_t i = 0; i < count; i++) {
    const size_t some_before = i < AROUND ? i : AROUND;
    const size_t some_after = count - 1 - i < AROUND ? count - 1 - i : AROUND;
    const double last = stats_median(figures + i - some_before, some_before, sizeof *figures);
    const double next = stats_median(figures + i + 1, some_after, sizeof *figures);
    const double off_last = figures[i] - (some_before ? last : next);
    const double off_next = figures[i] - (some_after ? next : last);
    const double nearer = fabs(off_last) < fabs(off_next) ? off_last : off_next;
    clean[i] = figures[i];
    if (off_last * off_next > 0 && fabs(nearer) > far * deviation)
      clean[i] -= nearer;
  }
}

/* Sorted figures, which one more is put among. */
typedef struct level {
  double sorted[MOST];
  size_t count;
} level;

static void put(level *l, double figure) {
  size_t at = l->count++;

  for (; at > 0 && l->sorted[at - 1] > figure; at--)
    l->sorted[at] = l->sorted[at - 1];
  l->sorted[at] = figure;
}

static double middle(const level *l) {
  return (l->sorted[l->count / 2] + l->sorted[(l->count - 1) / 2]) / 2;
}

/* The sum of distances from the median: of what is above it, less what is below. */
static double spread(const level *l) {
  double sum = 0;

  for (size_t i = 0; i < l->count / 2; i++)
    sum += l->sorted[l->count - 1 - i] - l->sorted[i];
  return sum;
}

typedef struct fit {
  double cost[MOST + 1];   /* the least of the first so many figures */
  size_t begins[MOST + 1]; /* where the last level of that begins */
} fit;

static void find_fit(const double *figures, size_t count, double fee, fit *f, level *l) {
  f->cost[0] = -fee;
  for (size_t end = 1; end <= count; end++)
    f->cost[end] = INFINITY;
  for (size_t begin = 0; begin < count; begin++) {
    l->count = 0;
    for (size_t end = begin + 1; end <= count && isfinite(f->cost[begin]); end++) {
      double cost;
      put(l, figures[end - 1]);
      if (l->count < SHORTEST)
        continue;
      cost = f->cost[begin] + fee + spread(l);
      if (cost < f->cost[end]) {
        f->cost[end] = cost;
        f->begins[end] = begin;
      }
    }
  }
}

static double level_of(const double *figures, size_t begin, size_t end, level *l) {
  l->count = 0;
  for (size_t i = begin; i < end; i++)
    put(l, figures[i]);
  return middle(l);
}

size_t steps_find(const double *figures, size_t count, double least, step *found) {
  const size_t skipped = count > MOST ? count - MOST : 0;
  fit *f = message_need(malloc(sizeof *f));
  level *l = message_need(malloc(sizeof *l));
  double deviation, *clean = message_need(malloc((count + 1) * sizeof *clean));
  size_t made = 0;

  count -= skipped;
  figures += skipped;
  if (count >= 2 * SHORTEST) {
    deviation = deviation_of(figures, count);
    leave_out_blips(figures, count, deviation, clean);
    find_fit(clean, count, fee_in_deviations * deviation * log((double)count), f, l);
    for (size_t end = count, begin; end > 0 && (begin = f->begins[end]) > 0; end = begin) {
      const double after = level_of(clean, begin, end, l);
      const double before = level_of(clean, f->begins[begin], begin, l);
      if (fabs(after - before) > least)
        found[made++] = (step){skipped + begin, before, after};
    }
    for (size_t i = 0; i < made / 2; i++) {
      const step last = found[made - 1 - i];
      found[made - 1 - i] = found[i];
      found[i] = last;
    }
  }
  free(clean);
  free(l);
  free(f);
  return made;
}
