/* mutate.c - would wrong kernels of an op be found out? */
#include "mutate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contraction_mutants.h"
#include "library/dtype.h"
#include "problem/problem.h"
#include "problem/random.h"
#include "library/bench.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
  ROWS = 3, /* of the small problems, and of every dimension but the last */
  COLUMNS = 13,
  LAST = 5,   /* elements of the last vector, which a kernel may have left out */
  SEEDS = 96, /* problems until a mutant counts as a survivor */
  ZEROS = 0,  /* the mutant of which all results are zero comes first */
  MUTANTS = 8 + 2 * (LATHE_MAX_OPERANDS + LATHE_MAX_SCALARS),
};

/* How a wrong kernel comes by its result. */
typedef enum how { SCALED, MOVED, CUT, WITHOUT_OPERAND, WITHOUT_SCALAR } how;

typedef struct mutant {
  how how;
  /* SCALED: the factor; WITHOUT_...: what stands in the place of the operand or scalar. */
  double number;
  int which; /* the operand or scalar; MOVED: 1 by an element, 2 by a row */
  bool found[LATHE_MAX_OPERANDS], tried[LATHE_MAX_OPERANDS]; /* by output */
} mutant;

static problem *make(const lathe_op *op, lathe_dtype dtype, int seed, size_t columns) {
  /* As probe.c has them drawn. */
  static const unsigned drawn[] = {0, RANDOM_SMALL, RANDOM_NARROW | RANDOM_SCALARS};
  size_t dim[LATHE_MAX_DIMS];
  const char *why;

  for (int d = 0; d < op->ndim; d++)
    dim[d] = d == op->ndim - 1 ? columns : ROWS;
  return problem_make(op, dtype, dim, (uint64_t)seed, drawn[(size_t)seed % COUNT(drawn)], &why);
}

/* How many elements lie from one to the next along the op's last dimension; 0 where an operand lacks that. */
static size_t stride_along(const lathe_op *op, int o, const size_t *dim) {
  const lathe_operand *operand = &op->operands[o];
  size_t stride = 1;

  for (int d = operand->ndim - 1; d >= 0; d--) {
    if (operand->dim[d] == op->ndim - 1)
      return stride;
    stride *= dim[operand->dim[d]];
  }
  return 0;
}

/* The extent of an operand's last dimension where it has a row of that, else 1. */
static size_t row_length(const problem *p, int o) {
  const lathe_operand *operand = &p->op->operands[o];
  const int last = operand->ndim > 0 ? operand->dim[operand->ndim - 1] : -1;

  return operand->ndim > 1 || last == p->op->ndim - 1 ? p->dim[last] : 1;
}

static bool solve_with(problem *p, const mutant *m) {
  const lathe_operand *operand = &p->op->operands[m->which];
  const lathe_dtype type = lathe_dtype_of_operand(operand, p->dtype);

  if (m->how == WITHOUT_SCALAR)
    p->scalar[m->which] = m->number;
  else
    for (size_t i = 0; i < p->elements[m->which]; i++)
      lathe_dtype_narrow(type, &m->number, 1,
                         (char *)p->input[m->which] + i * lathe_dtype_size(type));
  return problem_solve(p);
}

/* The same problem without its last columns. */
static problem *cut(const problem *p, int seed) {
  problem *less = make(p->op, p->dtype, seed, COLUMNS - LAST);

  if (!less)
    return NULL;
  for (int o = 0; o < p->op->noperands; o++) {
    const size_t size = lathe_dtype_size(lathe_dtype_of_operand(&p->op->operands[o], p->dtype));
    const size_t stride = stride_along(p->op, o, p->dim) * size;
    const size_t from = COLUMNS * stride, to = (COLUMNS - LAST) * stride;
    if (p->input[o] && stride > 0)
      for (size_t row = 0; row < p->bytes[o] / from; row++)
        memcpy((char *)less->input[o] + row * to, (char *)p->input[o] + row * from, to);
    else if (p->input[o] && !p->op->operands[o].index)
      memcpy(less->input[o], p->input[o], p->bytes[o]);
  }
  if (problem_solve(less))
    return less;
  problem_free(less);
  return NULL;
}

/* Makes a result wrong in place; false where the mutant is none of such a result. other: a problem with the wrong
 * inputs, where the mutant wants one. */
