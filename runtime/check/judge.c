/* judge.c - is an output of a problem right? */
#include "judge.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/pool.h"
#include "library/dtype.h"
#include "norms.h"
#include "repeats.h"
#include "ruler.h"
#include "terms.h"
#include "ulp.h"
#include "library/bench.h"

enum {
  BLOCK = 256,       /* elements compared at a time */
  PART = 64 * BLOCK, /* by one thread */
};

/* By what an output is judged. */
typedef struct law {
  const problem *p;
  const problem_views *views; /* what else it may be; null for nothing */
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

/* The spec's bound in units of the type that results are stored in. */
static double shown_bound(double bound, lathe_dtype stored) {
  return lathe_dtype_is_narrow(stored) && bound > 0
             ? 0.5 + ldexp(bound, lathe_dtype_format_of(stored)->digits -
                                      lathe_dtype_computed(stored)->digits)
             : bound;
}

double judge_bound(const lathe_op *op, lathe_dtype dtype) {
  return shown_bound(problem_ulp(op, dtype), dtype);
}

/* The largest magnitude; a larger one counts as this. A slope times a result near the largest number is beyond f32's,
 * but a number. */
static double most_magnitude(const law *l) {
  return l->p->wide ? DBL_MAX : 0x1p500;
}

static law law_of(const problem *p, const problem_views *views, int o,
                  const dtype_format *computed) {
  law l = {.p = p, .views = views, .output = o, .computed = computed};

  l.type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  l.stored = lathe_dtype_format_of(l.type);
  l.narrow = lathe_dtype_is_narrow(l.type);
  l.bound = problem_ulp(p->op, p->dtype);
  l.shown = shown_bound(l.bound, lathe_dtype_numeric(l.type) ? l.type : p->dtype);
  if (!lathe_dtype_numeric(l.type)) { /* no rounded term is nearer than half a unit */
    l.shown = fmax(l.bound, 0.5);
    return l;
  }
  l.ruler = ruler_of(l.stored, l.computed, lathe_dtype_max(l.type), most_magnitude(&l));
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
      b->magnitude[i] = magnitude[i] <= DBL_MAX ? (double)magnitude[i] : INFINITY;
    }
  } else {
    const double *expected = (const double *)p->expected[l->output] + b->start;
    memcpy(b->expected, expected, b->count * sizeof *expected);
    memcpy(b->magnitude, (const double *)p->magnitude[l->output] + b->start,
           b->count * sizeof *expected);
    for (size_t i = 0; i < b->count; i++)
      b->difference[i] = b->got[i] - expected[i];
  }
  for (size_t i = 0; l->stored->integer && i < b->count; i++) {
    b->expected[i] = lathe_dtype_within(l->type, b->expected[i]);
    b->difference[i] = b->got[i] - b->expected[i];
  }
}

/* The spacing of a format's numbers at a value; a normal number in double for formats of at most 32 bits. */
static double spacing_at(const dtype_format *f, double value) {
  return 1 / ulp_of(f, 1, value);
}

/* The same of an integer type. The reference's number may be off by `off` before it is rounded, so far as that is
 * within the range of the type. */
static double integer_error(const law *l, const block *b, size_t i, double off) {
  const double exact = (double)problem_expected(l->p, l->output, b->start + i);
  const double to = b->difference[i] > 0 ? exact + off : exact - off;
  const double room = fabs(lathe_dtype_within(l->type, to) - b->expected[i]);

  if (b->difference[i] == 0)
    return 0;
  return l->bound == 0 ? fabs(b->difference[i])
                       : l->shown * fabs(b->difference[i]) / (0.5 + (isnan(exact) ? 0 : room));
}

/* The error of an infinity in place of a number, which is as far off as a number one unit beyond the largest. */
static double beyond_error(const law *l, const block *b, size_t i, double magnitude) {
  const double at_edge =
      ulp_at_edge(l->stored, b->got[i], problem_expected(l->p, l->output, b->start + i));
  const double value = copysign(ldexp(1, l->stored->emax), b->got[i]);

  return fmin(at_edge, 2 * ulp_of(l->computed, value - b->expected[i] / 2, magnitude));
}

/* The error where more than the largest number was expected, or something else than a number found: of an infinity as
 * of a number one unit beyond the largest, where the magnitude says that the right result may be as far from the
 * expected. */
