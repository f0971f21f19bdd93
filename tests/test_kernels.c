/* test_kernels.c - every variant of the table that this processor can run, against the references;
 * the references against functions written here; and kernels that are wrong on purpose. */
#include "tests.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../templates/c/table.h"
#include "base/signals.h"
#include "check/check.h"
#include "check/describe.h"
#include "devices/common/buffer.h"
#include "devices/cpu/device.h"
#include "library/cpu.h"
#include "library/bench.h"
#include "library/dtype.h"
#include "problem/random.h"

enum {
  SEED = 20240229,
  LONGEST_SHORT = 130, /* every length up to this */
  TOLD = 20,           /* failures of one test that are told in full */
};

static const size_t primes[] = {257, 1009, 4099, 8209};
static const size_t long_prime = 65537;

/* ---- what a test has found ------------------------------------------------------------------- */

typedef struct tally {
  size_t checks, failures, unproved;
} tally;

static void tell(tally *t, const char *name, const char *message) {
  t->failures++;
  if (t->failures <= TOLD)
    print_error("%s: %s\n", name, message);
  else if (t->failures == TOLD + 1)
    print_error("... and more\n");
}

static void count(tally *t, const lathe_variant *v, const check_result *r) {
  t->checks++;
  if (r->verdict == CHECK_UNPROVED)
    t->unproved++;
  else if (r->verdict != CHECK_RIGHT)
    tell(t, v->name, r->message);
}

/* A test that checked nothing has failed as well. A few results may prove nothing, where a size is such as nobody has:
 * one row and column of a sum of very many terms. */
static void conclude(const tally *t) {
  assert_true(t->unproved * 1000 <= t->checks);
  if (t->failures)
    fail_msg("%zu of %zu checks failed", t->failures, t->checks);
  assert_true(t->checks > 0);
}

/* ---- crashes --------------------------------------------------------------------------------- */

/* cmocka puts its own handlers before those of signals.c, which would tell which kernel it was. */
static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
enum { CRASHES = sizeof crashes / sizeof *crashes };
static struct sigaction handlers[CRASHES];

static void nothing(void *argument) {
  (void)argument;
}

__attribute__((constructor)) static void keep_handlers(void) {
  signals_guard(nothing, NULL);
  for (int i = 0; i < CRASHES; i++)
    sigaction(crashes[i], NULL, &handlers[i]);
}

static void catch_crashes(void) {
  for (int i = 0; i < CRASHES; i++)
    sigaction(crashes[i], &handlers[i], NULL);
}

/* ---- a device whose operands are all aligned differently ------------------------------------- */

typedef struct crooked_call {
  device_call head;
  buffer operand[LATHE_MAX_OPERANDS], workspace;
  lathe_args args;
} crooked_call;

static void crooked_release(device_call *call) {
  crooked_call *c = (crooked_call *)call;

  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    buffer_free(&c->operand[o]);
  buffer_free(&c->workspace);
  free(c);
}

/* Operand o starts o + 1 elements after a 64-byte boundary. */
static device_call *crooked_prepare(device *on, const lathe_variant *v, const problem *p,
                                    device_layout layout, const char **why) {
  crooked_call *c = calloc(1, sizeof *c);

  assert_non_null(c);
  *why = NULL;
  c->head = (device_call){.on = on, .variant = v, .problem = p, .layout = layout};
  c->args = problem_args(p);
  for (int o = 0; o < v->op->noperands; o++) {
    const lathe_dtype type = lathe_dtype_of_operand(&v->op->operands[o], v->dtype);
    const size_t offset = (size_t)(o + 1) * lathe_dtype_size(type);
    assert_true(buffer_make(&c->operand[o], p->bytes[o], (buffer_place){.offset = offset}));
    if (p->input[o])
      memcpy(c->operand[o].data, p->input[o], p->bytes[o]);
    c->args.buf[o] = c->operand[o].data;
  }
  if (v->workspace)
    assert_true(buffer_make(&c->workspace, (size_t)v->workspace(p->dim), (buffer_place){0}));
  c->args.workspace = c->workspace.data;
  return &c->head;
}

static void crooked_reset(device_call *call) {
  crooked_call *c = (crooked_call *)call;

  for (int o = 0; o < call->variant->op->noperands; o++)
    if (call->variant->op->operands[o].output)
      buffer_poison(&c->operand[o], device_poison(call));
  if (c->workspace.data)
    buffer_poison(&c->workspace, device_poison(call));
}

static bool crooked_run(device_call *call) {
  call->variant->run(&((crooked_call *)call)->args);
  return true;
}

static const void *crooked_output(device_call *call, int operand) {
  return ((crooked_call *)call)->operand[operand].data;
}

static bool crooked_intact(device_call *call) {
  crooked_call *c = (crooked_call *)call;
  const problem *p = call->problem;

  snprintf(call->error, sizeof call->error, "wrote what it must not");
  for (int o = 0; o < p->op->noperands; o++)
    if (buffer_overrun(&c->operand[o]) ||
        (p->input[o] && memcmp(c->operand[o].data, p->input[o], p->bytes[o]) != 0))
      return false;
  return !c->workspace.data || !buffer_overrun(&c->workspace);
}

