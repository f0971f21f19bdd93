/* timing.h - the rounds in which a call was timed, and what they say together.
 *
 * A machine may run at another speed for a tenth of a second, or for seconds. Samples of one round share that, so
 * that no number of them tells how far the next round will be off. The interval is therefore that of the rounds'
 * medians (Efron 1979, with rounds drawn anew), and what matters is how many rounds there were. */
#ifndef TIMING_H
#define TIMING_H

#include "measure.h"
#include "stats.h"

/* Times are nanoseconds of one call. */
typedef struct timing_round {
  double median, other; /* on the clock that counts, and on the other one */
  size_t samples;
  double clock_mhz; /* 0: not known */
} timing_round;

typedef struct timing {
  double *samples; /* of all rounds in the order taken, on the clock that counts */
  size_t count;
  timing_round *round;
  size_t rounds;
  uint64_t calls;  /* in each sample, or one more; 0: not known yet */
  double spent_ns; /* in all samples */
  unsigned retaken;

  /* After timing_judge. */
  stats all;         /* of the samples */
  double median;     /* of the rounds' medians */
  double other_one;  /* the same on the other clock */
  double low, high;  /* the median's 95 % interval; NaN for one round of few samples */
  double noise;      /* half of that interval over the median; infinite where it is not known */
  double best;       /* the least of the rounds' medians */
  double best_noise; /* half of its 95 % interval over it; NaN where it is not known */
  /* The median, least and most of the rounds; NaN: not known. */
  double clock_mhz, clock_low, clock_high;
  /* Why there are no more rounds: "noise", "time", "count"; null: there are to be more. */
  const char *stop;
} timing;

/* Takes a round over. host: the host's clock is the one that counts. */
void timing_add(timing *t, const measurement *m, bool host);

/* Says what the rounds so far say, and whether they are enough. */
void timing_judge(timing *t, const measure_limits *limits);

/* Samples that a round is to take, of those asked for in all rounds; 0: by time. */
long timing_samples(const timing *t, const measure_limits *limits);

/* The median of one call's time in units of another's, and its 95 % interval: of the rounds that both have, each of
 * which found both on the same machine. NaN where there are too few. */
typedef struct timing_ratio {
  double median, low, high;
} timing_ratio;
timing_ratio timing_compare(const timing *one, const timing *other);

void timing_free(timing *t);

#endif
