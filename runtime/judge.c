/* judge.c - is an output of a problem right? */
#include "judge.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "message.h"
#include "pool.h"
#include "repeats.h"
#include "ruler.h"
#include "terms.h"
#include "ulp.h"

enum {
  BLOCK = 256,       /* elements compared at a time */
  PART = 64 * BLOCK, /* by one thread */
};

/* What the second law allows, in units of one rounding: of a magnitude, for rounding errors are random; and of the
 * result, 1e-5 in f32. */
static const double USUAL = 0.5, RELATIVE = 84;

/* By what an output is judged. */
typedef struct law {
  const problem *p, *flushed;
  int output;
  lathe_dtype type;
  const dtype_format *stored, *computed;
  bool narrow;  /* stored in a narrower type than computed in */
  double bound; /* the spec's */
  double shown; /* as judgement.bound */
  ruler ruler;  /* of elements that are ordinary numbers */
} law;

/* One block in double: what was got, what was expected, how far apart they are. The difference
 * is taken in the reference's own type. */
typedef struct block {
  size_t start, count;
  double got[BLOCK], difference[BLOCK], expected[BLOCK], magnitude[BLOCK];
} block;

/* Without a bound in the spec a result must be the nearest value. */
static double bound_of(const lathe_op *op, lathe_dtype dtype) {
  for (int i = 0; i < op->nbounds; i++)
    if (op->bounds[i].dtype == dtype)
      return op->bounds[i].ulp;
  return 0.5;
}

double judge_bound(const lathe_op *op, lathe_dtype dtype) {
  const dtype_format *f = dtype_format_of(dtype);
  const double bound = bound_of(op, dtype);

  return f->size == 2 && bound > 0
             ? 0.5 + ldexp(bound, f->digits - dtype_format_of(LATHE_F32)->digits)
             : bound;
}

/* What a larger magnitude counts as. */
static double most_magnitude(const law *l) {
  return dtype_max(l->narrow ? LATHE_F32 : l->type);
}

static law law_of(const problem *p, const problem *flushed, int o) {
  law l = {.p = p, .flushed = flushed, .output = o};

  l.type = dtype_of_operand(&p->op->operands[o], p->dtype);
  l.stored = dtype_format_of(l.type);
  l.narrow = dtype_floating(l.type) && l.stored->size == 2;
  l.computed = dtype_format_of(l.narrow ? LATHE_F32 : p->dtype);
  l.bound = bound_of(p->op, p->dtype);
  l.shown = judge_bound(p->op, p->dtype);
  if (!dtype_floating(l.type)) { /* no rounded term is nearer than half a unit */
    l.shown = fmax(l.bound, 0.5);
    return l;
  }
  l.ruler = ruler_of(l.stored, l.computed, dtype_max(l.type), most_magnitude(&l));
  if (l.narrow && l.bound == 0) {
    l.ruler.stored = 1;
    l.ruler.computed = 0;
  } else if (l.narrow) {
    l.ruler.times = l.shown;
    l.ruler.stored = 0.5;
    l.ruler.computed = l.bound;
  }
  return l;
}

/* Fills in a block whose `got` is there. */
static void compare_block(const law *l, block *b) {
  const problem *p = l->p;

  if (p->wide) {
    const long double *expected = (const long double *)p->expected[l->output] + b->start;
    const long double *magnitude = (const long double *)p->magnitude[l->output] + b->start;
    for (size_t i = 0; i < b->count; i++) {
      b->difference[i] = (double)(b->got[i] - expected[i]);
      b->expected[i] = (double)expected[i];
      b->magnitude[i] = isfinite(magnitude[i]) ? (double)fminl(magnitude[i], DBL_MAX) : INFINITY;
    }
  } else {
    const double *expected = (const double *)p->expected[l->output] + b->start;
    memcpy(b->expected, expected, b->count * sizeof *expected);
    memcpy(b->magnitude, (const double *)p->magnitude[l->output] + b->start,
           b->count * sizeof *expected);
    for (size_t i = 0; i < b->count; i++)
      b->difference[i] = b->got[i] - expected[i];
  }
}