static device crooked = {
    .id = "crooked",
    .name = "operands at odd places",
    .prepare = crooked_prepare,
    .release = crooked_release,
    .reset = crooked_reset,
    .run = crooked_run,
    .output = crooked_output,
    .intact = crooked_intact,
};

/* ---- all variants ---------------------------------------------------------------------------- */

/* The variants of one op and type, which share a problem. */
typedef struct group {
  const lathe_op *op;
  lathe_dtype dtype;
  size_t first, end; /* in the table */
} group;

/* Begins with {0}; false after the last group. What configure left out is none. */
static bool next_group(group *g) {
  do {
    g->first = g->end;
    if (g->first == lathe_variant_count)
      return false;
    g->op = lathe_variants[g->first].op;
    g->dtype = lathe_variants[g->first].dtype;
    while (g->end < lathe_variant_count && lathe_variants[g->end].op == g->op &&
           lathe_variants[g->end].dtype == g->dtype)
      g->end++;
  } while (lathe_span_of(g->op, g->dtype).left_out);
  return true;
}

/* The next variant of the group that can run here, or null; i begins at g->first. */
static const lathe_variant *next_able(const group *g, size_t *i) {
  while (*i < g->end) {
    const lathe_variant *v = &lathe_variants[(*i)++];
    if (v->backend->kind == LATHE_CPU && !lathe_why_not(v, lathe_cpu_features()))
      return v;
  }
  return NULL;
}

enum {
  ALIGNED = 1 << 0,
  OFFSET = 1 << 1, /* all operands one element after a boundary */
  PAGE_END = 1 << 2,
  IN_PLACE = 1 << 3,
  CROOKED = 1 << 4,
  EVERY_LAYOUT = (1 << 5) - 1,
};

static void check_layout(tally *t, device *on, const lathe_variant *v, const problem *p,
                         device_layout layout) {
  const check_result r = check_variant(on, v, p, layout);

  count(t, v, &r);
}

static void check_layouts(tally *t, const lathe_variant *v, const problem *p, unsigned layouts) {
  device *const cpu = device_cpu();
  const size_t one = lathe_dtype_size(v->dtype);

  if (layouts & ALIGNED)
    check_layout(t, cpu, v, p, (device_layout){0});
  if (layouts & OFFSET)
    check_layout(t, cpu, v, p, (device_layout){.offset = one});
  if (layouts & PAGE_END)
    check_layout(t, cpu, v, p, (device_layout){.page_end = true});
  if (layouts & IN_PLACE && v->op->in_place)
    check_layout(t, cpu, v, p, (device_layout){.in_place = true});
  if (layouts & CROOKED)
    check_layout(t, &crooked, v, p, (device_layout){0});
}

static problem *make(const group *g, const size_t *dim, uint64_t seed, unsigned special) {
  const char *why;
  problem *p = problem_make(g->op, g->dtype, dim, seed, special, &why);

  if (!p)
    fail_msg("%s: %s", g->op->name, why);
  return p;
}

/* All variants of a group, with the last dimension n and the others lead; but of more than four the outermost are two
 * at most, which tell strides apart as well: what attention is held against would take three times as long. */
static void check_size(tally *t, const group *g, size_t lead, size_t n, unsigned special,
                       unsigned layouts) {
  size_t dim[LATHE_MAX_DIMS], i = g->first;
  const lathe_variant *v;
  problem *p;

  for (int d = 0; d < g->op->ndim; d++)
    dim[d] = d == g->op->ndim - 1 ? n : d < g->op->ndim - 4 && lead > 2 ? 2 : lead;
  p = make(g, dim, SEED + n, special);
  while ((v = next_able(g, &i)))
    check_layouts(t, v, p, layouts);
  problem_free(p);
}

/* Names the variants that cannot run here, under their reason; every (op, type) has one that
 * can. */
static void test_what_can_run(void **state) {
  const uint64_t features = lathe_cpu_features();
  const char *last = NULL;
  size_t skipped = 0;
  group g = {0};

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
  while (next_group(&g)) {
    size_t i = g.first;
    if (!next_able(&g, &i))
      fail_msg("no variant of %s %s can run here", g.op->name, lathe_dtype_name(g.dtype));
  }
}

/* At the end of a page every length; the other layouts take turns. */
static void test_every_short_length(void **state) {
  static const unsigned turns[] = {PAGE_END | IN_PLACE, PAGE_END | CROOKED, PAGE_END};
  tally t = {0};
  group g = {0};

  (void)state;
  catch_crashes();
  while (next_group(&g)) {
    for (size_t n = 0; n <= LONGEST_SHORT; n++)
      check_size(&t, &g, 1, n, 0, turns[n % 3]);
    for (size_t n = 0; g.op->ndim > 1 && n <= LONGEST_SHORT; n++)
      check_size(&t, &g, 3, n, 0, PAGE_END | CROOKED);
    if (g.op->ndim > 1)
      check_size(&t, &g, 0, 5, 0, ALIGNED);
  }
  conclude(&t);
}

static void test_prime_lengths(void **state) {
  tally t = {0};
  group g = {0};

  (void)state;
  catch_crashes();
  while (next_group(&g)) {
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
      check_size(&t, &g, 1, primes[i], 0, ALIGNED | OFFSET | IN_PLACE);
    check_size(&t, &g, 1, long_prime, 0, ALIGNED);
  }
  conclude(&t);
}

