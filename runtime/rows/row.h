/* row.h - one line of the results: a variant at a size on a device. All reports are made of the
 * same table of fields. */
#ifndef ROW_H
#define ROW_H

#include "job.h"
#include "measure/timing.h"
#include "selection.h"

typedef enum row_state {
  ROW_RIGHT,
  ROW_WRONG,
  ROW_UNPROVED,
  ROW_KILLED, /* its process was, from outside: nothing is known of the kernel */
  ROW_SKIPPED
} row_state;

/* Figures that are not known are NaN, texts null. */
typedef struct row {
  const task *task;
  const lathe_variant *of;
  row_state state;
  timing warm, cold; /* cold: operands in memory; no rounds where that is not timed */
  /* The call's time if it were at the nearer of its ceilings, as each round measured them. */
  timing at_ceiling;
  uint64_t results;  /* see job.h */
  ceilings ceilings; /* the best of all rounds */
  bool seen;         /* a round has told what becomes of it */
  stats samples;     /* of its calls, of all rounds */
  profile profile;   /* of one call */

  /* The fields. Texts are borrowed, but for these six. */
  char *name;
  uint64_t points; /* the product of the op's dimensions; INT64_MAX where there are more */
  const char *op, *dtype, *backend, *variant, *device, *size, *params;
  char *reason;       /* why not right */
  char *note;         /* on a right row, how little that shows */
  char *repro;        /* the command that fails in the same way */
  char *ceiling;      /* what was measured for it */
  const char *status; /* right, wrong, unproved, killed, skipped */
  char *checked; /* of which elements of the results that is said: all, or what sampling.h says */
  bool fastest, dispatched;
  bool rounds_factors; /* further than dispatch may choose: it is compared with nothing */
  /* peer: it is another library's. foreign: somebody else wrote it, and it is to be judged; it counts as a peer too. */
  bool peer, foreign;
  const char *with;    /* of such a row: the file */
  const char *verdict; /* and the judgement in one word or two */
  device_fate fate;
  /* Of a peer: its time in units of our row's, with a 95 % interval, and the variant of that row. */
  const char *against;
  double ratio, ratio_low, ratio_high;
  /* --against: the base's time, and ours in units of it, of the rounds that both have, with a 95 % interval; how likely
   * chance has it so far from 1; what became of the base's row, and what that comes to: slower, faster, same, unknown,
   * broken, or new where the base has no such row. Null without --against. */
  double base_time, base_ratio, base_ratio_low, base_ratio_high, base_probability;
  const char *base_status, *change;
  struct {
    double *ours, *base; /* medians of rounds, by turns */
    size_t count;
  } turns;
  uint64_t threads;             /* of a processor that shared a call */
  double real_time, cpu_time;   /* medians of a call on both clocks, ns */
  double cold_time, cold_noise; /* the same where operands are in memory; NaN where not timed */
  double cold_bytes_per_second;
  uint64_t iterations, sample_count, calls_per_sample, cold_sample_count;
  double noise;
  double low, high;                                /* the 95 % interval of the median */
  double best, best_noise;                         /* see timing.h */
  double clock_mhz, clock_low_mhz, clock_high_mhz; /* the device's, of the rounds */
  uint64_t retaken; /* rounds whose samples were dropped, for the clock changed meanwhile */
  uint64_t rounds;
  double ns_per_point;
  double bytes, flops; /* of one call */
  double bytes_per_second, flops_per_second;
  double ceiling_bytes_per_second, ceiling_flops_per_second; /* the best of all rounds */
  /* The share of the nearer ceiling, which `ceiling` names, with a 95 % interval over the rounds. Each measured
   * both. */
  double ceiling_share, ceiling_share_low, ceiling_share_high;
  bool above_ceiling; /* by more than the interval */
  /* --profile, of one call: memory_time is what moving the operands' bytes takes at the ceiling. */
  double kernel_time, memory_time;
  const char *stop;
  double ulp, ulp_bound;
  double norm_error, norm_bound; /* of an output as a whole, shares of its 2-norm */
  uint64_t seed;
  const char *source, *template_file;
  /* Names of the row-wise sweep of workload D. */
  uint64_t batch_size, sequence_length, tensor_dimension;
  double time_ms, memory_mb, inference_speed, gpu_efficiency, throughput_gbps;
  double gigabytes_per_second; /* as throughput_gbps, which sounds like bits */
} row;

typedef enum row_type { ROW_TEXT, ROW_REAL, ROW_COUNT, ROW_FLAG } row_type;

typedef struct row_field {
  const char *name;
  row_type type;
  size_t offset;    /* in row */
  const char *unit; /* of a figure; null for others */
  bool on_page;     /* and not in JSON and CSV alone */
} row_field;

extern const row_field row_fields[];
extern const size_t row_field_count;

/* A row of which only is known what it is about. */
row *row_make(const task *t, const lathe_variant *variant, const device *on, uint64_t seed);
void row_free(row *r);

/* Its state. */
void row_skip(row *r, const char *why);
void row_kill(row *r, const char *why, const char *repro);
void row_judge(row *r, const check_result *result, const char *repro);

/* After all rounds: the verdict on a foreign row. */
void row_sentence(row *r);

/* A round of a right row: its samples. False where it is to have no more rounds. */
bool row_add(row *r, const outcome *o, const device *on, const measure_limits *limits);

/* A round in which both had their turn, and what both took. */
void row_add_turn(row *r, double ours, double base);

/* A status of that name, "unknown" for none; not to be freed. */
const char *row_status_named(const char *status);

/* After the last round: the fields. */
void row_measure(row *r, const device *on);

/* The fastest of some right rows of a task that dispatch might choose; null where none was measured. */
row *row_fastest(row *const *rows, size_t count);

/* Dispatch's choice among the rows of a task on the device of one of them; null where that was not
 * measured. */
const row *row_chosen(row *const *rows, size_t count, const row *beside);

/* A time that is known so well is worth comparing. */
extern const double row_noise_limit;

/* How much longer a row takes than another, as a fraction; NaN where either is not known well. */
double row_loss(const row *slower, const row *faster);

#endif
