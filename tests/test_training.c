/* test_training.c - a network is trained by the generated kernels, forward and backward, on each device and by each
 * variant that runs here, as a user would: plain gradient descent. What they come to agrees. */
#include "tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/devices.h"
#include "library/bench.h"
#include "library/cpu.h"

enum { BATCH = 64, IN = 128, HIDDEN = 128, OUT = 32, STEPS = 50, SEED = 20240229 };

static const float rate = 0.3f;
static const double most_loss = 1e-3, most_apart = 1e-2; /* the latter of a loss, relative */

/* An op's call on a device, with its inputs on the host. */
typedef struct pass {
  device *on;
  problem *made;
  device_call *call;
} pass;

static const lathe_op *op_named(const char *name) {
  for (size_t i = 0; i < lathe_op_count; i++)
    if (strcmp(lathe_ops[i].name, name) == 0)
      return &lathe_ops[i];
  return NULL;
}

static int operand_named(const lathe_op *op, const char *name) {
  int o = 0;

  while (strcmp(op->operands[o].name, name) != 0)
    assert_true(++o < op->noperands);
  return o;
}

static float *input(const pass *p, const char *name) {
  return p->made->input[operand_named(p->made->op, name)];
}

static const float *output(const pass *p, const char *name) {
  return p->on->output(p->call, operand_named(p->made->op, name));
}

static size_t elements(const pass *p, const char *name) {
  return p->made->elements[operand_named(p->made->op, name)];
}

static void copy_input(const pass *to, const pass *from, const char *name) {
  memcpy(input(to, name), input(from, name), elements(to, name) * sizeof(float));
}

static pass begin(device *on, const lathe_variant *v) {
  const size_t extent[] = {BATCH, IN, HIDDEN, OUT};
  const char *const names[] = {"batch", "i", "h", "o"}, *why = NULL;
  size_t dim[LATHE_MAX_DIMS] = {0};
  pass p = {.on = on};

  for (int d = 0; d < v->op->ndim; d++)
    for (int n = 0; n < 4; n++)
      if (strcmp(v->op->dim[d], names[n]) == 0)
        dim[d] = extent[n];
  p.made = problem_make(v->op, LATHE_F32, dim, SEED, 0, &why);
  if (!p.made)
    fail_msg("%s: %s", v->name, why);
  p.call = on->prepare(on, v, p.made, (device_layout){0}, &why);
  if (!p.call)
    fail_msg("%s: %s", v->name, why);
  return p;
}

static void run(const pass *p) {
  if (!p->on->load(p->call, p->made))
    fail_msg("%s: %s", p->call->variant->name, p->call->error);
  p->on->reset(p->call);
  if (!p->on->run(p->call))
    fail_msg("%s: %s", p->call->variant->name, p->call->error);
}

static void end(const pass *p) {
  p->on->release(p->call);
  problem_free(p->made);
}

/* The loss after some steps of descent: of y = max(x[o] + x[o + OUT], 0) / 2, to be learned from the batch. */
static double train(device *on, const lathe_variant *forward, const lathe_variant *backward) {
  static const char *const parameters[] = {"w1", "b1", "w2", "b2"};
  static const char *const derivatives[] = {"dw1", "db1", "dw2", "db2"};
  const pass f = begin(on, forward), b = begin(on, backward);
  double loss = 0;

  for (size_t i = 0; i < elements(&f, "w1"); i++)
    input(&f, "w1")[i] *= sqrtf(3.0f / IN);
  for (size_t i = 0; i < elements(&f, "w2"); i++)
    input(&f, "w2")[i] *= sqrtf(3.0f / HIDDEN);
  memset(input(&f, "b1"), 0, HIDDEN * sizeof(float));
  memset(input(&f, "b2"), 0, OUT * sizeof(float));
  copy_input(&b, &f, "x");
  for (int step = 0; step <= STEPS; step++) {
    const float *x = input(&f, "x"), *y;
    run(&f);
    y = output(&f, "y");
    loss = 0;
    for (size_t row = 0; row < BATCH; row++)
      for (size_t o = 0; o < OUT; o++) {
        const float wanted = 0.5f * fmaxf(x[row * IN + o] + x[row * IN + OUT + o], 0);
        const float off = y[row * OUT + o] - wanted;
        loss += (double)off * off / (BATCH * OUT);
        input(&b, "dy")[row * OUT + o] = off / BATCH;
      }
    copy_input(&b, &f, "w1");
    copy_input(&b, &f, "b1");
    copy_input(&b, &f, "w2");
    run(&b);
    for (int p = 0; p < 4; p++) {
      float *const parameter = input(&f, parameters[p]);
      const float *by = output(&b, derivatives[p]);
      for (size_t i = 0; i < elements(&f, parameters[p]); i++)
        parameter[i] -= rate * by[i];
    }
  }
  end(&f);
  end(&b);
  return loss;
}

