/* test_kernels.c - every variant of the table that this processor can run, against the references. */
#include "variants.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../templates/c/table.h"
#include "devices/cpu/device.h"
#include "library/bench.h"
#include "library/cpu.h"
#include "library/dtype.h"
#include "problem/random.h"

static const size_t primes[] = {257, 1009, 4099, 8209};
static const size_t long_prime = 65537;

/* ---- all variants ---------------------------------------------------------------------------- */

/* All variants of a group, with the last dimension n and the others lead; but of more than four the outermost are two
 * at most, which tell strides apart as well: what attention is held against would take three times as long. */
static void check_size(tally *t, const variant_group *g, size_t lead, size_t n, unsigned special,
                       unsigned layouts) {
  size_t dim[LATHE_MAX_DIMS], i = g->first;
  const lathe_variant *v;
  problem *p;

  for (int d = 0; d < g->op->ndim; d++)
    dim[d] = d == g->op->ndim - 1 ? n : d < g->op->ndim - 4 && lead > 2 ? 2 : lead;
  p = variants_problem(g, dim, SEED + n, special);
  while ((v = variants_next_able(g, &i)))
    variants_check(t, v, p, layouts);
  problem_free(p);
}

/* Names the variants that cannot run here, under their reason; every (op, type) has one that
 * can. */
static void test_what_can_run(void **state) {
  const uint64_t features = lathe_cpu_features();
  const char *last = NULL;
  size_t skipped = 0;
  variant_group g = {0};

  (void)state;
  for (size_t b = 0; b < lathe_backend_count; b++)
    for (size_t i = 0; i < lathe_variant_count; i++) {
      const lathe_variant *v = &lathe_variants[i];
      const char *why = v->backend == &lathe_backends[b] ? lathe_why_not(v, features) : NULL;
      if (!why)
        continue;
      if (last != why)
        print_message("%sskipped, %s:", last ? "\n" : "", why);
      print_message(" %s", v->name);
      last = why;
      skipped++;
    }
  if (skipped)
    print_message("\n%zu of %zu variants were skipped\n", skipped, lathe_variant_count);
  while (variants_next_group(&g)) {
    size_t i = g.first;
    if (!variants_next_able(&g, &i))
      fail_msg("no variant of %s %s can run here", g.op->name, lathe_dtype_name(g.dtype));
  }
}

/* At the end of a page every length; the other layouts take turns. */
static void test_every_short_length(void **state) {
  static const unsigned turns[] = {PAGE_END | IN_PLACE, PAGE_END | CROOKED, PAGE_END};
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  while (variants_next_group(&g)) {
    for (size_t n = 0; n <= LONGEST_SHORT; n++)
      check_size(&t, &g, 1, n, 0, turns[n % 3]);
    for (size_t n = 0; g.op->ndim > 1 && n <= LONGEST_SHORT; n++)
      check_size(&t, &g, 3, n, 0, PAGE_END | CROOKED);
    if (g.op->ndim > 1)
      check_size(&t, &g, 0, 5, 0, ALIGNED);
  }
  tally_conclude(&t);
}

static void test_prime_lengths(void **state) {
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  while (variants_next_group(&g)) {
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
      check_size(&t, &g, 1, primes[i], 0, ALIGNED | OFFSET | IN_PLACE);
    check_size(&t, &g, 1, long_prime, 0, ALIGNED);
  }
  tally_conclude(&t);
}

static void test_special_values_sprinkled(void **state) {
  static const size_t lengths[] = {1, 2, 3, 7, 16, 17, 33, 65, 130, 257, 1009, 4099};
  const unsigned all = (1u << RANDOM_KINDS) - 1;
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  while (variants_next_group(&g))
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      for (int kind = 0; kind < RANDOM_KINDS; kind++)
        check_size(&t, &g, 3, lengths[i], 1u << kind, PAGE_END);
      check_size(&t, &g, 3, lengths[i], all, CROOKED | IN_PLACE);
      /* Without NaN, which would hide the rest in a reduction. */
      check_size(&t, &g, 3, lengths[i], all & ~(unsigned)RANDOM_NAN, CROOKED);
    }
  tally_conclude(&t);
}