static void test_special_values_sprinkled(void **state) {
  static const size_t lengths[] = {1, 2, 3, 7, 16, 17, 33, 65, 130, 257, 1009, 4099};
  const unsigned all = (1u << RANDOM_KINDS) - 1;
  tally t = {0};
  group g = {0};

  (void)state;
  catch_crashes();
  while (next_group(&g))
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      for (int kind = 0; kind < RANDOM_KINDS; kind++)
        check_size(&t, &g, 3, lengths[i], 1u << kind, PAGE_END);
      check_size(&t, &g, 3, lengths[i], all, CROOKED | IN_PLACE);
      /* Without NaN, which would hide the rest in a reduction. */
      check_size(&t, &g, 3, lengths[i], all & ~(unsigned)RANDOM_NAN, CROOKED);
    }
  conclude(&t);
}

static void put(lathe_dtype type, void *to, size_t at, double value) {
  lathe_dtype_narrow(type, &value, 1, (char *)to + at * lathe_dtype_size(type));
}

static double get(lathe_dtype type, const void *from, size_t at) {
  double value;

  lathe_dtype_widen(type, (const char *)from + at * lathe_dtype_size(type), 1, &value);
  return value;
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
  group g = {0};

  (void)state;
  catch_crashes();
  while (next_group(&g)) {
    if (strcmp(g.op->template_name, "map") == 0)
      continue; /* its elements do not meet: the next test is for them */
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      const size_t n = lengths[l];
      /* Rows beside the first, so that a zero for a row does not make all results zero. */
      const size_t dim[LATHE_MAX_DIMS] = {g.op->ndim > 1 ? 3 : n, n};
      problem *p = make(&g, dim, SEED, 0);
      for (int o = 0; o < g.op->noperands; o++)
        for (size_t at = 0; is_number(p, o) && at < p->elements[o] && at < n; at++) {
          const double before = get(g.dtype, p->input[o], at);
          for (size_t s = 0; s < SPECIALS; s++) {
            size_t i = g.first;
            const lathe_variant *v;
            put(g.dtype, p->input[o], at, special(g.dtype, s));
            assert_true(problem_solve(p));
            while ((v = next_able(&g, &i)))
              check_layouts(&t, v, p, PAGE_END);
          }
          put(g.dtype, p->input[o], at, before);
        }
      problem_free(p);
    }
  }
  conclude(&t);
}

/* Every combination of special values and 1 in the inputs of an element-wise op, each in
 * different lanes. */
static void test_special_values_together(void **state) {
  enum { KINDS = SPECIALS + 1 };
  tally t = {0};
  group g = {0};

  (void)state;
  catch_crashes();
  while (next_group(&g)) {
    size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1}, combinations = 1, i = g.first;
    const lathe_variant *v;
    problem *p;
    if (strcmp(g.op->template_name, "map") != 0)
      continue;
    for (int o = 0; o < g.op->noperands; o++)
      combinations *= g.op->operands[o].output || g.op->operands[o].ndim == 0 ? 1 : KINDS;
    dim[g.op->ndim - 1] = 5 * combinations + 1; /* an odd number, so that the lanes differ */
    p = make(&g, dim, SEED, 0);
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
    while ((v = next_able(&g, &i)))
      check_layouts(&t, v, p, PAGE_END | IN_PLACE | CROOKED);
    problem_free(p);
  }
  conclude(&t);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool looks_up(const lathe_variant *v) {
  return strstr(v->params, "values=table") != NULL;
}

/* The first variant of the group that is of the same backend and computes. */
static const lathe_variant *computed(const group *g, const lathe_variant *like) {
  size_t i = g->first;
  const lathe_variant *v;

  while ((v = next_able(g, &i)))
    if (v->backend == like->backend && !looks_up(v))
      return v;
  return NULL;
}

/* Every number there is, NaN of all kinds among them: the same bits as by arithmetic. */
static void test_tables_hold_what_is_computed(void **state) {
  static uint16_t x[LATHE_TABLE_SIZE], looked_up[LATHE_TABLE_SIZE], expected[LATHE_TABLE_SIZE];
  tally t = {0};
  group g = {0};

  (void)state;
  catch_crashes();
  for (size_t i = 0; i < LATHE_TABLE_SIZE; i++)
    x[i] = (uint16_t)i;
  while (next_group(&g)) {
    const lathe_variant *v, *other;
    size_t i = g.first;
    while ((v = next_able(&g, &i))) {
      if (!looks_up(v) || !(other = computed(&g, v)))
        continue;
      v->run(&(lathe_args){.buf = {x, looked_up}, .dim = {LATHE_TABLE_SIZE}});
      other->run(&(lathe_args){.buf = {x, expected}, .dim = {LATHE_TABLE_SIZE}});
      t.checks++;
      if (memcmp(looked_up, expected, sizeof expected) != 0)
        tell(&t, v->name, "its table differs from what is computed");
    }
  }
  conclude(&t);
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
  return get(type, &room, 0);
}

