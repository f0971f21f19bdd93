/* problem.c - random inputs, and the reference's result for them. */
#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranges.h"
#include "library/dtype.h"
#include "random.h"
#include "sampling.h"
#include "saved.h"
#include "solve.h"
#include "library/bench.h"

bool problem_is_wide(const lathe_op *op, lathe_dtype dtype) {
  for (int o = 0; o < op->noperands; o++)
    if (lathe_dtype_of_operand(&op->operands[o], dtype) == LATHE_F64)
      return true;
  return false;
}

bool problem_has_reference(const lathe_op *op, lathe_dtype dtype) {
  return (problem_is_wide(op, dtype) ? op->bench->reference_wide : op->bench->reference_f64) !=
         NULL;
}

static size_t reference_size(lathe_dtype dtype, bool wide) {
  if (!lathe_dtype_numeric(dtype))
    return lathe_dtype_size(dtype);
  return wide ? sizeof(long double) : sizeof(double);
}

static bool has_terms(const lathe_op *op, int o) {
  return op->bench->rounded_terms & 1u << o;
}

double problem_ulp(const lathe_op *op, lathe_dtype dtype) {
  for (int i = 0; i < op->bench->nbounds; i++)
    if (op->bench->bounds[i].dtype == dtype)
      return op->bench->bounds[i].ulp;
  return 0.5;
}

double problem_solved_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  const bool wide = problem_is_wide(op, dtype);
  double bytes = solve_cost(op, dtype, dim, wide);

  for (int o = 0; o < op->noperands; o++) {
    const lathe_dtype type = lathe_dtype_of_operand(&op->operands[o], dtype);
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

double problem_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  double bytes;

  if (!sampling_is_wanted(op, dtype, dim))
    return problem_solved_cost(op, dtype, dim);
  bytes = sampling_cost(op, dtype, dim);
  for (int o = 0; o < op->noperands; o++)
    if (!op->operands[o].output)
      bytes += (double)lathe_elements(op, o, dim) *
               (double)lathe_dtype_size(lathe_dtype_of_operand(&op->operands[o], dtype));
  return bytes;
}