/* The spacing of a format's numbers at a value; a normal number in double for those of at most 32 bits. */
static double spacing_at(const dtype_format *f, double value) {
  return 1 / ulp_of(f, 1, value);
}

/* The error of element i of a block, in the units of judgement.bound; NaN where nothing can be said of it. */
static double element_error(const law *l, const block *b, size_t i) {
  const double largest = dtype_max(l->type), expected = fabs(b->expected[i]);
  /* Sums that cancel to a true zero have magnitudes far above this, whose products underflow not. */
  const double nothing_cancels = ldexp(1, l->computed->emin + 6);
  double magnitude = expected, error;

  if (!(b->magnitude[i] <= DBL_MAX))
    return NAN;
  if (b->got[i] == 0 && expected == 0 && b->magnitude[i] <= nothing_cancels &&
      !l->p->op->any_zero_sign && !signbit(b->got[i]) != !signbit(b->expected[i]) &&
      problem_expected(l->p, l->output, b->start + i) == 0) /* a long double may be below doubles */
    return INFINITY;
  if (b->magnitude[i] > magnitude)
    magnitude = fmin(b->magnitude[i], most_magnitude(l));
  if (l->p->wide && magnitude < DBL_MIN) /* a double has no room for the difference */
    return (double)(fabsl(b->got[i] - problem_expected(l->p, l->output, b->start + i)) * 0x1p1074L);
  if (!(fabs(b->got[i]) <= largest && expected <= largest))
    return ulp_at_edge(l->stored, b->got[i], problem_expected(l->p, l->output, b->start + i));
  error = b->difference[i] == 0 ? 0 : ulp_of(l->computed, b->difference[i], magnitude);
  if (!l->narrow || error == 0)
    return error;
  if (l->bound == 0)
    return ulp_of(l->stored, b->difference[i], expected);
  return l->shown * fabs(b->difference[i]) /
         (0.5 * spacing_at(l->stored, expected) + l->bound * spacing_at(l->computed, magnitude));
}

/* Whether an element is right on a device that may take numbers below the normal range as zero: also
 * one on the way to the result, which may be several times as much, and one that is handed out as it is
 * because it was taken as zero. */
static bool right_if_flushed(const law *l, const block *found, size_t i) {
  const int emin = l->stored->emin, several = 5; /* as a power of two */
  const size_t at = found->start + i;
  const long double expected = problem_expected(l->p, l->output, at);
  law without = *l;
  block b = {.start = at, .count = 1, .got = {found->got[i]}};
  double error;

  without.p = l->flushed;
  compare_block(&without, &b);
  if (expected != 0 && fabsl(b.got[0] - expected) <= ldexpl(1, emin + several))
    return true;
  if (b.got[0] != 0 && fabs(b.got[0]) < ldexp(1, emin) && b.expected[0] == 0)
    return true;
  error = element_error(&without, &b, 0);
  return isnan(error) || error <= l->shown;
}

/* The squares of an output's 2-norms: of the errors, of what was expected, of the magnitudes. */
typedef struct norms {
  long double off, expected, magnitude, fourth; /* fourth: powers of the magnitudes */
  size_t count;
} norms;

/* A block's elements that were judged by numbers; b holds zeros in the place of the others. */
static void add_to_norms(norms *n, const block *b) {
  n->count += b->count;
  for (size_t i = 0; i < b->count; i++) {
    const long double square = (long double)b->magnitude[i] * b->magnitude[i];
    n->off += (long double)b->difference[i] * b->difference[i];
    n->expected += (long double)b->expected[i] * b->expected[i];
    n->magnitude += square;
    n->fourth += square * square;
  }
}

static void leave_out_of_norms(block *b, size_t i) {
  b->difference[i] = b->expected[i] = b->magnitude[i] = 0;
}

/* The second law, where as many elements as `alike`, all of one magnitude, would have such norms. What numbers below
 * the normal range are rounded by is allowed beside. */