static bool spoil(result_source *from, const problem *p, const mutant *m, const problem *other,
                  int o, char *result) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  const size_t size = lathe_dtype_size(type), count = p->elements[o];
  const size_t by = m->which == 1 ? size : row_length(p, o) * size;
  const size_t stride = stride_along(p->op, o, p->dim) * size;
  char *moved;

  if (m->how == SCALED) {
    if (!lathe_dtype_numeric(type) && m->number != 0)
      return false;
    for (size_t i = 0; i < count; i++) {
      double value;
      lathe_dtype_widen(type, result + i * size, 1, &value);
      value *= m->number;
      lathe_dtype_narrow(type, &value, 1, result + i * size);
    }
    return true;
  }
  if (m->how == MOVED) {
    moved = by < p->bytes[o] ? malloc(p->bytes[o]) : NULL;
    if (!moved)
      return false;
    memcpy(moved, result + by, p->bytes[o] - by);
    memcpy(moved + p->bytes[o] - by, result, by);
    memcpy(result, moved, p->bytes[o]);
    free(moved);
    return true;
  }
  if (m->how == CUT && stride > 0) {
    for (size_t row = 0; row < p->bytes[o] / (COLUMNS * stride); row++)
      memset(result + ((row + 1) * COLUMNS - LAST) * stride, 0, LAST * stride);
    return true;
  }
  moved = result_of(from, other, o);
  if (!moved)
    return false;
  memcpy(result, moved, p->bytes[o]);
  free(moved);
  return true;
}

/* Judges a mutant's results by the problem; right: what a right kernel would leave of each output; other: see
 * spoil. */
static void try_mutant(result_source *from, const problem *p, char *const *right, mutant *m,
                       const problem *other) {
  for (int o = 0; o < p->op->noperands; o++) {
    char *wrong;
    if (!p->op->operands[o].output || m->found[o])
      continue;
    wrong = malloc(p->bytes[o] + 1);
    if (!wrong)
      continue;
    memcpy(wrong, right[o], p->bytes[o]);
    if (spoil(from, p, m, other, o, wrong) && !result_is_same(p, o, right[o], wrong)) {
      m->tried[o] = true;
      m->found[o] = !result_passes(from, p, o, wrong);
    }
    free(wrong);
  }
}

static bool is_done(const lathe_op *op, const mutant *m) {
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output && !m->found[o])
      return false;
  return true;
}

/* rough: whether results have few digits. */
static int list_mutants(const lathe_op *op, bool rough, mutant *list) {
  const double slightly = rough ? 1.1 : 1.01;
  int count = 0;

  list[count++] = (mutant){.how = SCALED, .number = 0};
  list[count++] = (mutant){.how = SCALED, .number = -1};
  list[count++] = (mutant){.how = SCALED, .number = slightly};
  list[count++] = (mutant){.how = MOVED, .which = 1};
  if (op->ndim > 1)
    list[count++] = (mutant){.how = MOVED, .which = 2};
  list[count++] = (mutant){.how = CUT};
  for (int number = 0; number < 2; number++) {
    for (int o = 0; o < op->noperands; o++)
      if (!op->operands[o].output)
        list[count++] = (mutant){.how = WITHOUT_OPERAND, .which = o, .number = number};
    for (int s = 0; s < op->nscalars; s++)
      if (op->scalars[s].value != number)
        list[count++] = (mutant){.how = WITHOUT_SCALAR, .which = s, .number = number};
  }
  return count;
}

static void name_mutant(const lathe_op *op, const mutant *m, char *to, size_t size) {
  switch (m->how) {
  case SCALED:
    if (m->number == -1)
      snprintf(to, size, "the result negated");
    else if (m->number == 0)
      snprintf(to, size, "a result of 0");
    else
      snprintf(to, size, "%g times the result", m->number);
    break;
  case MOVED:
    snprintf(to, size, m->which == 1 ? "the next element's result" : "the next row's result");
    break;
  case CUT: snprintf(to, size, "a result without the last vector"); break;
  case WITHOUT_OPERAND:
    snprintf(to, size, "a result without %s", op->operands[m->which].name);
    break;
  case WITHOUT_SCALAR: snprintf(to, size, "a result without %s", op->scalars[m->which].name); break;
  }
}