static void put(lathe_dtype type, void *to, size_t at, double value) {
  lathe_dtype_narrow(type, &value, 1, (char *)to + at * lathe_dtype_size(type));
}

static double smallest(lathe_dtype type) {
  const dtype_format *f = lathe_dtype_format_of(type);

  return ldexp(1, f->emin - f->digits + 1);
}

/* What an input may hold beside random numbers. */
enum { SPECIALS = 7 };
static double special(lathe_dtype type, size_t i) {
  switch (i % SPECIALS) {
  case 0: return NAN;
  case 1: return INFINITY;
  case 2: return -INFINITY;
  case 3: return 0.0;
  case 4: return -0.0;
  case 5: return smallest(type);
  default: return -smallest(type);
  }
}

/* Whether an operand is an input of the variant's own type. */
static bool is_number(const problem *p, int o) {
  return p->input[o] && p->op->operands[o].dtype == LATHE_VARIANT_DTYPE;
}

/* One special value among random ones, at each place of each input: in whole vectors, in what
 * is left over, and in the last element. */
static void test_special_value_at_each_place(void **state) {
  static const size_t lengths[] = {1, 35};
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  while (variants_next_group(&g)) {
    if (strcmp(g.op->template_name, "map") == 0)
      continue; /* its elements do not meet: the next test is for them */
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      const size_t n = lengths[l];
      /* Rows beside the first, so that a zero for a row does not make all results zero. */
      const size_t dim[LATHE_MAX_DIMS] = {g.op->ndim > 1 ? 3 : n, n};
      problem *p = variants_problem(&g, dim, SEED, 0);
      for (int o = 0; o < g.op->noperands; o++)
        for (size_t at = 0; is_number(p, o) && at < p->elements[o] && at < n; at++) {
          const double before = element_at(g.dtype, p->input[o], at);
          for (size_t s = 0; s < SPECIALS; s++) {
            size_t i = g.first;
            const lathe_variant *v;
            put(g.dtype, p->input[o], at, special(g.dtype, s));
            assert_true(problem_solve(p));
            while ((v = variants_next_able(&g, &i)))
              variants_check(&t, v, p, PAGE_END);
          }
          put(g.dtype, p->input[o], at, before);
        }
      problem_free(p);
    }
  }
  tally_conclude(&t);
}

/* Every combination of special values and 1 in the inputs of an element-wise op, each in
 * different lanes. */
static void test_special_values_together(void **state) {
  enum { KINDS = SPECIALS + 1 };
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  while (variants_next_group(&g)) {
    size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1}, combinations = 1, i = g.first;
    const lathe_variant *v;
    problem *p;
    if (strcmp(g.op->template_name, "map") != 0)
      continue;
    for (int o = 0; o < g.op->noperands; o++)
      combinations *= g.op->operands[o].output || g.op->operands[o].ndim == 0 ? 1 : KINDS;
    dim[g.op->ndim - 1] = 5 * combinations + 1; /* an odd number, so that the lanes differ */
    p = variants_problem(&g, dim, SEED, 0);
    for (size_t at = 0; at < dim[g.op->ndim - 1]; at++) {
      size_t choice = at % combinations + at / combinations;
      for (int o = 0; o < g.op->noperands; o++) {
        if (!is_number(p, o) || p->elements[o] == 1)
          continue;
        put(g.dtype, p->input[o], at,
            choice % KINDS == SPECIALS ? 1 : special(g.dtype, choice % KINDS));
        choice /= KINDS;
      }
    }
    assert_true(problem_solve(p));
    while ((v = variants_next_able(&g, &i)))
      variants_check(&t, v, p, PAGE_END | IN_PLACE | CROOKED);
    problem_free(p);
  }
  tally_conclude(&t);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool looks_up(const lathe_variant *v) {
  return strstr(v->params, "values=table") != NULL;
}