static void judge_alike(const law *l, const norms *n, long double alike, judgement *j) {
  const long double expected = sqrtl(n->expected), magnitude = sqrtl(n->magnitude);
  const long double unit = ldexpl(1, 1 - l->computed->digits), half = ldexpl(1, -l->stored->digits);
  const long double share = fminl(l->bound, USUAL + 1.5L * l->bound / sqrtl(alike));
  const long double most = fmaxl(RELATIVE * expected, USUAL * magnitude);
  const long double least = ldexpl(sqrtl((long double)n->count), l->stored->emin) * half;
  const long double allowed = unit * fminl(share * magnitude, most) +
                              (l->narrow ? half * expected : 0) + least * fmaxl(1, 2 * l->bound);

  if (l->bound == 0 || expected == 0)
    return;
  j->off = (double)(sqrtl(n->off) / expected);
  j->off_allowed = (double)(allowed / expected);
}

/* Elements that are equal have one error, and count as one as large: that is found only where it decides. */
static void judge_norms(const law *l, const norms *n, judgement *j) {
  const long double square = n->magnitude * n->magnitude;
  judgement one = *j;

  judge_alike(l, n, n->fourth > 0 ? square / n->fourth : 1, j);
  judge_alike(l, n, 1, &one);
  if (j->wrong == 0 && j->off > j->off_allowed && one.off <= one.off_allowed) {
    const long double fourth = repeats_fourth(l->p, l->output);
    if (fourth > 0)
      judge_alike(l, n, fmaxl(1, square / fourth), j);
  }
}

typedef void fill_block(const law *l, const void *from, block *b);

/* What a part of the elements came to. */
typedef struct part {
  judgement j;
  norms n;
} part;

/* An output of which all parts are judged. */
typedef struct trial {
  const law *l;
  fill_block *fill;
  const void *from;
  bool first;        /* nothing is wanted beyond an element that is wrong, */
  atomic_bool found; /* as there is one */
  part *part;
} trial;

/* A block of ordinary numbers of which none is wrong; false for others. */
static bool judge_plain(const law *l, const block *b, part *to) {
  const problem *p = l->p;
  const double *expected = (const double *)p->expected[l->output] + b->start;
  const double *magnitude = (const double *)p->magnitude[l->output] + b->start;
  double error[BLOCK], worst = to->j.worst;
  ruler_sums sums;

  if (p->wide || !ruler_measure(&l->ruler, b->got, expected, magnitude, b->count, error, &sums))
    return false;
  for (size_t i = 0; i < b->count; i++)
    worst = error[i] > worst ? error[i] : worst;
  if (worst > l->shown)
    return false;
  to->j.worst = worst;
  to->n.count += b->count;
  to->n.off += sums.off;
  to->n.expected += sums.expected;
  to->n.magnitude += sums.magnitude;
  to->n.fourth += sums.fourth;
  return true;
}

/* Any block, element by element. */
static void judge_block(const law *l, block *b, part *to) {
  compare_block(l, b);
  for (size_t i = 0; i < b->count; i++) {
    const double error = element_error(l, b, i);
    const bool unknown = isnan(error);
    const bool flushed = error > l->shown && l->flushed && right_if_flushed(l, b, i);
    b->magnitude[i] = fmax(b->magnitude[i], fabs(b->expected[i]));
    if (unknown || flushed || !isfinite(b->difference[i]))
      leave_out_of_norms(b, i);
    to->j.unjudged += unknown;
    if (unknown || flushed)
      continue;
    if (error > to->j.worst)
      to->j.worst = error;
    if (error > l->shown && to->j.wrong++ == 0) {
      to->j.at = b->start + i;
      to->j.at_ulp = error;
    }
  }
  add_to_norms(&to->n, b);
}

static void judge_part(void *context, size_t nth, int thread) {
  trial *t = context;
  const size_t elements = t->l->p->elements[t->l->output];
  const size_t end = nth * PART + pool_part_size(elements, PART, nth);
  part *to = &t->part[nth];
  block b;

  (void)thread;
  for (b.start = nth * PART; b.start < end && !atomic_load(&t->found); b.start += BLOCK) {
    b.count = end - b.start < BLOCK ? end - b.start : BLOCK;
    t->fill(t->l, t->from, &b);
    if (!judge_plain(t->l, &b, to))
      judge_block(t->l, &b, to);
    if (t->first && to->j.wrong > 0)
      atomic_store(&t->found, true);
  }
}

