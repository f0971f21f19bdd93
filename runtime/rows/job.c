/* job.c - one variant at one size: checked, and timed where it is right. */
#include "job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/aside.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/ranges.h"
#include "check/mutate.h"
#include "devices/common/remote.h"
#include "devices/cpu/device.h"
#include "devices/devices.h"
#include "devices/peer/peers.h"
#include "library/dtype.h"
#include "problem/random.h"
#include "room.h"

/* The problems of the last job: the one asked for, another, and that with a few other elements. */
enum { ASKED, OTHER, FRESH, PROBLEMS };
enum { TURNS = 20 /* batches of which one or another ends with a call of the problem itself */ };
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
  if (which != ASKED) {
    t.seed++;
    t.special |= RANDOM_NARROW | RANDOM_SCALARS;
  }
  if (which == FRESH)
    t.special |= RANDOM_POKED;
  return t;
}

/* solved: it is to have what the reference says. */
static bool is_of(const problem *p, const lathe_variant *v, const trial *t, bool solved) {
  return p && (p->solved || !solved) && p->op == v->op && p->dtype == v->dtype &&
         p->seed == t->seed && p->special == t->special &&
         memcmp(p->dim, t->dim, (size_t)v->op->ndim * sizeof *t->dim) == 0;
}

static void drop(int which) {
  problem_free(kept[which]);
  kept[which] = NULL;
}

/* Why there is no room for the job beside `taken` bytes of the device; null where there is. */
static const char *refusal(const job *j, device *on, double taken, bool solve) {
  room_left left = {.device = device_memory(on), .host = device_memory(device_cpu())};

  if (left.device >= 0)
    left.device = fmax(0, left.device - taken);
  return room_refusal(j->variant, j->dim, solve, left);
}

/* A problem that the job is about, where there is room for it beside `taken` bytes; null with the reason in
 * why. */
static const problem *problem_of(const job *j, device *on, int which, double taken,
                                 const char **why) {
  const lathe_variant *v = j->variant;
  const trial t = trial_of(j, which);
  const bool solved = j->round == 0;

  for (int i = which; i < PROBLEMS;
       i++) { /* their memory is wanted back before it is asked what is free */
    const trial of = trial_of(j, i);
    if (!is_of(kept[i], v, &of, solved))
      drop(i);
  }
  *why = refusal(j, on, taken, solved && !kept[which]);
  if (*why) {
    remote_forget();
    memory_release();
    *why = refusal(j, on, taken, solved && !kept[which]);
  }
  if (!*why && !kept[which])
    kept[which] =
        (solved ? problem_make : problem_draw)(v->op, v->dtype, t.dim, t.seed, t.special, why);
  return *why ? NULL : kept[which];
}

/* Another call, of the problem that is there, which is to have the same result to the bit: on a device that deals work
 * out by chance, under some load, on a stack that holds other numbers, and where most of its result is there. */
static check_result repeat(const job *j, device_call *call, const check_kept *first,
                           device_load load) {
  result_watch w = {.call = call, .drawn = j->seed};

  if (j->layout.in_place) /* the input is to be there again */
    call->on->reset(call);
  else if (!watch_spoil(&w))
    return check_failed(call);
  return check_again(call, first, load);
}

/* Timed calls of inputs that the kernel has not had, but for most of their elements: what it leaves is not known, and
 * is judged. */
static check_result time_fresh(const job *j, device_call *call, const problem *fresh,
                               uint64_t calls) {
  const problem *before = call->problem;
  check_result r = {.verdict = CHECK_RIGHT};
  check_kept *left = NULL;
  device_time taken;
  const uint64_t chance = call->chance;
  bool ok = call->on->load(call, fresh);

  call->chance = 0;
  *now = trial_of(j, FRESH);
  for (int turn = 0; ok && (turn == 0 || call->others) && turn < TURNS; turn++) {
    call->others = false;
    ok = device_time_calls(call, calls + (uint64_t)turn % 2, &taken);
  }
  if (!ok)
    r = check_failed(call);
  else if (!call->others)
    left = check_keep(call, &r);
  if (left)
    r = check_judge(call, left);
  check_drop(left);
  call->chance = chance;
  if (r.verdict == CHECK_WRONG)
    return r;
  *now = trial_of(j, ASKED);
  r = (check_result){.verdict = CHECK_RIGHT};
  return call->on->load(call, before) ? r : check_failed(call);
}