static void expect(tally *t, const lathe_variant *v, void *x, size_t n, double expected,
                   const char *of) {
  const double got = reduce(v, x, n);
  char message[160];

  t->checks++;
  if (got == expected || (isnan(got) && isnan(expected)))
    return;
  snprintf(message, sizeof message, "is %g, expected %g, of %s, n = %zu", got, expected, of, n);
  tell(t, v->name, message);
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
  group g = {0};

  (void)state;
  catch_crashes();
  assert_non_null(x);
  while (next_group(&g)) {
    const lathe_variant *v;
    size_t i = g.first;
    if (!is_extremum(g.op))
      continue;
    while ((v = next_able(&g, &i)))
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        /* norm_linf makes an infinity that loses one that wins, and a negative winner positive. */
        check_extremum(&t, v, x, lengths[l]);
      }
  }
  free(x);
  conclude(&t);
}

static void test_sums_of_nothing(void **state) {
  static const char *const sums[] = {"sum", "dot", "norm_l1", "norm_l2"};
  tally t = {0};
  group g = {0};

  (void)state;
  catch_crashes();
  while (next_group(&g))
    for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
      const lathe_variant *v;
      size_t i = g.first;
      if (strcmp(g.op->name, sums[s]) != 0)
        continue;
      while ((v = next_able(&g, &i))) {
        double room = 1;
        lathe_args args = {.dim = {0}};
        args.buf[v->op->noperands - 1] = &room;
        v->run(&args);
        t.checks++;
        if (get(v->dtype, &room, 0) != 0)
          tell(&t, v->name, "the sum of no elements is not 0");
      }
    }
  conclude(&t);
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
      tell(t, v->name, "gave other bits the second time");
  }
  cpu->release(first);
  cpu->release(second);
}

static void test_repeatable(void **state) {
  static const size_t lengths[] = {1, 13, 130, 8209};
  tally t = {0};
  group g = {0};

  (void)state;
  catch_crashes();
  while (next_group(&g))
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      const size_t dim[LATHE_MAX_DIMS] = {g.op->ndim > 1 ? 1 : lengths[l], lengths[l]};
      problem *p = make(&g, dim, SEED, RANDOM_ZERO | RANDOM_DENORMAL);
      const lathe_variant *v;
      size_t i = g.first;
      while ((v = next_able(&g, &i)))
        compare_runs(&t, v, p);
      problem_free(p);
    }
  conclude(&t);
}

/* Variants that are meant for large sizes only, at the least such size; in one type, for that
 * takes a while, and the types share their loops. */
static void test_large_sizes(void **state) {
  tally t = {0};
  group g = {0};

  (void)state;
  catch_crashes();
  while (next_group(&g)) {
    const lathe_variant *v;
    problem *p = NULL;
    size_t i = g.first;
    if (g.dtype != LATHE_F32)
      continue;
    while ((v = next_able(&g, &i))) {
      size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};
      if (v->prefer_from <= 0)
        continue;
      if (!p) {
        const double each = lathe_bytes(g.op, g.dtype, dim);
        dim[g.op->ndim - 1] = (size_t)(v->prefer_from / each) + 3;
        p = make(&g, dim, SEED, 0);
      }
      check_layouts(&t, v, p, OFFSET);
    }
    problem_free(p);
  }
  if (t.checks == 0)
    skip(); /* no variant of this table, on this processor, is one for large sizes */
  conclude(&t);
}

/* ---- the references, against functions written here ------------------------------------------ */

/* x: the inputs, one after the other, n numbers each; s: scalars; y: n results, or one. */
typedef void oracle_fn(const double *x, const double *s, size_t n, double *y);

#define MAP(name, value)                                                                           \
  static void oracle_##name(const double *x, const double *s, size_t n, double *y) {               \
    (void)s;                                                                                       \
    for (size_t i = 0; i < n; i++) {                                                               \
      const double a = x[i], b = x[n + i], c = x[2 * n + i];                                       \
      (void)b, (void)c;                                                                            \
      y[i] = value;                                                                                \
    }                                                                                              \
  }
#define FOLD(name, begin, step, end)                                                               \
  static void oracle_##name(const double *x, const double *s, size_t n, double *y) {               \
    double r = begin;                                                                              \
    (void)s;                                                                                       \
    for (size_t i = 0; i < n; i++) {                                                               \
      const double a = x[i], b = x[n + i];                                                         \
      (void)a, (void)b;                                                                            \
      r = step;                                                                                    \
    }                                                                                              \
    *y = end;                                                                                      \
  }

MAP(add, a + b)
MAP(sub, a - b)
MAP(mul, a *b)
MAP(div, a / b)
MAP(scale, a *s[0])
MAP(abs, fabs(a))
MAP(clamp, a<s[0] ? s[0] : a> s[1] ? s[1] : a)
MAP(lerp, a + s[0] * (b - a))
MAP(fma, a *b + c)
MAP(relu, a > 0 ? a : 0)
MAP(exp, exp(a))
MAP(sigmoid, 1 / (1 + exp(-a)))
MAP(tanh, tanh(a))
MAP(gelu, a / 2 * erfc(-a / sqrt(2)))
MAP(swish, a / (1 + exp(-a)))
FOLD(sum, 0, r + a, r)
FOLD(dot, 0, r + a * b, r)
FOLD(max, -INFINITY, a > r ? a : r, r)
FOLD(min, INFINITY, a < r ? a : r, r)
FOLD(argmax, 0, a > x[(size_t)r] ? (double)i : r, r)
FOLD(argmin, 0, a < x[(size_t)r] ? (double)i : r, r)
FOLD(norm_l1, 0, r + fabs(a), r)
FOLD(norm_l2, 0, r + a * a, sqrt(r))
FOLD(norm_linf, 0, fabs(a) > r ? fabs(a) : r, r)
FOLD(sum_of_exp, 0, r + exp(a), r)