/* The problem that a mutant solves instead; false where memory is short. */
static bool solve_wrongly(const problem *p, const mutant *m, int seed, problem **other) {
  *other = NULL;
  if (m->how == CUT)
    *other = cut(p, seed);
  else if (m->how == WITHOUT_OPERAND || m->how == WITHOUT_SCALAR)
    *other = make(p->op, p->dtype, seed, COLUMNS);
  else
    return true;
  return *other && (m->how == CUT || solve_with(*other, m));
}

/* Whether every result of a problem is zero. */
static bool is_zero(const problem *p) {
  for (int o = 0; o < p->op->noperands; o++)
    for (size_t i = 0; p->op->operands[o].output && i < p->elements[o]; i++)
      if (!lathe_dtype_numeric(lathe_dtype_of_operand(&p->op->operands[o], p->dtype)) ||
          problem_expected(p, o, i) != 0)
        return false;
  return true;
}

/* zero: whether every result of this problem and of those before it is. */
static bool try_all(const lathe_op *op, lathe_dtype dtype, result_source *from, int seed,
                    mutant *list, int count, bool *zero) {
  problem *p = make(op, dtype, seed, COLUMNS);
  char *right[LATHE_MAX_OPERANDS] = {NULL};
  bool ok = p != NULL;

  for (int o = 0; o < op->noperands && ok; o++)
    if (op->operands[o].output) {
      right[o] = result_of(from, p, o);
      ok = right[o] && (!from || result_passes(from, p, o, right[o]));
    }
  *zero = *zero && ok && is_zero(p);
  for (int i = 0; i < count && ok; i++) {
    problem *other;
    if (is_done(op, &list[i]))
      continue;
    ok = solve_wrongly(p, &list[i], seed, &other);
    if (ok)
      try_mutant(from, p, right, &list[i], other);
    problem_free(other);
  }
  for (int o = 0; o < op->noperands; o++)
    free(right[o]);
  problem_free(p);
  return ok;
}

mutate_verdict mutate_note(const lathe_op *op, lathe_dtype dtype, result_source *from, char *text,
                           size_t size) {
  mutate_survivor found[MUTANTS];
  const int count = mutate_survivors(op, dtype, from, found, COUNT(found));
  mutate_verdict verdict = count < 0 ? MUTATE_UNABLE : MUTATE_NONE_PASSES;
  size_t length = (size_t)snprintf(text, size, "weak:");

  for (int i = 0; i < count && i < (int)COUNT(found); i++) {
    const bool said = i > 0 && strcmp(found[i].what, found[i - 1].what) == 0;
    if (length < size && !said)
      length +=
          (size_t)snprintf(text + length, size - length, "%s %s", i ? "," : "", found[i].what);
    verdict =
        found[i].gross || verdict == MUTATE_GROSS_PASSES ? MUTATE_GROSS_PASSES : MUTATE_SOME_PASS;
  }
  if (length < size)
    snprintf(
        text + length, size - length,
        " would pass for %s, as the bound is wider than the difference: give the inputs a range "
        "where results differ by more, or the op a smaller ulp (%s)",
        count > 0 ? found[0].output : "", op->source);
  if (count <= 0)
    text[0] = 0;
  return verdict;
}

int mutate_survivors(const lathe_op *op, lathe_dtype dtype, result_source *from,
                     mutate_survivor *survivors, int most) {
  mutant list[MUTANTS];
  const bool rough = lathe_dtype_is_narrow(dtype) || (from && from->variant->digits > 0);
  const int count = list_mutants(op, rough, list);
  int found = 0;
  bool zero = true;

  for (int seed = 1; seed <= SEEDS; seed++)
    if (!try_all(op, dtype, from, seed, list, count, &zero))
      return -1;
  if (op->bench->nsizes > 0 && lathe_contracted_flops(op, op->bench->sizes[0].dim) > 0)
    found = contraction_mutants(op, dtype, from, op->bench->sizes[0].dim, survivors, most);
  if (found < 0)
    return -1;
  for (int i = 0; i < count; i++)
    for (int o = 0; o < op->noperands; o++) {
      if (from)
        from->tried += list[i].tried[o];
      if ((list[i].tried[o] && !list[i].found[o]) ||
          (zero && i == ZEROS && op->operands[o].output)) {
        if (found < most) {
          survivors[found].output = op->operands[o].name;
          survivors[found].gross = list[i].how == SCALED;
          name_mutant(op, &list[i], survivors[found].what, sizeof survivors[found].what);
        }
        found++;
      }
    }
  return found;
}
