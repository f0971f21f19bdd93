/* device.c - what all kinds of devices have alike. */
#include "device.h"

#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "library/dtype.h"

bool device_fail_list(device_call *call, const char *why, const char *format, va_list list) {
  const int length = vsnprintf(call->error, sizeof call->error, format, list);

  if (why && length >= 0 && (size_t)length < sizeof call->error)
    snprintf(call->error + length, sizeof call->error - (size_t)length, ": %s", why);
  return false;
}

bool device_fail(device_call *call, const char *format, ...) {
  va_list list;

  va_start(list, format);
  device_fail_list(call, NULL, format, list);
  va_end(list);
  return false;
}

int device_home(const device_call *call, int operand) {
  const lathe_op *op = call->variant->op;
  const int home = problem_home(call->problem, operand);
  int input = 0, output = 0;

  if (!call->layout.in_place)
    return home;
  while (op->operands[input].output)
    input++;
  while (!op->operands[output].output)
    output++;
  if (home == input) /* what is written over is no other input */
    return operand == output ? input : operand;
  return operand == output ? input : home;
}

unsigned char device_poison(const device_call *call) {
  const problem *p = call->problem;
  uint64_t sum = p->seed;

  for (int d = 0; d < p->op->ndim; d++)
    sum += p->dim[d];
  return sum % 2 ? buffer_poison_nan : buffer_poison_huge;
}

size_t device_offset(const device_call *call, int operand) {
  const lathe_variant *v = call->variant;
  const size_t element =
      lathe_dtype_size(lathe_dtype_of_operand(&v->op->operands[operand], v->dtype));
  const size_t usual = lathe_dtype_size(v->dtype);
  const size_t wanted = call->layout.offset * (operand < 2 ? 1 : 2);

  if (call->layout.page_end)
    return (0 - call->problem->bytes[operand]) % 256;
  if (element < usual) /* as many elements, which may start anywhere */
    return wanted / usual * element;
  return (wanted + element - 1) / element * element;
}

double device_best_way(double (*rate)(void *argument, int way), void *argument, int count,
                       int *way) {
  double best = 0;

  if (*way != DEVICE_ANY_WAY)
    return rate(argument, *way);
  for (int i = 0; i < count; i++) {
    const double found = rate(argument, i);
    if (found > best) {
      best = found;
      *way = i;
    }
  }
  return best;
}

/* ---- steps -------------------------------------------------------------------------------------- */

static device_steps *steps;

void device_step_begins(void) {
  if (steps)
    atomic_fetch_add(&steps->begun, 1);
}

void device_step_ends(void) {
  if (steps)
    atomic_fetch_add(&steps->ended, 1);
}

void device_watch(device_steps *where) {
  steps = where;
}

bool device_peek_output(device_call *call, int operand, size_t at, void *to, size_t bytes) {
  const char *from = call->on->output(call, operand);

  if (from)
    memcpy(to, from + at, bytes);
  return from;
}

bool device_poke_output(device_call *call, int operand, size_t at, const void *from, size_t bytes) {
  char *to = (char *)call->on->output(call, operand);

  if (to)
    memcpy(to + at, from, bytes);
  return to;
}

double device_memory(device *on) {
  double bytes;

  device_step_begins();
  bytes = on->memory(on);
  device_step_ends();
  return bytes;
}

device_call *device_prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why) {
  device_call *call;

  device_step_begins();
  call = on->prepare(on, variant, p, layout, why);
  device_step_ends();
  return call;
}

bool device_run(device_call *call) {
  bool ok;

  device_step_begins();
  ok = call->on->run(call);
  device_step_ends();
  return ok;
}

bool device_run_under(device_call *call, device_load load) {
  const uint64_t calls = 3;
  device_time taken;
  bool ok;

  if (load == DEVICE_CROWDED)
    return device_time_calls(call, calls, &taken);
  if (load == DEVICE_QUIET || !call->on->run_under)
    return device_run(call);
  device_step_begins();
  ok = call->on->run_under(call, load);
  device_step_ends();
  return ok;
}

bool device_time_calls(device_call *call, uint64_t calls, device_time *taken) {
  bool ok;

  device_step_begins();
  ok = call->on->time(call, calls, taken);
  device_step_ends();
  return ok;
}