lathe_args problem_args(const problem *p) {
  lathe_args args = {0};

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

int problem_home(const problem *p, int operand) {
  const lathe_operand *own = &p->op->operands[operand];
  const unsigned saved = p->op->bench->saved;

  for (int o = 0; o < operand && p->special & RANDOM_SAME && !own->output; o++) {
    const lathe_operand *other = &p->op->operands[o];
    if (!other->output && !(saved & (1u << o | 1u << operand)) && other->dtype == own->dtype &&
        other->index == own->index && other->ndim == own->ndim &&
        memcmp(other->dim, own->dim, sizeof own->dim) == 0)
      return o;
  }
  return operand;
}

/* Puts a few other values in places that chance chooses: both ends of the range, so that an extreme is another, and
 * some within it. */
static void poke(problem *p, int o, lathe_dtype type, double low, double high) {
  enum { PLACES = 4, STREAM = LATHE_MAX_OPERANDS };
  const size_t size = lathe_dtype_size(type);
  char values[PLACES * sizeof(int64_t)];

  random_fill(type, values, PLACES, 1, low, high, p->seed, (uint64_t)o + STREAM, 0);
  if (lathe_dtype_numeric(type)) {
    lathe_dtype_narrow(type, &low, 1, values);
    lathe_dtype_narrow(type, &high, 1, values + size);
  }
  for (size_t i = 0; i < PLACES && p->elements[o] > 0; i++) {
    const uint64_t nth = (uint64_t)o * PLACES + i;
    const size_t place = random_below(p->seed + STREAM, nth, p->elements[o]);
    memcpy((char *)p->input[o] + place * size, values + i * size, size);
  }
}

/* Whether it is the other inputs' turn to be drawn; see RANDOM_NULLS. */
static bool is_null(const problem *p, int o) {
  int inputs = 0, nth = 0;

  for (int i = 0; i < p->op->noperands; i++) {
    nth += !p->op->operands[i].output && i < o;
    inputs += !p->op->operands[i].output;
  }
  return p->special & RANDOM_NULLS && p->seed % (uint64_t)inputs != (uint64_t)nth;
}

uint64_t problem_peak_seed(size_t place, size_t elements, unsigned ends, uint64_t seed) {
  return place + elements * ((uint64_t)ends + (seed % UINT16_MAX << LATHE_MAX_OPERANDS));
}

/* Puts an end of the range where the seed says. */
static void put_peak(problem *p, int o, lathe_dtype type, double low, double high) {
  const size_t elements = p->elements[o], place = p->seed % elements;
  const double end = p->seed / elements >> o & 1 ? high : low;

  lathe_dtype_narrow(type, &end, 1, (char *)p->input[o] + place * lathe_dtype_size(type));
}

/* The input's random values. */
static void draw(problem *p, int o, lathe_dtype type) {
  const lathe_operand *operand = &p->op->operands[o];
  const size_t row = operand->ndim ? p->dim[operand->dim[operand->ndim - 1]] : 1;
  const double part = 0.8125; /* of a range that is narrow, a number that every type has */
  const double small = 0x1p-8;
  double low = operand->low, high = operand->high;
  unsigned special = p->special;
  const double width = high - low;
  const bool peak = p->special & RANDOM_PEAK && lathe_dtype_numeric(type) && p->elements[o] > 0;

  if (operand->index) {
    low = 0;
    high = (double)p->dim[operand->index - 1] - 1;
  } else if (lathe_dtype_numeric(type) && is_null(p, o)) {
    low = high = 0;
    special = RANDOM_ZERO;
  } else if (p->special & RANDOM_NEGATIVE && low < 0) {
    high = fmin(high, lathe_dtype_format_of(type)->integer ? -1 : 0);
  } else if (p->special & RANDOM_NARROW && lathe_dtype_numeric(type)) {
    low = low == -high ? 0 : low;
    high = low + part * (high - low);
  } else if (p->special & RANDOM_SMALL && !lathe_dtype_format_of(type)->integer && low <= 0 &&
             high >= 0) {
    low *= small;
    high *= small;
  } else if (peak) {
    low += 0.375 * width;
    high -= 0.375 * width;
  }
  if (problem_home(p, o) != o) {
    memory_copy(p->input[o], p->input[problem_home(p, o)], p->bytes[o]);
    return;
  }
  random_fill(type, p->input[o], p->elements[o], row, low, high, p->seed, (uint64_t)o, special);
  if (p->special & RANDOM_POKED)
    poke(p, o, type, low, high);
  if (peak && !operand->index)
    put_peak(p, o, type, operand->low, operand->high);
}

static void set_sizes(problem *p) {
  for (int o = 0; o < p->op->noperands; o++) {
    p->elements[o] = lathe_elements(p->op, o, p->dim);
    p->bytes[o] =
        p->elements[o] * lathe_dtype_size(lathe_dtype_of_operand(&p->op->operands[o], p->dtype));
  }
}

/* An output's place; false where there is no memory. */
static bool make_result(problem *p, int o) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  const size_t numbers = p->elements[o] * reference_size(LATHE_F64, p->wide);
  const bool terms = has_terms(p->op, o), sized = terms || lathe_dtype_numeric(type);

  p->expected[o] = memory_make(p->elements[o] * reference_size(type, p->wide));
  p->magnitude[o] = sized ? memory_make(numbers) : NULL;
  p->asked[o] = terms ? memory_make(p->bytes[o]) : NULL;
  p->term[o] = terms ? memory_make(numbers) : NULL;
  if (p->asked[o])
    memset(p->asked[o], 0, p->bytes[o]);
  return p->expected[o] && (p->magnitude[o] || !sized) && ((p->asked[o] && p->term[o]) || !terms);
}

static bool make_results(problem *p) {
  bool ok = true;

  for (int o = 0; o < p->op->noperands && ok; o++)
    ok = !p->op->operands[o].output || make_result(p, o);
  return ok;
}

/* The inputs' places; false where there is no memory. */
static bool make_inputs(problem *p) {
  bool ok = true;

  for (int o = 0; o < p->op->noperands && ok; o++)
    if (!p->op->operands[o].output) {
      p->input[o] = memory_make(p->bytes[o]);
      ok = p->input[o] != NULL;
    }
  return ok;
}

