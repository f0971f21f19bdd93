/* contraction_mutants.c - would wrong kernels of a contraction be found out? */
#include "contraction_mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/dtype.h"
#include "problem/random.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
  MOST = 64,  /* places of the last dimensions, */
  LAST = 3,   /* these, */
  FEW = 3,    /* and of others */
  BLOCK = 16, /* of terms, and of a tile's rows and columns */
  SEEDS = 6,  /* problems until a mutant counts as a survivor */
  MUTANTS = 1 + LATHE_MAX_OPERANDS * (2 * LATHE_MAX_DIMS + 2),
};

/* How a wrong kernel comes by its result: of inputs it leaves out the last terms along a dimension, takes the first
 * matrix for all, or takes rows for columns; of outputs it does not write the last tile. */
typedef enum how { TERMS, FIRST, TRANSPOSED, TILE } how;

typedef struct mutant {
  how how;
  int input, dim; /* TERMS: along this; of FIRST and TRANSPOSED the input alone counts */
  size_t terms;
  bool found[LATHE_MAX_OPERANDS], tried[LATHE_MAX_OPERANDS]; /* by output */
} mutant;

/* An operand's bytes along a dimension: so many runs, each of the dimension's places one after the other. */
typedef struct along {
  size_t runs, places, bytes; /* bytes: of one place in one run */
} along;

static along along_dim(const problem *p, int operand, int dim) {
  const lathe_operand *o = &p->op->operands[operand];
  along a = {1, 1, lathe_dtype_size(lathe_dtype_of_operand(o, p->dtype))};
  bool after = false;

  for (int i = 0; i < o->ndim; i++) {
    const size_t extent = p->dim[o->dim[i]];
    if (o->dim[i] == dim) {
      a.places = extent;
      after = true;
    } else if (after) {
      a.bytes *= extent;
    } else {
      a.runs *= extent;
    }
  }
  return a;
}

/* Zeros in the last places along a dimension. */
static void leave_out(const problem *p, char *data, int operand, int dim, size_t places) {
  const along a = along_dim(p, operand, dim);

  for (size_t run = 0; run < a.runs; run++)
    memset(data + ((run + 1) * a.places - places) * a.bytes, 0, places * a.bytes);
}

/* The first matrix of an operand of several in the place of all. */
static void repeat_first(const problem *p, char *data, int operand) {
  const along a = along_dim(p, operand, p->op->operands[operand].dim[0]);

  for (size_t place = 1; place < a.places; place++)
    memcpy(data + place * a.bytes, data, a.bytes);
}

/* Rows for columns, of all matrices. */
static void transpose(const problem *p, char *data, int operand) {
  const lathe_operand *o = &p->op->operands[operand];
  const along a = along_dim(p, operand, o->dim[o->ndim - 1]);
  const size_t n = a.places, matrices = a.runs / n;
  char kept[sizeof(double)];

  for (size_t m = 0; m < matrices; m++)
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < i; j++) {
        char *one = data + ((m * n + i) * n + j) * a.bytes;
        char *other = data + ((m * n + j) * n + i) * a.bytes;
        memcpy(kept, one, a.bytes);
        memcpy(one, other, a.bytes);
        memcpy(other, kept, a.bytes);
      }
}

/* Zeros in the last rows and columns of the last matrix. */
static void leave_out_tile(const problem *p, char *data, int output) {
  const lathe_operand *o = &p->op->operands[output];
  const along row = along_dim(p, output, o->dim[o->ndim - 1]);
  const size_t columns = row.places < BLOCK ? row.places : BLOCK;
  const size_t rows = o->ndim > 1 ? p->dim[o->dim[o->ndim - 2]] : 1,
               last = rows < BLOCK ? rows : BLOCK;

  for (size_t r = row.runs - last; r < row.runs; r++)
    memset(data + ((r + 1) * row.places - columns) * row.bytes, 0, columns * row.bytes);
}

/* ---- trying them ---------------------------------------------------------------------------------- */