/* Measures warm, and cold where that can be had; fresh: null, or a problem that the kernel has not had. */
static check_result time_call(const job *j, result_watch *w, const problem *fresh, outcome *out) {
  device_call *call = w->call;
  device *on = call->on;
  check_result r = {0};

  bool ok;

  ranges_begin("time, warm");
  ok = measure(call, &j->limits, j->calls, j->samples, w, &out->warm) && watch_look_at_all(w);
  ranges_end();
  if (!ok)
    return w->found.verdict == CHECK_WRONG ? w->found : check_failed(call);
  if (fresh) {
    ranges_begin("fresh inputs");
    r = time_fresh(j, call, fresh, out->warm.calls);
    ranges_end();
    if (r.verdict != CHECK_RIGHT)
      return r;
  }
  if (j->profile && j->round == 0 && !j->peer) {
    ranges_begin("profile");
    ok = profile_call(call, out->warm.calls, &out->profile);
    ranges_end();
    if (!ok)
      return check_failed(call);
  }
  if (on->cool && on->cool(call)) {
    ranges_begin("time, cold");
    ok = measure(call, &j->limits, j->cold_calls, j->samples, NULL, &out->cold);
    ranges_end();
    if (!ok)
      return check_failed(call);
    r = check_same(call, w->right);
  }
  if (r.verdict == CHECK_RIGHT && j->round == 0)
    r = repeat(j, call, w->right, DEVICE_QUIET);
  if (r.verdict == CHECK_RIGHT && !on->intact(call))
    r = check_failed(call);
  ranges_begin("ceilings");
  out->ceilings = ceilings_beside(on, j->variant, j->dim,
                                  (int)lathe_parts(j->variant, j->dim, j->layout.threads), j->round,
                                  measure_median(&out->warm, on));
  ranges_end();
  return r;
}

/* Another library that rounds otherwise than we do is worth a comparison: one that is right as a whole, or off by no
 * more than some times the bound. */
static void forgive(const lathe_variant *v, check_result *r) {
  const double times = 16, units = 84 /* 1e-5 in f32 */;
  const double whole = units * ldexp(1, -lathe_dtype_format_of(v->dtype)->digits);
  const bool rounding = r->ulp > r->bound || r->off > r->off_allowed;

  if (r->verdict != CHECK_WRONG)
    return;
  if (!rounding || r->unlike || r->off > whole ||
      (r->ulp > times * r->bound && r->off_allowed == 0)) {
    peers_blame(v, r->message, sizeof r->message);
    return;
  }
  r->verdict = CHECK_RIGHT;
  snprintf(r->message, sizeof r->message, "%s is less exact than is asked of ours",
           v->backend->name);
}

/* The parts of a problem on the way to its proof. */
typedef struct proof {
  const job *j;
  device_call call; /* as it was when they were kept: the device goes on to another problem */
  check_kept *kept; /* the results; null where the run left none */
  check_result ran, again, judged; /* the run, a second one, the results */
} proof;

static proof ask(const job *j, device_call *call) {
  proof p = {.j = j, .judged = {.verdict = CHECK_RIGHT}, .again = {.verdict = CHECK_RIGHT}};

  ranges_begin("first call");
  p.kept = check_ask(call, &p.ran);
  ranges_end();
  p.call = *call;
  return p;
}

static void *judge_results(void *context) {
  proof *p = context;

  if (!p->kept)
    return NULL;
  ranges_begin("compare");
  p->judged = check_judge(&p->call, p->kept);
  if (p->judged.verdict == CHECK_WRONG && p->call.draws)
    p->judged = check_drawn(&p->call, p->kept);
  if (p->j->peer)
    forgive(p->j->variant, &p->judged);
  ranges_end();
  return NULL;
}

/* A device that computes by itself goes on while its results are judged. */
static void begin_to_judge(aside *a, proof *p) {
  if (p->kept && p->call.on->remote)
    aside_begin(a, judge_results, p);
  else
    judge_results(p);
}

static void run_again(proof *p, device_call *call, device_load load) {
  ranges_begin("second call");
  if (p->kept)
    p->again = repeat(p->j, call, p->kept, load);
  ranges_end();
}

