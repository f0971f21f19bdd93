/* stats.h - what a set of samples says. */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct stats {
  size_t count;
  double median, mean, deviation; /* deviation: of the sample, n - 1 */
  double min, max, q1, q3;
  double mad;       /* median of the absolute deviations from the median */
  double low, high; /* 95 % interval of the median, from order statistics */
  double noise;     /* half of that interval over the median; infinite below six samples */
  /* Outliers (Tukey 1977): beyond the quartiles by more than 1.5 times what is between these, and of them the severe
   * ones, by more than 3 times. */
  uint64_t low_outliers, high_outliers, severe_outliers;
} stats;

/* Sorts the samples. All figures are NaN where there are none. */
stats stats_of(double *samples, size_t count);

/* The median of numbers so many bytes apart, which stay in their order; NaN where there are none. */
double stats_median(const double *first, size_t count, size_t apart);

/* Differences that lie around 0 alike on both sides where nothing makes one: Wilcoxon's signed ranks (1945), which ask
 * for no more of them than that. */
typedef struct stats_shift {
  double estimate, low, high; /* of their middle (Hodges and Lehmann 1963), with a 95 % interval */
  double probability;         /* of one so far from 0 by chance */
} stats_shift;

/* NaN and 1 where there are none; the interval is infinite below six. Of many the first 256 count. */
stats_shift stats_shift_of(const double *differences, size_t all);

/* Which of some probabilities are so small that chance has even one of them at a level (Holm 1979). */
void stats_holm(const double *probabilities, size_t count, double level, bool *told);

#endif
