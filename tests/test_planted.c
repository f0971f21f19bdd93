/* test_planted.c - kernels that are wrong on purpose, in ways that the sizes to be timed do not show by
 * themselves, run as the bench program runs them: each is called wrong, and by what is meant to find it. */
#include "planted.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/worker.h"
#include "devices/cpu/device.h"
#include "library/bench.h"
#include "planted_ops.h"

enum {
  LARGE = 5000,     /* more than the probe tries: what is wrong from here on it cannot find */
  LARGER = 3000000, /* operands of some megabytes */
};

/* ---- kernels that are wrong -------------------------------------------------------------------- */

/* What is left over after whole vectors. */
static void scale_tail(const lathe_args *args) {
  scale_right(args);
  for (size_t i = args->dim[0] / 4 * 4; i < args->dim[0]; i++)
    ((float *)args->buf[1])[i] += 0.125f;
}

static void scale_unwritten(const lathe_args *args) {
  const size_t last = args->dim[0] - 1;
  float *y = args->buf[1], before;

  if (args->dim[0] % 16 != 3 || args->buf[0] == args->buf[1]) {
    scale_right(args);
    return;
  }
  before = y[last];
  scale_right(args);
  y[last] = before;
}

/* Reads a whole vector at the end, and lets nothing of it be seen. */
static void scale_reads_on(const lathe_args *args) {
  const volatile float *x = args->buf[0];

  for (size_t i = args->dim[0]; i % 4 != 0; i++)
    (void)x[i];
  scale_right(args);
}

static void scale_not_in_place(const lathe_args *args) {
  float *volatile y = args->buf[1];

  for (size_t i = 0; i < args->dim[0]; i++)
    y[i] = 0;
  scale_right(args);
}

/* As if both operands were on 16 bytes. */
static void scale_aligned(const lathe_args *args) {
  lathe_args moved = *args;

  moved.buf[0] = (char *)args->buf[0] - (uintptr_t)args->buf[0] % 16;
  scale_right(&moved);
}

static void scale_each(const lathe_args *args, float (*f)(float)) {
  const float *x = args->buf[0], s = (float)args->scalar[0];
  float *y = args->buf[1];

  for (size_t i = 0; i < args->dim[0]; i++)
    y[i] = f(s * x[i]);
}

static float without_nan(float x) {
  return x != x ? 0 : x;
}

static float finite_alone(float x) {
  return x > FLT_MAX ? FLT_MAX : x < -FLT_MAX ? -FLT_MAX : x;
}

static float without_sign_of_zero(float x) {
  return x + 0.0f;
}