/* The first variant of the group that is of the same backend and computes. */
static const lathe_variant *computed(const variant_group *g, const lathe_variant *like) {
  size_t i = g->first;
  const lathe_variant *v;

  while ((v = variants_next_able(g, &i)))
    if (v->backend == like->backend && !looks_up(v))
      return v;
  return NULL;
}

/* Every number there is, NaN of all kinds among them: the same bits as by arithmetic. */
static void test_tables_hold_what_is_computed(void **state) {
  static uint16_t x[LATHE_TABLE_SIZE], looked_up[LATHE_TABLE_SIZE], expected[LATHE_TABLE_SIZE];
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  for (size_t i = 0; i < LATHE_TABLE_SIZE; i++)
    x[i] = (uint16_t)i;
  while (variants_next_group(&g)) {
    const lathe_variant *v, *other;
    size_t i = g.first;
    while ((v = variants_next_able(&g, &i))) {
      if (!looks_up(v) || !(other = computed(&g, v)))
        continue;
      v->run(&(lathe_args){.buf = {x, looked_up}, .dim = {LATHE_TABLE_SIZE}});
      other->run(&(lathe_args){.buf = {x, expected}, .dim = {LATHE_TABLE_SIZE}});
      t.checks++;
      if (memcmp(looked_up, expected, sizeof expected) != 0)
        tally_tell(&t, v->name, "its table differs from what is computed");
    }
  }
  tally_conclude(&t);
}

/* What the threads of one table have in common. */
static struct {
  lathe_table table;
  pthread_barrier_t start;
  atomic_int blocks, wrong;
} shared;

/* A third of each, rounded as the thread rounds. */
static void thirds(const uint16_t *from, uint16_t *to, size_t count) {
  atomic_fetch_add(&shared.blocks, 1);
  for (size_t i = 0; i < count; i++) {
    const volatile double x = from[i];
    to[i] = (uint16_t)lrint(x / 3);
  }
}

/* Asks for the table until it is there, rounding upwards; what is in it was rounded to nearest. */
static void *use_table(void *argument) {
  (void)argument;
  feclearexcept(FE_ALL_EXCEPT); /* a thread begins with those of the one that made it */
  fesetround(FE_UPWARD);
  pthread_barrier_wait(&shared.start);
  while (!lathe_table_ready(&shared.table, thirds))
    continue;
  for (int i = 0; i < LATHE_TABLE_SIZE; i++)
    if (shared.table.result[i] != (i + 1) / 3)
      atomic_fetch_add(&shared.wrong, 1);
  if (fegetround() != FE_UPWARD || fetestexcept(FE_ALL_EXCEPT))
    atomic_fetch_add(&shared.wrong, 1);
  return NULL;
}

static void test_a_table_is_filled_once(void **state) {
  enum { THREADS = 8, ROUNDS = 20 };
  pthread_t thread[THREADS];

  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    memset(&shared, 0, sizeof shared);
    assert_int_equal(pthread_barrier_init(&shared.start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_create(&thread[i], NULL, use_table, NULL), 0);
    for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_join(thread[i], NULL), 0);
    pthread_barrier_destroy(&shared.start);
    assert_int_equal(shared.blocks, LATHE_TABLE_SIZE / LATHE_TABLE_BLOCK);
    assert_int_equal(shared.wrong, 0);
  }
}

/* ---- extrema, without the reference ---------------------------------------------------------- */

static bool is_extremum(const lathe_op *op) {
  static const char *const names[] = {"max", "min", "argmax", "argmin", "norm_linf"};

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(op->name, names[i]) == 0)
      return true;
  return false;
}

