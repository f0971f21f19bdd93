/* rows.c - plans whose operands have rows that lie apart: results have the bits of those that lie together, and nothing
 * between rows is written. With an argument says what calls take. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <lathe/matmul.h>
#include <lathe/softmax.h>

static int failed;

#define EXPECT(what)                                                                               \
  ((what) ? (void)0 : (void)(failed = 1, printf("line %d: expected %s\n", __LINE__, #what)))

enum { ROWS = 37, COLUMNS = 70, APART = 150, SIDE = 100 };
static const float untouched = -77;
static float wide[4][SIDE * APART], packed[3][SIDE * SIDE], right[SIDE * SIDE];
static _Alignas(64) char workspace[1 << 20];

static void run_in_turn(void *pool, lathe_part_fn *work, void *context, size_t parts) {
  ++*(int *)pool;
  while (parts-- > 0)
    work(context, parts);
}

static void fill(float *wide_one, float *packed_one, size_t rows, size_t columns) {
  for (size_t i = 0; i < sizeof *wide / sizeof **wide; i++)
    wide_one[i] = untouched;
  for (size_t i = 0; i < rows * columns; i++)
    packed_one[i] = wide_one[i / columns * APART + i % columns] = (float)(i * 37 % 101) / 13;
}

/* Whether rows that lie apart are those, and what is between them is as it was. */
static int has(const float *found, const float *wanted, size_t rows, size_t columns, size_t from,
               size_t past) {
  for (size_t i = 0; i < rows * APART; i++) {
    const size_t row = i / APART, column = i % APART;
    if (column < columns ? found[i] != wanted[row * columns + column]
                         : (column < from || column >= past) && found[i] != untouched)
      return 0;
  }
  return 1;
}

static void softmax(void) {
  const size_t dim[] = {ROWS, COLUMNS}, row[] = {APART, APART}, one[] = {0, APART};
  const lathe_options options = {.size = sizeof options, .row = row};
  void *operand[] = {wide[0], wide[1]};
  lathe_plan plan;
  char why[160];

  fill(wide[0], packed[0], ROWS, COLUMNS);
  fill(wide[1], packed[1], 0, 0);
  EXPECT(!lathe_softmax_f32(packed[0], right, ROWS, COLUMNS));
  EXPECT(!lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, &options) && plan.workspace == 0);
  EXPECT(!lathe_check(&plan, operand, NULL, why) && !lathe_run(&plan, operand, NULL, NULL, NULL));
  EXPECT(has(wide[1], right, ROWS, COLUMNS, COLUMNS, COLUMNS));
  /* Columns of one matrix. */
  operand[1] = wide[0] + COLUMNS;
  EXPECT(lathe_check(&plan, operand, NULL, why) == LATHE_OK);
  EXPECT(!lathe_run(&plan, operand, NULL, NULL, NULL));
  EXPECT(has(wide[0], packed[0], ROWS, COLUMNS, COLUMNS, (size_t)2 * COLUMNS));
  EXPECT(wide[0][APART + COLUMNS + 1] == right[COLUMNS + 1]);
  operand[1] = wide[0] + COLUMNS - 1;
  EXPECT(lathe_check(&plan, operand, NULL, why) == LATHE_OVERLAP);
  operand[0] = wide[0] + COLUMNS, operand[1] = wide[0];
  EXPECT(lathe_check(&plan, operand, NULL, why) == LATHE_OK);
  operand[1] = wide[0] + 1;
  EXPECT(lathe_check(&plan, operand, NULL, why) == LATHE_OVERLAP);
  operand[0] = operand[1] = wide[0]; /* in place */
  EXPECT(!lathe_check(&plan, operand, NULL, why) && !lathe_run(&plan, operand, NULL, NULL, NULL));
  EXPECT(has(wide[0], right, ROWS, COLUMNS, COLUMNS, (size_t)2 * COLUMNS));
  EXPECT(!lathe_make(&plan, NULL, "softmax", LATHE_F32, dim,
                     &(lathe_options){.size = sizeof options, .row = one}));
  EXPECT(lathe_check(&plan, operand, NULL, why) == LATHE_OVERLAP);
  operand[0] = packed[0], operand[1] = wide[1];
  fill(wide[1], packed[1], 0, 0);
  EXPECT(!lathe_check(&plan, operand, NULL, why) && !lathe_run(&plan, operand, NULL, NULL, NULL));
  EXPECT(has(wide[1], right, ROWS, COLUMNS, COLUMNS, COLUMNS));
}