static double error_past_edge(const law *l, const block *b, size_t i, double magnitude) {
  const double at_edge =
      ulp_at_edge(l->stored, b->got[i], problem_expected(l->p, l->output, b->start + i));
  const double got = isinf(b->got[i]) ? copysign(ldexp(1, l->stored->emax), b->got[i]) : b->got[i];
  const double off =
      l->shown * fabs(got - b->expected[i]) / (l->bound * spacing_at(l->computed, magnitude));

  return fmin(at_edge, off);
}

/* The error of element i of a block, in the units of judgement.bound; NaN where nothing can be said of it. */
static double element_error(const law *l, const block *b, size_t i) {
  const double largest = lathe_dtype_max(l->type), expected = fabs(b->expected[i]);
  /* Sums that cancel to a true zero have magnitudes far above this, whose products underflow not. */
  const double nothing_cancels = ldexp(1, l->computed->emin + 6);
  double magnitude = expected, error;

  if (!(b->magnitude[i] <= DBL_MAX))
    return NAN;
  if (b->magnitude[i] > magnitude)
    magnitude = fmin(b->magnitude[i], most_magnitude(l));
  if (l->stored->integer)
    return integer_error(l, b, i, l->bound * spacing_at(l->computed, magnitude));
  if (b->got[i] == 0 && expected == 0 && b->magnitude[i] <= nothing_cancels &&
      !l->p->op->bench->any_zero_sign && !signbit(b->got[i]) != !signbit(b->expected[i]) &&
      problem_expected(l->p, l->output, b->start + i) == 0) /* a long double may be below doubles */
    return INFINITY;
  if (l->p->wide && magnitude < DBL_MIN) /* a double has no room for the difference */
    return (double)(fabsl(b->got[i] - problem_expected(l->p, l->output, b->start + i)) * 0x1p1074L);
  if (isinf(b->got[i]) && expected <= largest)
    return beyond_error(l, b, i, magnitude);
  if (!(fabs(b->got[i]) <= largest && expected <= largest))
    return error_past_edge(l, b, i, magnitude);
  error = b->difference[i] == 0 ? 0 : ulp_of(l->computed, b->difference[i], magnitude);
  if (!l->narrow || error == 0)
    return error;
  if (l->bound == 0)
    return ulp_of(l->stored, b->difference[i], expected);
  return l->shown * fabs(b->difference[i]) /
         (0.5 * spacing_at(l->stored, expected) + l->bound * spacing_at(l->computed, magnitude));
}

/* Whether an element is right to kernels to which the problem is another, by what they may do on the way: as far off
 * as that makes it, whatever the spec's bound is, and as a result that counts as zero. */
static bool right_in_view(const law *l, const block *found, size_t i, const problem *view) {
  const bool flushes = l->views->leeway.flushed & 1u << l->type;
  law by = *l;
  block b = {.start = found->start + i, .count = 1, .got = {found->got[i]}};
  double error, more;

  by.p = view;
  compare_block(&by, &b);
  error = element_error(&by, &b, 0);
  if (isnan(error) || error <= l->shown || l->stored->integer)
    return isnan(error) || error <= l->shown;
  more =
      fmax(b.magnitude[0] - fmax(found->magnitude[i], 0), 0) * ldexp(1, 1 - l->computed->digits) +
      (l->narrow ? 0.5 * spacing_at(l->stored, b.expected[0]) : 0);
  return fabs(b.difference[0]) < more + (flushes ? ldexp(1, l->stored->emin) : 0);
}

static bool right_in_some_view(const law *l, const block *found, size_t i) {
  for (int v = 0; l->views && v < l->views->count; v++)
    if (right_in_view(l, found, i, l->views->of[v]))
      return true;
  return false;
}

typedef void fill_block(const law *l, const void *from, block *b);

static void leave_out_of_norms(block *b, size_t i) {
  b->difference[i] = b->expected[i] = b->magnitude[i] = 0;
}

static void judge_alike(const law *l, const norms *n, long double alike, long double relative,
                        judgement *j) {
  const norms_law by = {l->stored, l->computed, l->narrow, l->bound};

  norms_judge(&by, n, alike, relative, &j->off, &j->off_allowed);
}

/* Whether roundings of factors between products are no more random than these: of inputs that are special values. */
static bool rounds_alike(const law *l) {
  const int narrowed = l->views ? l->views->leeway.narrowed : l->p->leeway.narrowed;

  return narrowed && l->p->special;
}

