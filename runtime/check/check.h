/* check.h - is a variant's result right? It is run, and its outputs are judged (judge.h); that it stayed within its
 * buffers, and that what is expected proves something (telling.h), is looked at as well. */
#ifndef CHECK_H
#define CHECK_H

#include "devices/common/device.h"
#include "problem/problem.h"

typedef enum check_verdict {
  CHECK_RIGHT,
  CHECK_WRONG,
  CHECK_UNPROVED, /* as expected, but what is expected proves nothing: see telling.h */
  CHECK_UNABLE,   /* could not be run in that layout, or for want of memory */
} check_verdict;

typedef struct check_result {
  check_verdict verdict;
  double ulp;   /* the largest error of a floating output; 0 where all are integers */
  double bound; /* what the spec allows for the variant's type */
  /* The error of an output as a whole and what is allowed, shares of its 2-norm: of the worst. */
  double off, off_allowed;
  /* Some result is NaN or infinite, where the right one is not, or the other way round. */
  bool unlike;
  device_fate fate;  /* of the call, where it is wrong */
  bool far_off;      /* it is wrong otherwise than by a few times the rounding that it may have */
  char checked[96];  /* which elements were compared, as sampling_tell says; empty: all */
  char message[768]; /* why not right, or how little that shows; one line, mostly empty */
} check_result;

/* Prepares, runs once, judges and releases. The variant must be able to run on the device
 * (lathe_why_not). */
check_result check_variant(device *on, const lathe_variant *variant, const problem *p,
                           device_layout layout);

/* The results of a run, kept to be judged, and to be compared bit for bit with a later run's:
 * the same call is to have the same result. */
typedef struct check_kept check_kept;

/* Null where they cannot be had, with *found saying why. */
check_kept *check_keep(device_call *call, check_result *found);
void check_drop(check_kept *kept);

/* Runs a call once, and keeps what it leaves. *found: right, unless the run went wrong, or wrote what it must not. */
check_kept *check_ask(device_call *call, check_result *found);

/* Judges such results. Of the call it needs what was asked for, and nothing of what the device has. */
check_result check_judge(const device_call *call, const check_kept *kept);

/* Whether a result of one output, whoever made it, would not be called wrong. */
bool check_passes(device *on, const lathe_variant *variant, const problem *p, int output,
                  const void *result);

/* All of these, for a caller that wants the results, or not: kept may be null. */
check_result check_run(device_call *call, check_kept **kept);

/* The error of both, and what is wrong of either, or else not proved. */
void check_take(check_result *found, const check_result *more);

const void *check_kept_output(const check_kept *kept, int operand);

/* A number that tells results apart from others, with next to no error: never 0. */
uint64_t check_kept_sum(const device_call *call, const check_kept *kept);

/* Right, unless the outputs are other bits now. */
check_result check_same(device_call *call, const check_kept *kept);

/* Runs a call once more on a device under some load: right, unless it leaves other bits than it has left before. */
check_result check_again(device_call *call, const check_kept *kept, device_load load);

/* As check_judge, of a call that draws its own random numbers. An element that is zero by one drawing and not by the
 * other says nothing; all others are held to the bound, and there are to be as many zeros as chance allows. */
check_result check_drawn(const device_call *call, const check_kept *kept);

/* The verdict on a call that went wrong as its error says. Like a repro command, it takes of the
 * call only what was asked for, and nothing of the device or of the problem's data. */
check_result check_failed(const device_call *call);

#endif
