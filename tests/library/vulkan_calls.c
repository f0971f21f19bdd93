/* vulkan_calls.c - plans on the first Vulkan device that computes: results are the processor's, but for rounding. Exits
 * with 2 where there is none. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <lathe/softmax.h>
#include <lathe_ops.h>
#include <lathe_tune.h>
#include <lathe_vulkan.h>

static int failed;

#define EXPECT(what)                                                                               \
  ((what) ? (void)0 : (void)(failed = 1, printf("line %d: expected %s\n", __LINE__, #what)))

#define DEVICE_TEST "vulkan_calls"
#include "../../templates/glsl/device.h"

/* A softmax of so many rows, of operands that begin some elements after a multiple of 16 bytes. */
static void call(const lathe_device *on, size_t rows, size_t columns, size_t off) {
  const size_t count = rows * columns, dim[] = {rows, columns};
  float *given = malloc(count * sizeof *given), *right = malloc(count * sizeof *right);
  float *found = malloc((count + off) * sizeof *found);
  float *x = device_room((count + off) * sizeof *x), *y = device_room((count + off) * sizeof *y);
  void *workspace;
  double worst = 0;
  lathe_plan plan;

  for (size_t i = 0; i < count; i++)
    given[i] = (float)(i * 7919 % 1000) / 100;
  memcpy(found + off, given, count * sizeof *given);
  device_send(x, found, (count + off) * sizeof *found);
  EXPECT(lathe_softmax_f32(given, right, rows, columns) == LATHE_OK);
  EXPECT(lathe_make_of(&plan, &lathe_softmax_f32_vulkan, on, dim, NULL) == LATHE_OK);
  if (plan.why[0])
    puts(plan.why);
  EXPECT(strncmp(plan.variant, "softmax_f32__vulkan", 19) == 0);
  workspace = device_room(plan.workspace + 64);
  device_begin_commands();
  EXPECT(!lathe_softmax_f32_run(&plan, x + off, y + off, workspace, device_commands));
  device_finish();
  device_fetch(found, y, (count + off) * sizeof *found);
  for (size_t i = 0; i < count; i++)
    worst = fmax(worst, fabs((double)found[off + i] - right[i]) / right[i]);
  printf("softmax of %zux%zu: %s, %g off\n", rows, columns, plan.variant, worst);
  EXPECT(worst < 1e-6);
  free(given);
  free(right);
  free(found);
  device_release(x);
  device_release(y);
  device_release(workspace);
}

/* An op of that name in f32, of more arguments than are pushed, whose operands have a single axis; twice, with other
 * scalars: each finds its own arguments. */
static void call_many(lathe_device *on, const char *name) {
  enum { POINTS = 1000, OPERANDS = 24 };
  const size_t dim[] = {POINTS};
  float values[OPERANDS][POINTS], *y = device_room(sizeof *values);
  void *there[OPERANDS] = {NULL}, *here[OPERANDS] = {NULL}, *outputs[2];
  const VkDeviceAddress arguments = (VkDeviceAddress)(uintptr_t)device_room(2 * 384);
  const VkBufferDeviceAddressInfo in = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                        .buffer = rooms[room_of(arguments)].buffer};
  const uint64_t begin = arguments - vk.GetBufferDeviceAddress(device_made, &in);
  lathe_op_info op = {.size = sizeof op};
  lathe_plan plan, right;
  int output;

  for (size_t nth = 0; !lathe_describe(&op, nth) && strcmp(op.name, name) != 0; nth++)
    continue;
  output = op.operands - 1;
  EXPECT(!strcmp(op.name, name) && op.axes == 1 && op.scalars > 0);
  for (int o = 0; o < op.operands; o++) {
    there[o] = device_room(sizeof *values);
    here[o] = values[o];
    for (int i = 0; i < POINTS; i++)
      values[o][i] = (float)(i * (o + 3) * 7919 % 1000) / 100;
    device_send(there[o], values[o], sizeof *values);
  }
  EXPECT(!lathe_make(&plan, on, name, LATHE_F32, dim, NULL));
  EXPECT(!lathe_make(&right, NULL, name, LATHE_F32, dim, NULL));
  EXPECT(plan.arguments > 128 && plan.arguments <= 384 && right.arguments == 0);
  printf("%s: %s, %zu bytes of arguments%s\n", name, plan.variant, plan.arguments, plan.why);
  outputs[0] = y;
  outputs[1] = there[output];
  device_begin_commands();
  for (int call = 0; call < 2; call++) {
    const uint64_t offset = 384 * (uint64_t)call;
    lathe_commands to = {device_commands, (uint64_t)(uintptr_t)in.buffer, begin + offset,
                         arguments + offset};
    for (int s = 0; s < op.scalars; s++)
      op.scalar_value[s] += call;
    there[output] = outputs[call];
    EXPECT(!lathe_run(&plan, there, op.scalar_value, NULL, &to));
  }
  device_finish();
  for (int call = 1; call >= 0; call--) {
    float found[POINTS];
    double worst = 0;
    EXPECT(!lathe_run(&right, here, op.scalar_value, NULL, NULL));
    device_fetch(found, outputs[call], sizeof found);
    for (int i = 0; i < POINTS; i++)
      worst = fmax(worst, fabs((double)found[i] - values[output][i]) /
                              (1 + fabs((double)values[output][i])));
    EXPECT(worst < 1e-5);
    for (int s = 0; s < op.scalars; s++)
      op.scalar_value[s] -= 1;
  }
  for (int o = 0; o < op.operands; o++)
    device_release(there[o]);
  device_release((void *)(uintptr_t)arguments);
  device_release(y);
}