/* Elements that are equal have one error, and count as one as large: that is found only where it decides. */
static void judge_norms(const law *l, const norms *n, judgement *j) {
  const long double square = n->magnitude * n->magnitude;
  judgement one = *j;

  judge_alike(l, n, n->fourth > 0 && !rounds_alike(l) ? square / n->fourth : 1, norms_relative, j);
  judge_alike(l, n, 1, norms_relative, &one);
  if (j->wrong == 0 && j->off > j->off_allowed && one.off <= one.off_allowed) {
    const long double fourth = repeats_fourth(l->p, l->output);
    if (fourth > 0)
      judge_alike(l, n, fmaxl(1, square / fourth), norms_relative, j);
  }
}

/* A row's elements are all off by what is computed once for it: what lies along the magnitudes of a row, those of
 * negative results apart, counts as one element, the rest as before. That is found only where it decides. */
static void judge_rows(const law *l, fill_block *fill, const void *from, const norms *n,
                       judgement *j) {
  const lathe_operand *o = &l->p->op->operands[l->output];
  const size_t elements = l->p->elements[l->output];
  const size_t width = l->p->dim[o->dim[o->ndim - 1]];
  const long double square = n->magnitude * n->magnitude;
  norms apart = *n, together = *n;
  judgement of_apart = *j, of_together = *j;
  norms_common row[2] = {{0, 0}, {0, 0}};

  together.off = together.fourth = 0;
  for (block b = {.start = 0}; b.start < elements; b.start += BLOCK) {
    b.count = elements - b.start < BLOCK ? elements - b.start : BLOCK;
    fill(l, from, &b);
    compare_block(l, &b);
    for (size_t i = 0; i < b.count; i++) {
      const long double magnitude = fmax(b.magnitude[i], fabs(b.expected[i]));
      norms_common *c = &row[b.expected[i] < 0];
      if (isfinite(magnitude) && isfinite(b.difference[i])) {
        c->off += b.difference[i] * magnitude;
        c->magnitude += magnitude * magnitude;
      }
      if ((b.start + i + 1) % width == 0)
        norms_end_row(row, &apart, &together);
    }
  }
  apart.off = fmaxl(apart.off, 0);
  judge_alike(l, &apart, n->fourth > 0 ? square / n->fourth : 1, norms_relative, &of_apart);
  judge_alike(l, &together, square / together.fourth, INFINITY, &of_together);
  if (of_together.off <= of_together.off_allowed) {
    j->off = of_apart.off;
    j->off_allowed = of_apart.off_allowed;
  }
}

/* Whether what is computed once may be in all elements of an output: in rows, and in what is left of other
 * dimensions. */
static bool has_in_common(const lathe_op *op, int output) {
  return op->operands[output].ndim > 0 && op->ndim > 1;
}

/* The judgement of a part of the elements. */
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
  ruler_sums sums;

  if (p->wide || !ruler_measure(&l->ruler, b->got, expected, magnitude, b->count, &sums) ||
      sums.worst > l->shown)
    return false;
  to->j.worst = fmax(to->j.worst, sums.worst);
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
    const bool otherwise = error > l->shown && right_in_some_view(l, b, i);
    b->magnitude[i] = fmax(b->magnitude[i], fabs(b->expected[i]));
    if (unknown || otherwise || !isfinite(b->difference[i]))
      leave_out_of_norms(b, i);
    to->j.unjudged += unknown;
    if (unknown || otherwise)
      continue;
    if (error > to->j.worst)
      to->j.worst = error;
    if (error > l->shown && to->j.wrong++ == 0) {
      to->j.at = b->start + i;
      to->j.at_ulp = error;
    }
    to->j.unlike += error > l->shown &&
                    (isnan(b->got[i]) != isnan(b->expected[i]) ||
                     isinf(b->got[i]) != !(fabs(b->expected[i]) <= lathe_dtype_max(l->type)));
  }
  norms_add(&to->n, b->difference, b->expected, b->magnitude,
            b->count); /* zeros in the place of others */
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
  all->j.unlike += next->j.unlike;
  all->j.unjudged += next->j.unjudged;
  norms_join(&all->n, &next->n);
}

