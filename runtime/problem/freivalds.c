/* freivalds.c - a test of all results of a contraction in a fraction of its operations. */
#include "freivalds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/pool.h"
#include "library/double_bits.h"
#include "library/dtype.h"
#include "random.h"
#include "library/bench.h"

enum {
  FEWEST = 16,     /* places of a block */
  CHUNK = 256,     /* elements that are widened at a time */
  PART = 64 << 10, /* elements that one thread takes up, about */
};

/* More of a 2-norm than sums with random signs come to, and of a median more than errors which are alike; and as many
 * times as much as one result may be off. */
static const double sigmas = 9, medians = 24, singles = 4;

bool freivalds_can(const lathe_op *op, lathe_dtype dtype, int output) {
  const lathe_dtype type = lathe_dtype_of_operand(&op->operands[output], dtype);

  return op->bench->linear[output] != 0 && lathe_dtype_numeric(type) &&
         !lathe_dtype_format_of(type)->integer;
}

/* How places are taken together. */
typedef struct blocks {
  int dim;                     /* along which they are: the longest that can be; */
  size_t each;                 /* so many, so that the sums take no more operations */
  size_t sums[LATHE_MAX_DIMS]; /* the dimensions of what is left to be solved */
} blocks;

static blocks choose(const lathe_op *op, const size_t *dim, int output, double flops) {
  blocks b = {.dim = -1, .each = FEWEST};

  for (int d = 0; d < op->ndim; d++)
    if (op->bench->linear[output] & 1u << d && (b.dim < 0 || dim[d] > dim[b.dim]))
      b.dim = d;
  memcpy(b.sums, dim, (size_t)op->ndim * sizeof *dim);
  for (;; b.each *= 2) {
    b.sums[b.dim] = pool_parts(dim[b.dim], b.each);
    if (lathe_flops(op, b.sums) <= flops || b.sums[b.dim] <= 1)
      return b;
  }
}

/* ---- sums of an operand's elements ---------------------------------------------------------------- */

/* What some elements come to. */
typedef struct total {
  long double sum;
  double rounding, squares; /* of half a spacing at each */
} total;

typedef struct summing {
  lathe_dtype type;
  const char *from;
  size_t outer, extent,
      inner;           /* elements, along the dimension, and before and after it in memory */
  size_t each, blocks; /* places of a block; blocks */
  const double *sign;  /* by place; null: the elements' sizes are summed */
  bool has;            /* the dimension: else it is as if it had one place of it */
  bool rounding;       /* half a spacing at each is wanted, too */
  void (*put)(void *to, size_t sum, const total *t);
  void *to;
} summing;

static summing summing_of(const problem *p, int operand, const void *from, const blocks *b) {
  const lathe_operand *o = &p->op->operands[operand];
  summing s = {.type = lathe_dtype_of_operand(o, p->dtype),
               .from = from,
               .outer = 1,
               .extent = 1,
               .inner = 1,
               .each = b->each};
  for (int i = 0; i < o->ndim; i++)
    if (o->dim[i] == b->dim) {
      s.extent = p->dim[b->dim];
      s.has = true;
    } else if (s.has) {
      s.inner *= p->dim[o->dim[i]];
    } else {
      s.outer *= p->dim[o->dim[i]];
    }
  if (!s.has) {
    s.inner = s.outer;
    s.outer = 1;
  }
  s.blocks = pool_parts(s.extent, s.each);
  return s;
}

/* Half the spacing of a format's numbers at a value. */
static double half_spacing(const dtype_format *f, double value) {
  const double below = double_of_bits(double_bits(value) & 0x7ff0000000000000u);

  return fmax(below, double_power_of_two(f->emin)) * double_power_of_two(-f->digits);
}

static void add(const summing *s, size_t place, long double x, total *t) {
  t->sum += s->sign ? s->sign[place] * x : fabsl(x);
  if (s->rounding) {
    const double half = half_spacing(lathe_dtype_format_of(s->type), (double)x);
    t->rounding += half;
    t->squares += half * half;
  }
}

/* Sums of neighbours in memory, from the at-th of a block on: each of one place after the other. */
static void sum_across(const summing *s, size_t sum, const char *from, size_t first, size_t places,
                       size_t at) {
  const size_t size = lathe_dtype_size(s->type);
  const size_t count = s->inner - at < CHUNK ? s->inner - at : CHUNK;
  long double wide[CHUNK];
  total totals[CHUNK] = {{0}};

  for (size_t place = 0; place < places; place++) {
    lathe_dtype_widen_long(s->type, from + (place * s->inner + at) * size, count, wide);
    for (size_t i = 0; i < count; i++)
      add(s, first + place, wide[i], &totals[i]);
  }
  for (size_t i = 0; i < count; i++)
    s->put(s->to, sum + at + i, &totals[i]);
}