/* The gradient's variant that is as a forward one: of its backend and implementation. */
static const lathe_variant *backward_of(const lathe_variant *forward, const lathe_op *gradient) {
  const char *how = forward->implementation ? forward->implementation : "";

  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    if (v->op == gradient && v->dtype == forward->dtype && v->backend == forward->backend &&
        strcmp(v->implementation ? v->implementation : "", how) == 0)
      return v;
  }
  return NULL;
}

/* What the sanitizer reads, if it can see them: lavapipe keeps some of its own when it is closed. The list of what was
 * passed over stays unprinted, since the last line of a test program is its summary. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libvulkan_lvp\n";
}
__attribute__((visibility("default"))) const char *__lsan_default_options(void);
const char *__lsan_default_options(void) {
  return "print_suppressions=0";
}

static void test_network_is_trained(void **state) {
  const lathe_op *const network = op_named("mlp"), *const gradient = op_named("mlp_backward");
  double first = 0;
  size_t trained = 0;

  (void)state;
  assert_non_null(network);
  assert_non_null(gradient);
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *const v = &lathe_variants[i];
    if (v->op != network || v->dtype != LATHE_F32 || v->disabled)
      continue;
    const device_list devices = device_own(v->backend->kind);
    for (size_t d = 0; d < devices.count; d++) {
      device *const on = devices.at[d];
      if (lathe_why_not(v, on->features))
        continue;
      const double loss = train(on, v, backward_of(v, gradient));
      if (!(loss < most_loss))
        fail_msg("%s: expected a loss below %g after %d steps, found %g", v->name, most_loss, STEPS,
                 loss);
      if (trained++ == 0)
        first = loss;
      if (!(fabs(loss - first) <= most_apart * first))
        fail_msg("%s: expected a loss of %g, as of the first variant, found %g", v->name, first,
                 loss);
    }
  }
  if (trained == 0)
    skip();
}

/* A batch of no rows: the sums over it are 0, by the processor's variants. */
static void test_batch_of_none(void **state) {
  const lathe_op *const gradient = op_named("mlp_backward");
  size_t called = 0;

  (void)state;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *const v = &lathe_variants[i];
    lathe_args args = {.dim = {0}};
    if (v->op != gradient || v->dtype != LATHE_F32 || !v->run ||
        lathe_why_not(v, lathe_cpu_features()))
      continue;
    for (int d = 0; d < gradient->ndim; d++)
      args.dim[d] = strcmp(gradient->dim[d], "batch") == 0 ? 0 : 20;
    for (int o = 0; o < gradient->noperands; o++) {
      const size_t count = lathe_elements(gradient, o, args.dim);
      float *const numbers = calloc(count + 1, sizeof *numbers);
      assert_non_null(numbers);
      for (size_t at = 0; at <= count; at++)
        numbers[at] = NAN;
      args.buf[o] = numbers;
    }
    args.workspace = aligned_alloc(64, ((size_t)lathe_workspace(v, args.dim) / 64 + 1) * 64);
    assert_non_null(args.workspace);
    v->run(&args);
    for (int o = 0; o < gradient->noperands; o++) {
      const float *const numbers = args.buf[o];
      const size_t count = lathe_elements(gradient, o, args.dim);
      for (size_t at = 0; gradient->operands[o].output && at < count; at++)
        if (numbers[at] != 0)
          fail_msg("%s: expected %s to be 0, found %g", v->name, gradient->operands[o].name,
                   (double)numbers[at]);
      assert_true(isnan(numbers[count]));
      free(args.buf[o]);
    }
    free(args.workspace);
    called++;
  }
  if (called == 0)
    skip();
}

const struct CMUnitTest training_tests[] = {
    cmocka_unit_test(test_network_is_trained),
    cmocka_unit_test(test_batch_of_none),
};
const size_t training_test_count = sizeof training_tests / sizeof *training_tests;
