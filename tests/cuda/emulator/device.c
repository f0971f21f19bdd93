/* device.c - the driver's functions for the one device of this libcuda.so.1, which emulator.c is. */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch.h"

typedef launch launched;
#include "driver/graphs.h"

CUresult fake_tensor_map(CUtensorMap *, int, unsigned, void *, const unsigned long long *,
                         const unsigned long long *, const unsigned *, const unsigned *, int, int,
                         int, int) __asm__("cuTensorMapEncodeTiled");

enum {
  MULTIPROCESSORS = 4,       /* few, so that small sizes have more rows than that */
  UNASKED = (48 << 10) - 64, /* bytes beside the shared memory that a kernel has by itself */
};

/* What the environment asks for. */
static int multiprocessors(void) {
  const char *asked = getenv("EMULATOR_MULTIPROCESSORS");

  return asked ? atoi(asked) : MULTIPROCESSORS;
}

/* Images are to find what is defined here. */
CUresult fake_init(unsigned flags) {
  (void)flags;
  return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) ? fake_state
                                                                      : CUDA_ERROR_NOT_FOUND;
}

CUresult fake_driver_version(int *version) {
  *version = LATHE_DRIVER_EARLY_IN_GRAPHS;
  return 0;
}

CUresult fake_device_name(char *name, int size, CUdevice device) {
  (void)device;
  snprintf(name, (size_t)size, "emulator");
  return fake_state;
}

CUresult fake_device_attribute(int *value, int attribute, CUdevice device) {
  (void)device;
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = MOST_THREADS; break;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = WARP; break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = multiprocessors(); break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = EMULATOR_SHARED; break;
  case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: *value = 1; break;
  default: *value = 0;
  }
  return fake_state;
}

/* An image is a library in a fat binary: after a head of 16 bytes, which says how long it is. Its file has no name but
 * the number that it is open by, and stays open, for by that the loader tells it from others. */
CUresult fake_module_load(CUmodule *module, const void *image) {
  const char *library = (const char *)image + 16;
  char path[32];
  ssize_t written;
  uint64_t size;
  int file;

  if (memcmp(library, ELFMAG, SELFMAG) != 0)
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  memcpy(&size, (const char *)image + 8, sizeof size);
  file = memfd_create("image", 0);
  for (size_t at = 0; at < size; at += (size_t)written) {
    written = write(file, library + at, size - at);
    if (written <= 0)
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*module)
    fprintf(stderr, "emulator: %s\n", dlerror());
  return *module ? fake_state : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Found with the module's anchor, which a launch needs too. */
typedef struct found {
  char name[256]; /* empty once it is in the list of those that ran */
  kernel_fn *kernel;
  void *(*anchor)(void);
  unsigned shared; /* bytes that a launch may ask for */
} found;

CUresult fake_module_function(CUfunction *function, CUmodule module, const char *name) {
  found *f = malloc(sizeof *f); /* kept to the end, as modules are */

  if (!f)
    return CUDA_ERROR_OUT_OF_MEMORY;
  snprintf(f->name, sizeof f->name, "%s", name);
  *(void **)&f->kernel = dlsym(module, name);
  *(void **)&f->anchor = dlsym(module, "emulator_anchor");
  f->shared = UNASKED;
  *function = (CUfunction)f;
  return f->kernel && f->anchor ? fake_state : CUDA_ERROR_NOT_FOUND;
}

/* Kernels are compiled for what the device is. */
CUresult fake_function_attribute(int *value, int attribute, CUfunction function) {
  (void)function;
  *value = attribute == LATHE_DRIVER_PTX ? 90 : 0;
  return fake_state;
}

CUresult fake_function_set(CUfunction function, int attribute, int value) {
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > EMULATOR_SHARED)
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  ((found *)function)->shared = (unsigned)value;
  return fake_state;
}

/* Few, so that small sizes have more rows than that. */
CUresult fake_max_active_clusters(int *clusters, CUfunction function,
                                  const cuda_launch_config *config) {
  (void)function, (void)config;
  *clusters = CLUSTERS;
  return fake_state;
}

static void tell(found *f) {
  const char *ran = getenv("EMULATOR_RAN");
  FILE *list = ran && f->name[0] ? fopen(ran, "a") : NULL;

  if (!list)
    return;
  fprintf(list, "%s\n", f->name);
  fclose(list);
  f->name[0] = '\0';
}

CUresult fake_launch_with(const cuda_launch_config *config, CUfunction function, void **parameters,
                          void **extra) {
  found *f = (found *)function;
  const unsigned cluster = fake_attribute(config, LATHE_DRIVER_CLUSTER, 1);
  launch l = {.kernel = f->kernel,
              .anchor = f->anchor,
              .blocks = {config->grid[0], config->grid[1], config->grid[2]},
              .threads = {config->block[0], config->block[1], config->block[2]},
              .cluster = cluster,
              .shared = config->shared,
              .early = fake_attribute(config, LATHE_DRIVER_EARLY, 0),
              .clusters = config->grid[0] / cluster * config->grid[1] * config->grid[2]};

  fake_catch_up(); /* what was on its way to the device */
  (void)extra;
  memcpy(&l.args, parameters[0], sizeof l.args);
  for (int i = 0; i < LATHE_MAX_MAPS; i++)
    memcpy(&l.maps[i], parameters[1 + i], sizeof l.maps[i]);
  if (l.clusters == 0 || l.threads.x * l.threads.y * l.threads.z == 0 ||
      config->shared > f->shared || cluster > MOST_CLUSTER || config->grid[0] % cluster != 0 ||
      l.threads.x * l.threads.y * l.threads.z > MOST_THREADS)
    return fake_state = CUDA_ERROR_ILLEGAL_ADDRESS;
  tell(f);
  if (being_made)
    record(&l);
  else
    run_launch(&l);
  return fake_state;
}

_Static_assert(sizeof(emulator_map) == sizeof(CUtensorMap), "a map is in a map of the driver's");

/* As strict as the real one, of which the runtime has asked for what it wants. */
CUresult fake_tensor_map(CUtensorMap *map, int type, unsigned rank, void *at,
                         const unsigned long long *extents, const unsigned long long *strides,
                         const unsigned *box, const unsigned *steps, int interleave, int swizzle,
                         int promotion, int fill) {
  const bool rounded = type == LATHE_DRIVER_TF32;
  emulator_map made = {.at = at,
                       .dims = (uint8_t)rank,
                       .bytes = rounded ? 4 : (uint8_t)(1 << type),
                       .rounded = rounded};
  bool fits = rank >= 1 && rank <= 5 && (uintptr_t)at % 16 == 0 && (swizzle == 0 || swizzle == 3);

  (void)interleave, (void)promotion, (void)fill;
  made.rotated = swizzle != 0;
  for (unsigned d = 0; d < rank && fits; d++) {
    made.extents[d] = extents[d];
    made.strides[d] = d == 0 ? made.bytes : strides[d - 1];
    made.box[d] = (uint16_t)box[d];
    fits = extents[d] > 0 && box[d] > 0 && box[d] <= 256 && steps[d] == 1 &&
           (d == 0 || made.strides[d] % 16 == 0);
  }
  fits = fits && (!made.rotated || box[0] * made.bytes <= 128);
  memcpy(map, &made, sizeof made);
  return fits ? fake_state : CUDA_ERROR_ILLEGAL_ADDRESS;
}

CUresult fake_graph_launch(CUgraphExec graph, CUstream stream) {
  const recording *r = (const recording *)graph;

  (void)stream;
  for (int l = 0; l < r->count; l++)
    run_launch(&r->all[l]);
  return fake_state;
}