/* One sum, of neighbours in memory. */
static void sum_along(const summing *s, size_t sum, const char *from, size_t first, size_t places) {
  const size_t size = lathe_dtype_size(s->type);
  long double wide[CHUNK];
  total t = {0};

  for (size_t place = 0; place < places; place += CHUNK) {
    const size_t count = places - place < CHUNK ? places - place : CHUNK;
    lathe_dtype_widen_long(s->type, from + place * size, count, wide);
    for (size_t i = 0; i < count; i++)
      add(s, first + place + i, wide[i], &t);
  }
  s->put(s->to, sum, &t);
}

/* The work is cut into blocks, and these into chunks of neighbours. */
static size_t chunks_of(const summing *s) {
  return pool_parts(s->inner, CHUNK);
}

static size_t part_chunks(const summing *s) {
  const size_t elements = s->each * (s->inner < CHUNK ? s->inner : CHUNK);

  return elements < PART ? PART / elements : 1;
}

static void sum_part(void *context, size_t nth, int thread) {
  const summing *s = context;
  const size_t chunks = chunks_of(s), start = nth * part_chunks(s);
  const size_t end = start + pool_part_size(s->outer * s->blocks * chunks, part_chunks(s), nth);

  (void)thread;
  for (size_t i = start; i < end; i++) {
    const size_t outer = i / chunks / s->blocks, block = i / chunks % s->blocks;
    const size_t first = block * s->each, places = pool_part_size(s->extent, s->each, block);
    const size_t element = (outer * s->extent + first) * s->inner;
    const char *from = s->from + element * lathe_dtype_size(s->type);
    if (s->inner == 1)
      sum_along(s, outer * s->blocks + block, from, first, places);
    else
      sum_across(s, (outer * s->blocks + block) * s->inner, from, first, places,
                 i % chunks * CHUNK);
  }
}

static void sum_all(summing *s) {
  pool_run(sum_part, s, pool_parts(s->outer * s->blocks * chunks_of(s), part_chunks(s)));
}

/* ---- the reference of the sums -------------------------------------------------------------------- */

struct freivalds {
  const problem *of;
  int output;
  blocks blocks;
  double *sign;          /* by place: 1 or -1 */
  long double *expected; /* by sum */
  double *size,
      *allowed; /* what the results' sizes come to, at most; how far a sum may be off, but for results that are
                             rounded once more */
};

static void put_double(void *to, size_t sum, const total *t) {
  ((double *)to)[sum] = (double)t->sum;
}

static void put_long(void *to, size_t sum, const total *t) {
  ((long double *)to)[sum] = t->sum;
}

/* The inputs' sums, or those of their sizes, as the numbers of a problem. Inputs that lack the dimension stay as they
 * are but for their signs. */
static void sum_inputs(const freivalds *f, problem *sums, bool sizes) {
  static const double as_it_is = 1;

  for (int o = 0; o < f->of->op->noperands; o++)
    if (f->of->input[o]) {
      summing s = summing_of(f->of, o, f->of->input[o], &f->blocks);
      s.sign = sizes ? NULL : s.has ? f->sign : &as_it_is;
      s.put = f->of->wide ? put_long : put_double;
      s.to = sums->number[o];
      sum_all(&s);
    }
}

static bool solve_sums(freivalds *f, problem *sums) {
  const lathe_op *op = f->of->op;
  const int o = f->output;
  const double unit = double_power_of_two(1 - lathe_dtype_computed(sums->dtype)->digits);
  /* As judge.h has it of a device that counts numbers below the normal range as zero. */
  const double flushed = 32 * double_power_of_two(lathe_dtype_computed(sums->dtype)->emin);

  sum_inputs(f, sums, false);
  if (!problem_solve(sums))
    return false;
  for (size_t i = 0; i < sums->elements[o]; i++)
    f->expected[i] = problem_expected(sums, o, i);
  sum_inputs(f, sums, true);
  for (int s = 0; s < op->nscalars; s++)
    sums->scalar[s] = fabs(sums->scalar[s]);
  if (!problem_solve(sums))
    return false;
  for (size_t i = 0; i < sums->elements[o]; i++) {
    const double magnitude = (double)problem_number(sums, sums->magnitude[o], i);
    f->size[i] = (double)problem_expected(sums, o, i);
    f->allowed[i] = problem_ulp(op, sums->dtype) * unit * (f->size[i] + magnitude) +
                    (double)f->blocks.each * flushed;
  }
  return true;
}

static bool make_numbers(problem *sums) {
  const size_t size = sums->wide ? sizeof(long double) : sizeof(double);
  bool ok = true;

  for (int o = 0; o < sums->op->noperands && ok; o++)
    if (!sums->op->operands[o].output) {
      sums->number[o] = memory_make(sums->elements[o] * size);
      ok = sums->number[o] != NULL;
    }
  return ok;
}

