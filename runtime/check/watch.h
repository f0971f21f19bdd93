/* watch.h - are the results of timed calls right? Outputs are poisoned before a batch of calls and looked at
 * after it: all of a small one, of a large one parts that chance chooses and no kernel can know. */
#ifndef WATCH_H
#define WATCH_H

#include "check.h"

enum { WATCH_PLACES = 4 };

/* Begins with the first four, and zero. */
typedef struct result_watch {
  device_call *call;
  const check_kept *right;  /* what has been proved right of the call's problem, */
  const check_kept *others; /* and of the one that it takes turns with; null: none */
  uint64_t drawn;           /* what chance has come to; at first a seed */
  size_t place[LATHE_MAX_OPERANDS][WATCH_PLACES]; /* where outputs were poisoned */
  check_result found;                             /* what looking has found, where it is wrong */
} result_watch;

/* Poisons one part of each output, so that a kernel which finds its result there has more to do; false where
 * that went wrong, with the reason in the call's error. */
bool watch_spoil(result_watch *w);

/* Before a batch, and after it; and after the last one, with all of the results. False where they were wrong, or else
 * could not be had, as the call's error says then; where nothing is known of them (device_call.fresh), true. */
bool watch_poison(result_watch *w);
bool watch_look(result_watch *w);
bool watch_look_at_all(result_watch *w);

/* True or false, as no kernel can know. */
bool watch_chance(result_watch *w);

#endif