/* What a reduction with one input makes of x. */
static double reduce(const lathe_variant *v, void *x, size_t n) {
  const lathe_dtype type = lathe_dtype_of_operand(&v->op->operands[1], v->dtype);
  double room = 0; /* as large and as aligned as any type wants it */
  const lathe_args args = {.buf = {x, &room}, .dim = {n}};

  v->run(&args);
  return element_at(type, &room, 0);
}

static void expect(tally *t, const lathe_variant *v, void *x, size_t n, double expected,
                   const char *of) {
  const double got = reduce(v, x, n);
  char message[160];

  t->checks++;
  if (got == expected || (isnan(got) && isnan(expected)))
    return;
  snprintf(message, sizeof message, "is %g, expected %g, of %s, n = %zu", got, expected, of, n);
  tally_tell(t, v->name, message);
}

static void fill(const lathe_variant *v, void *x, size_t n, double value) {
  for (size_t i = 0; i < n; i++)
    put(v->dtype, x, i, value);
}

/* The places to try in n elements: each of a short vector; in a long one those around the ends
 * of vectors and blocks. */
static bool interesting(size_t at, size_t n) {
  return n <= 300 || at < 3 || n - at < 3 || (at + 1) % 1024 < 3;
}

static void check_extremum(tally *t, const lathe_variant *v, void *x, size_t n) {
  const bool is_index = strncmp(v->op->name, "arg", 3) == 0;
  const bool is_min = strcmp(v->op->name, "min") == 0 || strcmp(v->op->name, "argmin") == 0;
  const double worst = is_min ? INFINITY : -INFINITY, sign = is_min ? -1 : 1;
  const bool absolute = strcmp(v->op->name, "norm_linf") == 0;

  fill(v, x, n, worst);
  expect(t, v, x, n, is_index ? 0 : absolute ? INFINITY : worst, "infinities that lose");
  fill(v, x, n, -worst);
  expect(t, v, x, n, is_index ? 0 : absolute ? INFINITY : -worst, "infinities that win");
  fill(v, x, n, NAN);
  expect(t, v, x, n, is_index ? 0 : NAN, "NaN only");
  fill(v, x, n, 0);
  expect(t, v, x, n, 0, "zeros");
  for (size_t at = 0; at < n; at++) {
    const size_t later = at + (n - at) / 2; /* where another is put */
    if (!interesting(at, n))
      continue;
    put(v->dtype, x, at, sign * 2);
    expect(t, v, x, n, is_index ? (double)at : sign * 2, "one that wins");
    put(v->dtype, x, later, sign * 2);
    expect(t, v, x, n, is_index ? (double)at : sign * 2, "two that win");
    put(v->dtype, x, later, sign * INFINITY);
    put(v->dtype, x, at, NAN);
    expect(t, v, x, n, is_index ? (double)at : NAN, "NaN before an infinity");
    put(v->dtype, x, later, NAN);
    expect(t, v, x, n, is_index ? (double)at : NAN, "two NaN");
    put(v->dtype, x, at, sign * INFINITY);
    expect(t, v, x, n, !is_index ? later == at ? sign * INFINITY : NAN : (double)later,
           "NaN after an infinity");
    put(v->dtype, x, later, 0);
    put(v->dtype, x, at, 0);
  }
}

static void test_extrema(void **state) {
  static const size_t lengths[] = {1,   2,   3,   5,    8,    16,   31,   64,
                                   130, 257, 300, 4096, 4097, 8209, 12289};
  double *x = malloc(12289 * sizeof *x);
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  assert_non_null(x);
  while (variants_next_group(&g)) {
    const lathe_variant *v;
    size_t i = g.first;
    if (!is_extremum(g.op))
      continue;
    while ((v = variants_next_able(&g, &i)))
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        /* norm_linf makes an infinity that loses one that wins, and a negative winner positive. */
        check_extremum(&t, v, x, lengths[l]);
      }
  }
  free(x);
  tally_conclude(&t);
}

