/* solve.c - an op's reference run on a problem, by all processors. */
#include "solve.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "library/dtype.h"
#include "library/bench.h"

enum {
  MOST_PARTS = 1024,    /* of a phase */
  FEWEST_TERMS = 8192,  /* of a part, about */
  MOST_STATES = 1 << 26 /* bytes that steps hold of slices, but for what all slices have */
};

typedef struct solver {
  lathe_fn *reference;
  reference_part part; /* what all parts are asked, but for what is theirs */
  size_t each;         /* points of a part */
} solver;

static size_t at_least(size_t value, size_t least) {
  return value < least ? least : value;
}

/* ---- a reference ------------------------------------------------------------------------------- */

static reference_shape shape_of(const solver *s, int phase) {
  reference_shape shape = {0};
  reference_part part = s->part;

  part.shape = &shape;
  part.phase = phase;
  s->reference(&part.args);
  return shape;
}

static void take(void *context, size_t nth, int thread) {
  const solver *s = context;
  reference_part part = s->part;

  (void)thread;
  part.first = nth * s->each;
  part.count = pool_part_size(s->part.count, s->each, nth);
  s->reference(&part.args);
}

/* All phases, one after the other. */
static void run(solver *s) {
  const int phases = shape_of(s, 0).phases;

  for (int phase = 0; phase < phases; phase++) {
    const reference_shape shape = shape_of(s, phase);
    const size_t parts = at_least(shape.terms / FEWEST_TERMS, 1);
    s->part.phase = phase;
    s->part.count = shape.points;
    s->each = at_least(pool_parts(shape.points, parts < MOST_PARTS ? parts : MOST_PARTS), 1);
    pool_run(take, s, pool_parts(shape.points, s->each));
  }
}

bool solve_by(lathe_fn *reference, const reference_part *part, size_t number) {
  solver s = {.reference = reference, .part = *part};

  s.part.state = memory_make(shape_of(&s, 0).states * number);
  if (!s.part.state)
    return false;
  run(&s);
  free(s.part.state);
  return true;
}

/* ---- a problem --------------------------------------------------------------------------------- */

static size_t number_size(bool wide) {
  return wide ? sizeof(long double) : sizeof(double);
}

static void widen(bool wide, lathe_dtype type, const void *from, size_t count, void *to) {
  if (type == LATHE_DTYPES)
    memcpy(to, from, count * number_size(wide));
  else if (wide)
    lathe_dtype_widen_long(type, from, count, to);
  else
    lathe_dtype_widen(type, from, count, to);
}

static void read_as(bool wide, const reference_part *part, int buffer, size_t first, size_t stride,
                    size_t count, void *to) {
  const size_t number = number_size(wide);
  const lathe_dtype type = part->type[buffer];
  const size_t size = type == LATHE_DTYPES ? number : lathe_dtype_size(type);
  const char *from = (const char *)part->args.buf[buffer] + first * size;

  if (stride == 1)
    widen(wide, type, from, count, to);
  else
    for (size_t i = 0; i < count; i++)
      widen(wide, type, from + i * stride * size, 1, (char *)to + i * number);
}

static void read_f64(const reference_part *part, int buffer, size_t first, size_t stride,
                     size_t count, void *to) {
  read_as(false, part, buffer, first, stride, count, to);
}

static void read_wide(const reference_part *part, int buffer, size_t first, size_t stride,
                      size_t count, void *to) {
  read_as(true, part, buffer, first, stride, count, to);
}

reference_read *solve_reader(bool wide) {
  return wide ? read_wide : read_f64;
}

/* An array in the place of each of a call's buffers. */
typedef struct buffers {
  int count;
  int operand[LATHE_MAX_OPERANDS]; /* of which each is */
  size_t size[LATHE_MAX_OPERANDS]; /* bytes of an element */
} buffers;

static void add(buffers *b, reference_part *part, int operand, const void *data, size_t size) {
  assert(b->count < LATHE_MAX_OPERANDS);
  b->operand[b->count] = operand;
  b->size[b->count] = size;
  part->args.buf[b->count++] = (void *)data;
}

/* The operands, and after them what lathe_bench.reference_f64 says. */
static buffers buffers_of(const problem *p, size_t number, reference_part *part) {
  const lathe_op *op = p->op;
  buffers b = {0};

  for (int o = 0; o < op->noperands; o++) {
    const lathe_dtype type = lathe_dtype_of_operand(&op->operands[o], p->dtype);
    const bool plain = op->operands[o].output || p->number[o];
    part->type[o] = plain ? LATHE_DTYPES : type;
    add(&b, part, o,
        op->operands[o].output ? p->expected[o]
        : p->number[o]         ? p->number[o]
                               : p->input[o],
        plain && lathe_dtype_numeric(type) ? number : lathe_dtype_size(type));
  }
  for (int o = 0; o < op->noperands; o++) {
    if (p->asked[o]) {
      add(&b, part, o, p->asked[o], b.size[o]);
      add(&b, part, o, p->term[o], number);
    }
    if (p->magnitude[o])
      add(&b, part, o, p->magnitude[o], number);
  }
  return b;
}

