/* check.c - is a variant's result right? */
#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "dtype.h"
#include "judge.h"
#include "memory.h"
#include "random.h"
#include "telling.h"

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

/* Digits enough to tell a type's values apart. */
static int digits_of(lathe_dtype type) {
  static const int digits[LATHE_DTYPES] = {[LATHE_F64] = 17, [LATHE_F32] = 9,  [LATHE_F16] = 5,
                                           [LATHE_BF16] = 4, [LATHE_I32] = 10, [LATHE_I64] = 19};

  return digits[type];
}

static void put_element(text *t, lathe_dtype type, const void *base, size_t i) {
  long double value;

  dtype_widen_long(type, (const char *)base + i * lathe_dtype_size(type), 1, &value);
  put(t, "%.*Lg", digits_of(type), value);
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

static void put_index(text *t, const problem *p, int o, const size_t *at) {
  const lathe_operand *operand = &p->op->operands[o];

  for (int d = 0; d < operand->ndim; d++)
    put(t, "%s%zu", d ? "," : "[", at[operand->dim[d]]);
  if (operand->ndim)
    put(t, "]");
}

/* The inputs that one element of output o was made of, where each has just one: those whose
 * dimensions the output has as well. */
static void put_inputs(text *t, const problem *p, int o, const size_t *at) {
  const lathe_op *op = p->op;
  bool in_output[LATHE_MAX_DIMS] = {false};

  for (int d = 0; d < op->operands[o].ndim; d++)
    in_output[op->operands[o].dim[d]] = true;
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
    put_index(t, p, i, at);
    put(t, " = ");
    put_element(t, dtype_of_operand(input, p->dtype), p->input[i], index);
  }
}