static void oracle_softmax(const double *x, const double *s, size_t n, double *y) {
  double total;

  oracle_sum_of_exp(x, s, n, &total);
  for (size_t i = 0; i < n; i++)
    y[i] = exp(x[i]) / total;
}

static void oracle_log_softmax(const double *x, const double *s, size_t n, double *y) {
  double total;

  oracle_sum_of_exp(x, s, n, &total);
  for (size_t i = 0; i < n; i++)
    y[i] = x[i] - log(total);
}

static const struct {
  const char *name;
  oracle_fn *compute;
} oracles[] = {
    {"abs", oracle_abs},         {"add", oracle_add},         {"argmax", oracle_argmax},
    {"argmin", oracle_argmin},   {"clamp", oracle_clamp},     {"div", oracle_div},
    {"dot", oracle_dot},         {"exp", oracle_exp},         {"fma", oracle_fma},
    {"gelu", oracle_gelu},       {"lerp", oracle_lerp},       {"log_softmax", oracle_log_softmax},
    {"max", oracle_max},         {"min", oracle_min},         {"mul", oracle_mul},
    {"norm_l1", oracle_norm_l1}, {"norm_l2", oracle_norm_l2}, {"norm_linf", oracle_norm_linf},
    {"relu", oracle_relu},       {"scale", oracle_scale},     {"sigmoid", oracle_sigmoid},
    {"softmax", oracle_softmax}, {"sub", oracle_sub},         {"sum", oracle_sum},
    {"swish", oracle_swish},     {"tanh", oracle_tanh},
};
enum { ORACLES = sizeof oracles / sizeof *oracles };

/* A problem's inputs, one after the other, as the oracle wants them. */
static double *inputs_of(const problem *p, size_t n) {
  double *x = calloc(3 * n, sizeof *x);
  size_t at = 0;

  assert_non_null(x);
  for (int o = 0; o < p->op->noperands; o++)
    if (p->input[o]) {
      lathe_dtype_widen(p->dtype, p->input[o], p->elements[o], x + at);
      at += p->elements[o];
    }
  return x;
}

static void compare_reference(tally *t, const group *g, oracle_fn *compute, size_t n) {
  const size_t dim[LATHE_MAX_DIMS] = {g->op->ndim > 1 ? 1 : n, n};
  const int o = g->op->noperands - 1;
  const lathe_dtype type = lathe_dtype_of_operand(&g->op->operands[o], g->dtype);
  problem *p = make(g, dim, SEED + n, 0);
  double *x = inputs_of(p, n), *y = calloc(n, sizeof *y);
  const lathe_args args = problem_args(p);
  char message[160];

  assert_non_null(y);
  compute(x, args.scalar, n, y);
  for (size_t i = 0; i < p->elements[o]; i++) {
    const double got = !lathe_dtype_numeric(type) ? get(type, p->expected[o], i)
                       : p->wide                  ? (double)((long double *)p->expected[o])[i]
                                                  : ((double *)p->expected[o])[i];
    t->checks++;
    /* Inputs are of the order of 1 to 10: near zero an error relative to 1 says as much. */
    if (fabs(got - y[i]) <= 1e-12 * fmax(1, fabs(y[i])))
      continue;
    snprintf(message, sizeof message, "%s: [%zu] of %zu is %.17g, expected %.17g",
             p->wide ? "reference_wide" : "reference_f64", i, n, got, y[i]);
    tell(t, g->op->name, message);
  }
  free(x);
  free(y);
  problem_free(p);
}

static void test_references(void **state) {
  tally t = {0};
  group g = {0};

  (void)state;
  while (next_group(&g)) {
    int i = 0;
    while (i < ORACLES && strcmp(oracles[i].name, g.op->name) != 0)
      i++;
    if (i < ORACLES) {
      compare_reference(&t, &g, oracles[i].compute, 1);
      compare_reference(&t, &g, oracles[i].compute, 501);
    }
  }
  conclude(&t);
}

/* ---- kernels that are wrong on purpose ------------------------------------------------------- */

/* y[i] = 3 x[i] - 1, at[0] = the index of the largest y. */
enum { X, Y, AT, MAGNITUDE };

static void plant_reference(const lathe_args *args) {
  const double *x = args->buf[X];
  double *y = args->buf[Y], *magnitude = args->buf[MAGNITUDE];
  int64_t *at = args->buf[AT];

  *at = 0;
  for (size_t i = 0; i < args->dim[0]; i++) {
    y[i] = 3 * x[i] - 1;
    magnitude[i] = 1;
    if (y[i] > y[*at])
      *at = (int64_t)i;
  }
}