static double scalar_of(const problem *p, int s) {
  double value = p->op->scalars[s].value;

  if (p->special & (RANDOM_SCALARS | RANDOM_FAR)) { /* of the type, for an op that hands it out */
    unsigned char narrow[sizeof value];
    value = (p->special & RANDOM_FAR ? random_far : random_near)(value, p->seed, s);
    lathe_dtype_narrow(p->dtype, &value, 1, narrow);
    lathe_dtype_widen(p->dtype, narrow, 1, &value);
  }
  return p->dtype == LATHE_F64 ? value : (float)value;
}

static void draw_all(problem *p) {
  for (int o = 0; o < p->op->noperands; o++)
    if (p->input[o])
      draw(p, o, lathe_dtype_of_operand(&p->op->operands[o], p->dtype));
}

/* A problem that differs in its dimensions alone, without inputs and results; null where there is no memory. */
static problem *copy_head(const problem *p, const size_t *dim) {
  problem *copy = calloc(1, sizeof *copy);

  if (!copy)
    return NULL;
  *copy = (problem){.op = p->op,
                    .dtype = p->dtype,
                    .seed = p->seed,
                    .special = p->special,
                    .wide = p->wide,
                    .told = calloc(1, sizeof *copy->told)};
  memcpy(copy->dim, dim, (size_t)p->op->ndim * sizeof *dim);
  memcpy(copy->scalar, p->scalar, sizeof copy->scalar);
  set_sizes(copy);
  if (copy->told)
    return copy;
  free(copy);
  return NULL;
}

static bool draw_whole(problem *p) {
  draw_all(p);
  return saved_fill(p, p->dim);
}

/* The same of inputs that repeat; false where there is no memory. */
static bool draw_few(problem *p) {
  size_t different[LATHE_MAX_DIMS] = {0};
  problem *few;
  bool ok;

  sampling_choose(p->op, p->dtype, p->dim, different);
  few = copy_head(p, different);
  ok = few && make_inputs(few);
  if (ok)
    draw_all(few);
  for (int o = 0; o < p->op->noperands && ok; o++)
    if (p->input[o])
      sampling_repeat(p, o, different, few->input[o]);
  problem_free(few);
  return ok && saved_fill(p, different);
}

/* Null where there is no memory. */
static problem *make(const lathe_op *op, lathe_dtype dtype, const size_t *dim, uint64_t seed,
                     unsigned special, bool solved) {
  problem *p;
  bool ok, sampled;

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
  p->wide = problem_is_wide(op, dtype);
  p->solved = solved;
  for (int s = 0; s < op->nscalars; s++)
    p->scalar[s] = scalar_of(p, s);
  set_sizes(p);
  ranges_begin("inputs");
  sampled = sampling_is_wanted(op, dtype, dim);
  ok = ok && make_inputs(p) && (sampled ? draw_few(p) : draw_whole(p));
  ranges_end();
  ranges_begin("reference");
  if (ok && solved && sampled) {
    p->sample = sampling_make(p);
    ok = p->sample != NULL;
  } else if (solved) {
    ok = ok && make_results(p) && problem_solve(p);
  }
  ranges_end();
  if (!ok) {
    problem_free(p);
    return NULL;
  }
  return p;
}

problem *problem_make(const lathe_op *op, lathe_dtype dtype, const size_t *dim, uint64_t seed,
                      unsigned special, const char **why) {
  problem *p;

  if (!problem_has_reference(op, dtype)) {
    *why = "the op has no reference for this type";
    return NULL;
  }
  p = make(op, dtype, dim, seed, special, true);
  *why = p ? NULL : "not enough memory for the inputs and the reference";
  return p;
}

problem *problem_draw(const lathe_op *op, lathe_dtype dtype, const size_t *dim, uint64_t seed,
                      unsigned special, const char **why) {
  problem *p = make(op, dtype, dim, seed, special, false);

  *why = p ? NULL : "not enough memory for the inputs";
  return p;
}

problem *problem_like(const problem *p, const size_t *dim) {
  problem *like = copy_head(p, dim);

  if (like && make_results(like))
    return like;
  problem_free(like);
  return NULL;
}

long double problem_number(const problem *p, const void *numbers, size_t element) {
  return p->wide ? ((const long double *)numbers)[element] : ((const double *)numbers)[element];
}

long double problem_expected(const problem *p, int output, size_t element) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[output], p->dtype);
  const void *expected = p->expected[output];
  long double value;

  if (lathe_dtype_numeric(type))
    return problem_number(p, expected, element);
  lathe_dtype_widen_long(type, (const char *)expected + element * lathe_dtype_size(type), 1,
                         &value);
  return value;
}