static void put_layout(text *t, const device_call *call) {
  if (call->layout.in_place)
    put(t, "; in place");
  if (call->layout.page_end)
    put(t, "; at the end of a page");
  if (call->layout.offset)
    put(t, "; offset %zu bytes", call->layout.offset);
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

static void describe_element(text *t, const device_call *call, int o, lathe_dtype type,
                             const void *got, const judgement *j) {
  const problem *p = call->problem;
  const char *element = (const char *)got + j->at * lathe_dtype_size(type);
  size_t at[LATHE_MAX_DIMS] = {0};

  coordinates(p, o, j->at, at);
  put(t, "%s", p->op->operands[o].name);
  put_index(t, p, o, at);
  if (buffer_is_poison(element, lathe_dtype_size(type))) {
    put(t, " was never written");
  } else {
    put(t, " is ");
    put_element(t, type, got, j->at);
  }
  put(t, ", expected ");
  if (dtype_floating(type)) {
    put(t, "%.*Lg", digits_of(type), problem_expected(p, o, j->at));
    put(t, " (%.4g ulp off, %g allowed", j->at_ulp, j->bound);
    if (judge_may_be_spec(p->op, p->dtype, j)) /* as a sum of few accumulators, once in a while */
      put(t, ", but %s alone may be off by %g: expected ulp = %g or more", p->op->roughest,
          p->op->roughest_ulp, ceil(p->op->roughest_ulp));
    put(t, ")");
  } else {
    put_element(t, type, p->expected[o], j->at);
    if (isfinite(j->at_ulp))
      put(t, " (terms that far apart are %.4g ulp off each, %g allowed)", j->at_ulp, j->bound);
  }
  put_inputs(t, p, o, at);
  put(t, "; %zu of %zu wrong", j->wrong, p->elements[o]);
}

static void describe(const device_call *call, check_result *r, int o, lathe_dtype type,
                     const void *got, const judgement *j) {
  text t = {r->message, sizeof r->message};

  if (j->wrong)
    describe_element(&t, call, o, type, got, j);
  else
    put(&t, "%s as a whole is off by %.3g of its 2-norm, expected at most %.3g",
        call->problem->op->operands[o].name, j->off, j->off_allowed);
  put_setting(&t, call);
}

static void describe_misdeed(const device_call *call, check_result *r) {
  text t = {r->message, sizeof r->message};

  r->verdict = CHECK_WRONG;
  put(&t, "%s", call->error);
  put_setting(&t, call);
}

/* Compares all outputs; flushed: null, or as problem_flushed makes it. */
static check_result compare_outputs(device_call *call, const problem *flushed) {
  const problem *p = call->problem;
  check_result r = {.bound = judge_bound(p->op, p->dtype)};

  for (int o = 0; o < p->op->noperands; o++) {
    const lathe_dtype type = dtype_of_operand(&p->op->operands[o], p->dtype);
    const void *got;
    judgement j;
    if (!p->op->operands[o].output)
      continue;
    call->error[0] = 0;
    got = call->on->output(call, o);
    if (call->error[0]) { /* nothing could be had of it */
      describe_misdeed(call, &r);
      return r;
    }
    call->seen[o] = got;
    j = judge_output(p, flushed, o, got);
    if (j.worst > r.ulp) {
      r.ulp = j.worst;
      r.bound = j.bound;
    }
    if (j.off * r.off_allowed >= r.off * j.off_allowed) {
      r.off = j.off;
      r.off_allowed = j.off_allowed;
    }
    if (!judge_is_right(&j) && r.verdict == CHECK_RIGHT) {
      r.verdict = CHECK_WRONG;
      describe(call, &r, o, type, got, &j);
    }
  }
  return r;
}

check_result check_outputs(device_call *call) {
  check_result r = compare_outputs(call, NULL);

  if (r.verdict == CHECK_WRONG && !call->error[0] &&
      call->on->may_flush & 1u << call->problem->dtype) {
    problem *flushed = problem_flushed(call->problem);
    if (flushed)
      r = compare_outputs(call, flushed);
    problem_free(flushed);
  }
  if (r.verdict == CHECK_RIGHT && !call->on->intact(call))
    describe_misdeed(call, &r);
  if (r.verdict == CHECK_RIGHT && !telling_proves(call->problem, r.message, sizeof r.message)) {
    text t = {r.message + strlen(r.message), sizeof r.message - strlen(r.message)};
    r.verdict = CHECK_UNPROVED;
    put_setting(&t, call);
  }
  return r;
}

check_result check_run(device_call *call) {
  call->on->reset(call);
  return device_run(call) ? check_outputs(call) : check_failed(call);
}

struct check_kept {
  void *output[LATHE_MAX_OPERANDS];
};

check_kept *check_keep(device_call *call) {
  const problem *p = call->problem;
  check_kept *kept = calloc(1, sizeof *kept);
  bool ok = kept != NULL;

  for (int o = 0; o < p->op->noperands && ok; o++) {
    if (!p->op->operands[o].output)
      continue;
    kept->output[o] = memory_make(p->bytes[o]);
    ok = kept->output[o] != NULL;
    if (ok)
      memory_copy(kept->output[o], call->seen[o] ? call->seen[o] : call->on->output(call, o),
                  p->bytes[o]);
  }
  if (ok)
    return kept;
  check_drop(kept);
  return NULL;
}

void check_drop(check_kept *kept) {
  for (int o = 0; kept && o < LATHE_MAX_OPERANDS; o++)
    free(kept->output[o]);
  free(kept);
}

const void *check_kept_output(const check_kept *kept, int operand) {
  return kept->output[operand];
}

check_result check_same(device_call *call, const check_kept *kept) {
  const problem *p = call->problem;
  check_result r = {.bound = judge_bound(p->op, p->dtype)};

  for (int o = 0; o < p->op->noperands && r.verdict == CHECK_RIGHT; o++) {
    const lathe_dtype type = dtype_of_operand(&p->op->operands[o], p->dtype);
    const size_t size = lathe_dtype_size(type);
    const char *now, *before = kept->output[o];
    size_t place[LATHE_MAX_DIMS] = {0}, at = 0;
    text t = {call->error, sizeof call->error};
    if (!before)
      continue;
    now = call->on->output(call, o);
    at = memory_differs(now, before, p->bytes[o]) / size;
    if (at == p->elements[o])
      continue;
    coordinates(p, o, at, place);
    put(&t, "%s", p->op->operands[o].name);
    put_index(&t, p, o, place);
    put(&t, " differs from one run to the next: ");
    put_element(&t, type, before, at);
    put(&t, ", then ");
    put_element(&t, type, now, at);
    describe_misdeed(call, &r);
  }
  return r;
}

check_result check_failed(const device_call *call) {
  check_result r = {.bound = judge_bound(call->problem->op, call->problem->dtype)};

  describe_misdeed(call, &r);
  return r;
}

check_result check_variant(device *on, const lathe_variant *variant, const problem *p,
                           device_layout layout) {
  check_result r = {.verdict = CHECK_UNABLE};
  const char *why;
  device_call *call = device_prepare(on, variant, p, layout, &why);

  if (!call) {
    snprintf(r.message, sizeof r.message, "%s", why);
    return r;
  }
  r = check_run(call);
  on->release(call);
  return r;
}

void check_repro(const device_call *call, const char *program, char *to, size_t size) {
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
  if (call->layout.offset)
    put(&t, " --offset %zu", call->layout.offset);
}
