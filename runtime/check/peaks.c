/* peaks.c - moves one extreme element through the inputs, and looks whether outputs follow it. */
#include "peaks.h"

#include <stdlib.h>
#include <string.h>

#include "library/bench.h"
#include "library/dtype.h"
#include "problem/random.h"

/* A call whose inputs are all in the middle of their ranges, but for one element of each, which is an end: what an
 * extreme is or where it lies depends on that alone, wherever the element is. */
typedef struct peaks {
  device_call *call;
  size_t elements; /* of the largest input */
  /* Outputs without a peak, and with one. */
  char *before[LATHE_MAX_OPERANDS], *now[LATHE_MAX_OPERANDS];
} peaks;

static bool has_peak(const problem *p, int o) {
  const lathe_operand *operand = &p->op->operands[o];

  return !operand->output && !operand->index && p->elements[o] > 1 &&
         lathe_dtype_numeric(lathe_dtype_of_operand(operand, p->dtype));
}

/* Puts a peak at a place, or takes it away; the problem's own is in the first. */
static bool move_peak(const peaks *k, size_t at, bool there) {
  const problem *p = k->call->problem;
  bool ok = true;

  for (int o = 0; o < p->op->noperands && ok; o++) {
    const size_t size = lathe_dtype_size(lathe_dtype_of_operand(&p->op->operands[o], p->dtype));
    const size_t to = has_peak(p, o) ? at % p->elements[o] : 0;
    const size_t from = there ? 0 : to > 0 ? to : 1;
    if (has_peak(p, o))
      ok = k->call->on->poke(k->call, o, to * size, (char *)p->input[o] + from * size, size);
  }
  return ok;
}

/* Calls the kernel; to: what becomes of its outputs. */
static bool call_for(const peaks *k, char *const *to) {
  const problem *p = k->call->problem;
  bool ok = device_run(k->call);

  for (int o = 0; o < p->op->noperands && ok; o++)
    if (to[o])
      ok = k->call->on->peek(k->call, o, 0, to[o], p->bytes[o]);
  return ok;
}

/* Of outputs, a bit each, those that a peak has not changed. */
static unsigned unchanged(const peaks *k, unsigned outputs) {
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    if (outputs & 1u << o && memcmp(k->before[o], k->now[o], k->call->problem->bytes[o]) != 0)
      outputs &= ~(1u << o);
  return outputs;
}

/* The element after one that is tried: each; where calls take long, some, and all of the last. */
static size_t next_place(const peaks *k, size_t at) {
  const size_t some = k->call->on->is_processor ? 24 : 192, last = 16,
               step = k->elements / some | 1;

  return device_kind_of(k->call->on->kind)->quick || at + last + step >= k->elements ? at + 1
                                                                                     : at + step;
}

/* Moves the peak along. Where an output stays as it was, the reference is asked: *outputs are those that nearly all
 * places changed. */
static check_result move_along(const peaks *k, unsigned ends, uint64_t seed, unsigned *outputs,
                               trial *now) {
  enum { STAY = 3 };
  const lathe_variant *v = k->call->variant;
  const trial first = *now;
  check_result r = {.verdict = CHECK_RIGHT};
  int stayed[LATHE_MAX_OPERANDS] = {0};

  k->call->on->reset(k->call);
  if (!move_peak(k, 0, false) || !call_for(k, k->before))
    return check_failed(k->call);
  for (size_t at = 0; at < k->elements && *outputs; at = next_place(k, at)) {
    if (!move_peak(k, at, true) || !call_for(k, k->now) || !move_peak(k, at, false))
      return check_failed(k->call);
    const unsigned same = unchanged(k, *outputs);
    problem *p;
    const char *why;
    if (!same)
      continue;
    now->seed = problem_peak_seed(at, k->elements, ends, seed);
    p = problem_make(v->op, v->dtype, now->dim, now->seed, now->special, &why);
    if (p)
      r = check_variant(k->call->on, v, p, now->layout);
    problem_free(p);
    if (r.verdict == CHECK_WRONG)
      return r;
    *now = first;
    for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
      if (same & 1u << o && ++stayed[o] > STAY)
        *outputs &= ~(1u << o);
  }
  return (check_result){.verdict = CHECK_RIGHT};
}

/* Of outputs that extremes are in and that have fewer elements than the inputs: with one end of the ranges and another,
 * until each has shown that it depends on each element. */
static check_result try_peaks_of(device *on, const lathe_variant *v, uint64_t seed, trial *now) {
  static const unsigned ends[] = {0x0000, 0xffff, 0x5555, 0xaaaa};
  check_result r = {.verdict = CHECK_RIGHT};
  unsigned left = v->op->bench->extremes;
  bool again = true;
  const trial shape = *now;

  for (size_t i = 0; i < sizeof ends / sizeof *ends && again && r.verdict != CHECK_WRONG; i++) {
    peaks k = {0};
    const char *why;
    size_t inputs = 0, results = 0;
    problem *p;
    for (int o = 0; o < v->op->noperands; o++) {
      const size_t elements = lathe_elements(v->op, o, shape.dim);
      if (v->op->operands[o].output)
        results += elements;
      else if (elements > k.elements)
        k.elements = elements;
    }
    if (2 * results > k.elements)
      break;
    *now = shape;
    now->seed = problem_peak_seed(0, k.elements, ends[i], seed);
    p = problem_draw(v->op, v->dtype, now->dim, now->seed, now->special, &why);
    k.call = p ? device_prepare(on, v, p, now->layout, &why) : NULL;
    again = k.call != NULL;
    for (int o = 0; o < v->op->noperands && again; o++) {
      inputs += has_peak(p, o);
      if (!v->op->operands[o].output)
        continue;
      k.before[o] = malloc(p->bytes[o]);
      k.now[o] = malloc(p->bytes[o]);
      again = k.before[o] && k.now[o];
    }
    if (again && inputs > 0) {
      unsigned shown = left;
      r = move_along(&k, ends[i], seed, &shown, now);
      left &= ~shown;
    }
    again = again && left && i + 1 < (inputs > 1 ? 4 : 2);
    for (int o = 0; o < v->op->noperands; o++) {
      free(k.before[o]);
      free(k.now[o]);
    }
    if (k.call)
      on->release(k.call);
    problem_free(p);
  }
  return r;
}

/* Long in each direction, one row after the other; where each call takes long, also of what many blocks share. */
check_result peaks_try(device *on, const lathe_variant *v, uint64_t seed, trial *now) {
  static const size_t rows[] = {3, 2, 1, 1}, extents[] = {257, 1031, 4099, 65539};
  const size_t count = on->is_processor ? 2 : device_kind_of(on->kind)->quick ? 3 : 4;
  const int ndim = v->op->ndim, first = ndim > 3 ? ndim - 3 : 0;
  check_result r = {.verdict = CHECK_RIGHT};

  for (int d = first; v->op->bench->extremes && d < ndim; d++)
    for (size_t i = 0; i < count && r.verdict != CHECK_WRONG; i++) {
      *now = (trial){.dim = {1, 1, 1, 1, 1, 1, 1, 1}, .special = RANDOM_PEAK};
      for (int other = first; other < ndim; other++)
        now->dim[other] = other == d ? extents[i] : rows[i];
      now->layout.offset = i % 2 ? lathe_dtype_size(v->dtype) : 0;
      if (lathe_contracted_flops(v->op, now->dim) == 0)
        r = try_peaks_of(on, v, seed, now);
    }
  return r;
}
