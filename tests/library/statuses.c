/* statuses.c - each status that a processor's calls can come to, and what is said then. */
#include <stdio.h>
#include <string.h>

#include <lathe/matmul.h>
#include <lathe/softmax.h>

static int failed;

#define EXPECT(what)                                                                               \
  ((what) ? (void)0 : (void)(failed = 1, printf("line %d: expected %s\n", __LINE__, #what)))

static char why[160];

/* A status, with a text of its own, and a line that has some words. */
static int is(int found, int wanted, const char *said, const char *words) {
  const int fits = found == wanted && strstr(said, words) && lathe_text(wanted)[0];

  if (!fits)
    printf("found status %d, '%s'\n", found, said);
  return fits;
}

static void make(void) {
  const size_t dim[] = {4, 1000}, huge[] = {(size_t)1 << 40, (size_t)1 << 40};
  lathe_options options = {.size = sizeof options};
  lathe_plan plan;

  EXPECT(lathe_make(&plan, lathe_cpu(), "softmax", LATHE_F32, dim, NULL) == LATHE_OK);
  EXPECT(!plan.why[0] && plan.variant && plan.source && plan.workspace == 0 && plan.ulp == 2);
  EXPECT(is(lathe_make(&plan, NULL, "sofmax", LATHE_F32, dim, NULL), LATHE_NO_OP, plan.why,
            "no op 'sofmax'"));
  EXPECT(is(lathe_make(&plan, NULL, NULL, LATHE_F32, dim, NULL), LATHE_NO_OP, plan.why, "null"));
  EXPECT(is(lathe_make_of(&plan, NULL, NULL, dim, NULL), LATHE_NO_OP, plan.why, "header"));
  EXPECT(is(lathe_make(&plan, NULL, "softmax", LATHE_U8, dim, NULL), LATHE_NO_TYPE, plan.why,
            "softmax: for cpu it is built in f32"));
  EXPECT(strstr(plan.why, "not in u8") && !plan.variant);
  EXPECT(is(lathe_make(&plan, NULL, "softmax", (lathe_dtype)99, dim, NULL), LATHE_NO_TYPE, plan.why,
            "no type"));
  EXPECT(is(lathe_make(&plan, NULL, "softmax", LATHE_F32, NULL, NULL), LATHE_SHAPE, plan.why,
            "rows, cols"));
  EXPECT(is(lathe_make(&plan, NULL, "softmax", LATHE_F32, huge, NULL), LATHE_SHAPE, plan.why,
            "cols = 1099511627776"));
  options.variant = "*__none";
  EXPECT(is(lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, &options), LATHE_NO_VARIANT,
            plan.why, "'*__none'"));
  options.variant = "*__scalar*";
  EXPECT(lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, &options) == LATHE_OK);
  EXPECT(strncmp(plan.variant, "softmax_f32__scalar", 19) == 0);
  options.size = 8;
  EXPECT(is(lathe_make(&plan, NULL, "softmax", LATHE_F32, dim, &options), LATHE_OPTIONS, plan.why,
            "found 8"));
}

static void check(void) {
  static float x[64], y[64];
  const size_t dim[] = {4, 16}, product[] = {100, 100, 100};
  void *operand[] = {x, y, NULL};
  lathe_plan plan;

  EXPECT(!lathe_make_of(&plan, &lathe_softmax_f32_cpu, NULL, dim, NULL));
  EXPECT(lathe_check(&plan, operand, NULL, why) == LATHE_OK && !why[0]);
  EXPECT(lathe_check(&plan, operand, NULL, NULL) == LATHE_OK);
  operand[1] = x; /* in place */
  EXPECT(lathe_check(&plan, operand, NULL, why) == LATHE_OK);
  operand[1] = x + 1;
  EXPECT(is(lathe_check(&plan, operand, NULL, why), LATHE_OVERLAP, why,
            "softmax: y shares memory with x; give it memory of its own"));
  EXPECT(lathe_check(&plan, operand, NULL, NULL) == LATHE_OVERLAP);
  operand[1] = (char *)y + 2;
  EXPECT(is(lathe_check(&plan, operand, NULL, why), LATHE_ALIGNMENT, why, "y lies between"));
  operand[1] = NULL;
  EXPECT(is(lathe_check(&plan, operand, NULL, why), LATHE_NULL, why, "softmax: y is null"));
  operand[1] = y;
  EXPECT(is(lathe_check(&plan, operand, (void *)8, why), LATHE_WORKSPACE, why, "multiple of 64"));
  EXPECT(!lathe_make_of(&plan, &lathe_matmul_f32_cpu, NULL, product, NULL));
  EXPECT(plan.workspace > 0 && plan.workspace == lathe_matmul_f32_workspace(100, 100, 100));
  operand[0] = (void *)1024, operand[1] = (void *)(1 << 20), operand[2] = (void *)(2 << 20);
  EXPECT(is(lathe_check(&plan, operand, NULL, why), LATHE_WORKSPACE, why, "plan.workspace bytes"));
}

static void at_once(void) {
  const float x[4] = {0};
  float y[4];

  EXPECT(lathe_softmax_f32(x, y, 1, 4) == LATHE_OK && y[0] == 0.25f);
  EXPECT(lathe_softmax_f32(NULL, y, 1, 4) == LATHE_NULL);
  EXPECT(lathe_softmax_f32(x, NULL, 1, 4) == LATHE_NULL);
  EXPECT(lathe_softmax_f32(NULL, NULL, 0, 4) == LATHE_OK);
  EXPECT(lathe_softmax_f32(x, y, (size_t)1 << 60, 4) == LATHE_SHAPE);
  EXPECT(lathe_matmul_f32(x, x, y, 100, 100, 100, NULL) == LATHE_WORKSPACE);
  EXPECT(lathe_matmul_f32_workspace((size_t)1 << 60, 1, 1) == 0);
}

int main(void) {
  make();
  check();
  at_once();
  for (int status = -1000; status <= LATHE_STRIDE + 1; status++)
    EXPECT(lathe_text(status)[0]);
  EXPECT(lathe_version() == LATHE_VERSION);
  return failed;
}
