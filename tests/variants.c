/* variants.c - what tests of kernels share. */
#include "variants.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "devices/common/buffer.h"
#include "devices/cpu/device.h"
#include "library/bench.h"
#include "library/cpu.h"
#include "library/dtype.h"

enum { TOLD = 20 }; /* failures of one test that are told in full */

/* ---- what a test has found ------------------------------------------------------------------- */

void tally_tell(tally *t, const char *name, const char *message) {
  t->failures++;
  if (t->failures <= TOLD)
    print_error("%s: %s\n", name, message);
  else if (t->failures == TOLD + 1)
    print_error("... and more\n");
}

void tally_count(tally *t, const lathe_variant *v, const check_result *r) {
  t->checks++;
  if (r->verdict == CHECK_UNPROVED)
    t->unproved++;
  else if (r->verdict != CHECK_RIGHT)
    tally_tell(t, v->name, r->message);
}

void tally_conclude(const tally *t) {
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

void catch_crashes(void) {
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

bool variants_next_group(variant_group *g) {
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

const lathe_variant *variants_next_able(const variant_group *g, size_t *i) {
  while (*i < g->end) {
    const lathe_variant *v = &lathe_variants[(*i)++];
    if (v->backend->kind == LATHE_CPU && !lathe_why_not(v, lathe_cpu_features()))
      return v;
  }
  return NULL;
}

static void check_layout(tally *t, device *on, const lathe_variant *v, const problem *p,
                         device_layout layout) {
  const check_result r = check_variant(on, v, p, layout);

  tally_count(t, v, &r);
}

void variants_check(tally *t, const lathe_variant *v, const problem *p, unsigned layouts) {
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

problem *variants_problem(const variant_group *g, const size_t *dim, uint64_t seed,
                          unsigned special) {
  const char *why;
  problem *p = problem_make(g->op, g->dtype, dim, seed, special, &why);

  if (!p)
    fail_msg("%s: %s", g->op->name, why);
  return p;
}

double element_at(lathe_dtype type, const void *from, size_t at) {
  double value;

  lathe_dtype_widen(type, (const char *)from + at * lathe_dtype_size(type), 1, &value);
  return value;
}
