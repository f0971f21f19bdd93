/* check.c - is a variant's result right? */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "describe.h"
#include "devices/foreign/foreign.h"
#include "library/dtype.h"
#include "problem/sampling.h"
#include "telling.h"

static void misdeed(const device_call *call, check_result *r) {
  r->verdict = CHECK_WRONG;
  r->fate = call->fate;
  describe_misdeed(call, r->message, sizeof r->message);
}

/* Whether a floating output is wrong for its rounding alone, and by no more than a few times what it may be off. */
static bool is_near(const view *v, const judgement *j) {
  const double times = 4;
  const lathe_operand *operand = &v->p->op->operands[v->output];
  const lathe_dtype type = lathe_dtype_of_operand(operand, v->p->dtype);

  return lathe_dtype_numeric(type) && !lathe_dtype_format_of(type)->integer && j->unlike == 0 &&
         (j->worst > j->bound || j->off > j->off_allowed) && j->worst <= times * j->bound &&
         (j->off <= times * j->off_allowed || j->off_allowed == 0);
}

/* Judges some results; views: see judge.h. */
static void compare(const view *v, const problem_views *views, check_result *r) {
  const judgement j = judge_products(v->p, v->call->variant->digits, views, v->output, v->got);

  if (j.worst > r->ulp) {
    r->ulp = j.worst;
    r->bound = j.bound;
  }
  if (j.off * r->off_allowed >= r->off * j.off_allowed) {
    r->off = j.off;
    r->off_allowed = j.off_allowed;
  }
  r->unlike = r->unlike || j.unlike > 0;
  r->far_off = r->far_off || (!judge_is_right(&j) && !is_near(v, &j));
  if (!judge_is_right(&j) && r->verdict == CHECK_RIGHT) {
    r->verdict = CHECK_WRONG;
    describe_results(v, &j, r->message, sizeof r->message);
  }
}

/* The same of an output whose results repeat. */
static void compare_layers(const device_call *call, const problem_views *views, int o,
                           const void *got, check_result *r) {
  const problem *p = call->problem;
  const size_t layers = sampling_layers(p, o);
  char *some = message_need(memory_make(p->sample->of[o]->bytes[o]));
  problem_views of_some = *views;

  for (int n = 0; n < views->count; n++)
    of_some.of[n] = views->of[n]->sample->of[o];
  for (size_t i = 0; i < layers; i++) {
    const sampling_layer layer = sampling_layer_of(p, o, i);
    const view v = describe_view(call, &layer, o, some);
    sampling_take(p, &layer, got, some);
    compare(&v, &of_some, r);
  }
  free(some);
}

struct check_kept {
  void *output[LATHE_MAX_OPERANDS];
};

/* Compares all outputs. */
static check_result compare_outputs(const device_call *call, const check_kept *kept,
                                    const problem_views *views) {
  const problem *p = call->problem;
  check_result r = {.bound = judge_bound(p->op, p->dtype)};

  if (p->sample)
    sampling_tell(p, r.checked, sizeof r.checked);
  for (int o = 0; o < p->op->noperands; o++) {
    const void *got = kept->output[o];
    if (!got)
      continue;
    if (p->sample) {
      compare_layers(call, views, o, got, &r);
    } else {
      const view v = describe_view(call, NULL, o, got);
      compare(&v, views, &r);
    }
  }
  return r;
}

/* The liberties of a device in a call with numbers of these types, and of the variant's own arithmetic. */
static problem_leeway leeway_of(const device_call *call) {
  const problem *p = call->problem;
  const bool flushes = call->variant->backend->features & LATHE_FLUSHES;
  problem_leeway l = {
      .digits = call->variant->digits,
      .narrowed = call->variant->narrowed,
      .between = call->on->may_flush[p->dtype].between || flushes,
      .flushed = call->on->may_flush[p->dtype].types | (flushes ? 1u << p->dtype : 0),
  };

  for (int o = 0; o < p->op->noperands; o++)
    l.flushed |= call->on->may_flush[lathe_dtype_of_operand(&p->op->operands[o], p->dtype)].types;
  return l;
}

/* A kernel that somebody else wrote may add up in another order. It is right where it is off by no more than a few
 * times as much. */
static void forgive(const device_call *call, check_result *r) {
  if (r->verdict != CHECK_WRONG || r->far_off || !foreign_of(call->variant))
    return;
  r->verdict = CHECK_RIGHT;
  snprintf(r->message, sizeof r->message,
           "off by more than ours may be: by up to %.3g ulp, and ours by %.3g; as a whole by "
           "%.2g, and ours by %.2g",
           r->ulp, r->bound, r->off, r->off_allowed);
}

check_result check_judge(const device_call *call, const check_kept *kept) {
  problem_views views = {.count = 0};
  check_result r = compare_outputs(call, kept, &views);

  if (r.verdict == CHECK_WRONG) {
    views = problem_views_make(call->problem, leeway_of(call));
    if (views.count > 0)
      r = compare_outputs(call, kept, &views);
    problem_views_free(&views);
  }
  forgive(call, &r);
  if (r.verdict == CHECK_RIGHT && !telling_proves(call->problem, r.message, sizeof r.message)) {
    r.verdict = CHECK_UNPROVED;
    describe_setting(call, r.message, sizeof r.message);
  }
  return r;
}