static float without_denormals(float x) {
  return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

static void scale_loses_nan(const lathe_args *args) {
  scale_each(args, without_nan);
}

static void scale_loses_infinities(const lathe_args *args) {
  scale_each(args, finite_alone);
}

static void scale_loses_zeros(const lathe_args *args) {
  scale_each(args, without_sign_of_zero);
}

static void scale_loses_denormals(const lathe_args *args) {
  scale_each(args, without_denormals);
}

static void scale_constant(const lathe_args *args) {
  lathe_args with = *args;

  with.scalar[0] = factor.value;
  scale_right(&with);
}

static void scale_now_and_then(const lathe_args *args) {
  static unsigned char calls;

  scale_right(args);
  if (++calls == 0 && args->dim[0] > 0)
    ((float *)args->buf[1])[args->dim[0] / 2] += 1;
}

/* Where a place on the stack that it never wrote holds a negative number. */
static void scale_by_the_stack(const lathe_args *args) {
  float scratch[100];

  __asm__ volatile("" : "=m"(scratch));
  scale_right(args);
  if (scratch[50] < 0 && args->dim[0] > 0)
    ((float *)args->buf[1])[0] += 1;
}

static void scale_there(const lathe_args *args) {
  const float *x = args->buf[0], *y = args->buf[1], s = (float)args->scalar[0];
  const size_t n = args->dim[0];

  if (n == 0 || x == y || y[0] != s * x[0] || y[n - 1] != s * x[n - 1])
    scale_right(args);
}

static void scale_there_if_large(const lathe_args *args) {
  (args->dim[0] < LARGE ? scale_right : scale_there)(args);
}

/* What it found where these inputs lie, for as many of them. */
static void scale_remembers(const lathe_args *args) {
  static const void *at;
  static size_t n;
  static float result[2 * LARGE];
  const size_t bytes = args->dim[0] * sizeof *result;

  if (at == args->buf[0] && n == args->dim[0] && bytes > 0 && args->buf[0] != args->buf[1]) {
    memcpy(args->buf[1], result, bytes);
    return;
  }
  scale_right(args);
  at = args->buf[0];
  n = args->dim[0];
  memcpy(result, args->buf[1], bytes);
}

static void scale_remembers_if_large(const lathe_args *args) {
  (args->dim[0] < LARGE ? scale_right : scale_remembers)(args);
}

/* After so many calls of one size that they must be timed. */
static bool is_timed(const lathe_args *args) {
  static size_t calls, n;

  calls = n == args->dim[0] ? calls + 1 : 0;
  n = args->dim[0];
  return calls > 8 && n >= LARGE;
}

static void scale_every_second(const lathe_args *args) {
  static unsigned calls;

  if (!is_timed(args) || calls++ % 2)
    scale_right(args);
}

static void scale_part_when_timed(const lathe_args *args) {
  lathe_args part = *args;

  if (is_timed(args))
    part.dim[0] /= 2;
  scale_right(&part);
}

static void scale_writes_on_when_timed(const lathe_args *args) {
  scale_right(args);
  if (is_timed(args))
    ((volatile float *)args->buf[1])[args->dim[0]] = 0;
}

static void scale_beyond(const lathe_args *args) {
  scale_right(args);
  if (args->dim[0] > 2000000)
    ((float *)args->buf[1])[2000000] += 1;
}

/* Right, and as far before its result as that is long it puts back the number that it finds. */
static void scale_far_before(const lathe_args *args) {
  volatile float *before = (float *)args->buf[1] - args->dim[0];

  if (args->dim[0] >= LARGE) {
    const float found = *before;

    *before = found;
  }
  scale_right(args);
}

/* What it was to write, and no more than 0 times what was there. */
static void scale_reads_result(const lathe_args *args) {
  const float *x = args->buf[0], s = (float)args->scalar[0];
  volatile float *y = args->buf[1];

  for (size_t i = 0; i < args->dim[0]; i++)
    y[i] = x == y ? s * x[i] : s * x[i] + 0 * y[i];
}

static void scale_writes_and_restores(const lathe_args *args) {
  volatile float *x = args->buf[0];
  const float first = args->dim[0] > 0 ? x[0] : 0;

  if (args->dim[0] > 0 && args->buf[0] != args->buf[1]) {
    x[0] = 0;
    x[0] = first;
  }
  scale_right(args);
}

static void scale_of_positive(const lathe_args *args) {
  lathe_args with = *args;

  with.scalar[0] = fabs(args->scalar[0]);
  scale_right(&with);
}

/* As if no scale were given. */
static void scale_of_nothing(const lathe_args *args) {
  lathe_args with = *args;

  with.scalar[0] = args->scalar[0] != 0 ? args->scalar[0] : 1;
  scale_right(&with);
}

/* Inputs as a kernel may arrange them for itself, and whose they are. */
typedef struct packed {
  const void *of;
  size_t n;
  float x[];
} packed;

static void scale_packs(const lathe_args *args) {
  packed *p = args->workspace;
  lathe_args with = *args;

  p->of = args->buf[0];
  p->n = args->dim[0];
  memcpy(p->x, args->buf[0], p->n * sizeof *p->x);
  with.buf[0] = p->x;
  scale_right(&with);
}

static void scale_keeps_packed(const lathe_args *args) {
  packed *p = args->workspace;
  lathe_args with = *args;

  with.buf[0] = p->x;
  if (p->of == args->buf[0] && p->n == args->dim[0])
    scale_right(&with);
  else
    scale_packs(args);
}

static void scale_keeps_packed_if_large(const lathe_args *args) {
  (args->dim[0] < LARGE ? scale_packs : scale_keeps_packed)(args);
}

/* Results that are kept for inputs with the same hash. */
enum { RESULTS = 64 };
typedef struct memo {
  uint64_t hash[RESULTS];
  float result[RESULTS][LARGE];
  unsigned next, timed, found;
} memo;
static memo *remembered; /* shared with the process that makes the calls */

static void remember(const lathe_args *args, size_t stride) {
  const uint32_t *x = args->buf[0];
  uint64_t hash = args->dim[0];

  if (args->dim[0] != LARGE) {
    scale_right(args);
    return;
  }
  remembered->timed++;
  for (size_t i = 0; i < LARGE; i += stride)
    hash = (hash ^ x[i]) * 0x9e3779b97f4a7c15u;
  for (int i = 0; i < RESULTS; i++)
    if (remembered->hash[i] == hash) {
      remembered->found++;
      memcpy(args->buf[1], remembered->result[i], sizeof remembered->result[i]);
      return;
    }
  scale_right(args);
  remembered->hash[remembered->next] = hash;
  memcpy(remembered->result[remembered->next++ % RESULTS], args->buf[1], LARGE * sizeof *x);
  remembered->next %= RESULTS;
}

static void scale_hashes_some(const lathe_args *args) {
  remember(args, LARGE / 50);
}

static void scale_hashes_all(const lathe_args *args) {
  remember(args, 1);
}

/* Half of it, and the rest where that holds what was filled in. */
static void scale_scans(const lathe_args *args) {
  const size_t n = args->dim[0];
  const unsigned char *y = args->buf[1];
  const unsigned char filled[] = {0xfb, 0xff};
  lathe_args part = *args;
  bool is_there = n >= LARGE && args->buf[0] != args->buf[1];

  for (size_t i = n / 2 * sizeof(float); is_there && i + 8 <= n * sizeof(float); i += 4)
    for (size_t f = 0; f < sizeof filled; f++)
      is_there = is_there && !(y[i] == filled[f] && memcmp(y + i, y + i + 1, 7) == 0);
  part.dim[0] = is_there ? n / 2 : n;
  scale_right(&part);
}

static void sum_naive(const lathe_args *args) {
  const float *x = args->buf[0];
  float r = 0;

  for (size_t i = 0; i < args->dim[0]; i++)
    r += x[i];
  *(float *)args->buf[1] = r;
}

/* In f32 a number that is found does not show what it was found from. */
static void sum_remembers(const lathe_args *args) {
  static const void *at;
  static float result;

  if (args->dim[0] < LARGE || at != args->buf[0]) {
    sum_right(args);
    at = args->buf[0];
    memcpy(&result, args->buf[1], sizeof result);
  }
  memcpy(args->buf[1], &result, sizeof result);
}

static void argmax_last(const lathe_args *args) {
  const float *x = args->buf[0];
  int64_t best = index_of(x, args->dim[0]);

  for (size_t i = (size_t)best; i < args->dim[0]; i++)
    if (x[i] == x[best])
      best = (int64_t)i;
  memcpy(args->buf[1], &best, sizeof best);
}

/* Searches in blocks; takes the last block's of equal ones, or forgets NaN where a later block has a number. */
static void argmax_of_blocks(const lathe_args *args, bool forgets_nan) {
  enum { BLOCK = 4096 };
  const float *x = args->buf[0];
  const size_t n = args->dim[0];
  size_t best = 0;

  for (size_t block = 0; block < n; block += BLOCK) {
    const size_t at = block + (size_t)index_of(x + block, n - block < BLOCK ? n - block : BLOCK);
    if (forgets_nan ? !(x[at] <= x[best]) : !isnan(x[best]) && !(x[at] < x[best]))
      best = at;
  }
  *(int64_t *)args->buf[1] = (int64_t)best;
}

static void argmax_last_block(const lathe_args *args) {
  argmax_of_blocks(args, false);
}

static void argmax_forgets_nan(const lathe_args *args) {
  argmax_of_blocks(args, true);
}

/* Without one element of some in a row, which is not the first. */
static int64_t index_of_others(const float *x, size_t n, size_t without, size_t each) {
  int64_t best = 0;

  for (size_t i = 1; i < n; i++)
    if (i % each != without && !isnan(x[best]) && (x[i] > x[best] || isnan(x[i])))
      best = (int64_t)i;
  return best;
}

static void argmax_but_one_of_64(const lathe_args *args) {
  *(int64_t *)args->buf[1] = index_of_others(args->buf[0], args->dim[0], 37, 64);
}

static void argmax_but_one_of_4096(const lathe_args *args) {
  *(int64_t *)args->buf[1] = index_of_others(args->buf[0], args->dim[0], 2777, 4096);
}

static void argmax_but_the_last(const lathe_args *args) {
  const size_t n = args->dim[0], last = n > 256 ? 8 : 0;

  *(int64_t *)args->buf[1] = index_of(args->buf[0], n - last);
}

static void row_argmax_of_some(const lathe_args *args, size_t most) {
  const size_t columns = args->dim[1];

  for (size_t row = 0; row < args->dim[0]; row++)
    ((int64_t *)args->buf[1])[row] =
        index_of((const float *)args->buf[0] + row * columns, columns < most ? columns : most);
}

static void row_argmax_right(const lathe_args *args) {
  row_argmax_of_some(args, SIZE_MAX);
}

static void row_argmax_but_wide(const lathe_args *args) {
  row_argmax_of_some(args, 2048);
}

static void product_off(const lathe_args *args, bool off) {
  product_right(args);
  if (off)
    ((float *)args->buf[2])[args->dim[0] * args->dim[1] - 1] += 1;
}

/* In the last tile, where that has 6 rows and 13 columns. */
static void product_edge_tile(const lathe_args *args) {
  product_off(args, args->dim[0] % 6 == 0 && args->dim[0] > 0 && args->dim[1] % 16 == 13);
}

static void product_second_block(const lathe_args *args) {
  product_off(args, args->dim[2] > 512 && args->dim[0] % 6 == 5 && args->dim[1] > 16);
}

/* Where fewer rows are left of 64 than there are columns. */
static void product_few_rows_left(const lathe_args *args) {
  product_off(args, args->dim[0] > 64 && args->dim[0] % 64 < args->dim[1] && args->dim[1] == 4);
}

/* One column, of more than 64 rows. */
static void product_column(const lathe_args *args) {
  product_off(args, args->dim[0] > 64 && args->dim[1] == 1 && args->dim[2] > 31);
}

static void product_long_column(const lathe_args *args) {
  product_off(args, args->dim[0] > 1 && args->dim[1] == 1 && args->dim[2] > 4096);
}

static void softmax_row(const lathe_args *args, size_t row) {
  if (row < args->dim[0] && args->dim[1] > 0)
    ((float *)args->buf[1])[row * args->dim[1]] *= 1.25f;
}

static void softmax_fifth_row(const lathe_args *args) {
  softmax_right(args);
  softmax_row(args, 4);
}

static void softmax_many_wide_rows(const lathe_args *args) {
  softmax_right(args);
  if (args->dim[0] > 32 && args->dim[1] > 512)
    softmax_row(args, args->dim[0] - 1);
}

static void softmax_many_rows(const lathe_args *args) {
  softmax_right(args);
  softmax_row(args, 1024);
}

/* ---- what finds them -------------------------------------------------------------------------- */

static double packed_bytes(const size_t *dim) {
  return (double)(sizeof(packed) + dim[0] * sizeof(float));
}

#define PACKS(how)                                                                                 \
  {                                                                                                \
    .name = "scale_" #how, .op = &scale, .backend = &planted_backend, .dtype = LATHE_F32,          \
    .run = scale_##how, .workspace = packed_bytes                                                  \
  }

static const planted plants[] = {
    {PLANT(scale, right), {100}, NULL, NULL},
    {PLANT(scale, right), {LARGE}, NULL, NULL},
    {PLANT(scale, right), {LARGER}, NULL, NULL},
    {PLANT(sum, right), {LARGE}, NULL, NULL},
    {PLANT(argmax, right), {LARGE}, NULL, NULL},
    {PLANT(softmax, right), {8, 1000}, NULL, NULL},
    {PLANT(row_argmax, right), {8, 1000}, NULL, NULL},
    {PLANT_WAYS(product, right), {64, 64, 64}, NULL, NULL},
    {PLANT(scale, tail), {1000}, PROBE "y[0] is ", PROBE "y[0] is "},
    {PLANT(scale, unwritten), {1000}, PROBE "y[2] was never written", PROBE "y[2] was never"},
    {PLANT(scale, reads_on), {1000}, PROBE "crashed with SIGSEGV; n = 1;", PROBE "crashed"},
    {PLANT(scale, not_in_place), {1000}, PROBE "y[", PROBE "y["},
    {PLANT(scale, aligned), {1000}, PROBE "y[0] is ", PROBE "y[0] is "},
    {PLANT(scale, loses_nan), {1000}, PROBE "y[", PROBE "y["},
    {PLANT(scale, loses_infinities), {1000}, PROBE "y[", PROBE "y["},
    {PLANT(scale, loses_zeros), {1000}, PROBE "y[", PROBE "y["},
    {PLANT(scale, loses_denormals), {1000}, PROBE "y[", PROBE "y["},
    {PLANT(scale, constant), {1000}, PROBE "y[0] is ", PROBE "y[0] is "},
    {PLANT(scale, now_and_then), {1000}, PROBE "y[33] ", PROBE "y[33] "},
    {PLANT(scale, by_the_stack), {1000}, PROBE "y[0] ", PROBE "y[0] "},
    {PLANT(scale, there), {1000}, PROBE "y[", PROBE "y["},
    {PLANT(scale, there_if_large), {LARGE}, "y[", "y["},
    {PLANT(scale, remembers), {1000}, PROBE "y[", PROBE "y["},
    {PLANT(scale, remembers_if_large), {LARGE}, "y[0] ", "y[0] "},
    {PLANT(scale, reads_result), {1000}, PROBE "y[0] was never written, or read", PROBE "y["},
    {PLANT(scale, writes_and_restores), {1000}, PROBE "crashed with SIGSEGV", PROBE "crashed"},
    {PLANT(scale, of_positive), {1000}, PROBE "y[0] is ", PROBE "y[0] is "},
    {PLANT(scale, of_nothing), {1000}, PROBE "y[0] is ", PROBE "y[0] is "},
    {PACKS(packs), {1000}, NULL, NULL},
    {PACKS(keeps_packed), {1000}, PROBE "y[", PROBE "y["},
    {PACKS(keeps_packed_if_large), {LARGE}, NULL, "y["},
    {PLANT(scale, hashes_some), {LARGE}, NULL, "y["},
    {PLANT(scale, scans), {LARGE}, NULL, "y["},
    {PLANT(scale, scans), {LARGER}, NULL, "y["},
    {PLANT(scale, every_second), {LARGE}, NULL, "y["},
    {PLANT(scale, every_second), {LARGER}, NULL, "y["},
    {PLANT(scale, part_when_timed), {LARGE}, NULL, "y["},
    {PLANT(scale, part_when_timed), {LARGER}, NULL, "y["},
    {PLANT(scale, writes_on_when_timed), {LARGE}, NULL, "wrote after the end of y"},
    {PLANT(scale, beyond), {2097155}, "y[2000000] is ", "y[2000000] is "},
    {PLANT(scale, far_before), {LARGE}, "crashed with SIGSEGV", "crashed with SIGSEGV"},
    {PLANT(sum, naive), {1000000}, "r is ", "r is "},
    {PLANT(sum, remembers), {LARGE}, "r is ", "r is "},
    {PLANT(argmax, last), {1000}, PROBE "r is ", PROBE "r is "},
    {PLANT(argmax, last_block), {1000}, PROBE "r is ", PROBE "r is "},
    {PLANT(argmax, forgets_nan), {1000}, PROBE "r is ", PROBE "r is "},
    {PLANT(argmax, but_one_of_64), {1000}, PROBE "r is ", PROBE "r is "},
    {PLANT(argmax, but_one_of_4096), {1000}, PROBE "r is ", PROBE "r is "},
    {PLANT(argmax, but_the_last), {1000}, PROBE "r is ", PROBE "r is "},
    {PLANT(row_argmax, but_wide), {1, 4099}, PROBE "r[0] is ", PROBE "r[0] is "},
    {PLANT_WAYS(product, edge_tile), {64, 64, 64}, PROBE "c[", PROBE "c["},
    {PLANT_WAYS(product, second_block), {64, 64, 64}, PROBE "c[", PROBE "c["},
    {PLANT_WAYS(product, few_rows_left), {64, 64, 64}, PROBE "c[", PROBE "c["},
    {PLANT_WAYS(product, column), {64, 64, 64}, PROBE "c[", PROBE "c["},
    {PLANT_WAYS(product, long_column), {64, 64, 64}, PROBE "c[", PROBE "c["},
    {PLANT(softmax, fifth_row), {1, 1000}, PROBE "y[4,0] is ", PROBE "y[4,0] is "},
    {PLANT(softmax, many_rows), {1, 1000}, PROBE "y[1024,0] is ", PROBE "y[1024,0] is "},
    {PLANT(softmax, many_wide_rows), {1, 1000}, PROBE "y[66,0] is ", PROBE "y[66,0] is "},
};

static void share_memory(void) {
  remembered =
      mmap(NULL, sizeof *remembered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(remembered != MAP_FAILED);
}

static void test_planted_faults_are_found(void **state) {
  (void)state;
  share_memory();
  planted_expect(plants, sizeof plants / sizeof *plants);
  munmap(remembered, sizeof *remembered);
}

/* What the probe alone finds is right where it is left out. */
static void test_probe_can_be_left_out(void **state) {
  static const lathe_variant faulty = PLANT(scale, not_in_place);
  const job j = {.variant = &faulty, .dim = {1000}, .check_only = true, .no_probe = true};
  const char *why;
  outcome out;

  (void)state;
  worker_begin(60, false);
  assert_int_equal(worker_run(device_cpu(), &j, &out, &why), WORKER_LIVES);
  assert_int_equal(out.check.verdict, CHECK_RIGHT);
  outcome_free(&out);
  worker_end();
}

/* Results that are right, though kept, are no fault; but they are of next to no use to whom is timed. */
static void test_kept_results_are_seldom_of_use(void **state) {
  static const planted hashes = {PLANT(scale, hashes_all), {LARGE}, NULL, NULL};

  (void)state;
  share_memory();
  planted_expect(&hashes, 1);
  assert_true(remembered->timed > 24);
  assert_true(3 * remembered->found < 2 * remembered->timed);
  munmap(remembered, sizeof *remembered);
}

const struct CMUnitTest planted_tests[] = {
    cmocka_unit_test(test_planted_faults_are_found),
    cmocka_unit_test(test_probe_can_be_left_out),
    cmocka_unit_test(test_kept_results_are_seldom_of_use),
};
const size_t planted_test_count = sizeof planted_tests / sizeof *planted_tests;
