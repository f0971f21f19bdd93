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

int main(void) {
  const char *none = device_find();
  lathe_device *on;
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
  lathe_close(on);
  return failed;
}