bool check_passes(device *on, const lathe_variant *variant, const problem *p, int o,
                  const void *result) {
  const device_call call = {.on = on, .variant = variant, .problem = p};
  check_kept kept = {{NULL}};

  kept.output[o] = (void *)(uintptr_t)result;
  return check_judge(&call, &kept).verdict != CHECK_WRONG;
}

check_kept *check_keep(device_call *call, check_result *found) {
  const problem *p = call->problem;
  check_kept *kept = calloc(1, sizeof *kept);
  bool ok = kept != NULL;

  call->error[0] = 0;
  for (int o = 0; o < p->op->noperands && ok; o++) {
    const void *now = p->op->operands[o].output ? call->on->output(call, o) : NULL;
    if (!now)
      continue;
    kept->output[o] = memory_make(p->bytes[o]);
    ok = kept->output[o] && !call->error[0]; /* else nothing could be had of it */
    if (ok)
      memory_copy(kept->output[o], now, p->bytes[o]);
  }
  if (ok)
    return kept;
  if (call->error[0]) {
    *found = check_failed(call);
  } else {
    found->verdict = CHECK_UNABLE;
    snprintf(found->message, sizeof found->message, "not enough memory for a copy of the results");
  }
  check_drop(kept);
  return NULL;
}

check_kept *check_ask(device_call *call, check_result *found) {
  check_kept *kept = NULL;

  *found = (check_result){.bound = judge_bound(call->problem->op, call->problem->dtype)};
  call->on->reset(call);
  if (device_run(call))
    kept = check_keep(call, found);
  else
    *found = check_failed(call);
  if (kept && !call->on->intact(call))
    *found = check_failed(call);
  return kept;
}

void check_take(check_result *found, const check_result *more) {
  const double ulp = fmax(found->ulp, more->ulp);

  if (found->verdict == CHECK_RIGHT ? more->verdict != CHECK_RIGHT
                                    : found->verdict != CHECK_WRONG && more->verdict == CHECK_WRONG)
    *found = *more;
  found->ulp = ulp;
}

check_result check_run(device_call *call, check_kept **kept) {
  check_result asked, r;
  check_kept *got = check_ask(call, &asked);

  if (!got)
    return asked;
  r = check_judge(call, got);
  check_take(&r, &asked);
  if (kept)
    *kept = got;
  else
    check_drop(got);
  return r;
}

void check_drop(check_kept *kept) {
  for (int o = 0; kept && o < LATHE_MAX_OPERANDS; o++)
    free(kept->output[o]);
  free(kept);
}

const void *check_kept_output(const check_kept *kept, int operand) {
  return kept->output[operand];
}

uint64_t check_kept_sum(const device_call *call, const check_kept *kept) {
  uint64_t sum = 0;

  for (int o = 0; o < call->problem->op->noperands; o++)
    if (kept->output[o])
      sum = memory_sum(kept->output[o], call->problem->bytes[o], sum);
  return sum ? sum : 1;
}

check_result check_same(device_call *call, const check_kept *kept) {
  const problem *p = call->problem;
  check_result r = {.bound = judge_bound(p->op, p->dtype)};

  for (int o = 0; o < p->op->noperands && r.verdict == CHECK_RIGHT; o++) {
    const size_t size = lathe_dtype_size(lathe_dtype_of_operand(&p->op->operands[o], p->dtype));
    const char *now, *before = kept->output[o];
    size_t at;
    if (!before)
      continue;
    now = call->on->output(call, o);
    if (!now) { /* for want of memory */
      misdeed(call, &r);
      return r;
    }
    at = memory_differs(now, before, p->bytes[o]) / size;
    if (at == p->elements[o])
      continue;
    describe_change(call, o, at, before, now);
    misdeed(call, &r);
  }
  return r;
}

check_result check_again(device_call *call, const check_kept *kept, device_load load) {
  static const char *const under[DEVICE_LOADS] = {
      [DEVICE_BUSY] = "with copies of memory beside it",
      [DEVICE_THRASHED] = "with caches that hold something else",
      [DEVICE_CROWDED] = "called right after itself",
  };
  check_result r = device_run_under(call, load) ? check_same(call, kept) : check_failed(call);

  if (r.verdict == CHECK_WRONG && under[load] && (load == DEVICE_CROWDED || call->on->remote)) {
    const check_result found = r;
    snprintf(r.message, sizeof r.message, "%s: %.700s", under[load], found.message);
  }
  return r;
}

check_result check_failed(const device_call *call) {
  check_result r = {.bound = judge_bound(call->problem->op, call->problem->dtype)};

  misdeed(call, &r);
  return r;
}

check_result check_variant(device *on, const lathe_variant *variant, const problem *p,
                           device_layout layout) {
  check_result r = {.verdict = CHECK_UNABLE};
  const char *why;
  device_call *call = device_prepare(on, variant, p, layout, &why);

  if (!call) {
    snprintf(r.message, sizeof r.message, "%s", why);
    return r;
  }
  r = check_run(call, NULL);
  on->release(call);
  return r;
}
