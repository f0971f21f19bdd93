/* probe.c - a short trial of each variant before its sizes. */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peaks.h"
#include "probe_plan.h"
#include "watch.h"

enum {
  CALLS = 260,         /* of one problem and another: some more than a counter of 8 bits counts */
  CALLS_ELSEWHERE = 8, /* on a device that is waited for */
};

/* The problem that is there under each load; then with another one's calls between its own, none of which is waited
 * for. */
static check_result try_loads(result_watch *w, const problem *other) {
  const uint64_t calls = 4; /* and one, that the last is of each */
  check_result r = {.verdict = CHECK_RIGHT};
  device_time taken;

  for (int load = DEVICE_QUIET + 1; load < DEVICE_LOADS && r.verdict != CHECK_WRONG; load++)
    r = watch_spoil(w) ? check_again(w->call, w->right, (device_load)load) : check_failed(w->call);
  if (r.verdict == CHECK_WRONG || !w->call->on->take_turns(w->call, other))
    return r;
  for (uint64_t i = 0; i < 2 && r.verdict != CHECK_WRONG; i++) {
    if (!device_time_calls(w->call, calls + i, &taken))
      return check_failed(w->call);
    watch_look_at_all(w);
    r = w->found;
  }
  return r;
}

/* Two problems, that are the plan's last, take turns in one call, each called twice: each is to have the same
 * result always, also where most of it is there. */
static check_result take_turns(device *on, const lathe_variant *v, const probe_plan *p,
                               trial *now) {
  const int rounds = (device_kind_of(on->kind)->quick ? CALLS : CALLS_ELSEWHERE) / 2;
  const probe_step *step = p->count < 2 ? NULL : &p->step[p->count - 2];
  check_result r = {.verdict = CHECK_RIGHT};
  check_kept *first[2] = {NULL, NULL};
  const char *why;
  result_watch w = {.drawn = p->seed};

  if (!step || !step[0].problem || !step[1].problem ||
      memcmp(step[0].at.dim, step[1].at.dim, sizeof step->at.dim) != 0)
    return r; /* for want of memory */
  w.call = device_prepare(on, v, step[0].problem, (device_layout){0}, &why);
  for (int i = 0; w.call && i < rounds && r.verdict != CHECK_WRONG; i++) {
    const int turn = i % 2;
    *now = step[turn].at;
    if (!on->load(w.call, step[turn].problem)) {
      r = check_failed(w.call);
    } else if (!first[turn]) {
      r = check_run(w.call, &first[turn]);
    } else {
      /* Else a processor's workspace is as the other problem left it, for inputs at the same place. */
      if (i / 2 % 2)
        on->reset(w.call);
      r = check_again(w.call, first[turn], DEVICE_QUIET);
    }
    if (!first[turn])
      break; /* for want of memory */
    if (r.verdict != CHECK_WRONG)
      r = watch_spoil(&w) ? check_again(w.call, first[turn], DEVICE_QUIET) : check_failed(w.call);
  }
  if (first[0] && first[1] && r.verdict != CHECK_WRONG) {
    const int last = (rounds - 1) % 2;
    w.right = first[last];
    w.others = first[!last];
    r = try_loads(&w, step[!last].problem);
  }
  check_drop(first[0]);
  check_drop(first[1]);
  if (w.call)
    on->release(w.call);
  return r;
}

/* Has the device make the code of all trials of a variant. */
static void expect_trials(device *on, const lathe_variant *v, const probe_plan *p) {
  device_call *calls = on->expect ? calloc(p->count + 1, sizeof *calls) : NULL;
  size_t count = 0;

  for (size_t i = 0; i < p->count && calls; i++)
    if (probe_plan_has(&p->step[i], v))
      calls[count++] = (device_call){
          .on = on, .variant = v, .problem = p->step[i].problem, .layout = p->step[i].at.layout};
  if (calls)
    on->expect(on, calls, count);
  free(calls);
}

static check_result try_all(device *on, const lathe_variant *v, uint64_t seed, trial *now) {
  const probe_plan *p = probe_plan_of(v, on, seed);
  check_result r = {.verdict = CHECK_RIGHT};

  expect_trials(on, v, p);
  for (size_t i = 0; i < p->count && r.verdict != CHECK_WRONG && !on->lost; i++) {
    *now = p->step[i].at;
    if (probe_plan_has(&p->step[i], v))
      r = check_variant(on, v, p->step[i].problem, now->layout);
  }
  if (r.verdict != CHECK_WRONG && !on->lost)
    r = take_turns(on, v, p, now);
  return r.verdict == CHECK_WRONG || on->lost ? r : peaks_try(on, v, seed, now);
}

check_result probe_variant(device *on, const lathe_variant *variant, uint64_t seed, trial *now) {
  typedef struct probed {
    struct probed *next;
    const device *on;
    const lathe_variant *variant;
    uint64_t seed;
    check_result found;
    trial at;
  } probed;
  static probed *all;
  probed *known = all;
  check_result r;

  while (known && (known->variant != variant || known->on != on || known->seed != seed))
    known = known->next;
  if (known) {
    *now = known->at;
    return known->found;
  }
  r = try_all(on, variant, seed, now);
  /* Trials that could not be made here, or show little, are left to the sizes. */
  if (r.verdict == CHECK_WRONG) {
    const check_result found = r;
    snprintf(r.message, sizeof r.message, "in the probe before its sizes: %.700s", found.message);
  } else {
    r = (check_result){.verdict = CHECK_RIGHT};
  }
  known = malloc(sizeof *known);
  if (known) {
    *known = (probed){all, on, variant, seed, r, *now};
    all = known;
  }
  return r;
}