static void plant_right(const lathe_args *args) {
  const float *x = args->buf[X];
  float *y = args->buf[Y];
  int64_t best = 0;

  for (size_t i = 0; i < args->dim[0]; i++) {
    y[i] = (float)(3.0 * x[i] - 1);
    if (y[i] > y[best])
      best = (int64_t)i;
  }
  memcpy(args->buf[AT], &best, sizeof best);
}

static void plant_unwritten(const lathe_args *args) {
  float *const last = (float *)args->buf[Y] + args->dim[0] - 1;
  const float before = *last;

  plant_right(args);
  *last = before;
}

static void plant_off(const lathe_args *args) {
  float *y = args->buf[Y];

  plant_right(args);
  /* Beside 1, the magnitude, more than the half unit that is allowed. */
  y[args->dim[0] - 1] += 0x1p-22f;
}

static void plant_nan(const lathe_args *args) {
  plant_right(args);
  ((float *)args->buf[Y])[args->dim[0] / 2] = NAN;
}

static void plant_infinity(const lathe_args *args) {
  plant_right(args);
  ((float *)args->buf[Y])[0] = INFINITY;
}

static void plant_zeros(const lathe_args *args) {
  plant_right(args);
  memset(args->buf[Y], 0, args->dim[0] * sizeof(float));
}

static void plant_index(const lathe_args *args) {
  plant_right(args);
  int64_t index;
  memcpy(&index, args->buf[AT], sizeof index);
  index++;
  memcpy(args->buf[AT], &index, sizeof index);
}

static void plant_before(const lathe_args *args) {
  plant_right(args);
  ((volatile float *)args->buf[Y])[-1] = 0;
}

static void plant_after(const lathe_args *args) {
  plant_right(args);
  ((volatile float *)args->buf[Y])[args->dim[0]] = 0;
}

static void plant_after_input(const lathe_args *args) {
  plant_right(args);
  ((volatile float *)args->buf[X])[args->dim[0]] = 0;
}

static void plant_input(const lathe_args *args) {
  plant_right(args);
  ((float *)args->buf[X])[args->dim[0] - 1] = 7;
}

static void plant_crash(const lathe_args *args) {
  plant_right(args);
  raise(SIGSEGV);
}

static void plant_illegal(const lathe_args *args) {
  plant_right(args);
  raise(SIGILL);
}

/* Reads one element too many, and lets nothing of it be seen in the result. */
static void plant_read_after(const lathe_args *args) {
  static volatile float read;

  plant_right(args);
  read = ((const float *)args->buf[X])[args->dim[0]];
  (void)read;
}

#if defined __x86_64__
static void plant_flushing(const lathe_args *args) {
  plant_right(args);
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 1u << 15); /* denormals become zero */
}
#endif

/* Right the first time only. */
static void plant_second(const lathe_args *args) {
  static int calls;

  plant_right(args);
  if (calls++ > 0)
    ((float *)args->buf[Y])[1] += 1;
}

/* Otherwise each second time. */
static void plant_unsteady(const lathe_args *args) {
  static int calls;

  plant_right(args);
  if (calls++ % 2)
    ((float *)args->buf[Y])[1] += 1;
}

static const lathe_operand plant_operands[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, -1, 1, false},
    {"y", LATHE_VARIANT_DTYPE, true, 1, {0}, 0, 0, false},
    {"at", LATHE_I64, true, 0, {0}, 0, 0, false},
};
static const lathe_bound plant_bound = {LATHE_F32, 0.5001};
static const lathe_op plant_op = {.name = "plant",
                                  .doc = "3 x - 1",
                                  .source = __FILE__,
                                  .ndim = 1,
                                  .dim = {"n"},
                                  .noperands = 3,
                                  .operands = plant_operands,
                                  .bench = &(const lathe_bench){.nbounds = 1,
                                                                .bounds = &plant_bound,
                                                                .reference_f64 = plant_reference}};
static const lathe_backend plant_backend = {.name = "planted"};
static const lathe_backend flushing_backend = {.name = "planted", .features = LATHE_FLUSHES};

static lathe_variant plant(lathe_fn *run) {
  return (lathe_variant){.name = "plant_f32__planted",
                         .op = &plant_op,
                         .backend = &plant_backend,
                         .dtype = LATHE_F32,
                         .run = run};
}

static problem *plant_problem(size_t n) {
  const group g = {.op = &plant_op, .dtype = LATHE_F32};

  return make(&g, &n, SEED, 0);
}

/* At odd lengths, as an element is easily missed there, and in every layout asked for. */
static void expect_caught(lathe_fn *run, device_layout layout, const char *said) {
  static const size_t lengths[] = {2, 77, 1000};

  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    const lathe_variant v = plant(run);
    problem *p = plant_problem(lengths[i]);
    const check_result r = check_variant(device_cpu(), &v, p, layout);
    if (r.verdict != CHECK_WRONG || !strstr(r.message, said))
      fail_msg("n = %zu: verdict %d, expected it wrong with '%s', was told '%s'", lengths[i],
               r.verdict, said, r.message);
    assert_null(strchr(r.message, '\n'));
    problem_free(p);
  }
}