static void test_sums_of_nothing(void **state) {
  static const char *const sums[] = {"sum", "dot", "norm_l1", "norm_l2"};
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  while (variants_next_group(&g))
    for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
      const lathe_variant *v;
      size_t i = g.first;
      if (strcmp(g.op->name, sums[s]) != 0)
        continue;
      while ((v = variants_next_able(&g, &i))) {
        double room = 1;
        lathe_args args = {.dim = {0}};
        args.buf[v->op->noperands - 1] = &room;
        v->run(&args);
        t.checks++;
        if (element_at(v->dtype, &room, 0) != 0)
          tally_tell(&t, v->name, "the sum of no elements is not 0");
      }
    }
  tally_conclude(&t);
}

/* ---- the same twice, and large --------------------------------------------------------------- */

static void compare_runs(tally *t, const lathe_variant *v, const problem *p) {
  device *const cpu = device_cpu();
  const char *why;
  device_call *first = cpu->prepare(cpu, v, p, (device_layout){0}, &why);
  device_call *second = cpu->prepare(cpu, v, p, (device_layout){0}, &why);

  assert_non_null(first);
  assert_non_null(second);
  cpu->reset(first);
  cpu->reset(second);
  assert_true(cpu->run(first));
  assert_true(cpu->run(second));
  assert_true(cpu->run(second)); /* over its own results: only inputs may count */
  for (int o = 0; o < v->op->noperands; o++) {
    t->checks++;
    if (memcmp(cpu->output(first, o), cpu->output(second, o), p->bytes[o]) != 0)
      tally_tell(t, v->name, "gave other bits the second time");
  }
  cpu->release(first);
  cpu->release(second);
}

static void test_repeatable(void **state) {
  static const size_t lengths[] = {1, 13, 130, 8209};
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  while (variants_next_group(&g))
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      const size_t dim[LATHE_MAX_DIMS] = {g.op->ndim > 1 ? 1 : lengths[l], lengths[l]};
      problem *p = variants_problem(&g, dim, SEED, RANDOM_ZERO | RANDOM_DENORMAL);
      const lathe_variant *v;
      size_t i = g.first;
      while ((v = variants_next_able(&g, &i)))
        compare_runs(&t, v, p);
      problem_free(p);
    }
  tally_conclude(&t);
}

/* Variants that are meant for large sizes only, at the least such size; in one type, for that
 * takes a while, and the types share their loops. */
static void test_large_sizes(void **state) {
  tally t = {0};
  variant_group g = {0};

  (void)state;
  catch_crashes();
  while (variants_next_group(&g)) {
    const lathe_variant *v;
    problem *p = NULL;
    size_t i = g.first;
    if (g.dtype != LATHE_F32)
      continue;
    while ((v = variants_next_able(&g, &i))) {
      size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};
      if (v->prefer->from <= 0)
        continue;
      if (!p) {
        const double each = lathe_bytes(g.op, g.dtype, dim);
        dim[g.op->ndim - 1] = (size_t)(v->prefer->from / each) + 3;
        p = variants_problem(&g, dim, SEED, 0);
      }
      variants_check(&t, v, p, OFFSET);
    }
    problem_free(p);
  }
  if (t.checks == 0)
    skip(); /* no variant of this table, on this processor, is one for large sizes */
  tally_conclude(&t);
}

const struct CMUnitTest kernels_tests[] = {
    cmocka_unit_test(test_what_can_run),
    cmocka_unit_test(test_every_short_length),
    cmocka_unit_test(test_prime_lengths),
    cmocka_unit_test(test_special_values_sprinkled),
    cmocka_unit_test(test_special_value_at_each_place),
    cmocka_unit_test(test_special_values_together),
    cmocka_unit_test(test_tables_hold_what_is_computed),
    cmocka_unit_test(test_a_table_is_filled_once),
    cmocka_unit_test(test_extrema),
    cmocka_unit_test(test_sums_of_nothing),
    cmocka_unit_test(test_repeatable),
    cmocka_unit_test(test_large_sizes),
};
const size_t kernels_test_count = sizeof kernels_tests / sizeof *kernels_tests;
