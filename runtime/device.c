/* device.c - the devices of this machine. */
#include "device.h"

#include <stdio.h>

#include "dtype.h"

static device_list the_cpu(void) {
  static device *cpu;

  cpu = device_cpu();
  return (device_list){.count = 1, .at = &cpu};
}

static const struct {
  const char *name;
  device_list (*own)(void);
} kinds[DEVICE_KINDS] = {
    [LATHE_CPU] = {"cpu", the_cpu},
    [LATHE_CUDA] = {"cuda", device_cuda},
    [LATHE_VULKAN] = {"vulkan", device_vulkan},
};

static const device_list *put[DEVICE_KINDS];
static device_steps *steps;

static void step_begins(void) {
  if (steps)
    atomic_fetch_add(&steps->begun, 1);
}

static void step_ends(void) {
  if (steps)
    atomic_fetch_add(&steps->ended, 1);
}

device_list device_own(lathe_kind kind) {
  device_list list;

  step_begins();
  list = kinds[kind].own();
  step_ends();
  return list;
}

void device_put(lathe_kind kind, const device_list *list) {
  put[kind] = list;
}

static device_list of_kind(lathe_kind kind) {
  return put[kind] ? *put[kind] : device_own(kind);
}

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
  int input = 0, output = 0;

  if (!call->layout.in_place)
    return operand;
  while (op->operands[input].output)
    input++;
  while (!op->operands[output].output)
    output++;
  return operand == output ? input : operand;
}

size_t device_offset(const device_call *call, int operand) {
  const lathe_variant *v = call->variant;
  const size_t element = lathe_dtype_size(dtype_of_operand(&v->op->operands[operand], v->dtype));
  const size_t wanted = call->layout.offset * (operand < 2 ? 1 : 2);

  if (call->layout.page_end)
    return (0 - call->problem->bytes[operand]) % 256;
  return (wanted + element - 1) / element * element;
}

size_t device_count(void) {
  size_t sum = 0;

  for (int k = 0; k < DEVICE_KINDS; k++)
    sum += of_kind((lathe_kind)k).count;
  return sum;
}

device *device_at(size_t index) {
  for (int k = 0; k < DEVICE_KINDS; k++) {
    const device_list list = of_kind((lathe_kind)k);
    if (index < list.count)
      return list.at[index];
    index -= list.count;
  }
  return NULL;
}

const char *device_missing(lathe_kind kind) {
  const device_list list = of_kind(kind);

  return list.count ? NULL : list.missing;
}

const char *device_kind_name(lathe_kind kind) {
  return kinds[kind].name;
}

/* ---- steps -------------------------------------------------------------------------------------- */

void device_watch(device_steps *where) {
  steps = where;
}

double device_memory(device *on) {
  double bytes;

  step_begins();
  bytes = on->memory(on);
  step_ends();
  return bytes;
}

device_call *device_prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why) {
  device_call *call;

  step_begins();
  call = on->prepare(on, variant, p, layout, why);
  step_ends();
  return call;
}

bool device_run(device_call *call) {
  bool ok;

  step_begins();
  ok = call->on->run(call);
  step_ends();
  return ok;
}

bool device_time_calls(device_call *call, uint64_t calls, device_time *taken) {
  bool ok;

  step_begins();
  ok = call->on->time(call, calls, taken);
  step_ends();
  return ok;
}
