/* solve.c - an op's reference run on a problem, by all processors. */
#include "solve.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "library/dtype.h"
#include "library/reference.h"
#include "library/bench.h"

enum {
  POINTS = 8192,     /* of a part, about; of a block that is joined, exactly */
  COLUMNS = 1024,    /* that are joined at a time */
  FEWEST_ROWS = 32,  /* of a block of rows that is joined with others */
  MOST_BLOCKS = 64,  /* of rows */
  MOST_PARTS = 1024, /* of a step */
  BUFFER_ALIGN = 64, /* bytes */
};

/* Which elements of an operand belong to a part. */
typedef enum place { OF_ALL, OF_COLUMN, OF_ROW, OF_POINT } place;

/* A buffer of the reference's: an input that is widened on the way, or memory to be used as it is. */
typedef struct source {
  char *data;
  size_t size; /* bytes of an element there */
  place place;
  lathe_dtype type; /* of an input that is widened for each part; LATHE_DTYPES for others */
} source;

typedef struct solver {
  const problem *p;
  lathe_fn *reference;
  size_t number;             /* bytes of a number of the reference's */
  size_t rows, columns, all; /* a map and a reduction over everything have points in one row */
  bool by_row;
  int sources;
  source from[LATHE_MAX_OPERANDS];
  void *whole[LATHE_MAX_OPERANDS]; /* inputs widened once, for all parts */
  size_t each;                     /* rows or points that are worked on at a time */
  size_t block;        /* rows or points of a block; of what need not be joined, as many as each */
  size_t scratch_size; /* bytes of a thread's widened inputs */
  char *scratch;
  size_t workspace_size; /* bytes of a block's workspace or states */
  char *workspace, *joined;
  reference_part as; /* what all parts are asked, but for what is theirs */
} solver;

static bool is_of(const lathe_op *op, const char *name) {
  return op->template_name && strcmp(op->template_name, name) == 0;
}

static bool goes_by_row(const lathe_op *op) {
  return is_of(op, "rows");
}

/* A reference written by hand, of an op without a template, has one part. */
static bool is_whole(const lathe_op *op) {
  return !op->template_name;
}

/* A reference of no template that is known here is steps, which see all operands. */
static bool is_steps(const lathe_op *op) {
  return !is_whole(op) && !is_of(op, "map") && !is_of(op, "rows") && !is_of(op, "reduce");
}

static place place_of(const lathe_op *op, int o) {
  const lathe_operand *operand = &op->operands[o];

  if (operand->ndim == 0 || is_steps(op) || is_whole(op))
    return OF_ALL;
  if (operand->ndim == op->ndim)
    return OF_POINT;
  return operand->dim[operand->ndim - 1] == op->ndim - 1 ? OF_COLUMN : OF_ROW;
}

/* Whether something is left when all parts are done: results over everything, or by columns. */
static bool is_joined(const lathe_op *op) {
  bool is = is_of(op, "reduce");

  for (int o = 0; o < op->noperands; o++)
    is = is || (goes_by_row(op) && op->operands[o].output && place_of(op, o) == OF_COLUMN);
  return is;
}

/* ---- how it is cut ----------------------------------------------------------------------------- */

static size_t at_least(size_t value, size_t least) {
  return value < least ? least : value;
}

static void cut(solver *s, const lathe_op *op, const size_t *dim) {
  size_t outer = 1;

  for (int d = 0; d < op->ndim - 1; d++)
    outer *= dim[d];
  s->by_row = goes_by_row(op);
  s->columns = dim[op->ndim - 1];
  s->rows = s->by_row ? outer : 1;
  s->all = s->by_row ? outer : outer * s->columns;
  s->each = s->by_row ? at_least(POINTS / at_least(s->columns, 1), 1) : POINTS;
  if (is_whole(op))
    s->each = at_least(s->all, 1);
  s->block = s->each;
  if (s->by_row && is_joined(op))
    s->block = at_least(pool_parts(s->all, MOST_BLOCKS), FEWEST_ROWS);
}

