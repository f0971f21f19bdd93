/* lathe_tune.h - which variants are the fastest of a device: measured on it, in the caller's memory, and kept by it.
 * Plans that are made there afterwards and name no variant take these, for sizes within a factor of 4 of one that was
 * measured. No function of lathe.h measures anything. While one of these changes a device, no other thread makes plans
 * on it.
 *
 *   lathe_tuning with = {.size = sizeof with, .operand = operand};
 *   lathe_open_cpu(&device);
 *   lathe_tune(device, &lathe_softmax_f32_cpu, dim, &with, &plan);
 *   length = lathe_save_tuning(device, text, sizeof text);
 */
#ifndef LATHE_TUNE_H
#define LATHE_TUNE_H

#include "lathe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A processor as a device that choices can be kept by. lathe_close gives it back. */
lathe_status lathe_open_cpu(lathe_device **made);

/* What is measured with. Each variant is called many times: outputs are written. One that wants more of a workspace
 * than is lent has no part. */
typedef struct lathe_tuning {
  size_t size; /* sizeof(lathe_tuning): later fields may follow */
  void *const *operand;
  const double *scalar;
  void *workspace;
  size_t workspace_bytes;
  void *stream;   /* as for lathe_run; a command buffer is recorded anew, and is not in use */
  void *queue;    /* Vulkan: the VkQueue that the command buffer is submitted to, and waited for */
  double seconds; /* that it may take, but for a few calls of each variant; 0: a tenth of one */
} lathe_tuning;

/* Measures all variants of a call, keeps which was the fastest, and makes its plan. The choice of a device that knows
 * nothing stays where another one is not faster by 2 %. */
lathe_status lathe_tune(lathe_device *device, const lathe_kernels *table, const size_t *dim,
                        const lathe_tuning *with, lathe_plan *made);

/* The most that a variant of the call wants of a workspace, bytes. */
size_t lathe_tuning_workspace(const lathe_device *device, const lathe_kernels *table,
                              const size_t *dim);

/* What a device has kept, as text: how long that is, of which as much is written as has room, and a null. */
size_t lathe_save_tuning(const lathe_device *device, char *text, size_t room);

/* Takes what was saved, or a file of `lathe-bench tune`, besides what the device has; of a call the last line counts.
 * LATHE_OPTIONS for a text that is none, or of another device; why: null, or room for a line. Calls whose op has other
 * variants now are passed over. */
lathe_status lathe_load_tuning(lathe_device *device, const char *text, char why[160]);

#ifdef __cplusplus
}
#endif

#endif
