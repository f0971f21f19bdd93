/* lathe.h - calls kernels. Any number of threads may call these functions at once, but lathe_close. None prints, ends
 * the program, waits for a device or allocates on one.
 *
 *   const size_t dim[] = {rows, cols};
 *   void *const operand[] = {x, y};
 *   lathe_plan plan;
 *   if (lathe_make(&plan, lathe_cpu(), "softmax", LATHE_F32, dim, NULL))
 *     return puts(plan.why);
 *   return lathe_run(&plan, operand, NULL, NULL, NULL);
 *
 * The header of an op, such as lathe/softmax.h, has functions of its operands, and the table that lathe_make_of takes.
 * A program that is linked with liblathe.a has then nothing of other ops; lathe_make looks among all. */
#ifndef LATHE_H
#define LATHE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 100 * major + minor. A program runs with any library of the same major number, and as high a minor one. */
#define LATHE_VERSION 100
unsigned lathe_version(void);

/* clang-format off */

/* F16: the bits of IEEE 754's binary16. I8 and U8: whole numbers that stand for numbers, computed in f32. I64: indexes
 * and seeds. Of an operand, VARIANT is the type that the plan is made for, COMPUTED the one that it computes in. */
typedef enum lathe_dtype {
  LATHE_F64, LATHE_F32, LATHE_F16, LATHE_BF16, LATHE_I8, LATHE_U8, LATHE_I64,
  LATHE_DTYPES, LATHE_VARIANT_DTYPE, LATHE_COMPUTED_DTYPE
} lathe_dtype;

/* A function's result. Below 0 it is a driver's error: of CUDA a CUresult less its sign, else a VkResult. */
typedef enum lathe_status {
  LATHE_OK, LATHE_NO_OP, LATHE_NO_TYPE, LATHE_NO_VARIANT, LATHE_SHAPE, LATHE_OPTIONS, /* of making plans */
  LATHE_NULL, LATHE_ALIGNMENT, LATHE_OVERLAP, LATHE_WORKSPACE,                        /* of calls */
  LATHE_DRIVER, LATHE_MEMORY, /* of devices */ LATHE_STRIDE /* of making plans */
} lathe_status;
/* clang-format on */

const char *lathe_text(int status); /* what one means, and what to do; static */

/* Where kernels run. A processor is there without being opened; null is one too. */
typedef struct lathe_device lathe_device;
const lathe_device *lathe_cpu(void);

/* Borrows a CUcontext, of this thread where it is null, until it is closed. Plans are made in any thread, and run in
 * those whose context it is. lathe_vulkan.h has the same for Vulkan. */
lathe_status lathe_open_cuda(lathe_device **made, void *context);
void lathe_close(lathe_device *device);

/* How several threads share a call on a processor: run(pool, work, context, parts) calls work(context, nth) for each
 * nth below `parts`, and returns when all are done. `count`: how many threads there are, at most. */
typedef void lathe_part_fn(void *context, size_t nth);
typedef struct lathe_threads {
  void (*run)(void *pool, lathe_part_fn *work, void *context, size_t parts);
  void *pool;
  int count;
} lathe_threads;

/* Wishes of a caller. All but size may be 0. */
typedef struct lathe_options {
  size_t size;           /* sizeof(lathe_options): later fields may follow */
  const char *variant;   /* a name, or a glob: of those that it matches, the first that can run */
  lathe_threads threads; /* none: a call stays on its thread. Results do not depend on it */
  const size_t *row;     /* of each operand, elements from a row along its last axis to the next; 0:
                          * they lie together. LATHE_STRIDE names one that no kernel takes so */
} lathe_options;

/* A call that is made ready: plain data, that may be copied, and run by any number of threads at once. Where making it
 * failed, variant is null, and why says what was wrong. ulp: the most that a result may be off, in units of its last
 * place; see the op's header. digits: binary ones that factors or sums of products are rounded to; 0: they are not. */
typedef struct lathe_plan {
  const char *variant, *source; /* "softmax_f32__avx2_a4", "specs/include/vector.lua:9" */
  size_t workspace, arguments;  /* bytes that each call under way is lent: see lathe_run */
  double ulp;
  int digits;
  char why[160];
  uint64_t own[64];
} lathe_plan;

/* An op in one type on one kind of device: op headers declare theirs. */
typedef struct lathe_kernels lathe_kernels;

/* dim: as many extents as the op has, in its order. options: null for none. lathe_make: of the op of that name. */
lathe_status lathe_make_of(lathe_plan *made, const lathe_kernels *table, const lathe_device *device,
                           const size_t *dim, const lathe_options *options);
lathe_status lathe_make(lathe_plan *made, const lathe_device *device, const char *op,
                        lathe_dtype type, const size_t *dim, const lathe_options *options);

/* Makes the call. operand: inputs, then outputs; scalar: null where the op has none. workspace: plan->workspace bytes
 * at a multiple of 64, null where that is 0; on a GPU zero before the first call. stream: null on a processor; a
 * CUstream, on which kernels are put, so that a graph may capture them; or a VkCommandBuffer, into which they are
 * recorded with barriers between them. Of Vulkan operands are addresses of buffers. Where plan->arguments is not 0
 * stream points to a lathe_commands (lathe_vulkan.h). Nothing is checked. */
int lathe_run(const lathe_plan *plan, void *const *operand, const double *scalar, void *workspace,
              void *stream);

/* Whether lathe_run may be called so: no operand is null, between elements, or shares memory that it may not; and the
 * workspace is fit. why: null, or room for a line that names what is wrong. */
lathe_status lathe_check(const lathe_plan *plan, void *const *operand, const void *workspace,
                         char why[160]);

#ifdef __cplusplus
}
#endif

#endif