/* Whether results at some places of the first dimension are a smaller problem's, whose operands lie together. */
static bool can_be_sliced(const lathe_op *op) {
  for (int o = 0; o < op->noperands; o++) {
    const lathe_operand *operand = &op->operands[o];
    if (operand->output && !(op->bench->apart[o] & 1))
      return false;
    for (int d = 1; d < operand->ndim; d++)
      if (operand->dim[d] == 0)
        return false;
  }
  return true;
}

static double states_bytes(const solver *s, size_t length, size_t number) {
  solver of = *s;

  of.part.args.dim[0] = length;
  return (double)shape_of(&of, 0).states * (double)number;
}

/* How much of the first dimension is solved at once. */
static size_t slice_of(const solver *s, const lathe_op *op, size_t number) {
  const size_t all = s->part.args.dim[0];
  const double once = states_bytes(s, 0, number), bytes = states_bytes(s, all, number) - once;
  const double most = once > MOST_STATES ? once : MOST_STATES;

  if (bytes <= most || !can_be_sliced(op))
    return at_least(all, 1);
  return at_least((size_t)(most / bytes * (double)all), 1);
}

static void slice(const lathe_op *op, const buffers *b, const solver *s, reference_part *part,
                  size_t first, size_t count) {
  part->args.dim[0] = count;
  for (int i = 0; i < b->count; i++) {
    const lathe_operand *operand = &op->operands[b->operand[i]];
    const size_t elements = lathe_elements(op, b->operand[i], s->part.args.dim);
    if (operand->ndim > 0 && operand->dim[0] == 0)
      part->args.buf[i] =
          (char *)s->part.args.buf[i] + elements / s->part.args.dim[0] * first * b->size[i];
  }
}

static lathe_fn *reference_of(const lathe_op *op, bool wide) {
  return wide ? op->bench->reference_wide : op->bench->reference_f64;
}

/* A reference written by hand, of an op without a template, takes all at once, inputs widened. */
static bool solve_whole(const problem *p, lathe_fn *reference, reference_part *part) {
  void *wide[LATHE_MAX_OPERANDS] = {0};
  bool ok = true;

  for (int o = 0; o < p->op->noperands && ok; o++)
    if (part->type[o] != LATHE_DTYPES && lathe_dtype_numeric(part->type[o])) {
      wide[o] = memory_make(p->elements[o] * number_size(p->wide));
      ok = wide[o] != NULL;
      if (ok)
        widen(p->wide, part->type[o], p->input[o], p->elements[o], wide[o]);
      part->args.buf[o] = wide[o];
    }
  if (ok)
    reference(&part->args);
  for (int o = 0; o < p->op->noperands; o++)
    free(wide[o]);
  return ok;
}

/* Half of the smallest element of a type above zero, or what numbers of f32 may be taken for zero below. */
static double vanishing(lathe_dtype dtype) {
  const dtype_format *f = lathe_dtype_format_of(dtype), *computed = lathe_dtype_computed(dtype);

  return fmax(ldexp(0.5, f->emin - f->digits + 1), ldexp(1, computed->emin));
}

/* From what on numbers are rounded to infinity. */
static double bursting(lathe_dtype dtype) {
  const dtype_format *f = lathe_dtype_format_of(dtype);

  return ldexp(2 - ldexp(1, -f->digits), f->emax);
}

bool solve(const problem *p) {
  const dtype_format *computed = lathe_dtype_computed(p->dtype);
  const size_t number = number_size(p->wide);
  solver s = {.reference = reference_of(p->op, p->wide)};
  buffers b;
  size_t each;
  bool ok = true;

  s.part.args = problem_args(p);
  s.part.read = solve_reader(p->wide);
  s.part.narrow = lathe_dtype_is_narrow(p->dtype);
  s.part.unit = ldexp(1, 1 - (p->leeway.digits ? p->leeway.digits : computed->digits));
  s.part.narrowed = p->leeway.narrowed ? ldexp(0.5, computed->digits - p->leeway.narrowed) : 0;
  s.part.vanishing = p->leeway.narrowed ? vanishing(p->dtype) : 0;
  s.part.bursting = bursting(p->dtype);
  s.part.flushed = p->leeway.between ? ldexp(1, computed->emin) / s.part.unit : 0;
  b = buffers_of(p, number, &s.part);
  if (!p->op->template_name)
    return solve_whole(p, s.reference, &s.part);
  each = slice_of(&s, p->op, number);
  for (size_t first = 0; ok && (first == 0 || first < p->dim[0]); first += each) {
    reference_part part = s.part;
    if (each < p->dim[0])
      slice(p->op, &b, &s, &part, first, pool_part_size(p->dim[0], each, first / each));
    ok = solve_by(s.reference, &part, number);
  }
  return ok;
}

double solve_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim, bool wide) {
  const size_t number = number_size(wide);
  solver s = {.reference = reference_of(op, wide)};
  double bytes = 0;

  memcpy(s.part.args.dim, dim, (size_t)op->ndim * sizeof *dim);
  if (op->template_name)
    return states_bytes(&s, slice_of(&s, op, number), number);
  for (int o = 0; o < op->noperands; o++)
    if (!op->operands[o].output &&
        lathe_dtype_numeric(lathe_dtype_of_operand(&op->operands[o], dtype)))
      bytes += (double)lathe_elements(op, o, dim) * (double)number;
  return bytes;
}
