/* job.c - one variant at one size: checked, and timed where it is right. */
#include "job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "dtype.h"
#include "mutate.h"
#include "random.h"
#include "room.h"

/* The problems of the last job: the one asked for, and another. */
enum { ASKED, OTHER, PROBLEMS };
static problem *kept[PROBLEMS];

static trial own, *now = &own;

void job_share(void) {
  void *shared = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  if (shared != MAP_FAILED)
    now = shared;
}

trial job_now(void) {
  return *now;
}

static trial trial_of(const job *j, int which) {
  trial t = {.seed = j->seed, .special = j->special, .layout = j->layout};

  memcpy(t.dim, j->dim, sizeof t.dim);
  if (which == OTHER) {
    t.seed++;
    t.special |= RANDOM_NARROW | RANDOM_SCALARS;
  }
  return t;
}

static bool is_of(const problem *p, const lathe_variant *v, const trial *t) {
  return p && p->op == v->op && p->dtype == v->dtype && p->seed == t->seed &&
         p->special == t->special &&
         memcmp(p->dim, t->dim, (size_t)v->op->ndim * sizeof *t->dim) == 0;
}

static void drop(int which) {
  problem_free(kept[which]);
  kept[which] = NULL;
}

/* A problem that the job is about, where there is room for it beside `taken` bytes; null with the reason in
 * why. */
static const problem *problem_of(const job *j, device *on, int which, double taken,
                                 const char **why) {
  const lathe_variant *v = j->variant;
  const trial t = trial_of(j, which);
  room_left left;

  for (int i = which; i < PROBLEMS;
       i++) { /* their memory is wanted back before it is asked what is free */
    const trial of = trial_of(j, i);
    if (!is_of(kept[i], v, &of))
      drop(i);
  }
  left = (room_left){.device = device_memory(on), .host = device_memory(device_cpu())};
  if (left.device >= 0)
    left.device = fmax(0, left.device - taken);
  *why = room_refusal(v, j->dim, !kept[which], left);
  if (!*why && !kept[which])
    kept[which] = problem_make(v->op, v->dtype, t.dim, t.seed, t.special, why);
  return *why ? NULL : kept[which];
}

/* Bytes of an op's inputs or outputs. */
static double bytes_of(const job *j, bool output) {
  const lathe_op *op = j->variant->op;
  double bytes = 0;

  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output == output)
      bytes += (double)lathe_elements(op, o, j->dim) *
               (double)lathe_dtype_size(dtype_of_operand(&op->operands[o], j->variant->dtype));
  return bytes;
}

/* A second call, of the problem that is there, which is to have the same result to the bit: on a device that
 * deals work out by chance, on a stack that holds other numbers, and where most of its result is there. */
static check_result repeat(const job *j, device_call *call, const check_kept *first) {
  result_watch w = {.call = call, .drawn = j->seed};

  if (j->layout.in_place) /* the input is to be there again */
    call->on->reset(call);
  else if (!watch_spoil(&w))
    return check_failed(call);
  return device_run(call) ? check_same(call, first) : check_failed(call);
}

/* The error of both, and what is wrong of either. */
static void take(check_result *found, const check_result *more) {
  const double ulp = fmax(found->ulp, more->ulp);

  if (more->verdict != CHECK_RIGHT && found->verdict == CHECK_RIGHT)
    *found = *more;
  found->ulp = ulp;
}

/* Measures warm, and cold where that can be had. */
static check_result time_call(const job *j, result_watch *w, outcome *out) {
  device_call *call = w->call;
  device *on = call->on;
  const char *name = "";
  check_result r = {0};

  if (!measure(call, &j->limits, w, &out->warm) || !watch_look_at_all(w))
    return w->found.verdict == CHECK_WRONG ? w->found : check_failed(call);
  if (on->cool && on->cool(call)) {
    if (!measure(call, &j->limits, NULL, &out->cold))
      return check_failed(call);
    r = check_same(call, w->right);
  }
  if (r.verdict == CHECK_RIGHT)
    r = repeat(j, call, w->right);
  if (r.verdict == CHECK_RIGHT && !on->intact(call))
    r = check_failed(call);
  out->ceiling = on->ceiling(on, bytes_of(j, false), bytes_of(j, true), &name);
  snprintf(out->ceiling_name, sizeof out->ceiling_name, "%s", name);
  return r;
}

