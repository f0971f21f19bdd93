/* problem.c - random inputs, and the reference's result for them. */
#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "memory.h"
#include "random.h"
#include "solve.h"

/* f64 is judged by a wider type; everything narrower by f64. */
static bool needs_wide(const lathe_op *op, lathe_dtype dtype) {
  for (int o = 0; o < op->noperands; o++)
    if (dtype_of_operand(&op->operands[o], dtype) == LATHE_F64)
      return true;
  return false;
}

static size_t reference_size(lathe_dtype dtype, bool wide) {
  if (!dtype_floating(dtype))
    return lathe_dtype_size(dtype);
  return wide ? sizeof(long double) : sizeof(double);
}

static bool has_terms(const lathe_op *op, int o) {
  return op->rounded_terms & 1u << o;
}

double problem_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  const bool wide = needs_wide(op, dtype);
  double bytes = solve_cost(op, dtype, dim, wide);

  for (int o = 0; o < op->noperands; o++) {
    const lathe_dtype type = dtype_of_operand(&op->operands[o], dtype);
    const size_t reference = reference_size(type, wide);
    /* An input, or a result and its magnitude. */
    const size_t each = op->operands[o].output ? 2 * reference : lathe_dtype_size(type);
    bytes += (double)lathe_elements(op, o, dim) * (double)each;
    if (has_terms(op, o))
      bytes += (double)lathe_elements(op, o, dim) *
               (double)(reference + 2 * reference_size(LATHE_F64, wide));
  }
  return bytes;
}

lathe_args problem_args(const problem *p) {
  lathe_args args = {.narrow = lathe_dtype_size(p->dtype) == 2};

  memcpy(args.dim, p->dim, sizeof args.dim);
  memcpy(args.scalar, p->scalar, sizeof args.scalar);
  return args;
}

bool problem_ask(const problem *p) {
  return solve(p);
}

bool problem_solve(problem *p) {
  bool again = false, ok = problem_ask(p);

  p->told->known = false;
  for (int o = 0; o < p->op->noperands; o++)
    if (has_terms(p->op, o)) {
      memory_copy(p->asked[o], p->expected[o], p->bytes[o]);
      again = true;
    }
  return ok && (!again || problem_ask(p));
}

/* The input's random values. */
static void draw(problem *p, int o, lathe_dtype type) {
  const lathe_operand *operand = &p->op->operands[o];
  const size_t row = operand->ndim ? p->dim[operand->dim[operand->ndim - 1]] : 1;
  const double part = 0.8125; /* of a range that is narrow, a number that every type has */
  const double small = 0x1p-8;
  double low = operand->low, high = operand->high;

  if (operand->index) {
    low = 0;
    high = (double)p->dim[p->op->ndim - 1] - 1;
  } else if (p->special & RANDOM_NARROW && dtype_floating(type)) {
    low = low == -high ? 0 : low;
    high = low + part * (high - low);
  } else if (p->special & RANDOM_SMALL && dtype_floating(type) && low <= 0 && high >= 0) {
    low *= small;
    high *= small;
  }
  random_fill(type, p->input[o], p->elements[o], row, low, high, p->seed, (uint64_t)o, p->special);
}

/* An input with its random values, or an output's place; false where there is no memory. */
static bool make_operand(problem *p, int o) {
  const lathe_operand *operand = &p->op->operands[o];
  const lathe_dtype type = dtype_of_operand(operand, p->dtype);
  size_t reference_bytes;

  p->elements[o] = lathe_elements(p->op, o, p->dim);
  p->bytes[o] = p->elements[o] * lathe_dtype_size(type);
  reference_bytes = p->elements[o] * reference_size(type, p->wide);
  if (operand->output) {
    const size_t numbers = p->elements[o] * reference_size(LATHE_F64, p->wide);
    const bool terms = has_terms(p->op, o), sized = terms || dtype_floating(type);
    p->expected[o] = memory_make(reference_bytes);
    p->magnitude[o] = sized ? memory_make(numbers) : NULL;
    p->asked[o] = terms ? memory_make(p->bytes[o]) : NULL;
    p->term[o] = terms ? memory_make(numbers) : NULL;
    if (p->asked[o])
      memset(p->asked[o], 0, p->bytes[o]);
    return p->expected[o] && (p->magnitude[o] || !sized) && ((p->asked[o] && p->term[o]) || !terms);
  }
  p->input[o] = memory_make(p->bytes[o]);
  if (p->input[o])
    draw(p, o, type);
  return p->input[o];
}

