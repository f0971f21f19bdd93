/* describe.c - what a check says of a call: one line. */
#include "describe.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "devices/common/buffer.h"
#include "library/dtype.h"
#include "problem/random.h"
#include "library/bench.h"

/* Text that grows in a buffer of fixed size, and is cut at its end. */
typedef struct text {
  char *at;
  size_t left;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(text *t, const char *format, ...) {
  va_list list;
  int written;

  va_start(list, format);
  written = vsnprintf(t->at, t->left, format, list);
  va_end(list);
  if (written > 0) {
    const size_t used = (size_t)written < t->left ? (size_t)written : t->left - 1;
    t->at += used;
    t->left -= used;
  }
}

static void put_element(text *t, lathe_dtype type, const void *base, size_t i) {
  long double value;

  lathe_dtype_widen_long(type, (const char *)base + i * lathe_dtype_size(type), 1, &value);
  put(t, "%.*Lg", lathe_dtype_format_of(type)->decimals, value);
}

view describe_view(const device_call *call, const sampling_layer *layer, int output,
                   const void *got) {
  return (view){
      .call = call,
      .p = layer ? call->problem->sample->of[output] : call->problem,
      .layer = layer,
      .output = output,
      .type = lathe_dtype_of_operand(&call->problem->op->operands[output], call->problem->dtype),
      .got = got};
}

/* The place of an element in an operand: its coordinates in the op's dimensions. */
static void coordinates(const problem *p, int o, size_t index, size_t *at) {
  const lathe_operand *operand = &p->op->operands[o];

  for (int d = operand->ndim - 1; d >= 0; d--) {
    const size_t extent = p->dim[operand->dim[d]];
    at[operand->dim[d]] = index % extent;
    index /= extent;
  }
}

/* Of an operand of a problem; layer: null, or the one that the coordinates are in. */
static void put_index(text *t, const problem *p, const sampling_layer *layer, int o,
                      const size_t *at) {
  const lathe_operand *operand = &p->op->operands[o];

  for (int i = 0; i < operand->ndim; i++) {
    const int d = operand->dim[i];
    put(t, "%s%zu", i ? "," : "[", layer ? sampling_place(p, layer, d, at[d]) : at[d]);
  }
  if (operand->ndim)
    put(t, "]");
}

/* The inputs that one element of output o was made of, where each has just one: those whose
 * dimensions the output has as well. */
static void put_inputs(text *t, const view *v, const size_t *at) {
  const problem *p = v->p;
  const lathe_op *op = p->op;
  bool in_output[LATHE_MAX_DIMS] = {false};

  for (int d = 0; d < op->operands[v->output].ndim; d++)
    in_output[op->operands[v->output].dim[d]] = true;
  for (int i = 0; i < op->noperands; i++) {
    const lathe_operand *input = &op->operands[i];
    size_t index = 0;
    bool has_one = !input->output;
    for (int d = 0; d < input->ndim; d++) {
      has_one = has_one && in_output[input->dim[d]];
      index = index * p->dim[input->dim[d]] + at[input->dim[d]];
    }
    if (!has_one)
      continue;
    put(t, ", %s", input->name);
    put_index(t, v->call->problem, v->layer, i, at);
    put(t, " = ");
    put_element(t, lathe_dtype_of_operand(input, p->dtype), p->input[i], index);
  }
}

static void put_layout(text *t, const device_call *call) {
  if (call->layout.in_place)
    put(t, "; in place");
  if (call->layout.page_end)
    put(t, "; at the end of a page");
  if (call->layout.offset)
    put(t, "; offset %zu bytes", call->layout.offset);
  if (call->layout.cut)
    put(t, "; cut in way %u", call->layout.cut);
  if (call->problem->special)
    put(t, "; special values %s", random_special_names(call->problem->special));
}

/* The size, the seed, and the layout: what every message ends with. */
static void put_setting(text *t, const device_call *call) {
  const problem *p = call->problem;

  put(t, "; ");
  for (int d = 0; d < p->op->ndim; d++)
    put(t, "%s%s = %zu", d ? ", " : "", p->op->dim[d], p->dim[d]);
  put_layout(t, call);
  put(t, "; seed %llu", (unsigned long long)p->seed);
}

static void describe_element(text *t, const view *v, const judgement *j) {
  const problem *p = v->p;
  const int o = v->output;
  const char *element = (const char *)v->got + j->at * lathe_dtype_size(v->type);
  size_t at[LATHE_MAX_DIMS] = {0};

  coordinates(p, o, j->at, at);
  put(t, "%s", p->op->operands[o].name);
  put_index(t, v->call->problem, v->layer, o, at);
  if (buffer_is_poison(element, lathe_dtype_size(v->type))) {
    put(t, " was never written");
    if (*element == (char)buffer_poison_nan)
      put(t, ", or read before that");
  } else {
    put(t, " is ");
    put_element(t, v->type, v->got, j->at);
  }
  put(t, ", expected ");
  if (lathe_dtype_numeric(v->type)) {
    /* Of an integer type, that which is rounded to it. */
    put(t, "%.*Lg", lathe_dtype_computed(v->type)->decimals, problem_expected(p, o, j->at));
    put(t, " (%.4g ulp off, %g allowed", j->at_ulp, j->bound);
    if (judge_may_be_spec(p->op, p->dtype, j)) /* as a sum of few accumulators, once in a while */
      put(t, ", but %s alone may be off by %g: expected ulp = %g or more", p->op->bench->roughest,
          p->op->bench->roughest_ulp, ceil(p->op->bench->roughest_ulp));
    put(t, ")");
  } else {
    put_element(t, v->type, p->expected[o], j->at);
    if (isfinite(j->at_ulp))
      put(t, " (terms that far apart are %.4g ulp off each, %g allowed)", j->at_ulp, j->bound);
  }
  put_inputs(t, v, at);
  put(t, "; %zu of %zu%s wrong", j->wrong, p->elements[o],
      v->layer ? " that were compared at a time" : "");
}

void describe_results(const view *v, const judgement *j, char *to, size_t size) {
  text t = {to, size};

  if (j->wrong)
    describe_element(&t, v, j);
  else
    put(&t, "%s as a whole is off by %.3g of its 2-norm, expected at most %.3g",
        v->p->op->operands[v->output].name, j->off, j->off_allowed);
  put_setting(&t, v->call);
}

void describe_misdeed(const device_call *call, char *to, size_t size) {
  text t = {to, size};

  put(&t, "%s", call->error);
  put_setting(&t, call);
}

void describe_setting(const device_call *call, char *to, size_t size) {
  const size_t length = strlen(to);
  text t = {to + length, size - length};

  put_setting(&t, call);
}

void describe_change(device_call *call, int o, size_t element, const void *before,
                     const void *now) {
  const problem *p = call->problem;
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  size_t at[LATHE_MAX_DIMS] = {0};
  text t = {call->error, sizeof call->error};

  coordinates(p, o, element, at);
  put(&t, "%s", p->op->operands[o].name);
  put_index(&t, p, NULL, o, at);
  put(&t, " differs from one run to the next: ");
  put_element(&t, type, before, element);
  put(&t, ", then ");
  put_element(&t, type, now, element);
}

void describe_repro(const device_call *call, const char *program, char *to, size_t size) {
  const problem *p = call->problem;
  text t = {to, size};

  put(&t, "%s --check-only --op %s --dtype %s --variant %s --size ", program, p->op->name,
      lathe_dtype_name(p->dtype), call->variant->name);
  for (int d = 0; d < p->op->ndim; d++)
    put(&t, "%s%zu", d ? "x" : "", p->dim[d]);
  put(&t, " --seed %llu", (unsigned long long)p->seed);
  if (p->special)
    put(&t, " --special %s", random_special_names(p->special));
  if (call->layout.in_place)
    put(&t, " --in-place");
  if (call->layout.page_end)
    put(&t, " --page-end");
  if (call->layout.cut)
    put(&t, " --cut %u", call->layout.cut);
  if (call->layout.threads > 1)
    put(&t, " --threads %d", call->layout.threads);
  if (call->layout.offset)
    put(&t, " --offset %zu", call->layout.offset);
}