void *problem_result(const problem *p, int output) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[output], p->dtype);
  char *result = malloc(p->bytes[output] + 1);

  for (size_t i = 0; result && i < p->elements[output]; i++) {
    const double value = (double)problem_expected(p, output, i);
    lathe_dtype_narrow(type, &value, 1, result + i * lathe_dtype_size(type));
  }
  return result;
}

/* Whether an operand has numbers below the normal range of its type. With `away` they become zero, of the same sign, or
 * the nearest of those that the range's lowest numbers of so many digits are apart. */
static bool flush(const problem *p, int o, bool away, int digits) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  const dtype_format *f = lathe_dtype_format_of(type);
  const double smallest = ldexp(1, f->emin), step = ldexp(smallest, 1 - digits);
  bool has = false;

  for (size_t i = 0; i < p->elements[o]; i++) {
    char *at = (char *)p->input[o] + i * f->size;
    double value;
    lathe_dtype_widen(type, at, 1, &value);
    if (fabs(value) < smallest && value != 0) {
      has = true;
      value = copysign(digits ? step * rint(fabs(value) / step) : 0, value);
      if (away)
        lathe_dtype_narrow(type, &value, 1, at);
    }
  }
  return has;
}

/* Whether an operand is an input of floating numbers. */
static bool is_floating(const problem *p, int o) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);

  return p->input[o] && lathe_dtype_numeric(type) && !lathe_dtype_format_of(type)->integer;
}

problem *problem_copy(const problem *p) {
  problem *copy = problem_like(p, p->dim);
  const bool ok = copy && make_inputs(copy);

  for (int o = 0; o < p->op->noperands && ok; o++)
    if (p->input[o])
      memory_copy(copy->input[o], p->input[o], p->bytes[o]);
  if (ok)
    return copy;
  problem_free(copy);
  return NULL;
}

/* The same of a problem whose results are all expected. */
static problem *copy_by(const problem *p, problem_leeway leeway) {
  problem *copy = problem_copy(p);

  for (int o = 0; copy && o < p->op->noperands; o++)
    if (leeway.operands & 1u << o || (leeway.digits && is_floating(copy, o)))
      flush(copy, o, true, leeway.operands & 1u << o ? 0 : leeway.digits);
  if (copy)
    copy->leeway = leeway;
  if (copy && problem_solve(copy))
    return copy;
  problem_free(copy);
  return NULL;
}

problem *problem_by(const problem *p, problem_leeway leeway) {
  problem *by = p->sample ? copy_head(p, p->dim) : copy_by(p, leeway);

  if (by && p->sample) {
    by->leeway = leeway;
    by->sample = sampling_by(p->sample, leeway);
    if (!by->sample) {
      problem_free(by);
      return NULL;
    }
  }
  return by;
}

/* The operands of some types that have numbers to flush. */
static unsigned flushable(const problem *p, unsigned types) {
  unsigned found = 0;

  for (int o = 0; o < p->op->noperands; o++) {
    const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
    if (types & 1u << type && is_floating(p, o) && flush(p, o, false, 0))
      found |= 1u << o;
  }
  return found;
}

problem_views problem_views_make(const problem *p, problem_leeway leeway) {
  problem_views v = {.leeway = leeway};
  const unsigned all = flushable(p, leeway.flushed);

  /* All, none, each alone and all but each, and of what is left as many as there is room for. */
  for (int turn = 0; turn < 2; turn++)
    for (unsigned some = all;; some = (some - 1) & all) {
      const unsigned rest = all & ~some;
      const bool first = !(some & (some - 1)) || !(rest & (rest - 1));
      leeway.operands = some;
      if (first == (turn == 0) && v.count < PROBLEM_VIEWS &&
          (some || leeway.digits || leeway.narrowed || leeway.between)) {
        v.of[v.count] = problem_by(p, leeway);
        v.count += v.of[v.count] != NULL;
      }
      if (!some || (turn == 1 && v.count == PROBLEM_VIEWS))
        break;
    }
  return v;
}

void problem_views_free(problem_views *v) {
  while (v->count > 0)
    problem_free(v->of[--v->count]);
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
    free(p->number[o]);
  }
  sampling_free(p->sample);
  free(p->told);
  free(p);
}