/* The results where they are right; else null. */
static check_kept *settle(proof *p, check_result *found) {
  *found = p->kept ? p->judged : p->ran;
  check_take(found, &p->ran);
  check_take(found, &p->again);
  if (found->verdict == CHECK_RIGHT)
    return p->kept;
  check_drop(p->kept);
  return NULL;
}

/* As prove, in a later round: the results are to be those that were proved right in the first. */
static check_kept *recall(device_call *call, uint64_t results, check_result *found) {
  check_kept *first;

  *found = (check_result){.verdict = CHECK_RIGHT};
  call->on->reset(call);
  if (!device_run(call)) {
    *found = check_failed(call);
    return NULL;
  }
  first = check_keep(call, found);
  if (first && check_kept_sum(call, first) != results) {
    snprintf(call->error, sizeof call->error,
             "has other results, of the same inputs, than when it was proved right");
    *found = check_failed(call);
    check_drop(first);
    first = NULL;
  }
  return first;
}

/* The mutants of an op that would pass for right, for any variant: mutate.h. */
typedef struct weakness {
  const lathe_op *op;
  lathe_dtype dtype;
  mutate_verdict verdict;
  char text[sizeof((check_result *)0)->message];
} weakness;

static const weakness *weakness_of(const lathe_variant *v) {
  static weakness known;

  if (known.op != v->op || known.dtype != v->dtype) {
    known.op = v->op;
    known.dtype = v->dtype;
    known.verdict = mutate_note(v->op, v->dtype, NULL, known.text, sizeof known.text);
  }
  return &known;
}

/* Tells rows that are right of it. */
static void weigh(const lathe_variant *v, check_result *found) {
  const weakness *known = weakness_of(v);

  if (found->verdict != CHECK_RIGHT || !known->text[0])
    return;
  if (known->verdict == MUTATE_GROSS_PASSES)
    found->verdict = CHECK_UNPROVED;
  snprintf(found->message, sizeof found->message, "%s", known->text);
}

/* In the place of a size: the variant's own results, made wrong, are to be called so, but for those that would pass of
 * any variant. */
static check_result try_mutants(const job *j, device *on) {
  const lathe_variant *v = j->variant;
  result_source from = {.on = on, .variant = v};
  check_result r = {.verdict = CHECK_RIGHT};
  const mutate_verdict found = mutate_note(v->op, v->dtype, &from, r.message, sizeof r.message);

  result_source_free(&from);
  snprintf(r.checked, sizeof r.checked, "%d mutants", from.tried);
  if (found == MUTATE_UNABLE) {
    r.verdict = CHECK_WRONG;
    snprintf(r.message, sizeof r.message, "has no right result that could be made wrong");
  } else if (found != MUTATE_NONE_PASSES && strcmp(r.message, weakness_of(v)->text) != 0) {
    r.verdict = CHECK_UNPROVED;
  }
  return r;
}

/* The results of both problems; null where they are not right, or are not to be timed. */
typedef struct proofs {
  check_kept *asked, *other;
} proofs;

static proofs prove_both(const job *j, device_call *call, const problem *other, outcome *out) {
  const problem *asked = call->problem;
  proof one = ask(j, call), two = {.kept = NULL};
  check_result r = {0};
  aside judging = {.begun = false};
  proofs p = {0};

  begin_to_judge(&judging, &one);
  run_again(&one, call, DEVICE_BUSY);
  if (one.kept && other) {
    *now = trial_of(j, OTHER);
    ranges_begin("operands and kernels");
    const bool loaded = call->on->load(call, other);
    ranges_end();
    if (loaded)
      two = ask(j, call);
    else
      two.ran = check_failed(call);
  }
  aside_end(&judging);
  p.asked = settle(&one, &out->check);
  if (p.asked)
    out->results = check_kept_sum(call, p.asked);
  if (out->check.verdict != CHECK_RIGHT || !other) {
    *now = trial_of(j, ASKED);
    check_drop(two.kept);
    return p;
  }
  begin_to_judge(&judging, &two);
  run_again(&two, call, DEVICE_THRASHED);
  aside_end(&judging);
  p.other = settle(&two, &r);
  /* A part of the range may prove nothing where the whole does; it is not timed then. */
  if (r.verdict == CHECK_UNPROVED && !call->on->load(call, asked))
    r = check_failed(call);
  else if (r.verdict == CHECK_UNPROVED)
    r = (check_result){.verdict = CHECK_RIGHT};
  if (j->peer && !out->check.message[0]) /* less exact in the second one alone */
    memcpy(out->check.message, r.message, sizeof r.message);
  check_take(&out->check, &r);
  return p;
}

