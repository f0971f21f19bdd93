/* probe.c - a short trial of each variant before its sizes. */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/dtype.h"
#include "problem/random.h"
#include "watch.h"

enum {
  LONGEST = 67,        /* every length up to this: more than some vectors and what is left over */
  FEW_ROWS = 7,        /* more than are taken together, and no multiple of that */
  CALLS = 260,         /* of one problem and another: some more than a counter of 8 bits counts */
  CALLS_ELSEWHERE = 8, /* on a device that is waited for */
  SCALARS = 3,         /* values of the scalars */
};

/* Shapes that are more than a tile: one dimension, or rows of columns. */
static const size_t lengths[] = {257, 1031, 4099};
static const size_t shapes[][2] = {{FEW_ROWS, 257}, {3, 1031}, {3, 4099},
                                   {257, 3},        {1031, 5}, {LONGEST, 1031}};

/* The same of more dimensions, the last four of them: each long and short beside the others. */
enum { BOX = 4 };
static const size_t boxes[][BOX] = {
    {2, 33, 35, 34}, {3, 5, 7, 1031}, {2, 7, 1031, 5}, {2, 1031, 3, 7}, {1, 3, 4099, 2},
    {1, 1, 37, 300}, {2, 37, 1, 66},  {2, 66, 37, 1},  {0, 3, 5, 7},    {2, 0, 3, 5},
};

/* What all variants of an op and type are tried on, on one kind of device. */
typedef struct plan {
  const lathe_op *op;
  lathe_dtype dtype;
  lathe_kind kind;
  uint64_t seed;
  size_t count, capacity;
  struct step {
    trial at;
    problem *problem; /* null: there is no memory, or no reference for it */
    bool again;       /* the same problem as in the step before */
  } * step;
} plan;

/* ---- what to try ------------------------------------------------------------------------------ */

static void plan_free(plan *p) {
  for (size_t i = 0; i < p->count; i++)
    if (!p->step[i].again)
      problem_free(p->step[i].problem);
  free(p->step);
  *p = (plan){0};
}

static void add(plan *p, trial at) {
  const char *why;
  struct step *step;

  if (p->count == p->capacity) {
    const size_t capacity = p->capacity ? 2 * p->capacity : 64;
    struct step *grown = realloc(p->step, capacity * sizeof *grown);
    if (!grown)
      return;
    p->step = grown;
    p->capacity = capacity;
  }
  step = &p->step[p->count];
  *step = (struct step){.at = at};
  if (p->count > 0) {
    const struct step *last = step - 1;
    step->again = last->at.seed == at.seed && last->at.special == at.special &&
                  memcmp(last->at.dim, at.dim, sizeof at.dim) == 0;
    if (step->again)
      step->problem = last->problem;
  }
  if (!step->again)
    step->problem = problem_make(p->op, p->dtype, at.dim, at.seed, at.special, &why);
  p->count++;
}

/* Of an op of one dimension the columns count alone. */
static trial trial_of(const plan *p, size_t rows, size_t columns, unsigned special) {
  trial t = {.dim = {1, 1, 1, 1}, .seed = p->seed, .special = special};

  if (p->op->ndim > 1)
    t.dim[p->op->ndim - 2] = rows;
  t.dim[p->op->ndim - 1] = columns;
  return t;
}

typedef enum place { ALIGNED, UNALIGNED, PAGE_END, IN_PLACE } place;

static trial placed(const plan *p, trial t, place where) {
  if (where == IN_PLACE && !p->op->in_place)
    where = UNALIGNED;
  t.layout = (device_layout){.offset = where == UNALIGNED ? lathe_dtype_size(p->dtype) : 0,
                             .page_end = where == PAGE_END,
                             .in_place = where == IN_PLACE};
  return t;
}

/* Every length; where each trial takes long, some of each kind. */
static bool is_tried(const plan *p, size_t n) {
  static const size_t some[] = {0, 1, 2, 3, 5, 8, 13, 16, 17, 31, 33, 64, LONGEST};
  bool is = device_kind_of(p->kind)->quick;

  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    is = is || n == some[i];
  return is;
}

static bool finds_an_index(const plan *p) {
  for (int o = 0; o < p->op->noperands; o++)
    if (p->op->operands[o].output &&
        !lathe_dtype_numeric(lathe_dtype_of_operand(&p->op->operands[o], p->dtype)))
      return true;
  return false;
}

/* Ordinary numbers up to the last page; then, elsewhere, a special value in one place of each row. What CUDA's
 * kernels find in a row of nothing is left open. */