static void matmul(void) {
  const size_t dim[] = {SIDE, SIDE - 1, SIDE - 2}, row[] = {APART, APART, APART};
  int shared = 0;
  lathe_options options = {.size = sizeof options, .row = row};
  void *const operand[] = {wide[0], wide[1], wide[2]};
  lathe_plan plan;
  char why[160];

  fill(wide[0], packed[0], SIDE, SIDE - 2);
  fill(wide[1], packed[1], SIDE - 2, SIDE - 1);
  EXPECT(!lathe_matmul_f32(packed[0], packed[1], right, dim[0], dim[1], dim[2], workspace));
  for (int threads = 0; threads < 2; threads++) {
    options.threads = (lathe_threads){threads ? run_in_turn : NULL, &shared, 4};
    fill(wide[2], packed[2], 0, 0);
    EXPECT(!lathe_make(&plan, NULL, "matmul", LATHE_F32, dim, &options));
    EXPECT(plan.workspace > 0 && plan.workspace <= sizeof workspace);
    EXPECT(!lathe_check(&plan, operand, workspace, why));
    EXPECT(!lathe_run(&plan, operand, NULL, workspace, NULL));
    EXPECT(has(wide[2], right, SIDE, SIDE - 1, SIDE - 1, SIDE - 1));
  }
}

/* Many rows, which threads share. */
static void threads(void) {
  static float x[10000 * 14], y[10000 * 13], z[10000 * 13], apart[10000 * 14];
  const size_t dim[] = {10000, 13}, row[] = {14, 0};
  int shared = 0;
  const lathe_options options = {
      .size = sizeof options, .row = row, .threads = {run_in_turn, &shared, 3}};
  void *const operand[] = {apart, z};
  lathe_plan plan;

  for (size_t i = 0; i < 10000 * (size_t)13; i++)
    x[i] = apart[i / 13 * 14 + i % 13] = (float)(i * 37 % 101) / 13;
  EXPECT(!lathe_softmax_f32(x, y, 10000, 13));
  EXPECT(!lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, &options));
  EXPECT(!lathe_run(&plan, operand, NULL, NULL, NULL) && shared == 1 && !memcmp(y, z, sizeof y));
}

static void refused(void) {
  const size_t dim[] = {4, 1000}, near[] = {0, 999}, far[] = {(size_t)1 << 62, 0}, as[] = {1000, 0};
  lathe_options options = {.size = sizeof options, .row = near};
  lathe_plan plan;

  EXPECT(lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, &options) == LATHE_STRIDE);
  EXPECT(strstr(plan.why, "softmax: y has rows of 1000 elements that lie 999 apart"));
  options.row = far;
  EXPECT(lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, &options) == LATHE_STRIDE);
  EXPECT(strstr(plan.why, "softmax: x") && strstr(plan.why, "no memory") && !plan.variant);
  options.row = as;
  EXPECT(lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, &options) == LATHE_OK);
  EXPECT(!plan.why[0] && plan.digits == 0);
  options.size = offsetof(lathe_options, row); /* a program of the first version */
  options.row = near;
  EXPECT(lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, &options) == LATHE_OK);
}

static double seconds_of(const lathe_plan *plan, void *const *operand) {
  struct timespec from, to;
  double best = 1;

  for (int round = 0; round < 20; round++) {
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < 100; i++)
      lathe_run(plan, operand, NULL, workspace, NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    const double took =
        (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    best = took / 100 < best ? took / 100 : best;
  }
  return best;
}

static void say_times(void) {
  const size_t dim[] = {SIDE, SIDE}, product[] = {SIDE, SIDE, SIDE};
  const size_t row[] = {APART, APART, APART};
  const lathe_options options = {.size = sizeof options, .row = row};
  void *const operand[] = {wide[0], wide[1], wide[2]};
  lathe_plan plan;

  for (int apart = 0; apart < 2; apart++) {
    lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, apart ? &options : NULL);
    printf("softmax %s: %.0f ns\n", apart ? "apart" : "together", 1e9 * seconds_of(&plan, operand));
    lathe_make(&plan, NULL, "matmul", LATHE_F32, product, apart ? &options : NULL);
    printf("matmul %s: %.0f ns\n", apart ? "apart" : "together", 1e9 * seconds_of(&plan, operand));
  }
}

int main(int count, char **argument) {
  (void)argument;
  softmax();
  matmul();
  threads();
  refused();
  if (count > 1)
    say_times();
  return failed;
}