/* Bytes of an input's elements in a part of n rows or points, as numbers. */
static size_t part_bytes(const solver *s, place where, size_t n) {
  const size_t elements = where == OF_POINT && s->by_row ? n * s->columns : n;
  const size_t bytes = elements * s->number;

  return (bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
}

static size_t fewer(size_t a, size_t b) {
  return a < b ? a : b;
}

static bool widens_by_part(const lathe_op *op, lathe_dtype dtype, int o) {
  return !op->operands[o].output &&
         lathe_dtype_numeric(lathe_dtype_of_operand(&op->operands[o], dtype)) &&
         place_of(op, o) >= OF_ROW;
}

/* How a reference gathers; of steps also what one of them goes over. */
static reference_shape shape_of(const solver *s, int phase) {
  reference_shape shape = {0};
  reference_part part = s->as;

  part.step = REFERENCE_SHAPE;
  part.shape = &shape;
  part.phase = phase;
  s->reference(&part.args);
  return shape;
}

static void measure(solver *s, const lathe_op *op, lathe_dtype dtype, bool wide) {
  s->number = wide ? sizeof(long double) : sizeof(double);
  for (int o = 0; o < op->noperands; o++)
    if (widens_by_part(op, dtype, o))
      s->scratch_size += part_bytes(s, place_of(op, o), fewer(s->each, s->all));
  if (op->bench->column_reductions > 0)
    s->workspace_size = 2 * (size_t)op->bench->column_reductions * s->columns * s->number;
  else if (is_steps(op))
    s->workspace_size = shape_of(s, 0).states * s->number;
}

/* Rows of which there are none are joined all the same: columns have results. Steps share what they hold. */
static size_t blocks_of(const solver *s, const lathe_op *op) {
  return is_steps(op) || is_whole(op)
             ? 1
             : at_least(pool_parts(s->all, s->block), s->by_row && is_joined(op));
}

static size_t threads_of(const solver *s) {
  return fewer((size_t)pool_threads(), at_least(pool_parts(s->all, s->block), 1));
}

double solve_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim, bool wide) {
  solver s = {.reference = wide ? op->bench->reference_wide : op->bench->reference_f64};
  double bytes;

  memcpy(s.as.args.dim, dim, (size_t)op->ndim * sizeof *dim);
  cut(&s, op, dim);
  measure(&s, op, dtype, wide);
  bytes = (double)s.scratch_size * (double)threads_of(&s) +
          (double)s.workspace_size * (double)blocks_of(&s, op);
  for (int o = 0; o < op->noperands; o++)
    if (!op->operands[o].output && !widens_by_part(op, dtype, o))
      bytes += (double)lathe_elements(op, o, dim) * (double)s.number;
  return bytes;
}

/* ---- the buffers ------------------------------------------------------------------------------- */

static void widen(bool wide, lathe_dtype type, const void *from, size_t count, void *to) {
  if (wide)
    lathe_dtype_widen_long(type, from, count, to);
  else
    lathe_dtype_widen(type, from, count, to);
}

static bool add_input(solver *s, int o) {
  const problem *p = s->p;
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  source from = {p->input[o], lathe_dtype_size(type), place_of(p->op, o), LATHE_DTYPES};

  if (p->number[o]) {
    from.data = p->number[o];
    from.size = s->number;
  } else if (widens_by_part(p->op, p->dtype, o)) {
    from.type = type;
  } else if (lathe_dtype_numeric(type)) {
    s->whole[o] = memory_make(p->elements[o] * s->number);
    if (!s->whole[o])
      return false;
    widen(p->wide, type, p->input[o], p->elements[o], s->whole[o]);
    from.data = s->whole[o];
    from.size = s->number;
  }
  s->from[o] = from;
  return true;
}

static void add_beside(solver *s, void *data, size_t size, int o) {
  assert(s->sources < LATHE_MAX_OPERANDS);
  s->from[s->sources++] = (source){data, size, place_of(s->p->op, o), LATHE_DTYPES};
}

/* After the operands, what lathe_bench.reference_f64 says. */
static bool add_sources(solver *s) {
  const problem *p = s->p;
  const lathe_op *op = p->op;

  s->sources = op->noperands;
  for (int o = 0; o < op->noperands; o++) {
    const lathe_dtype type = lathe_dtype_of_operand(&op->operands[o], p->dtype);
    const size_t size = lathe_dtype_numeric(type) ? s->number : lathe_dtype_size(type);
    if (op->operands[o].output)
      s->from[o] = (source){p->expected[o], size, place_of(op, o), LATHE_DTYPES};
    else if (!add_input(s, o))
      return false;
    if (p->asked[o]) {
      add_beside(s, p->asked[o], size, o);
      add_beside(s, p->term[o], s->number, o);
    }
    if (p->magnitude[o])
      add_beside(s, p->magnitude[o], s->number, o);
  }
  return true;
}

/* A part's buffers; scratch: null where columns are joined, which are of no input that is widened. */
static void point_to(const solver *s, reference_part *part, char *scratch) {
  const bool join = part->step == REFERENCE_JOIN;

  for (int b = 0; b < s->sources; b++) {
    const source *from = &s->from[b];
    const size_t unit = from->place == OF_POINT && s->by_row ? s->columns : 1;
    const bool moves = join ? s->by_row && from->place == OF_COLUMN : from->place >= OF_ROW;
    char *data = from->data + (moves ? part->first * unit * from->size : 0);
    if (from->type != LATHE_DTYPES && scratch) {
      widen(s->p->wide, from->type, data, part->count * unit, scratch);
      data = scratch;
      scratch += part_bytes(s, from->place, part->count);
    }
    part->args.buf[b] = data;
  }
}

