/* sampling.c - how results are checked where the reference of all would take too long. */
#include "sampling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "library/bench.h"
#include "random.h"

enum { FEWEST = 4 /* different places of a dimension that has more */ };

/* Operations that the reference of all results may take; where it computes in long double it takes as long for
 * fewer. */
static const double usual = 0x1p32, wide_share = 0.25;
static double set;

void sampling_beyond(double flops) {
  set = flops;
}

static double limit(const lathe_op *op, lathe_dtype dtype) {
  return (set > 0 ? set : usual) * (problem_is_wide(op, dtype) ? wide_share : 1);
}

/* An output whose elements depend on all that there is has no smaller problem. */
bool sampling_is_wanted(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output && !op->bench->apart[o])
      return false;
  return lathe_contracted_flops(op, dim) > limit(op, dtype);
}

/* ---- which places are different ------------------------------------------------------------------- */

static bool stands_apart(const lathe_op *op, int output, int d) {
  return op->bench->apart[output] & 1u << d;
}

void sampling_shrink(const lathe_op *op, int output, const size_t *dim, const size_t *different,
                     size_t *to) {
  for (int d = 0; d < op->ndim; d++)
    to[d] = stands_apart(op, output, d) ? different[d] : dim[d];
}

/* So many that there are no more blocks than these. */
static size_t fewest_of(size_t extent) {
  const size_t root = (size_t)ceil(sqrt((double)extent));

  return root > FEWEST ? root : FEWEST;
}

/* The longest dimension that a smaller problem may have less of; -1: none. */
static int longest(const lathe_op *op, int output, const size_t *dim, const size_t *different) {
  int most = -1;

  for (int d = 0; d < op->ndim; d++)
    if (stands_apart(op, output, d) && different[d] > fewest_of(dim[d]) &&
        (most < 0 || different[d] > different[most]))
      most = d;
  return most;
}

/* No smaller problem has more operations than its share, as far as that can be had. */
void sampling_choose(const lathe_op *op, lathe_dtype dtype, const size_t *dim, size_t *different) {
  size_t small[LATHE_MAX_DIMS];
  int outputs = 0;

  for (int o = 0; o < op->noperands; o++)
    outputs += op->operands[o].output;
  memcpy(different, dim, (size_t)op->ndim * sizeof *dim);
  for (int o = 0; o < op->noperands; o++)
    while (op->operands[o].output) {
      const int d = longest(op, o, dim, different);
      sampling_shrink(op, o, dim, different, small);
      if (d < 0 || lathe_flops(op, small) <= limit(op, dtype) / outputs)
        break;
      different[d] = (different[d] + 1) / 2;
      if (different[d] < fewest_of(dim[d]))
        different[d] = fewest_of(dim[d]);
    }
}

/* By how much a block of a dimension is rotated. */
static size_t rotation_of(const problem *p, int d, size_t block, size_t different) {
  const size_t drawn = random_below((uint64_t)d, block, different);

  return block ? (drawn + block % different * (p->seed % different)) % different : 0;
}

/* ---- inputs that repeat --------------------------------------------------------------------------- */

/* The part of an operand under one index of each of its dimensions before `level`; bytes: its size. The first
 * places are the given ones, and others are copied from those that they are like. Returns the rest of what is given. */
static const char *repeat(const problem *p, const size_t *different, const lathe_operand *operand,
                          int level, size_t bytes, const char *from, char *to) {
  const int d = level < operand->ndim ? operand->dim[level] : -1;
  const size_t each = d < 0 ? bytes : bytes / p->dim[d], count = d < 0 ? 1 : different[d];

  for (size_t i = 0; i < count && level + 1 < operand->ndim; i++)
    from = repeat(p, different, operand, level + 1, each, from, to + i * each);
  if (level + 1 >= operand->ndim) {
    memcpy(to, from, count * each);
    from += count * each;
  }
  for (size_t first = count; d >= 0 && first < p->dim[d]; first += count) {
    const size_t rotation = rotation_of(p, d, first / count, count);
    const size_t some = pool_part_size(p->dim[d], count, first / count);
    const size_t straight = some < count - rotation ? some : count - rotation;
    memcpy(to + first * each, to + rotation * each, straight * each);
    memcpy(to + (first + straight) * each, to, (some - straight) * each);
  }
  return from;
}

void sampling_repeat(problem *p, int input, const size_t *different, const void *few) {
  if (p->bytes[input] > 0)
    repeat(p, different, &p->op->operands[input], 0, p->bytes[input], few, p->input[input]);
}

/* Copies the places that a smaller problem has, the first of each dimension. */
static char *take_first(const problem *small, const problem *p, const lathe_operand *operand,
                        int level, size_t bytes, const char *from, char *to) {
  const int d = level < operand->ndim ? operand->dim[level] : -1;
  const size_t each = d < 0 ? bytes : bytes / p->dim[d], count = d < 0 ? 1 : small->dim[d];

  if (level + 1 >= operand->ndim) {
    memcpy(to, from, count * each);
    return to + count * each;
  }
  for (size_t i = 0; i < count; i++)
    to = take_first(small, p, operand, level + 1, each, from + i * each, to);
  return to;
}

