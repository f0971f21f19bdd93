/* probe_plan.c - the steps of a plan: short lengths, shapes and values; then the tiles and blocks of products. */
#include "probe_plan.h"

#include <stdlib.h>
#include <string.h>

#include "library/bench.h"
#include "library/dtype.h"
#include "library/launch.h"
#include "problem/random.h"

enum {
  LONGEST = 67, /* every length up to this: more than some vectors and what is left over */
  FEW_ROWS = 7, /* more than are taken together, and no multiple of that */
  SCALARS = 3,  /* values of the scalars near the spec's, and as many far from them */
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

static void plan_free(probe_plan *p) {
  for (size_t i = 0; i < p->count; i++)
    if (!p->step[i].again)
      problem_free(p->step[i].problem);
  free(p->step);
  *p = (probe_plan){0};
}

static void add(probe_plan *p, trial at) {
  const char *why;
  probe_step *step;

  if (p->count == p->capacity) {
    const size_t capacity = p->capacity ? 2 * p->capacity : 64;
    probe_step *grown = realloc(p->step, capacity * sizeof *grown);
    if (!grown)
      return;
    p->step = grown;
    p->capacity = capacity;
  }
  step = &p->step[p->count];
  *step = (probe_step){.at = at, .whose = p->whose};
  if (p->count > 0) {
    const probe_step *last = step - 1;
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
static trial trial_of(const probe_plan *p, size_t rows, size_t columns, unsigned special) {
  trial t = {.dim = {1, 1, 1, 1}, .seed = p->seed, .special = special};

  if (p->op->ndim > 1)
    t.dim[p->op->ndim - 2] = rows;
  t.dim[p->op->ndim - 1] = columns;
  return t;
}

typedef enum place { ALIGNED, UNALIGNED, PAGE_END, IN_PLACE } place;

static trial placed(const probe_plan *p, trial t, place where) {
  if (where == IN_PLACE && !p->op->in_place)
    where = UNALIGNED;
  t.layout = (device_layout){.offset = where == UNALIGNED ? lathe_dtype_size(p->dtype) : 0,
                             .page_end = where == PAGE_END,
                             .in_place = where == IN_PLACE};
  return t;
}

/* Every length; where each trial takes long, some of each kind. */
static bool is_tried(const probe_plan *p, size_t n) {
  static const size_t some[] = {0, 1, 2, 3, 5, 8, 13, 16, 17, 31, 33, 64, LONGEST};
  bool is = device_kind_of(p->kind)->quick;

  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    is = is || n == some[i];
  return is;
}

static bool finds_an_index(const probe_plan *p) {
  for (int o = 0; o < p->op->noperands; o++)
    if (p->op->operands[o].output &&
        !lathe_dtype_numeric(lathe_dtype_of_operand(&p->op->operands[o], p->dtype)))
      return true;
  return false;
}

/* Ordinary numbers up to the last page; then, elsewhere, a special value in one place of each row. What CUDA's
 * kernels find in a row of nothing is left open. */
static void add_short(probe_plan *p) {
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

static void add_shapes(probe_plan *p) {
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

static void add_boxes(probe_plan *p) {
  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
    trial t = trial_of(p, 1, 1, 0);
    for (int d = 1; d <= BOX && d <= p->op->ndim; d++)
      t.dim[p->op->ndim - d] = boxes[i][BOX - d];
    add(p, placed(p, t, i % 2 ? PAGE_END : UNALIGNED));
  }
}

/* Of more dimensions than two, with the others as well. */
static trial boxed(const probe_plan *p, trial t) {
  const size_t few = 3;

  for (int d = 0; d + 2 < p->op->ndim; d++)
    t.dim[d] = few;
  return t;
}

/* An index is searched for in blocks: here NaN is in one and what is otherwise the best in another, or the best in
 * several. */
static void add_searches(probe_plan *p) {
  static const unsigned drawn[] = {RANDOM_NAN | RANDOM_ALONE | RANDOM_RISING,
                                   RANDOM_NAN | RANDOM_ALONE | RANDOM_FALLING, RANDOM_TIES};
  const size_t rows = 3, blocks = 16411; /* two and more of what kernels search at a time */

  for (size_t n = 2; n <= LONGEST; n += FEW_ROWS)
    add(p, placed(p, trial_of(p, FEW_ROWS, n, RANDOM_TIES), ALIGNED));
  for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
    add(p, placed(p, trial_of(p, rows, blocks, drawn[i]), ALIGNED));
}

static void add_values(probe_plan *p) {
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
static void add_product(probe_plan *p, const lathe_way *w, size_t rows, size_t columns,
                        size_t terms) {
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
    if (memcmp(p->step[i].at.dim, t.dim, sizeof t.dim) == 0 && p->step[i].at.layout.cut == w->cut) {
      p->step[i].whose |= p->whose;
      return;
    }
  t = placed(p, t, p->count % 2 ? PAGE_END : UNALIGNED);
  t.layout.cut = w->cut;
  add(p, t);
}

/* Some of the tiles that are whole or less, each height with widths of each part of the widest; alone, and after whole
 * ones. */
static void add_some(probe_plan *p, const lathe_way *w, size_t most, size_t terms) {
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
static void add_past(probe_plan *p, const lathe_way *w, int which) {
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
static void add_long(probe_plan *p, const lathe_way *w, size_t block, bool all) {
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
static void add_way(probe_plan *p, const lathe_way *w, thoroughness how) {
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
static void add_limit(probe_plan *p, const lathe_way *w) {
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
static void add_ways(probe_plan *p, const lathe_variant *v, const lathe_way *first, bool within) {
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
static void add_products(probe_plan *p, const lathe_variant *own, uint64_t features) {
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

const probe_plan *probe_plan_of(const lathe_variant *v, const device *on, uint64_t seed) {
  const lathe_kind kind = on->kind;
  static probe_plan kept;
  trial other;

  if (kept.op == v->op && kept.dtype == v->dtype && kept.kind == kind && kept.seed == seed)
    return &kept;
  plan_free(&kept);
  kept = (probe_plan){.op = v->op,
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

bool probe_plan_has(const probe_step *step, const lathe_variant *v) {
  return step->problem && step->whose & bit_of(v);
}
