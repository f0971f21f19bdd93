/* probe.c - a short trial of each variant before its sizes. */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/bench.h"
#include "library/dtype.h"
#include "library/launch.h"
#include "problem/random.h"
#include "watch.h"

enum {
  LONGEST = 67,        /* every length up to this: more than some vectors and what is left over */
  FEW_ROWS = 7,        /* more than are taken together, and no multiple of that */
  CALLS = 260,         /* of one problem and another: some more than a counter of 8 bits counts */
  CALLS_ELSEWHERE = 8, /* on a device that is waited for */
  SCALARS = 3,         /* values of the scalars near the spec's, and as many far from them */
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
  bool
      emulated; /* by a processor, for which a GPU's trials would take minutes: only the shortest are made */
  uint64_t seed;
  size_t count, capacity;
  size_t products; /* from where on they are those of products */
  uint64_t whose;  /* variants whose steps are added */
  struct step {
    trial at;
    problem *problem; /* null: there is no memory, or no reference for it */
    bool again;       /* the same problem as in the step before */
    uint64_t whose;   /* variants, a bit each: see bit_of */
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
  *step = (struct step){.at = at, .whose = p->whose};
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

/* Of more dimensions than two, with the others as well. */
static trial boxed(const plan *p, trial t) {
  const size_t few = 3;

  for (int d = 0; d + 2 < p->op->ndim; d++)
    t.dim[d] = few;
  return t;
}

/* An index is searched for in blocks: here NaN is in one and what is otherwise the best in another, or the best in
 * several. */
static void add_searches(plan *p) {
  static const unsigned drawn[] = {RANDOM_NAN | RANDOM_ALONE | RANDOM_RISING,
                                   RANDOM_NAN | RANDOM_ALONE | RANDOM_FALLING, RANDOM_TIES};
  const size_t rows = 3, blocks = 16411; /* two and more of what kernels search at a time */

  for (size_t n = 2; n <= LONGEST; n += FEW_ROWS)
    add(p, placed(p, trial_of(p, FEW_ROWS, n, RANDOM_TIES), ALIGNED));
  for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
    add(p, placed(p, trial_of(p, rows, blocks, drawn[i]), ALIGNED));
}

static void add_values(plan *p) {
  const unsigned all = (1u << RANDOM_KINDS) - 1;
  static const unsigned drawn[] = {RANDOM_NEGATIVE,
                                   RANDOM_EQUAL,
                                   RANDOM_EQUAL | RANDOM_NEGATIVE,
                                   RANDOM_ENDS,
                                   RANDOM_EQUAL | RANDOM_ENDS,
                                   RANDOM_SMALL};

  for (int kind = 0; kind < RANDOM_KINDS; kind++)
    add(p, placed(p, trial_of(p, FEW_ROWS, LONGEST, 1u << kind), PAGE_END));
  for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
    add(p, placed(p, boxed(p, trial_of(p, FEW_ROWS, LONGEST, drawn[i])), UNALIGNED));
  if (p->op->noperands > 2)
    add(p, placed(p, boxed(p, trial_of(p, FEW_ROWS, LONGEST, RANDOM_SAME)), UNALIGNED));
  for (int o = 0; o < p->op->noperands && p->op->noperands > 2; o++) {
    trial t = boxed(p, trial_of(p, FEW_ROWS, LONGEST, RANDOM_NULLS | RANDOM_INF | RANDOM_ALONE));
    t.seed += (uint64_t)o;
    if (!p->op->operands[o].output)
      add(p, placed(p, t, ALIGNED));
  }
  add(p, placed(p, trial_of(p, LONGEST, FEW_ROWS, RANDOM_BEYOND), ALIGNED));
  /* Without NaN, which would hide the rest in a reduction. */
  add(p, placed(p, trial_of(p, FEW_ROWS, 257, all & ~(unsigned)RANDOM_NAN), UNALIGNED));
  if (finds_an_index(p))
    add_searches(p);
  for (uint64_t i = 0; i < 2 * SCALARS && p->op->nscalars > 0; i++) {
    trial t = trial_of(p, FEW_ROWS, LONGEST, i < SCALARS ? RANDOM_SCALARS : RANDOM_FAR);
    t.seed += i;
    add(p, placed(p, t, ALIGNED));
  }
}

/* ---- products of matrices --------------------------------------------------------------------- */

/* A matrix product of so many rows, columns and terms; little of all else. */
static void add_product(plan *p, const lathe_way *w, size_t rows, size_t columns, size_t terms) {
  const uint32_t of[] = {w->m, w->n, w->k};
  const size_t extents[] = {rows, columns, terms};
  trial t = {.dim = {1, 1, 1, 1, 1, 1, 1, 1}, .seed = p->seed};

  for (int d = 0; d < LATHE_MAX_DIMS && d < p->op->ndim; d++)
    t.dim[d] = (of[0] | of[1] | of[2]) >> d & 1 ? 1 : 2;
  for (int i = 0; i < 3; i++)
    for (int d = p->op->ndim - 1; d >= 0; d--)
      if (of[i] >> d & 1) {
        t.dim[d] = extents[i];
        break;
      }
  for (size_t i = p->products; i < p->count; i++)
    if (memcmp(p->step[i].at.dim, t.dim, sizeof t.dim) == 0) {
      p->step[i].whose |= p->whose;
      return;
    }
  add(p, placed(p, t, p->count % 2 ? PAGE_END : UNALIGNED));
}

/* Some of the tiles that are whole or less, each height with widths of each part of the widest; alone, and after whole
 * ones. */
static void add_some(plan *p, const lathe_way *w, size_t most, size_t terms) {
  enum { PARTS = 4 };
  const size_t each = most / PARTS < w->tile[0] ? most / PARTS : w->tile[0];

  for (size_t i = 0; each > 0 && i < each * PARTS; i++) {
    const size_t part = i / each + 1, less = part % 2 && (i % 2 || each == 1);
    const size_t rows = w->above[0] + (i % each + 1) * w->tile[0] / each;
    const size_t columns = w->above[1] + (w->tile[1] * part + PARTS - 1) / PARTS - less;
    if (columns > w->above[1])
      add_product(p, w, rows, columns, terms);
    add_product(p, w, rows + w->tile[0], columns + w->tile[1], terms);
  }
}

/* More rows or columns than a block has: a whole block, and of the next one tile and a part; beside one of the others,
 * and more than a tile of them. Beside a whole tile of them the next block has less than half a tile. */
static void add_past(plan *p, const lathe_way *w, int which) {
  const int other = !which;
  const size_t tile = w->tile[which], beside[] = {1, w->tile[other], w->tile[other] + 1};

  for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
    size_t extents[2];
    extents[which] = w->block[which] + (i == 1 && tile > 2 ? (tile - 1) / 2 : tile + 1);
    extents[other] = w->above[other] + beside[i];
    add_product(p, w, extents[0], extents[1], w->above[2] + 1);
  }
}

/* More terms than a block has; of tiles that are one row or column more than whole, beside a whole tile and beside one
 * of the others. Where blocks are long, not all of these. */
static void add_long(plan *p, const lathe_way *w, size_t block, bool all) {
  enum { SHORT = 2048, MOST = 1200000 };

  for (int i = 0; i < 4; i++) {
    const int more = i / 2;
    size_t extents[2] = {w->above[0], w->above[1]};
    extents[more] += w->tile[more] + 1;
    extents[!more] += i % 2 ? w->tile[!more] : 1;
    if (i == 1 || i == 2 || (all && block < SHORT) || extents[0] * extents[1] * block <= MOST)
      add_product(p, w, extents[0], extents[1], 2 * block + 3);
  }
}

/* How much of a way: each tile; some; or, where the same tiles are in many ways, few, and no terms without end. */
typedef enum thoroughness { FEW_TILES, SOME_TILES, ALL_TILES } thoroughness;

/* Tiles; then more than a block has. */
static void add_way(plan *p, const lathe_way *w, thoroughness how) {
  enum { MOST = 600, SOME = 32, FEW = 8, FEWER = 4, LONG = 256 };
  const size_t area = (size_t)w->tile[0] * w->tile[1];
  const bool quick = device_kind_of(p->kind)->quick, all = how == ALL_TILES;
  const size_t some = w->above[2] >= LONG || how == FEW_TILES ? FEWER : quick ? SOME : FEW;

  if (all && quick && area <= MOST && w->above[2] < LONG)
    for (size_t i = 0; i < area; i++)
      add_product(p, w, w->above[0] + 1 + i / w->tile[1], w->above[1] + 1 + i % w->tile[1],
                  w->above[2] + 1 + i % 5);
  add_some(p, w, some, w->above[2] + 3);
  for (int i = 0; i < 2; i++)
    if (w->block[i] > w->above[i])
      add_past(p, w, i);
  for (int i = 2; i < (how == FEW_TILES ? 3 : 4); i++)
    if (w->block[i] > w->above[2]) {
      if (i == 2)
        add_some(p, w, how == SOME_TILES ? FEW : some, w->block[i] + 2);
      add_long(p, w, w->block[i], all);
    }
}

/* Where launches depend on a row's length: on both sides of a limit of that; without one few, many and long rows, of
 * which partial results are merged. */
static void add_limit(plan *p, const lathe_way *w) {
  static const size_t larger[][2] = {{3, 16411}, {1, 65539}, {1, 262147}, {4099, 67}, {16411, 3}};
  const size_t limit = w->above[1], access = w->tile[0];

  for (size_t more = 0; more < 2 && limit > 0 && limit / access < UINT16_MAX; more++)
    add_product(p, w, FEW_ROWS, limit + more * (access + 1), 1);
  for (size_t i = 0; limit == 0 && i < (p->emulated ? 1 : sizeof larger / sizeof *larger); i++)
    add_product(p, w, larger[i][0], larger[i][1], 1);
}

static const lathe_way *ways_of(const lathe_variant *v) {
  return v->schedule ? v->schedule->ways : v->ways;
}

/* A list of ways, or one within another: on a processor as the kernels say; elsewhere as the launches. */
static void add_ways(plan *p, const lathe_variant *v, const lathe_way *first, bool within) {
  for (const lathe_way *w = first; w && (w->more || w->tile[0] > 0); w++) {
    const bool all = !v->schedule && w->m == first->m && w->n == first->n;
    if (w->more)
      add_ways(p, v, w->more, true);
    else if (w->tile[1] == 0)
      add_limit(p, w);
    else if (!v->schedule || !p->emulated)
      add_way(p, w, within ? FEW_TILES : all ? ALL_TILES : SOME_TILES);
  }
}

/* Which of an op's variants of a type one is, a bit; those past the last share it. One that is in no table is
 * tried as all of them. */
static uint64_t bit_of(const lathe_variant *v) {
  const lathe_span span = lathe_span_of(v->op, v->dtype);
  if (v < lathe_variants || v >= lathe_variants + lathe_variant_count)
    return UINT64_MAX;
  const size_t nth = span.count ? (size_t)(v - lathe_variants) - span.first : 0, last = 63;

  return (uint64_t)1 << (nth < last ? nth : last);
}

/* Of all variants that such a device may run, so that they share problems; of one that is in no table its own. */
static void add_products(plan *p, const lathe_variant *own, uint64_t features) {
  const lathe_span span = lathe_span_of(p->op, p->dtype);

  p->products = p->count;
  p->whose = bit_of(own);
  if (span.count == 0)
    add_ways(p, own, ways_of(own), false);
  for (size_t i = span.first; i < span.first + span.count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    p->whose = bit_of(v);
    if (v->backend->kind == device_kind_of(p->kind)->ways && !lathe_why_not(v, features))
      add_ways(p, v, ways_of(v), false);
  }
  p->whose = UINT64_MAX;
}

/* The plan that is kept, or one in its place. */
static const plan *plan_of(const lathe_variant *v, const device *on, uint64_t seed) {
  const lathe_kind kind = on->kind;
  static plan kept;
  trial other;

  if (kept.op == v->op && kept.dtype == v->dtype && kept.kind == kind && kept.seed == seed)
    return &kept;
  plan_free(&kept);
  kept = (plan){.op = v->op,
                .dtype = v->dtype,
                .kind = kind,
                .emulated = on->is_processor,
                .seed = seed,
                .whose = UINT64_MAX};
  add_short(&kept);
  if (v->op->ndim > 2)
    add_boxes(&kept);
  else
    add_shapes(&kept);
  add_values(&kept);
  add_products(&kept, v, on->features);
  /* The two that take turns. */
  add(&kept, trial_of(&kept, FEW_ROWS, LONGEST, 0));
  other = trial_of(&kept, FEW_ROWS, LONGEST, RANDOM_NARROW | RANDOM_SCALARS);
  other.seed++;
  add(&kept, other);
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

/* ---- each element by itself ------------------------------------------------------------------- */

/* A call whose inputs are all in the middle of their ranges, but for one element of each, which is an end: what an
 * extreme is or where it lies depends on that alone, wherever the element is. */
typedef struct peaks {
  device_call *call;
  size_t elements; /* of the largest input */
  char *before[LATHE_MAX_OPERANDS],
      *now[LATHE_MAX_OPERANDS]; /* outputs without a peak, and with one */
} peaks;

static bool has_peak(const problem *p, int o) {
  const lathe_operand *operand = &p->op->operands[o];

  return !operand->output && !operand->index && p->elements[o] > 1 &&
         lathe_dtype_numeric(lathe_dtype_of_operand(operand, p->dtype));
}

/* Puts a peak at a place, or takes it away; the problem's own is in the first. */
static bool move_peak(const peaks *k, size_t at, bool there) {
  const problem *p = k->call->problem;
  bool ok = true;

  for (int o = 0; o < p->op->noperands && ok; o++) {
    const size_t size = lathe_dtype_size(lathe_dtype_of_operand(&p->op->operands[o], p->dtype));
    const size_t to = has_peak(p, o) ? at % p->elements[o] : 0;
    const size_t from = there ? 0 : to > 0 ? to : 1;
    if (has_peak(p, o))
      ok = k->call->on->poke(k->call, o, to * size, (char *)p->input[o] + from * size, size);
  }
  return ok;
}

/* Calls the kernel; to: what becomes of its outputs. */
static bool call_for(const peaks *k, char *const *to) {
  const problem *p = k->call->problem;
  bool ok = device_run(k->call);

  for (int o = 0; o < p->op->noperands && ok; o++)
    if (to[o])
      ok = k->call->on->peek(k->call, o, 0, to[o], p->bytes[o]);
  return ok;
}

/* Of outputs, a bit each, those that a peak has not changed. */
static unsigned unchanged(const peaks *k, unsigned outputs) {
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    if (outputs & 1u << o && memcmp(k->before[o], k->now[o], k->call->problem->bytes[o]) != 0)
      outputs &= ~(1u << o);
  return outputs;
}

/* The element after one that is tried: each; where calls take long, some, and all of the last. */
static size_t next_place(const peaks *k, size_t at) {
  const size_t some = k->call->on->is_processor ? 24 : 192, last = 16,
               step = k->elements / some | 1;

  return device_kind_of(k->call->on->kind)->quick || at + last + step >= k->elements ? at + 1
                                                                                     : at + step;
}

/* Moves the peak along. Where an output stays as it was, the reference is asked: *outputs are those that nearly all
 * places changed. */
static check_result move_along(const peaks *k, unsigned ends, uint64_t seed, unsigned *outputs,
                               trial *now) {
  enum { STAY = 3 };
  const lathe_variant *v = k->call->variant;
  const trial first = *now;
  check_result r = {.verdict = CHECK_RIGHT};
  int stayed[LATHE_MAX_OPERANDS] = {0};

  k->call->on->reset(k->call);
  if (!move_peak(k, 0, false) || !call_for(k, k->before))
    return check_failed(k->call);
  for (size_t at = 0; at < k->elements && *outputs; at = next_place(k, at)) {
    if (!move_peak(k, at, true) || !call_for(k, k->now) || !move_peak(k, at, false))
      return check_failed(k->call);
    const unsigned same = unchanged(k, *outputs);
    problem *p;
    const char *why;
    if (!same)
      continue;
    now->seed = problem_peak_seed(at, k->elements, ends, seed);
    p = problem_make(v->op, v->dtype, now->dim, now->seed, now->special, &why);
    if (p)
      r = check_variant(k->call->on, v, p, now->layout);
    problem_free(p);
    if (r.verdict == CHECK_WRONG)
      return r;
    *now = first;
    for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
      if (same & 1u << o && ++stayed[o] > STAY)
        *outputs &= ~(1u << o);
  }
  return (check_result){.verdict = CHECK_RIGHT};
}

/* Of outputs that extremes are in and that have fewer elements than the inputs: with one end of the ranges and another,
 * until each has shown that it depends on each element. */
static check_result try_peaks_of(device *on, const lathe_variant *v, uint64_t seed, trial *now) {
  static const unsigned ends[] = {0x0000, 0xffff, 0x5555, 0xaaaa};
  check_result r = {.verdict = CHECK_RIGHT};
  unsigned left = v->op->bench->extremes;
  bool again = true;
  const trial shape = *now;

  for (size_t i = 0; i < sizeof ends / sizeof *ends && again && r.verdict != CHECK_WRONG; i++) {
    peaks k = {0};
    const char *why;
    size_t inputs = 0, results = 0;
    problem *p;
    for (int o = 0; o < v->op->noperands; o++) {
      const size_t elements = lathe_elements(v->op, o, shape.dim);
      if (v->op->operands[o].output)
        results += elements;
      else if (elements > k.elements)
        k.elements = elements;
    }
    if (2 * results > k.elements)
      break;
    *now = shape;
    now->seed = problem_peak_seed(0, k.elements, ends[i], seed);
    p = problem_draw(v->op, v->dtype, now->dim, now->seed, now->special, &why);
    k.call = p ? device_prepare(on, v, p, now->layout, &why) : NULL;
    again = k.call != NULL;
    for (int o = 0; o < v->op->noperands && again; o++) {
      inputs += has_peak(p, o);
      if (!v->op->operands[o].output)
        continue;
      k.before[o] = malloc(p->bytes[o]);
      k.now[o] = malloc(p->bytes[o]);
      again = k.before[o] && k.now[o];
    }
    if (again && inputs > 0) {
      unsigned shown = left;
      r = move_along(&k, ends[i], seed, &shown, now);
      left &= ~shown;
    }
    again = again && left && i + 1 < (inputs > 1 ? 4 : 2);
    for (int o = 0; o < v->op->noperands; o++) {
      free(k.before[o]);
      free(k.now[o]);
    }
    if (k.call)
      on->release(k.call);
    problem_free(p);
  }
  return r;
}

/* Long in each direction, one row after the other; where each call takes long, also of what many blocks share. */
static check_result try_peaks(device *on, const lathe_variant *v, uint64_t seed, trial *now) {
  static const size_t rows[] = {3, 2, 1, 1}, extents[] = {257, 1031, 4099, 65539};
  const size_t count = on->is_processor ? 2 : device_kind_of(on->kind)->quick ? 3 : 4;
  const int ndim = v->op->ndim, first = ndim > 3 ? ndim - 3 : 0;
  check_result r = {.verdict = CHECK_RIGHT};

  for (int d = first; v->op->bench->extremes && d < ndim; d++)
    for (size_t i = 0; i < count && r.verdict != CHECK_WRONG; i++) {
      *now = (trial){.dim = {1, 1, 1, 1, 1, 1, 1, 1}, .special = RANDOM_PEAK};
      for (int other = first; other < ndim; other++)
        now->dim[other] = other == d ? extents[i] : rows[i];
      now->layout.offset = i % 2 ? lathe_dtype_size(v->dtype) : 0;
      if (lathe_contracted_flops(v->op, now->dim) == 0)
        r = try_peaks_of(on, v, seed, now);
    }
  return r;
}

/* ---- all of it -------------------------------------------------------------------------------- */

/* Has the device make the code of all trials of a variant. */
static void expect_trials(device *on, const lathe_variant *v, const plan *p) {
  device_call *calls = on->expect ? calloc(p->count + 1, sizeof *calls) : NULL;
  size_t count = 0;

  for (size_t i = 0; i < p->count && calls; i++)
    if (p->step[i].problem && p->step[i].whose & bit_of(v))
      calls[count++] = (device_call){
          .on = on, .variant = v, .problem = p->step[i].problem, .layout = p->step[i].at.layout};
  if (calls)
    on->expect(on, calls, count);
  free(calls);
}

static check_result try_all(device *on, const lathe_variant *v, uint64_t seed, trial *now) {
  const plan *p = plan_of(v, on, seed);
  check_result r = {.verdict = CHECK_RIGHT};

  expect_trials(on, v, p);
  for (size_t i = 0; i < p->count && r.verdict != CHECK_WRONG && !on->lost; i++) {
    *now = p->step[i].at;
    if (p->step[i].problem && p->step[i].whose & bit_of(v))
      r = check_variant(on, v, p->step[i].problem, now->layout);
  }
  if (r.verdict != CHECK_WRONG && !on->lost)
    r = take_turns(on, v, p, now);
  return r.verdict == CHECK_WRONG || on->lost ? r : try_peaks(on, v, seed, now);
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