/* Runs the problem that is there and judges; null, or the results where they are right. */
static check_kept *prove(const job *j, device_call *call, check_result *found) {
  check_result r = check_run(call);
  check_kept *first = r.verdict == CHECK_RIGHT ? check_keep(call) : NULL;

  if (r.verdict == CHECK_RIGHT && !first) {
    r.verdict = CHECK_UNABLE;
    snprintf(r.message, sizeof r.message, "not enough memory for a copy of the results");
  } else if (first) {
    const check_result again = repeat(j, call, first);
    take(&r, &again);
  }
  *found = r;
  return first;
}

/* Whether what is wrong with such an op would be found out, told of rows that are right; see mutate.h. */
static void weigh(const lathe_variant *v, check_result *found) {
  static struct {
    const lathe_op *op;
    lathe_dtype dtype;
    mutate_verdict verdict;
    char text[sizeof found->message];
  } known;

  if (known.op != v->op || known.dtype != v->dtype) {
    known.op = v->op;
    known.dtype = v->dtype;
    known.verdict = mutate_note(v->op, v->dtype, known.text, sizeof known.text);
  }
  if (found->verdict != CHECK_RIGHT || known.verdict == MUTATE_NONE_PASSES)
    return;
  if (known.verdict == MUTATE_GROSS_PASSES)
    found->verdict = CHECK_UNPROVED;
  snprintf(found->message, sizeof found->message, "%s", known.text);
}

/* The job's problem and the other, then the time of both. */
static void judge(const job *j, device_call *call, const problem *other, outcome *out) {
  const problem *asked = call->problem;
  check_kept *first = prove(j, call, &out->check), *second = NULL;

  if (out->check.verdict == CHECK_RIGHT && other) {
    check_result r = {0};
    *now = trial_of(j, OTHER);
    if (call->on->load(call, other))
      second = prove(j, call, &r);
    else
      r = check_failed(call);
    /* A part of the range may prove nothing where the whole does; it is not timed then. */
    if (r.verdict == CHECK_UNPROVED && !call->on->load(call, asked))
      r = check_failed(call);
    else if (r.verdict == CHECK_UNPROVED)
      r = (check_result){.verdict = CHECK_RIGHT};
    take(&out->check, &r);
  }
  weigh(j->variant, &out->check);
  if (out->check.verdict == CHECK_RIGHT && !j->check_only) {
    /* With the other's inputs where those of the job's problem were: what is remembered by its place is
     * another now. */
    const bool turns = second && call->on->take_turns(call, asked);
    result_watch w = {.call = call,
                      .right = second ? second : first,
                      .others = turns ? first : NULL,
                      .drawn = j->seed};
    const check_result r = time_call(j, &w, out);
    take(&out->check, &r);
  }
  check_drop(first);
  check_drop(second);
}

outcome job_run(const job *j) {
  const device_list list = device_own(j->variant->backend->kind);
  device *on = j->device < list.count ? list.at[j->device] : NULL;
  const char *why = "the device is there no more", *no_room;
  outcome out = {.check = {.verdict = CHECK_RIGHT}};
  const problem *asked, *other = NULL;
  device_call *call = NULL;

  *now = trial_of(j, ASKED);
  if (on)
    out.check = probe_variant(on, j->variant, j->seed, now);
  if (out.check.verdict == CHECK_RIGHT) {
    *now = trial_of(j, ASKED);
    asked = on ? problem_of(j, on, ASKED, 0, &why) : NULL;
    if (asked)
      other = problem_of(j, on, OTHER, bytes_of(j, false) + bytes_of(j, true), &no_room);
    call = asked ? device_prepare(on, j->variant, asked, j->layout, &why) : NULL;
    if (call) {
      judge(j, call, other, &out);
      on->release(call);
    } else {
      out.check.verdict = CHECK_UNABLE;
      snprintf(out.check.message, sizeof out.check.message, "%s", why);
    }
  }
  out.at = *now;
  out.lost = on && on->lost;
  return out;
}

void outcome_free(outcome *o) {
  measure_free(&o->warm);
  measure_free(&o->cold);
}