/* ---- its steps --------------------------------------------------------------------------------- */

static void gather(void *context, size_t nth, int thread) {
  const solver *s = context;
  const size_t first = nth * s->block, count = pool_part_size(s->all, s->block, nth);
  reference_part part = s->as;

  if (s->by_row)
    part.args.workspace = s->workspace + nth * s->workspace_size;
  else
    part.state = s->workspace + nth * s->workspace_size;
  for (size_t done = 0; done == 0 || done < count; done += s->each) {
    part.first = first + done;
    part.count = fewer(s->each, count - done);
    part.more = done > 0;
    point_to(s, &part, s->scratch + (size_t)thread * s->scratch_size);
    s->reference(&part.args);
  }
}

/* Some points of a step. */
static void take_step(void *context, size_t nth, int thread) {
  const solver *s = context;
  reference_part part = s->as;

  (void)thread;
  part.first = nth * s->block;
  part.count = pool_part_size(s->all, s->block, nth);
  part.state = s->workspace;
  point_to(s, &part, NULL);
  s->reference(&part.args);
}

static void join_columns(void *context, size_t nth, int thread) {
  const solver *s = context;
  reference_part part = s->as;

  (void)thread;
  part.first = nth * COLUMNS;
  part.count = pool_part_size(s->columns, COLUMNS, nth);
  point_to(s, &part, NULL);
  s->reference(&part.args);
}

/* The states of a reduction over everything, of which the reference alone knows how many there are. */
static bool make_states(solver *s, reference_shape *shape) {
  *shape = shape_of(s, 0);
  s->workspace_size = shape->states * s->number;
  s->joined = memory_make(s->workspace_size);
  s->as.joined = s->joined;
  return s->joined != NULL;
}

static void run(solver *s, const reference_shape *shape, size_t blocks) {
  s->as.blocks = blocks;
  for (int phase = 0; phase < (shape->phases > 0 ? shape->phases : 1); phase++) {
    s->as.phase = phase;
    s->as.step = REFERENCE_GATHER;
    pool_run(gather, s, blocks);
    s->as.step = REFERENCE_JOIN;
    if (s->by_row && is_joined(s->p->op)) {
      s->as.args.workspace = s->workspace;
      pool_run(join_columns, s, pool_parts(s->columns, COLUMNS));
    } else if (is_joined(s->p->op)) {
      reference_part part = s->as;
      part.state = s->workspace;
      point_to(s, &part, NULL);
      s->reference(&part.args);
    }
  }
}

/* All steps, one after the other. */
static void run_steps(solver *s) {
  const int steps = shape_of(s, 0).phases;

  s->as.step = REFERENCE_GATHER;
  for (int step = 0; step < steps; step++) {
    s->as.phase = step;
    s->all = shape_of(s, step).points;
    s->block = at_least(s->all / MOST_PARTS, 1);
    pool_run(take_step, s, pool_parts(s->all, s->block));
  }
}

bool solve(const problem *p) {
  solver s = {.p = p,
              .reference = p->wide ? p->op->bench->reference_wide : p->op->bench->reference_f64};
  const dtype_format *computed = lathe_dtype_computed(p->dtype);
  reference_shape shape = {0};
  size_t blocks;
  bool ok;

  s.as.args = problem_args(p);
  s.as.narrow = lathe_dtype_is_narrow(p->dtype);
  s.as.unit = ldexp(1, 1 - (p->leeway.digits ? p->leeway.digits : computed->digits));
  s.as.flushed = p->leeway.between ? ldexp(1, computed->emin) / s.as.unit : 0;
  cut(&s, p->op, p->dim);
  measure(&s, p->op, p->dtype, p->wide);
  ok = s.by_row || !is_joined(p->op) || make_states(&s, &shape);
  blocks = blocks_of(&s, p->op);
  if (ok) {
    s.scratch = memory_make(s.scratch_size * threads_of(&s));
    s.workspace = memory_make(s.workspace_size * blocks);
  }
  ok = ok && s.scratch && s.workspace && add_sources(&s);
  if (ok && is_steps(p->op))
    run_steps(&s);
  else if (ok)
    run(&s, &shape, blocks);
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    free(s.whole[o]);
  free(s.scratch);
  free(s.workspace);
  free(s.joined);
  return ok;
}