static int list_mutants(const lathe_op *op, const size_t *dim, mutant *list) {
  int count = 0;

  list[count++] = (mutant){.how = TILE};
  for (int o = 0; o < op->noperands; o++) {
    const lathe_operand *operand = &op->operands[o];
    const int ndim = operand->ndim;
    if (operand->output || ndim == 0 || operand->index)
      continue;
    for (int d = 0; d < ndim; d++) {
      const size_t extent = dim[operand->dim[d]];
      list[count++] = (mutant){.how = TERMS, .input = o, .dim = operand->dim[d], .terms = 1};
      if (extent > BLOCK)
        list[count++] = (mutant){.how = TERMS, .input = o, .dim = operand->dim[d], .terms = BLOCK};
    }
    if (ndim > 2 && dim[operand->dim[0]] > 1)
      list[count++] = (mutant){.how = FIRST, .input = o};
    if (ndim > 1 && dim[operand->dim[ndim - 1]] == dim[operand->dim[ndim - 2]])
      list[count++] = (mutant){.how = TRANSPOSED, .input = o};
  }
  return count;
}

static void name_mutant(const lathe_op *op, const mutant *m, char *to, size_t size) {
  const char *input = op->operands[m->input].name;

  switch (m->how) {
  case TERMS:
    if (m->terms == 1)
      snprintf(to, size, "a result without the last %.8s of %.8s", op->dim[m->dim], input);
    else
      snprintf(to, size, "a result without the last %zu %.8s of %.8s", m->terms, op->dim[m->dim],
               input);
    break;
  case FIRST: snprintf(to, size, "the result of the first %.16s for all", input); break;
  case TRANSPOSED: snprintf(to, size, "the result of %.16s transposed", input); break;
  case TILE: snprintf(to, size, "a result without the last tile"); break;
  }
}

static bool is_done(const lathe_op *op, const mutant *m) {
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output && !m->found[o])
      return false;
  return true;
}

/* The problem as a wrong kernel takes it; null where memory is short. */
static problem *taken_wrongly(const problem *p, const mutant *m) {
  problem *other = problem_copy(p);

  if (!other)
    return NULL;
  if (m->how == TERMS)
    leave_out(p, other->input[m->input], m->input, m->dim, m->terms);
  else if (m->how == FIRST)
    repeat_first(p, other->input[m->input], m->input);
  else if (m->how == TRANSPOSED)
    transpose(p, other->input[m->input], m->input);
  if (problem_solve(other))
    return other;
  problem_free(other);
  return NULL;
}

/* False where memory is short. */
static bool try_mutant(result_source *from, const problem *p, mutant *m) {
  problem *other = m->how == TILE ? NULL : taken_wrongly(p, m);
  bool ok = m->how == TILE || other;

  for (int o = 0; o < p->op->noperands && ok; o++) {
    char *right, *wrong;
    if (!p->op->operands[o].output || m->found[o])
      continue;
    right = result_of(from, p, o);
    wrong = result_of(from, other ? other : p, o);
    ok = right && wrong;
    if (ok && m->how == TILE && p->op->operands[o].ndim > 0)
      leave_out_tile(p, wrong, o);
    if (ok && !result_is_same(p, o, right, wrong)) {
      m->tried[o] = true;
      m->found[o] = !result_passes(from, p, o, wrong);
    }
    free(right);
    free(wrong);
  }
  problem_free(other);
  return ok;
}

int contraction_mutants(const lathe_op *op, lathe_dtype dtype, result_source *from,
                        const size_t *dim, mutate_survivor *survivors, int most) {
  static const unsigned drawn[] = {0, RANDOM_NARROW | RANDOM_SCALARS}; /* as job.c has it */
  mutant list[MUTANTS];
  size_t small[LATHE_MAX_DIMS];
  int count, found = 0;

  for (int d = 0; d < op->ndim; d++) {
    const size_t limit = d < op->ndim - LAST ? FEW : MOST;
    small[d] = dim[d] < limit ? dim[d] : limit;
  }
  count = list_mutants(op, small, list);
  for (int seed = 1; seed <= SEEDS; seed++) {
    problem *p = NULL;
    const char *why;
    for (int i = 0; i < count; i++) {
      if (is_done(op, &list[i]))
        continue;
      if (!p)
        p = problem_make(op, dtype, small, (uint64_t)seed, drawn[(size_t)seed % COUNT(drawn)],
                         &why);
      if (!p || !try_mutant(from, p, &list[i])) {
        problem_free(p);
        return -1;
      }
    }
    problem_free(p);
  }
  for (int i = 0; i < count; i++)
    for (int o = 0; o < op->noperands; o++) {
      if (from)
        from->tried += list[i].tried[o];
      if (list[i].tried[o] && !list[i].found[o]) {
        if (found < most) {
          survivors[found] = (mutate_survivor){.output = op->operands[o].name};
          name_mutant(op, &list[i], survivors[found].what, sizeof survivors[found].what);
        }
        found++;
      }
    }
  return found;
}
