/* stats.c - what a set of samples says. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* The value a fraction of the way through sorted samples, between neighbours linearly. */
static double quantile(const double *sorted, size_t count, double fraction) {
  const double place = fraction * (double)(count - 1);
  const size_t below = (size_t)place;

  if (below + 1 >= count)
    return sorted[count - 1];
  return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* The median of |x - middle|: what lies within it is a run of the sorted samples that grows
 * from the middle outwards, to whichever side is nearer. */
static double median_deviation(const double *sorted, size_t count, double middle) {
  size_t right = 0, left;
  double last = 0, before = 0;

  while (right < count && sorted[right] < middle)
    right++;
  left = right;
  for (size_t taken = 0; taken <= count / 2; taken++) {
    const double below = left > 0 ? middle - sorted[left - 1] : INFINITY;
    const double above = right < count ? sorted[right] - middle : INFINITY;
    before = last;
    if (below < above) {
      last = below;
      left--;
    } else {
      last = above;
      right++;
    }
  }
  return count % 2 ? last : (before + last) / 2;
}

stats stats_of(double *samples, size_t count) {
  stats s = {.count = count,
             .median = NAN,
             .mean = NAN,
             .deviation = NAN,
             .min = NAN,
             .max = NAN,
             .q1 = NAN,
             .q3 = NAN,
             .mad = NAN,
             .low = NAN,
             .high = NAN,
             .noise = INFINITY};
  double sum = 0, squares = 0;

  if (count == 0)
    return s;
  qsort(samples, count, sizeof *samples, compare);
  s.median = quantile(samples, count, 0.5);
  s.q1 = quantile(samples, count, 0.25);
  s.q3 = quantile(samples, count, 0.75);
  s.min = s.low = samples[0];
  s.max = s.high = samples[count - 1];
  for (size_t i = 0; i < count; i++)
    sum += samples[i];
  s.mean = sum / (double)count;
  for (size_t i = 0; i < count; i++)
    squares += (samples[i] - s.mean) * (samples[i] - s.mean);
  s.deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
  s.mad = median_deviation(samples, count, s.median);
  for (size_t i = 0; i < count; i++) {
    const double beyond = fmax(s.q1 - samples[i], samples[i] - s.q3), between = s.q3 - s.q1;
    s.low_outliers += samples[i] < s.q1 && beyond > 1.5 * between;
    s.high_outliers += samples[i] > s.q3 && beyond > 1.5 * between;
    s.severe_outliers += beyond > 0 && beyond > 3 * between;
  }
  if (count >= 6) {
    /* How many samples lie below the true median is binomial(n, 1/2): the ranks between which
     * it lies 95 times in 100 are n/2 -+ 1.96 sqrt(n)/2, rounded outwards. */
    const double half = 0.98 * sqrt((double)count);
    const double rank = floor((double)count / 2 - half);
    const size_t below = rank > 0 ? (size_t)rank : 0;
    s.low = samples[below];
    s.high = samples[count - 1 - below];
    s.noise = (s.high - s.low) / 2 / s.median;
  }
  return s;
}

double stats_median(const double *first, size_t count, size_t apart) {
  double *copy = message_need(malloc((count + 1) * sizeof *copy)), median;

  for (size_t i = 0; i < count; i++)
    memcpy(&copy[i], (const char *)first + i * apart, sizeof *copy);
  median = stats_of(copy, count).median;
  free(copy);
  return median;
}

/* ---- differences --------------------------------------------------------------------------------- */

/* How many of n ranks' subsets add up to each number, as shares of all 2^n; released by free. */
static double *rank_sums(size_t n) {
  const size_t most = n * (n + 1) / 2;
  double *shares = message_need(calloc(most + 1, sizeof *shares));

  shares[0] = 1;
  for (size_t rank = 1, reached = 0; rank <= n; reached += rank++)
    for (size_t sum = reached + rank + 1; sum-- > 0;)
      shares[sum] = (shares[sum] + (sum >= rank ? shares[sum - rank] : 0)) / 2;
  return shares;
}

stats_shift stats_shift_of(const double *differences, size_t all) {
  const size_t enough = 256, count = all < enough ? all : enough;
  const size_t pairs = count * (count + 1) / 2;
  stats_shift s = {NAN, -INFINITY, INFINITY, 1};
  double *means, *shares, below = 0, tail = 0;
  size_t made = 0, fewer, skip = 0;

  if (count == 0)
    return s;
  means = message_need(malloc(pairs * sizeof *means));
  shares = rank_sums(count);
  /* The sum of positive differences' ranks is how many means of two, or of one with itself, are above 0. */
  for (size_t i = 0; i < count; i++)
    for (size_t j = i; j < count; j++) {
      means[made] = (differences[i] + differences[j]) / 2;
      below += means[made] < 0 ? 1 : means[made] > 0 ? 0 : 0.5;
      made++;
    }
  qsort(means, pairs, sizeof *means, compare);
  s.estimate = quantile(means, pairs, 0.5);
  fewer = (size_t)(below < (double)pairs - below ? below : (double)pairs - below);
  s.probability = 0;
  for (size_t sum = 0; sum <= fewer; sum++)
    s.probability += 2 * shares[sum];
  s.probability = fmin(s.probability, 1);
  while (tail + shares[skip] <= 0.025)
    tail += shares[skip++];
  if (skip > 0) {
    s.low = means[skip - 1];
    s.high = means[pairs - skip];
  }
  free(means);
  free(shares);
  return s;
}

typedef struct ranked {
  double probability;
  size_t nth;
} ranked;

static int by_probability(const void *a, const void *b) {
  return compare(&((const ranked *)a)->probability, &((const ranked *)b)->probability);
}

void stats_holm(const double *probabilities, size_t count, double level, bool *told) {
  ranked *order = message_need(malloc((count + 1) * sizeof *order));
  bool before = true;

  for (size_t i = 0; i < count; i++)
    order[i] = (ranked){probabilities[i], i};
  qsort(order, count, sizeof *order, by_probability);
  for (size_t i = 0; i < count; i++) {
    before = before && order[i].probability <= level / (double)(count - i);
    told[order[i].nth] = before;
  }
  free(order);
}