/* The job's problem, and in the first round the other; then the time of both. That a call computes anew, and does not
 * hand out what it has, is proved then. */
static void judge(const job *j, device_call *call, const problem *other, const problem *fresh,
                  outcome *out) {
  const problem *asked = call->problem;
  proofs p = {0};

  ranges_begin("check");
  if (j->round == 0) {
    p = prove_both(j, call, other, out);
    weigh(j->variant, &out->check);
  } else {
    p.asked = recall(call, j->results, &out->check);
  }
  ranges_end();
  if (out->check.verdict == CHECK_RIGHT && !j->check_only) {
    /* With the other's inputs where those of the job's problem were: what is remembered by its place is
     * another now. */
    const bool turns = p.other && call->on->take_turns(call, asked);
    result_watch w = {.call = call,
                      .right = p.other ? p.other : p.asked,
                      .others = turns ? p.asked : NULL,
                      .drawn = j->seed + (uint64_t)j->round};
    call->chance = w.drawn + 1;
    const check_result r = time_call(j, &w, p.other ? fresh : NULL, out);
    check_take(&out->check, &r);
  }
  check_drop(p.asked);
  check_drop(p.other);
}

outcome job_run(const job *j) {
  const device_list list = device_own(j->variant->backend->kind);
  device *on = j->device < list.count ? list.at[j->device] : NULL;
  const char *why = "the device is there no more", *no_room;
  outcome out = {.round = j->round, .check = {.verdict = CHECK_RIGHT}};
  const problem *asked, *other = NULL, *fresh = NULL;
  device_call *call = NULL;
  device_layout layout = j->layout;
  const double taken = lathe_bytes(j->variant->op, j->variant->dtype, j->dim);

  layout.drawn = (unsigned)j->round;
  if (j->limits.stay && on && !on->remote)
    pool_stay((size_t)j->round);
  *now = trial_of(j, ASKED);
  ranges_begin(j->variant->name);
  if (on && j->mutants) {
    out.check = try_mutants(j, on);
  } else if (on && j->round == 0 && !j->peer && !j->no_probe) {
    ranges_begin("probe");
    out.check = probe_variant(on, j->variant, j->seed, now);
    ranges_end();
  }
  if (out.check.verdict == CHECK_RIGHT && !(on && j->mutants)) {
    *now = trial_of(j, ASKED);
    asked = on ? problem_of(j, on, ASKED, 0, &why) : NULL;
    if (asked && j->round == 0)
      other = problem_of(j, on, OTHER, taken, &no_room);
    if (other && !j->check_only && !j->peer)
      fresh = problem_of(j, on, FRESH, 2 * taken, &no_room);
    ranges_begin("operands and kernels");
    call = asked ? device_prepare(on, j->variant, asked, layout, &why) : NULL;
    ranges_end();
    if (call) {
      judge(j, call, other, fresh, &out);
      ranges_begin("release");
      on->release(call);
      ranges_end();
    } else {
      out.check.verdict = CHECK_UNABLE;
      snprintf(out.check.message, sizeof out.check.message, "%s", why);
    }
  }
  ranges_end();
  out.at = *now;
  out.lost = on && on->lost;
  return out;
}

void outcome_free(outcome *o) {
  measure_free(&o->warm);
  measure_free(&o->cold);
}

int job_kernels(const job *j, device_kernel *to, const char **why) {
  const lathe_variant *v = j->variant;
  const device_list list = device_own(v->backend->kind);
  device *on = j->device < list.count ? list.at[j->device] : NULL;
  device_call *call = NULL;
  problem *p = NULL;
  int count = -1;

  *why = "the device is there no more";
  if (on)
    p = problem_draw(v->op, v->dtype, j->dim, j->seed, 0, why);
  if (p)
    call = device_prepare(on, v, p, (device_layout){0}, why);
  if (call) {
    count = on->kernels ? on->kernels(call, to) : 0;
    on->release(call);
  }
  problem_free(p);
  return count;
}