/* One part and the next, in their order. */
static void join(part *all, const part *next) {
  if (all->j.wrong == 0) {
    all->j.at = next->j.at;
    all->j.at_ulp = next->j.at_ulp;
  }
  all->j.worst = fmax(all->j.worst, next->j.worst);
  all->j.wrong += next->j.wrong;
  all->j.unjudged += next->j.unjudged;
  all->n.count += next->n.count;
  all->n.off += next->n.off;
  all->n.expected += next->n.expected;
  all->n.magnitude += next->n.magnitude;
  all->n.fourth += next->n.fourth;
}

/* first: nothing is wanted beyond whether an element is wrong. */
static judgement judge_floating(const law *l, fill_block *fill, const void *from, bool first) {
  const size_t parts = pool_parts(l->p->elements[l->output], PART);
  part all = {.j = {.bound = l->shown}}, one = {.j = {.bound = l->shown}};
  trial t = {.l = l, .fill = fill, .from = from, .first = first, .part = &one};

  if (parts > 1)
    t.part = calloc(parts, sizeof *t.part);
  if (!t.part)
    message_refuse("out of memory");
  pool_run(judge_part, &t, parts);
  for (size_t i = 0; i < parts; i++)
    join(&all, &t.part[i]);
  if (parts > 1)
    free(t.part);
  judge_norms(l, &all.n, &all.j);
  return all.j;
}

/* Integers must be equal; but an index may be another, where its term is as good. */
static judgement judge_integers(const law *l, const void *got) {
  const problem *p = l->p;
  const int o = l->output;
  const size_t size = l->stored->size;
  judgement j = {.bound = l->shown};
  terms *near = NULL;

  for (size_t i = 0; i < p->elements[o]; i++) {
    const char *element = (const char *)got + i * size;
    double error = INFINITY;
    if (memcmp(element, (const char *)p->expected[o] + i * size, size) == 0 ||
        (l->flushed &&
         memcmp(element, (const char *)l->flushed->expected[o] + i * size, size) == 0))
      continue;
    if (!near && j.wrong == 0)
      near = terms_make(p, o, got);
    if (near) {
      error = terms_error(near, i);
      j.worst = fmax(j.worst, error);
    }
    if (!(error <= l->shown) && j.wrong++ == 0) {
      j.at = i;
      j.at_ulp = error;
    }
  }
  terms_free(near);
  return j;
}

static void fill_given(const law *l, const void *from, block *b) {
  dtype_widen(l->type, (const char *)from + b->start * l->stored->size, b->count, b->got);
}

judgement judge_output(const problem *p, const problem *flushed, int output, const void *got) {
  const law l = law_of(p, flushed, output);

  return dtype_floating(l.type) ? judge_floating(&l, fill_given, got, false)
                                : judge_integers(&l, got);
}

bool judge_is_right(const judgement *j) {
  return j->wrong == 0 && j->off <= j->off_allowed;
}

bool judge_may_be_spec(const lathe_op *op, lathe_dtype dtype, const judgement *j) {
  const double bound = bound_of(op, dtype);

  return op->roughest_ulp > bound && bound > 0 && j->at_ulp / j->bound * bound <= op->roughest_ulp;
}

/* The right result times a factor, as a kernel would leave it. */
static void fill_scaled(const law *l, const void *from, block *b) {
  char narrowed[BLOCK * sizeof(double)];

  for (size_t i = 0; i < b->count; i++)
    b->got[i] = (double)(problem_expected(l->p, l->output, b->start + i) *
                         (long double)*(const double *)from);
  dtype_narrow(l->type, b->got, b->count, narrowed);
  dtype_widen(l->type, narrowed, b->count, b->got);
}

bool judge_lets_pass(const problem *p, int output, double factor) {
  const law l = law_of(p, NULL, output);
  const judgement j = judge_floating(&l, fill_scaled, &factor, true);

  return judge_is_right(&j);
}