freivalds *freivalds_make(const problem *of, int output, double flops) {
  freivalds *f = calloc(1, sizeof *f);
  problem *sums = NULL;
  bool ok = f != NULL;

  if (ok) {
    f->of = of;
    f->output = output;
    f->blocks = choose(of->op, of->dim, output, flops);
    f->sign = malloc((of->dim[f->blocks.dim] + 1) * sizeof *f->sign);
    sums = problem_like(of, f->blocks.sums);
    ok = f->sign && sums && make_numbers(sums);
  }
  if (ok) {
    const size_t count = sums->elements[output];
    for (size_t i = 0; i < of->dim[f->blocks.dim]; i++)
      f->sign[i] = random_below(of->seed, (uint64_t)output << 48 | i, 2) ? 1 : -1;
    f->expected = memory_make(count * sizeof *f->expected);
    f->size = memory_make(count * sizeof *f->size);
    f->allowed = memory_make(count * sizeof *f->allowed);
    ok = f->expected && f->size && f->allowed && solve_sums(f, sums);
  }
  problem_free(sums);
  if (ok)
    return f;
  freivalds_free(f);
  return NULL;
}

void freivalds_free(freivalds *f) {
  if (!f)
    return;
  free(f->sign);
  free(f->expected);
  free(f->size);
  free(f->allowed);
  free(f);
}

double freivalds_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim, int output,
                      double flops) {
  const blocks b = choose(op, dim, output, flops);

  return problem_solved_cost(op, dtype, b.sums) +
         (double)lathe_elements(op, output, b.sums) * (sizeof(long double) + 2 * sizeof(double)) +
         (double)dim[b.dim] * sizeof(double);
}

/* ---- the test ------------------------------------------------------------------------------------- */

static void put_total(void *to, size_t sum, const total *t) {
  ((total *)to)[sum] = *t;
}

/* How far a sum is off, as a share of what it may be: infinite where it should be a number and is none, NaN where nothing
 * can be said of it. */
static double share_of(const freivalds *f, double times, size_t sum, const total *t) {
  const lathe_dtype type = lathe_dtype_of_operand(&f->of->op->operands[f->output], f->of->dtype);
  const double allowed = times * f->allowed[sum] + t->rounding;

  if (!isfinite(f->allowed[sum]) || !isfinite(f->expected[sum]))
    return NAN;
  if (!isfinite(t->sum)) /* a result may be beyond the type's largest number */
    return f->size[sum] > lathe_dtype_max(type) ? NAN : INFINITY;
  return allowed > 0 ? (double)(fabsl(t->sum - f->expected[sum]) / allowed) : 0;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Of those that are numbers. */
static double median_of(const double *shares, size_t count) {
  double *sorted = malloc((count + 1) * sizeof *sorted), median;
  size_t numbers = 0;

  if (!sorted)
    message_refuse("out of memory");
  for (size_t i = 0; i < count; i++)
    if (!isnan(shares[i]))
      sorted[numbers++] = shares[i];
  qsort(sorted, numbers, sizeof *sorted, by_size);
  median = numbers > 0 ? sorted[numbers / 2] : 0;
  free(sorted);
  return median;
}

/* How many results a sum is of. */
static size_t places_of(const summing *s, size_t sum) {
  return pool_part_size(s->extent, s->each, sum / s->inner % s->blocks);
}

/* The largest share that a sum's error may be of what it may be off. The median is that of such a share times the root
 * of how many results there are, whose errors have random signs. */
static double most_share(const freivalds *f, double times, size_t sum, const total *t,
                         size_t places, double median) {
  const double all = times * f->allowed[sum] + t->rounding;
  const double likely = times * f->allowed[sum] + fmin(t->rounding, sigmas * sqrt(t->squares));
  const double usual = medians * median / sqrt((double)places);

  return fmin(likely / all, fmax(usual, singles / (double)places));
}

freivalds_finding freivalds_judge(const freivalds *f, int digits, const void *got) {
  const double times = /* as far off as by products of all digits */
      digits ? double_power_of_two(lathe_dtype_computed(f->of->dtype)->digits - digits) : 1;
  summing s = summing_of(f->of, f->output, got, &f->blocks);
  freivalds_finding found = {.sums = s.outer * s.blocks * s.inner, .stride = s.inner};
  total *totals = memory_make(found.sums * sizeof *totals);
  double *shares = memory_make(found.sums * sizeof *shares), median;

  if (!totals || !shares)
    message_refuse("out of memory");
  s.sign = f->sign;
  s.rounding = lathe_dtype_is_narrow(s.type);
  s.put = put_total;
  s.to = totals;
  sum_all(&s);
  for (size_t i = 0; i < found.sums; i++)
    shares[i] = share_of(f, times, i, &totals[i]) * sqrt((double)places_of(&s, i));
  median = median_of(shares, found.sums);
  for (size_t i = 0; i < found.sums; i++) {
    const size_t places = places_of(&s, i);
    const size_t block = i / s.inner % s.blocks, outer = i / s.inner / s.blocks;
    const double most = most_share(f, times, i, &totals[i], places, median);
    if (!(shares[i] > most * sqrt((double)places)) || found.wrong++ > 0)
      continue;
    found.first = (outer * s.extent + block * s.each) * s.inner + i % s.inner;
    found.results = places;
    found.got = (double)totals[i].sum;
    found.expected = (double)f->expected[i];
    found.allowed = most * (times * f->allowed[i] + totals[i].rounding);
  }
  free(totals);
  free(shares);
  return found;
}