static void test_right_kernel_passes(void **state) {
  const lathe_variant v = plant(plant_right);
  tally t = {0};

  (void)state;
  catch_crashes();
  for (size_t n = 1; n <= LONGEST_SHORT; n++) {
    problem *p = plant_problem(n);
    check_layouts(&t, &v, p, EVERY_LAYOUT & ~IN_PLACE);
    problem_free(p);
  }
  conclude(&t);
}

static void test_wrong_results_are_caught(void **state) {
  static const struct {
    lathe_fn *run;
    const char *said;
  } plants[] = {
      {plant_off, "ulp off, 0.5001 allowed"},    {plant_nan, "is nan, expected"},
      {plant_infinity, "y[0] is inf, expected"}, {plant_zeros, "y[0] is 0, expected"},
      {plant_unwritten, "was never written"},    {plant_index, "at is "},
  };

  (void)state;
  catch_crashes();
  for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
    expect_caught(plants[i].run, (device_layout){0}, plants[i].said);
    expect_caught(plants[i].run, (device_layout){.offset = 4}, plants[i].said);
    expect_caught(plants[i].run, (device_layout){.page_end = true}, plants[i].said);
  }
}

static void test_stray_writes_are_caught(void **state) {
  (void)state;
  catch_crashes();
  expect_caught(plant_before, (device_layout){0}, "wrote before the start of y");
  expect_caught(plant_before, (device_layout){.offset = 4}, "wrote before the start of y");
  expect_caught(plant_after, (device_layout){0}, "wrote after the end of y");
  expect_caught(plant_after_input, (device_layout){0}, "wrote after the end of x");
  expect_caught(plant_input, (device_layout){0}, "wrote into its input x");
  expect_caught(plant_after, (device_layout){.page_end = true}, "SIGSEGV");
}

static void test_crashes_are_caught(void **state) {
  (void)state;
  catch_crashes();
  expect_caught(plant_crash, (device_layout){0}, "crashed with SIGSEGV");
  expect_caught(plant_illegal, (device_layout){0}, "crashed with SIGILL");
  expect_caught(plant_read_after, (device_layout){.page_end = true}, "crashed with SIGSEGV");
}

static void test_changed_settings_are_caught(void **state) {
  (void)state;
#if defined __x86_64__
  const unsigned before = __builtin_ia32_stmxcsr() & ~0x3fu;
  expect_caught(plant_flushing, (device_layout){0}, "floating-point settings");
  assert_int_equal(__builtin_ia32_stmxcsr() & ~0x3fu, before);
#else
  skip();
#endif
}

static void refer_to(const lathe_args *args, double (*f)(double)) {
  const double *x = args->buf[X];
  double *y = args->buf[Y], *magnitude = args->buf[2];

  for (size_t i = 0; i < args->dim[0]; i++) {
    y[i] = f(x[i]);
    magnitude[i] = 0;
  }
}

/* 2^100 x, which is far from zero also for an x below the normal range. */
static double raise_number(double x) {
  return x * 0x1p100;
}

static void raise_reference(const lathe_args *args) {
  refer_to(args, raise_number);
}

static void raise_flushed(const lathe_args *args) {
  const float *x = args->buf[X];
  float *y = args->buf[Y];

  for (size_t i = 0; i < args->dim[0]; i++)
    y[i] = fabsf(x[i]) < FLT_MIN ? copysignf(0, x[i]) : x[i] * 0x1p100f;
}

static void raise_wrong(const lathe_args *args) {
  raise_flushed(args);
  ((float *)args->buf[Y])[args->dim[0] - 1] *= 2;
}

static const lathe_op raise_op = {.name = "raise",
                                  .source = __FILE__,
                                  .ndim = 1,
                                  .dim = {"n"},
                                  .noperands = 2,
                                  .operands = plant_operands,
                                  .bench = &(const lathe_bench){.reference_f64 = raise_reference}};

static double cut_number(double x) {
  return x > 0 ? x : 0;
}

static void cut_reference(const lathe_args *args) {
  refer_to(args, cut_number);
}

/* The same where a comparison takes a number below the normal range as zero, and a copy leaves it. */
static void cut_flushed(const lathe_args *args) {
  const float *x = args->buf[X];
  float *y = args->buf[Y];

  for (size_t i = 0; i < args->dim[0]; i++)
    y[i] = x[i] <= -FLT_MIN ? 0 : x[i];
}

static void cut_wrong(const lathe_args *args) {
  cut_flushed(args);
  ((float *)args->buf[Y])[0] = -FLT_MIN;
}

/* What takes numbers below the normal range as zero is right only on a device that may do that, and what
 * is wrong by more is wrong there too. */
