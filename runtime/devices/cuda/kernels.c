/* kernels.c - the kernels of a call, from the images that the program carries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

/* An image, unpacked, whose parts are loaded when a kernel is first looked for in them. */
struct cuda_module {
  struct cuda_module *next;
  const lathe_image *image;
  const unsigned char *code;
  size_t size;
  CUmodule part[LATHE_DRIVER_PARTS]; /* null: not loaded yet */
};

/* The module of an image, null with the reason in why. */
static cuda_module *module_of(cuda_device *d, const lathe_image *image, const char **why) {
  cuda_module *m = d->modules;

  while (m && m->image != image)
    m = m->next;
  if (m)
    return m;
  m = calloc(1, sizeof *m);
  if (!m) {
    *why = "not enough memory";
    return NULL;
  }
  m->code = image_unpack(&d->bundle, image, &m->size, why);
  if (!m->code) {
    free(m);
    return NULL;
  }
  m->next = d->modules;
  m->image = image;
  d->modules = m;
  return m;
}

/* The launches of a call and their kernels; false with the reason in why. Code for an architecture that has no
 * clusters or tensor maps, which later GPUs' drivers may compile, has no kernels for them. */
static bool find_kernels(cuda_call *c, const lathe_limits *limits, const char **why) {
  static char text[320];

  const lathe_variant *v = c->remote.head.variant;

  c->count = v->schedule->launches(v->schedule, &c->args, limits, c->launch);
  if (c->count == 0) {
    *why = lathe_fits(v, c->args.dim, limits->shared)
               ? "the variant has no launch for this size"
               : "a block's shared memory has no room for rows that long: it has for narrower "
                 "layers, and plain contractions one after the other need none";
    return false;
  }
  for (int l = 0; l < c->count; l++) {
    lathe_launch *launch = &c->launch[l];
    cuda_module *m =
        module_of(cuda_device_of(&c->remote.head), lathe_nth_image(v->image, launch->image), why);
    if (!m)
      return false;
    CUresult error = lathe_driver_find(&cuda_launching, m->code, m->size, m->part, launch->kernel,
                                       &c->function[l]);
    if (error == CUDA_ERROR_NOT_FOUND &&
        ((launch->cluster > 1 && limits->cluster > 1) || (launch->nmaps > 0 && limits->maps))) {
      lathe_limits without = *limits;
      without.cluster = 1;
      without.maps = 0;
      return find_kernels(c, &without, why);
    }
    if (!error && launch->shared > 0) /* 48 KiB need no asking, but a kernel has some itself */
      error = cuda.function_set(c->function[l], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                (int)launch->shared);
    if (!error && launch->resident)
      error = lathe_driver_reside(&cuda_launching, c->function[l], launch);
    if (error) {
      snprintf(text, sizeof text, "kernel %s: %s%s", launch->kernel, cuda_error_text(error),
               error == CUDA_ERROR_NO_BINARY_FOR_GPU ? "; configure --cuda-arch adds this GPU's"
                                                     : "");
      *why = text;
      return false;
    }
  }
  return true;
}

/* The kernels of a call; false with the reason in why. */
bool cuda_load_kernels(cuda_call *c, const char **why) {
  return find_kernels(c, &cuda_device_of(&c->remote.head)->limits, why);
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