/* first: nothing is wanted beyond whether an element is wrong. */
static judgement judge_floating(const law *l, fill_block *fill, const void *from, bool first) {
  const size_t parts = pool_parts(l->p->elements[l->output], PART);
  part all = {.j = {.bound = l->shown}}, one = {.j = {.bound = l->shown}};
  trial t = {.l = l, .fill = fill, .from = from, .first = first, .part = &one};

  if (parts > 1)
    t.part = message_need(calloc(parts, sizeof *t.part));
  pool_run(judge_part, &t, parts);
  for (size_t i = 0; i < parts; i++)
    join(&all, &t.part[i]);
  if (parts > 1)
    free(t.part);
  if (l->stored->integer) /* which have no small errors */
    return all.j;
  judge_norms(l, &all.n, &all.j);
  if (all.j.wrong == 0 && all.j.off > all.j.off_allowed && has_in_common(l->p->op, l->output))
    judge_rows(l, fill, from, &all.n, &all.j);
  return all.j;
}

/* The terms behind indexes in a problem, found as soon as an index is not the reference's. */
typedef struct asked {
  const problem *p;
  bool made;
  terms *near;
} asked;

static double index_error(asked *a, int output, const void *got, size_t i) {
  const problem *p = a->p;
  const size_t size = p->bytes[output] / p->elements[output];

  if (memcmp((const char *)got + i * size, (const char *)p->expected[output] + i * size, size) == 0)
    return 0;
  if (!a->made) {
    a->made = true;
    a->near = terms_make(p, output, got);
  }
  return a->near ? terms_error(a->near, i) : INFINITY;
}

/* Integers must be equal; but an index may be another, where its term is as good. */
static judgement judge_integers(const law *l, const void *got) {
  asked in[1 + PROBLEM_VIEWS] = {{.p = l->p}};
  const int count = 1 + (l->views ? l->views->count : 0);
  judgement j = {.bound = l->shown};

  for (int v = 1; v < count; v++)
    in[v].p = l->views->of[v - 1];
  for (size_t i = 0; i < l->p->elements[l->output]; i++) {
    double error = index_error(&in[0], l->output, got, i);
    for (int v = 1; v < count && !(error <= l->shown); v++)
      error = fmin(error, index_error(&in[v], l->output, got, i));
    if (in[0].near || error == 0)
      j.worst = fmax(j.worst, error);
    if (!(error <= l->shown) && j.wrong++ == 0) {
      j.at = i;
      j.at_ulp = error;
    }
  }
  for (int v = 0; v < count; v++)
    terms_free(in[v].near);
  return j;
}

static void fill_given(const law *l, const void *from, block *b) {
  lathe_dtype_widen(l->type, (const char *)from + b->start * l->stored->size, b->count, b->got);
}

judgement judge_products(const problem *p, int digits, const problem_views *views, int output,
                         const void *got) {
  dtype_format computed = *lathe_dtype_computed(p->dtype);
  law l;

  if (digits)
    computed.digits = digits;
  l = law_of(p, views, output, &computed);
  return lathe_dtype_numeric(l.type) ? judge_floating(&l, fill_given, got, false)
                                     : judge_integers(&l, got);
}

judgement judge_output(const problem *p, const problem_views *views, int output, const void *got) {
  return judge_products(p, 0, views, output, got);
}

bool judge_is_right(const judgement *j) {
  return j->wrong == 0 && j->off <= j->off_allowed;
}

bool judge_may_be_spec(const lathe_op *op, lathe_dtype dtype, const judgement *j) {
  const double bound = problem_ulp(op, dtype);

  return op->bench->roughest_ulp > bound && bound > 0 &&
         j->at_ulp / j->bound * bound <= op->bench->roughest_ulp;
}

/* The right result times a factor, as a kernel would leave it. */
static void fill_scaled(const law *l, const void *from, block *b) {
  char narrowed[BLOCK * sizeof(double)];

  for (size_t i = 0; i < b->count; i++)
    b->got[i] = (double)(problem_expected(l->p, l->output, b->start + i) *
                         (long double)*(const double *)from);
  lathe_dtype_narrow(l->type, b->got, b->count, narrowed);
  lathe_dtype_widen(l->type, narrowed, b->count, b->got);
}

bool judge_lets_pass(const problem *p, int output, double factor) {
  const law l = law_of(p, NULL, output, lathe_dtype_computed(p->dtype));
  const judgement j = judge_floating(&l, fill_scaled, &factor, true);

  return judge_is_right(&j);
}