static void add_short(plan *p) {
  const device_kind *kind = device_kind_of(p->kind);
  const bool something = !kind->empty_rows && p->op->ndim > 1;

  for (size_t n = something; n <= LONGEST; n++)
    if (is_tried(p, n)) {
      const unsigned special = RANDOM_ALONE | 1u << n / 2 % RANDOM_KINDS;
      add(p, placed(p, trial_of(p, FEW_ROWS, n, 0), PAGE_END));
      if (n > 0 && (kind->quick || n % 2))
        add(p, placed(p, trial_of(p, 1, n, special), n % 2 ? UNALIGNED : IN_PLACE));
    }
  if (p->op->ndim > 1)
    add(p, placed(p, trial_of(p, 0, FEW_ROWS, 0), ALIGNED));
}

static void add_shapes(plan *p) {
  const bool rows = p->op->ndim > 1;
  const size_t count = rows ? sizeof shapes / sizeof *shapes : sizeof lengths / sizeof *lengths;

  for (size_t i = 0; i < count; i++) {
    const trial t =
        rows ? trial_of(p, shapes[i][0], shapes[i][1], 0) : trial_of(p, 1, lengths[i], 0);
    add(p, placed(p, t, i % 2 ? PAGE_END : UNALIGNED));
    if (p->op->in_place && i % 2)
      add(p, placed(p, t, IN_PLACE));
  }
}

static void add_boxes(plan *p) {
  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
    trial t = trial_of(p, 1, 1, 0);
    for (int d = 1; d <= BOX && d <= p->op->ndim; d++)
      t.dim[p->op->ndim - d] = boxes[i][BOX - d];
    add(p, placed(p, t, i % 2 ? PAGE_END : UNALIGNED));
  }
}

static void add_values(plan *p) {
  const unsigned all = (1u << RANDOM_KINDS) - 1;

  for (int kind = 0; kind < RANDOM_KINDS; kind++)
    add(p, placed(p, trial_of(p, FEW_ROWS, LONGEST, 1u << kind), PAGE_END));
  /* Without NaN, which would hide the rest in a reduction. */
  add(p, placed(p, trial_of(p, FEW_ROWS, 257, all & ~(unsigned)RANDOM_NAN), UNALIGNED));
  for (size_t n = 2; n <= LONGEST && finds_an_index(p); n += FEW_ROWS)
    add(p, placed(p, trial_of(p, FEW_ROWS, n, RANDOM_TIES), ALIGNED));
  if (finds_an_index(p))
    add(p, placed(p, trial_of(p, FEW_ROWS, 1031, RANDOM_TIES), ALIGNED));
  add(p, placed(p, trial_of(p, FEW_ROWS, LONGEST, RANDOM_SMALL), ALIGNED));
  for (uint64_t i = 0; i < SCALARS && p->op->nscalars > 0; i++) {
    trial t = trial_of(p, FEW_ROWS, LONGEST, RANDOM_SCALARS);
    t.seed += i;
    add(p, placed(p, t, ALIGNED));
  }
}

/* The plan that is kept, or one in its place. */
static const plan *plan_of(const lathe_variant *v, lathe_kind kind, uint64_t seed) {
  static plan kept;

  if (kept.op == v->op && kept.dtype == v->dtype && kept.kind == kind && kept.seed == seed)
    return &kept;
  plan_free(&kept);
  kept = (plan){.op = v->op, .dtype = v->dtype, .kind = kind, .seed = seed};
  add_short(&kept);
  if (v->op->ndim > 2)
    add_boxes(&kept);
  else
    add_shapes(&kept);
  add_values(&kept);
  /* The two that take turns. */
  add(&kept, trial_of(&kept, FEW_ROWS, LONGEST, 0));
  add(&kept, trial_of(&kept, FEW_ROWS, LONGEST, RANDOM_NARROW | RANDOM_SCALARS));
  return &kept;
}

/* ---- trying it -------------------------------------------------------------------------------- */

/* The problem that is there under each load; then with another one's calls between its own, none of which is waited for. */
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
static check_result take_turns(device *on, const lathe_variant *v, const plan *p, trial *now) {
  const int rounds = (device_kind_of(on->kind)->quick ? CALLS : CALLS_ELSEWHERE) / 2;
  const struct step *step = p->count < 2 ? NULL : &p->step[p->count - 2];
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

static check_result try_all(device *on, const lathe_variant *v, uint64_t seed, trial *now) {
  const plan *p = plan_of(v, on->kind, seed);
  check_result r = {.verdict = CHECK_RIGHT};

  for (size_t i = 0; i < p->count && r.verdict != CHECK_WRONG && !on->lost; i++) {
    *now = p->step[i].at;
    if (p->step[i].problem)
      r = check_variant(on, v, p->step[i].problem, now->layout);
  }
  return r.verdict == CHECK_WRONG || on->lost ? r : take_turns(on, v, p, now);
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
  /* What could not be tried here, or shows little, is for the sizes to tell. */
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
