/* kernels.c - the kernels of a call, from the images that the program carries. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "call.h"

/* Why a plan could not be made: of its line what follows the variant's name, which is the row's. */
static const char *reason_of(const cuda_call *c, lathe_status status) {
  const char *why = c->plan.why, *name = c->remote.head.variant->name;
  const size_t length = strlen(name);

  if (!why[0])
    return lathe_text(status);
  return strncmp(why, name, length) == 0 && why[length] == ':' ? why + length + 2 : why;
}

/* The kernels of a call; false with the reason in why. */
bool cuda_load_kernels(cuda_call *c, const char **why) {
  static char text[320];
  cuda_device *d = cuda_device_of(&c->remote.head);
  const lathe_variant *v = c->remote.head.variant;
  CUresult error = 0;
  lathe_status status = d->library ? LATHE_OK : lathe_open_cuda(&d->library, d->context);

  if (!status)
    status = lathe_make_variant(&c->plan, v, d->library, c->remote.args.dim, NULL);
  if (!status) {
    lathe_cuda_cut(&c->plan, c->remote.head.layout.cut);
    error = lathe_cuda_launches(&c->plan, &c->remote.args, c->launch, c->function, &c->count);
  }
  if (!status && !error && c->count > 0)
    return true;
  if (status)
    snprintf(text, sizeof text, "%s", reason_of(c, status));
  else if (error)
    snprintf(text, sizeof text, "kernel %s: %s", c->launch[c->count].kernel,
             cuda_error_text(error));
  else
    snprintf(text, sizeof text, "the variant has no launch for operands that lie so");
  *why = text;
  return false;
}

static int attribute_of(CUfunction function, int which) {
  int value = -1;

  return cuda.function_attribute && !cuda.function_attribute(&value, which, function) ? value : -1;
}

int cuda_kernels(device_call *call, device_kernel *to) {
  const cuda_call *c = (const cuda_call *)call;
  const int ordinal = cuda_device_of(call)->ordinal;
  int most = 0;

  if (cuda.device_attribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, ordinal))
    most = 0;
  for (int l = 0; l < c->count; l++) {
    const lathe_launch *k = &c->launch[l];
    const int threads = (int)(k->block[0] * k->block[1] * k->block[2]);
    to[l] = (device_kernel){
        .grid = {k->grid[0], k->grid[1], k->grid[2]},
        .block = {k->block[0], k->block[1], k->block[2]},
        .cluster = k->cluster,
        .shared = k->shared,
        .fixed = attribute_of(c->function[l], CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .registers = attribute_of(c->function[l], CU_FUNC_ATTRIBUTE_NUM_REGS),
        .local = attribute_of(c->function[l], CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .at_once = -1,
        .occupancy = NAN,
    };
    snprintf(to[l].name, sizeof to[l].name, "%s", k->kernel);
    if (!cuda.blocks_at_once ||
        cuda.blocks_at_once(&to[l].at_once, c->function[l], threads, k->shared))
      to[l].at_once = -1;
    else if (most > 0)
      to[l].occupancy = (double)to[l].at_once * threads / most;
  }
  return c->count;
}