bool sampling_take_input(problem *small, int input, const problem *p, int from) {
  small->input[input] = memory_make(small->bytes[input]);
  if (small->input[input] && small->bytes[input] > 0)
    take_first(small, p, &p->op->operands[from], 0, p->bytes[from], p->input[from],
               small->input[input]);
  return small->input[input] != NULL;
}

static bool take_inputs(problem *small, const problem *p) {
  bool ok = true;

  for (int o = 0; o < p->op->noperands && ok; o++)
    ok = !p->input[o] || sampling_take_input(small, o, p, o);
  return ok;
}

sampling *sampling_make(const problem *p) {
  sampling *s = calloc(1, sizeof *s);
  size_t small[LATHE_MAX_DIMS];
  bool ok = s != NULL;

  if (ok)
    sampling_choose(p->op, p->dtype, p->dim, s->different);
  for (int o = 0; o < p->op->noperands && ok; o++)
    if (p->op->operands[o].output) {
      sampling_shrink(p->op, o, p->dim, s->different, small);
      s->of[o] = problem_like(p, small);
      ok = s->of[o] && take_inputs(s->of[o], p) && problem_solve(s->of[o]);
    }
  if (ok)
    return s;
  sampling_free(s);
  return NULL;
}

sampling *sampling_by(const sampling *s, problem_leeway leeway) {
  sampling *by = calloc(1, sizeof *by);
  bool ok = by != NULL;

  for (int o = 0; o < LATHE_MAX_OPERANDS && ok; o++)
    if (s->of[o]) {
      by->of[o] = problem_by(s->of[o], leeway);
      ok = by->of[o] != NULL;
    }
  if (ok)
    return by;
  sampling_free(by);
  return NULL;
}

void sampling_free(sampling *s) {
  for (int o = 0; s && o < LATHE_MAX_OPERANDS; o++)
    problem_free(s->of[o]);
  free(s);
}

double sampling_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  size_t different[LATHE_MAX_DIMS], small[LATHE_MAX_DIMS];
  double bytes = 0;

  sampling_choose(op, dtype, dim, different);
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output) {
      sampling_shrink(op, o, dim, different, small);
      bytes += problem_solved_cost(op, dtype, small);
    }
  return bytes;
}

/* ---- all results ---------------------------------------------------------------------------------- */

static size_t blocks_of(const problem *p, int output, int d) {
  return pool_parts(p->dim[d], p->sample->of[output]->dim[d]);
}

size_t sampling_layers(const problem *p, int output) {
  const lathe_operand *operand = &p->op->operands[output];
  size_t layers = 1;

  for (int i = 0; i < operand->ndim; i++)
    layers *= blocks_of(p, output, operand->dim[i]);
  return layers;
}

sampling_layer sampling_layer_of(const problem *p, int output, size_t nth) {
  const lathe_operand *operand = &p->op->operands[output];
  sampling_layer l = {.output = output};

  for (int i = operand->ndim - 1; i >= 0; i--) {
    const int d = operand->dim[i];
    const size_t different = p->sample->of[output]->dim[d], block = nth % blocks_of(p, output, d);
    nth /= blocks_of(p, output, d);
    l.first[d] = block * different;
    l.rotation[d] = rotation_of(p, d, block, different);
  }
  return l;
}

size_t sampling_place(const problem *p, const sampling_layer *l, int d, size_t place) {
  const size_t different = p->sample->of[l->output]->dim[d], rotation = l->rotation[d];
  const size_t at = l->first[d] + (place < rotation ? place + different : place) - rotation;

  return at < p->dim[d] ? at : place;
}

static char *take(const problem *p, const sampling_layer *l, int level, size_t bytes,
                  const char *from, char *to) {
  const lathe_operand *operand = &p->op->operands[l->output];
  const int d = operand->dim[level];
  const size_t each = bytes / p->dim[d], count = p->sample->of[l->output]->dim[d];

  for (size_t i = 0, run = 1; i < count; i += run) {
    const size_t at = sampling_place(p, l, d, i);
    if (level + 1 < operand->ndim) {
      to = take(p, l, level + 1, each, from + at * each, to);
      continue;
    }
    for (run = 1; i + run < count && sampling_place(p, l, d, i + run) == at + run;)
      run++;
    memcpy(to, from + at * each, run * each);
    to += run * each;
  }
  return to;
}

void sampling_take(const problem *p, const sampling_layer *l, const void *all, void *to) {
  if (p->bytes[l->output] > 0)
    take(p, l, 0, p->bytes[l->output], all, to);
}

void sampling_tell(const problem *p, char *text, size_t size) {
  const lathe_op *op = p->op;
  size_t length = (size_t)snprintf(text, size, "all");
  bool some = false;

  for (int d = 0; d < op->ndim && length < size; d++)
    if (p->sample->different[d] < p->dim[d]) {
      length += (size_t)snprintf(text + length, size - length, "%s %zu of %zu %s", some ? "," : ";",
                                 p->sample->different[d], p->dim[d], op->dim[d]);
      some = true;
    }
  if (some && length < size)
    snprintf(text + length, size - length, " repeat");
}