static void expect_flushing_judged(const lathe_op *op, lathe_fn *flushed, lathe_fn *wrong) {
  const group g = {.op = op, .dtype = LATHE_F32};
  const size_t n = 1000;
  problem *p = make(&g, &n, SEED, RANDOM_DENORMAL);
  lathe_variant v = plant(flushed);
  device may = *device_cpu(), other = *device_cpu();

  v.op = op;
  may.may_flush[LATHE_F32].types = 1u << LATHE_F32;
  other.may_flush[LATHE_F16].types = 1u << LATHE_F16;
  assert_int_equal(check_variant(&may, &v, p, (device_layout){0}).verdict, CHECK_RIGHT);
  assert_int_equal(check_variant(&other, &v, p, (device_layout){0}).verdict, CHECK_WRONG);
  /* A backend may, where its device does not. */
  v.backend = &flushing_backend;
  assert_int_equal(check_variant(&other, &v, p, (device_layout){0}).verdict, CHECK_RIGHT);
  v.run = wrong;
  assert_int_equal(check_variant(&other, &v, p, (device_layout){0}).verdict, CHECK_WRONG);
  v.backend = &plant_backend;
  assert_int_equal(check_variant(&may, &v, p, (device_layout){0}).verdict, CHECK_WRONG);
  problem_free(p);
}

static void test_flushing_devices_are_judged_by_what_they_may(void **state) {
  static const lathe_bench cut_bench = {.any_zero_sign = true, .reference_f64 = cut_reference};
  lathe_op cut_op = raise_op;

  (void)state;
  cut_op.bench = &cut_bench;
  expect_flushing_judged(&raise_op, raise_flushed, raise_wrong);
  expect_flushing_judged(&cut_op, cut_flushed, cut_wrong);
}

/* The check after timing sees what the timed calls left. */
static void test_later_mistakes_are_caught(void **state) {
  const lathe_variant v = plant(plant_second);
  device *const cpu = device_cpu();
  problem *p = plant_problem(100);
  const char *why;
  device_call *call = cpu->prepare(cpu, &v, p, (device_layout){0}, &why);
  device_time taken;
  check_kept *left;
  check_result r;

  (void)state;
  catch_crashes();
  assert_non_null(call);
  r = check_run(call, NULL);
  assert_int_equal(r.verdict, CHECK_RIGHT);
  assert_true(cpu->time(call, 3, &taken));
  left = check_keep(call, &r);
  assert_non_null(left);
  r = check_judge(call, left);
  check_drop(left);
  assert_int_equal(r.verdict, CHECK_WRONG);
  assert_non_null(strstr(r.message, "y[1] is"));
  cpu->release(call);
  problem_free(p);
}

/* What a second run of a kernel leaves, held against what the first one did. */
static check_result run_twice(lathe_fn *run) {
  const lathe_variant v = plant(run);
  device *const cpu = device_cpu();
  problem *p = plant_problem(100);
  const char *why;
  device_call *call = cpu->prepare(cpu, &v, p, (device_layout){0}, &why);
  check_kept *first;
  check_result r;

  assert_non_null(call);
  assert_int_equal(check_run(call, &first).verdict, CHECK_RIGHT);
  assert_non_null(first);
  cpu->reset(call);
  assert_true(cpu->run(call));
  r = check_same(call, first);
  check_drop(first);
  cpu->release(call);
  problem_free(p);
  return r;
}

static void test_unsteady_results_are_caught(void **state) {
  check_result r = run_twice(plant_unsteady);

  (void)state;
  catch_crashes();
  assert_int_equal(r.verdict, CHECK_WRONG);
  assert_non_null(strstr(r.message, "y[1] differs from one run to the next: "));
  r = run_twice(plant_right);
  assert_int_equal(r.verdict, CHECK_RIGHT);
  assert_string_equal(r.message, "");
}

static void test_unable(void **state) {
  const lathe_variant v = plant(plant_right);
  problem *p = plant_problem(10);
  check_result r = check_variant(device_cpu(), &v, p, (device_layout){.in_place = true});

  (void)state;
  assert_int_equal(r.verdict, CHECK_UNABLE);
  assert_string_equal(r.message, "the op does not work in place");
  problem_free(p);
}

static void test_repro(void **state) {
  const lathe_variant v = plant(plant_right);
  device *const cpu = device_cpu();
  const size_t n = 77;
  const char *why;
  problem *p = problem_make(&plant_op, LATHE_F32, &n, 5, RANDOM_NAN | RANDOM_ZERO, &why);
  device_call *call =
      cpu->prepare(cpu, &v, p, (device_layout){.offset = 4, .page_end = true}, &why);
  char command[512];

  (void)state;
  describe_repro(call, "bench", command, sizeof command);
  assert_string_equal(command,
                      "bench --check-only --op plant --dtype f32 --variant plant_f32__planted "
                      "--size 77 --seed 5 --special nan,zero --page-end --offset 4");
  cpu->release(call);
  problem_free(p);
}

const struct CMUnitTest kernels_tests[] = {
    cmocka_unit_test(test_what_can_run),
    cmocka_unit_test(test_references),
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
    cmocka_unit_test(test_right_kernel_passes),
    cmocka_unit_test(test_wrong_results_are_caught),
    cmocka_unit_test(test_stray_writes_are_caught),
    cmocka_unit_test(test_crashes_are_caught),
    cmocka_unit_test(test_changed_settings_are_caught),
    cmocka_unit_test(test_flushing_devices_are_judged_by_what_they_may),
    cmocka_unit_test(test_later_mistakes_are_caught),
    cmocka_unit_test(test_unsteady_results_are_caught),
    cmocka_unit_test(test_unable),
    cmocka_unit_test(test_repro),
};
const size_t kernels_test_count = sizeof kernels_tests / sizeof *kernels_tests;
