/* kernels.c - the kernels of a call, from the images that the program carries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

enum { MOST_PARTS = 2 }; /* fat binaries of one image */

/* An image, unpacked: fat binaries, one after another, each loaded when a kernel of it is first asked for. The
 * second has the kernels that the first's architecture is too old for. */
struct cuda_module {
  struct cuda_module *next;
  const lathe_image *image;
  const unsigned char *code;
  size_t size;
  CUmodule part[MOST_PARTS]; /* null: not loaded yet */
};
/* How a kernel of clusters is launched; attribute: room for what config points to. */
cuda_launch_config cuda_cluster_config(const lathe_launch *k, cuda_launch_attribute *attribute) {
  *attribute = (cuda_launch_attribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                       .value = {k->cluster, 1, 1}};
  return (cuda_launch_config){.grid = {k->grid[0], k->grid[1], k->grid[2]},
                              .block = {k->block[0], k->block[1], k->block[2]},
                              .shared = k->shared,
                              .attributes = attribute,
                              .count = 1};
}

/* Leaves of a kernel's clusters as many as may run at once. */
static CUresult leave_resident(CUfunction function, lathe_launch *k) {
  cuda_launch_attribute attribute;
  const cuda_launch_config config = cuda_cluster_config(k, &attribute);
  int most = 0;
  const CUresult error = cuda.max_active_clusters(&most, function, &config);

  if (!error && most > 0 && (uint32_t)most * k->cluster < k->grid[0])
    k->grid[0] = (uint32_t)most * k->cluster;
  return error;
}

/* Where the nth fat binary of an image begins, or NULL. Each says in its head how long that is, and what
 * follows (fatBinaryHeader in CUDA's fatbinary_section.h). An image of anything else is one part. */
static const unsigned char *part_of(const cuda_module *m, int nth) {
  const unsigned char *at = m->code;

  for (; nth > 0; nth--) {
    struct {
      uint32_t magic;
      uint16_t version, bytes;
      uint64_t rest;
    } head;
    const size_t left = m->size - (size_t)(at - m->code);
    if (left < sizeof head)
      return NULL;
    memcpy(&head, at, sizeof head);
    if (head.magic != 0xba55ed50 || head.rest >= left || left - head.rest <= head.bytes)
      return NULL;
    at += head.bytes + head.rest;
  }
  return at;
}

/* CUDA_ERROR_NOT_FOUND where no part of the image has the kernel for this GPU. */
static CUresult find_kernel(cuda_module *m, const char *name, CUfunction *function) {
  CUresult error = CUDA_ERROR_NOT_FOUND;

  for (int i = 0; i < MOST_PARTS && error == CUDA_ERROR_NOT_FOUND; i++) {
    const unsigned char *start = part_of(m, i);
    if (!start)
      break;
    error = m->part[i] ? 0 : cuda.module_load(&m->part[i], start);
    if (!error)
      error = cuda.module_function(function, m->part[i], name);
    else if (i > 0 && error == CUDA_ERROR_NO_BINARY_FOR_GPU)
      error = CUDA_ERROR_NOT_FOUND;
  }
  return error;
}

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
    CUresult error = find_kernel(m, launch->kernel, &c->function[l]);
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
      error = leave_resident(c->function[l], launch);
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