static double scalar_of(const problem *p, int s) {
  double value = p->op->scalars[s].value;

  if (p->special & RANDOM_SCALARS) { /* of the type, for an op that hands it out */
    unsigned char narrow[sizeof value];
    value = random_near(value, p->seed, s);
    dtype_narrow(p->dtype, &value, 1, narrow);
    dtype_widen(p->dtype, narrow, 1, &value);
  }
  return p->dtype == LATHE_F64 ? value : (float)value;
}

problem *problem_make(const lathe_op *op, lathe_dtype dtype, const size_t *dim, uint64_t seed,
                      unsigned special, const char **why) {
  const bool wide = needs_wide(op, dtype);
  problem *p;
  bool ok;

  if (!(wide ? op->reference_wide : op->reference_f64)) {
    *why = "the op has no reference for this type";
    return NULL;
  }
  *why = "not enough memory for the inputs and the reference";
  p = calloc(1, sizeof *p);
  if (!p)
    return NULL;
  p->told = calloc(1, sizeof *p->told);
  ok = p->told != NULL;
  p->op = op;
  p->dtype = dtype;
  memcpy(p->dim, dim, (size_t)op->ndim * sizeof *dim);
  p->seed = seed;
  p->special = special;
  p->wide = wide;
  for (int s = 0; s < op->nscalars; s++)
    p->scalar[s] = scalar_of(p, s);
  for (int o = 0; o < op->noperands && ok; o++)
    ok = make_operand(p, o);
  if (!ok || !problem_solve(p)) {
    problem_free(p);
    return NULL;
  }
  *why = NULL;
  return p;
}

long double problem_number(const problem *p, const void *numbers, size_t element) {
  return p->wide ? ((const long double *)numbers)[element] : ((const double *)numbers)[element];
}

long double problem_expected(const problem *p, int output, size_t element) {
  const lathe_dtype type = dtype_of_operand(&p->op->operands[output], p->dtype);
  const void *expected = p->expected[output];
  long double value;

  if (dtype_floating(type))
    return problem_number(p, expected, element);
  dtype_widen_long(type, (const char *)expected + element * lathe_dtype_size(type), 1, &value);
  return value;
}

static void flush(lathe_dtype type, void *values, size_t count) {
  const dtype_format *f = dtype_format_of(type);
  const double smallest = ldexp(1, f->emin);

  for (size_t i = 0; i < count; i++) {
    char *at = (char *)values + i * f->size;
    double value;
    dtype_widen(type, at, 1, &value);
    if (fabs(value) < smallest && value != 0) {
      value = copysign(0, value);
      dtype_narrow(type, &value, 1, at);
    }
  }
}

problem *problem_flushed(const problem *p) {
  problem *flushed = calloc(1, sizeof *flushed);
  bool ok;

  if (!flushed)
    return NULL;
  *flushed = *p;
  flushed->told = calloc(1, sizeof *flushed->told);
  ok = flushed->told != NULL;
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    flushed->input[o] = flushed->expected[o] = flushed->magnitude[o] = flushed->asked[o] =
        flushed->term[o] = NULL;
  for (int o = 0; o < p->op->noperands && ok; o++) {
    const lathe_dtype type = dtype_of_operand(&p->op->operands[o], p->dtype);
    ok = make_operand(flushed, o);
    if (!ok || !p->input[o])
      continue;
    memory_copy(flushed->input[o], p->input[o], p->bytes[o]);
    if (dtype_floating(type))
      flush(type, flushed->input[o], p->elements[o]);
  }
  if (!ok || !problem_solve(flushed)) {
    problem_free(flushed);
    return NULL;
  }
  return flushed;
}

void problem_free(problem *p) {
  if (!p)
    return;
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
    free(p->input[o]);
    free(p->expected[o]);
    free(p->magnitude[o]);
    free(p->asked[o]);
    free(p->term[o]);
  }
  free(p->told);
  free(p);
}