/* What is measured is what plans take, and is found again. */
static void tune(lathe_device *on, lathe_device *other) {
  const size_t dim[] = {64, 256};
  float *x = device_room(64 * 256 * sizeof *x), *y = device_room(64 * 256 * sizeof *y), first[6];
  void *const operand[] = {x, y};
  lathe_tuning with = {.size = sizeof with, .operand = operand, .seconds = 0.01};
  char text[4096], why[160];
  lathe_plan plan, again;

  EXPECT(lathe_tune(on, &lathe_softmax_f32_vulkan, dim, &with, &plan) == LATHE_OPTIONS);
  EXPECT(strstr(plan.why, "VkQueue"));
  with.queue = device_queue;
  with.stream = device_commands;
  with.workspace_bytes = lathe_tuning_workspace(on, &lathe_softmax_f32_vulkan, dim) + 64;
  with.workspace = device_room(with.workspace_bytes);
  EXPECT(!lathe_tune(on, &lathe_softmax_f32_vulkan, dim, &with, &plan));
  if (plan.why[0])
    puts(plan.why);
  lathe_save_tuning(on, text, sizeof text);
  EXPECT(strstr(text, "softmax f32 vulkan 64x256 softmax_f32__vulkan"));
  EXPECT(!lathe_load_tuning(other, text, why));
  EXPECT(!lathe_make(&again, other, "softmax", LATHE_F32, dim, NULL));
  EXPECT(plan.variant && !strcmp(plan.variant, again.variant));
  device_fetch(first, y, sizeof first);
  EXPECT(fabs(first[5] - 1 / 256.) < 1e-9);
  device_release(x);
  device_release(y);
  device_release(with.workspace);
}

int main(int arguments, char **argument) {
  const char *none = device_find();
  lathe_device *on, *other;
  lathe_vulkan mine;
  lathe_plan plan;
  const size_t dim[] = {5, 7};

  if (none)
    return puts(none), 2;
  mine = (lathe_vulkan){device_instance, device_physical, device_made, (void (*)(void))device_get,
                        &device_features};
  device_features_12.bufferDeviceAddress = 0;
  EXPECT(lathe_open_vulkan(&on, &mine) == LATHE_DRIVER && !on);
  device_features_12.bufferDeviceAddress = 1;
  EXPECT(lathe_open_vulkan(&on, &mine) == LATHE_OK);
  call(on, 3, 7, 0);
  call(on, 3, 7, 1);
  call(on, 1, 100000, 0);
  call(on, 300, 64, 0);
  EXPECT(lathe_make(&plan, on, "softmax", LATHE_F32, dim, NULL) == LATHE_OK);
  EXPECT(lathe_make(&plan, on, "softmax", LATHE_U8, dim, NULL) == LATHE_NO_TYPE);
  EXPECT(lathe_make_of(&plan, &lathe_softmax_f32_cpu, on, dim, NULL) == LATHE_NO_VARIANT);
  EXPECT(lathe_open_vulkan(&other, &mine) == LATHE_OK);
  tune(on, other);
  if (arguments > 1)
    call_many(on, argument[1]);
  lathe_close(other);
  lathe_close(on);
  return failed;
}
