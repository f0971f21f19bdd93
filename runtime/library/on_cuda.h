/* on_cuda.h - launching generated kernels by CUDA's driver: what the bench program shares with the files that
 * `lathe-gen export` writes. It needs no toolkit: what is declared here lies as the driver has it, and functions are
 * looked up in its library.
 */
#ifndef ON_CUDA_H
#define ON_CUDA_H

#include <pthread.h>
#include <string.h>

#include "launch.h"

/* Of the driver's enumerations, the values used here. */
enum {
  LATHE_DRIVER_NO_BINARY = 209, /* code for this GPU */
  LATHE_DRIVER_NOT_FOUND = 500,
  LATHE_DRIVER_BLOCK_THREADS = 1, /* attributes of devices */
  LATHE_DRIVER_GRID = 5,
  LATHE_DRIVER_WARP = 10,
  LATHE_DRIVER_MULTIPROCESSORS = 16,
  LATHE_DRIVER_MAJOR = 75,
  LATHE_DRIVER_MINOR = 76,
  LATHE_DRIVER_SHARED = 97,
  LATHE_DRIVER_CLUSTERS = 120,
  LATHE_DRIVER_DYNAMIC_SHARED = 8, /* of functions */
  LATHE_DRIVER_PTX = 5,
  LATHE_DRIVER_CLUSTER = 4, /* of launches */
  LATHE_DRIVER_EARLY = 6,
  LATHE_DRIVER_ATTRIBUTES = 2,          /* of them, at most */
  LATHE_DRIVER_EARLY_IN_GRAPHS = 12030, /* a version of the driver */
};

typedef struct CUmod_st *lathe_driver_module;
typedef struct CUfunc_st *lathe_driver_function;
typedef struct CUstream_st *lathe_driver_stream;

/* A tensor map as kernels take it, CUlaunchAttribute and CUlaunchConfig. */
typedef struct lathe_driver_map {
  unsigned long long words[16];
} __attribute__((aligned(64))) lathe_driver_map;

typedef struct lathe_driver_attribute {
  int id, padding;
  unsigned value[16]; /* of a cluster: its blocks in each dimension; of an early launch: 1 */
} lathe_driver_attribute;

typedef struct lathe_driver_config {
  unsigned grid[3], block[3], shared;
  lathe_driver_stream stream;
  lathe_driver_attribute *attributes;
  unsigned count;
} lathe_driver_config;

/* The driver's functions that are called here; each returns 0, or an error's number. */
typedef struct lathe_driver {
  int (*device_attribute)(int *value, int attribute, int ordinal);
  int (*module_load)(lathe_driver_module *module, const void *image);
  int (*module_function)(lathe_driver_function *function, lathe_driver_module module,
                         const char *name);
  int (*function_set)(lathe_driver_function function, int attribute, int value);
  int (*launch)(const lathe_driver_config *config, lathe_driver_function function,
                void **parameters, void **extra);
  int (*max_active_clusters)(int *clusters, lathe_driver_function function,
                             const lathe_driver_config *config);
  int (*tensor_map)(lathe_driver_map *map, int type, unsigned rank, void *at,
                    const unsigned long long *extents, const unsigned long long *strides,
                    const unsigned *box, const unsigned *steps, int interleave, int swizzle,
                    int promotion,
                    int fill); /* null: an older driver has none; so may be what follows */
  int (*function_attribute)(int *value, int attribute, lathe_driver_function function);
  int (*version)(int *version);
} lathe_driver;

static inline int lathe_driver_number(const lathe_driver *driver, int attribute, int ordinal) {
  int value = 0;

  return driver->device_attribute(&value, attribute, ordinal) ? 0 : value;
}

/* The limits that a device tells, and the features that variants may ask of it. */
static inline uint64_t lathe_driver_describe(const lathe_driver *driver, int ordinal,
                                             lathe_limits *limits) {
  const int major = lathe_driver_number(driver, LATHE_DRIVER_MAJOR, ordinal);
  const int minor = lathe_driver_number(driver, LATHE_DRIVER_MINOR, ordinal);

  memset(limits, 0, sizeof *limits);
  limits->multiprocessors =
      (uint32_t)lathe_driver_number(driver, LATHE_DRIVER_MULTIPROCESSORS, ordinal);
  limits->subgroup = (uint32_t)lathe_driver_number(driver, LATHE_DRIVER_WARP, ordinal);
  limits->group = (uint32_t)lathe_driver_number(driver, LATHE_DRIVER_BLOCK_THREADS, ordinal);
  limits->grid = (uint32_t)lathe_driver_number(driver, LATHE_DRIVER_GRID, ordinal);
  limits->shared = (size_t)lathe_driver_number(driver, LATHE_DRIVER_SHARED, ordinal);
  limits->cluster = lathe_driver_number(driver, LATHE_DRIVER_CLUSTERS, ordinal) ? 8 : 1;
  limits->architecture = (uint32_t)(10 * major + minor);
  limits->maps = driver->tensor_map != NULL;
  return LATHE_ON_CUDA | (major >= 8 ? LATHE_SM80 : 0) |
         (major == 9 && minor == 0 ? LATHE_SM90A : 0);
}

/* Fat binaries of one image, one after another. The second has the kernels that the first's architecture is too old
 * for. */
enum { LATHE_DRIVER_PARTS = 2 };

/* Where the nth of them begins, or null. Each says in its head how long that is, and what follows (fatBinaryHeader in
 * CUDA's fatbinary_section.h). An image of anything else is one part. */
static inline const unsigned char *lathe_driver_part(const unsigned char *code, size_t size,
                                                     int nth) {
  const unsigned char *at = code;

  for (; nth > 0; nth--) {
    struct {
      uint32_t magic;
      uint16_t version, bytes;
      uint64_t rest;
    } head;
    const size_t left = size - (size_t)(at - code);
    if (left < sizeof head)
      return NULL;
    memcpy(&head, at, sizeof head);
    if (head.magic != 0xba55ed50 || head.rest >= left || left - head.rest <= head.bytes)
      return NULL;
    at += head.bytes + head.rest;
  }
  return at;
}

/* A kernel of an image, whose parts are loaded when one of them is first looked into (modules). LATHE_DRIVER_NOT_FOUND
 * where no part has it for this GPU. */
static inline int lathe_driver_find(const lathe_driver *driver, const unsigned char *code,
                                    size_t size, lathe_driver_module *modules, const char *name,
                                    lathe_driver_function *function) {
  int error = LATHE_DRIVER_NOT_FOUND;

  for (int i = 0; i < LATHE_DRIVER_PARTS && error == LATHE_DRIVER_NOT_FOUND; i++) {
    const unsigned char *start = lathe_driver_part(code, size, i);
    if (!start)
      break;
    error = modules[i] ? 0 : driver->module_load(&modules[i], start);
    if (!error)
      error = driver->module_function(function, modules[i], name);
    else if (i > 0 && error == LATHE_DRIVER_NO_BINARY)
      error = LATHE_DRIVER_NOT_FOUND;
  }
  return error;
}

/* Whether a kernel may be launched before the one before it ends. It waits by itself (lathe_begin of templates/cuda)
 * where it was compiled for compute capability 9.0 or later; and older drivers take no such launch into a graph. */
static inline int lathe_driver_is_early(const lathe_driver *d, lathe_driver_function function) {
  int compiled_for = 0, version = 0;

  return d->function_attribute && d->version && !d->version(&version) &&
         !d->function_attribute(&compiled_for, LATHE_DRIVER_PTX, function) && compiled_for >= 90 &&
         version >= LATHE_DRIVER_EARLY_IN_GRAPHS;
}

/* How a kernel is launched; attribute: room for LATHE_DRIVER_ATTRIBUTES. */
static inline lathe_driver_config lathe_driver_configure(const lathe_launch *k,
                                                         lathe_driver_attribute *attribute,
                                                         lathe_driver_stream stream) {
  lathe_driver_attribute *next = attribute;
  lathe_driver_config config;

  memset(attribute, 0, LATHE_DRIVER_ATTRIBUTES * sizeof *attribute);
  if (k->cluster > 1) {
    next->id = LATHE_DRIVER_CLUSTER;
    next->value[0] = k->cluster;
    next->value[1] = next->value[2] = 1;
    next++;
  }
  if (k->early) {
    next->id = LATHE_DRIVER_EARLY;
    next->value[0] = 1;
    next++;
  }
  for (int i = 0; i < 3; i++) {
    config.grid[i] = k->grid[i];
    config.block[i] = k->block[i];
  }
  config.shared = k->shared;
  config.stream = stream;
  config.attributes = attribute;
  config.count = (unsigned)(next - attribute);
  return config;
}

/* Leaves of a kernel's clusters as many as may run at once. */
static inline int lathe_driver_reside(const lathe_driver *driver, lathe_driver_function function,
                                      lathe_launch *k) {
  lathe_driver_attribute attribute[LATHE_DRIVER_ATTRIBUTES];
  const lathe_driver_config config = lathe_driver_configure(k, attribute, NULL);
  int most = 0;
  const int error = driver->max_active_clusters(&most, function, &config);

  if (!error && most > 0 && (uint32_t)most * k->cluster < k->grid[0])
    k->grid[0] = (uint32_t)most * k->cluster;
  return error;
}

/* Of CUtensorMapDataType and its like, the values used here. */
enum {
  LATHE_DRIVER_BYTES = 0, /* then of 16 and 32 bits */
  LATHE_DRIVER_TF32 = 11,
  LATHE_DRIVER_NOT_INTERLEAVED = 0,
  LATHE_DRIVER_NO_SWIZZLE = 0, /* then of 32, 64 and 128 bytes */
  LATHE_DRIVER_TO_L2_BY_256 = 3,
  LATHE_DRIVER_ZEROS_OUTSIDE = 0,
};

/* The map of a call's operand. What it is made of were fit for one when the launch was chosen. */
static inline int lathe_driver_make_map(const lathe_driver *driver, lathe_driver_map *made,
                                        const lathe_tensor_map *map, const lathe_args *args) {
  static const unsigned steps[5] = {1, 1, 1, 1, 1};
  uint64_t extents[5], strides[4];
  unsigned long long extent[5] = {0}, stride[5] = {0};
  const int rank = lathe_lay_out(map, args, extents, strides);
  int type = LATHE_DRIVER_BYTES, swizzle = LATHE_DRIVER_NO_SWIZZLE;

  for (int i = 0; i < rank; i++)
    extent[i] = extents[i];
  for (int i = 0; i + 1 < rank; i++)
    stride[i] = strides[i];
  for (uint32_t bytes = map->bytes; bytes > 1; bytes /= 2)
    type++;
  if (map->rounded)
    type = LATHE_DRIVER_TF32;
  for (uint32_t bytes = map->swizzle; bytes >= 32; bytes /= 2)
    swizzle++;
  return driver->tensor_map(made, type, (unsigned)rank, lathe_map_start(map, args), extent, stride,
                            map->box, steps, LATHE_DRIVER_NOT_INTERLEAVED, swizzle,
                            LATHE_DRIVER_TO_L2_BY_256, LATHE_DRIVER_ZEROS_OUTSIDE);
}

/* Puts a kernel of a call on a stream. */
static inline int lathe_driver_launch(const lathe_driver *driver, lathe_driver_function function,
                                      const lathe_launch *k, const lathe_args *args,
                                      lathe_driver_stream stream) {
  lathe_driver_map maps[LATHE_MAX_MAPS];
  lathe_args given = *args;
  void *parameters[1 + LATHE_MAX_MAPS];
  lathe_driver_attribute attribute[LATHE_DRIVER_ATTRIBUTES];
  const lathe_driver_config config = lathe_driver_configure(k, attribute, stream);
  int error = 0;

  given.workspace = (char *)args->workspace + k->past;
  parameters[0] = &given;
  for (int i = 0; i < LATHE_MAX_MAPS; i++)
    parameters[1 + i] = &maps[i];
  for (int i = 0; i < k->nmaps && !error; i++)
    error = lathe_driver_make_map(driver, &maps[i], &k->maps[i], args);
  return error ? error : driver->launch(&config, function, parameters, NULL);
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* The code of an image, and the modules of its parts, null until they are loaded. */
typedef struct lathe_driver_code {
  const unsigned char *start;
  size_t size;
  lathe_driver_module part[LATHE_DRIVER_PARTS];
} lathe_driver_code;

/* A kernel in a context. */
typedef struct lathe_driver_kernel {
  lathe_driver_function function;
  int found;       /* 0, or the driver's error */
  int early;       /* 1: it may be launched before the kernel before it ends */
  uint32_t shared; /* dynamic shared memory that it may have, bytes */
  int known;       /* 1: what is above is set */
} lathe_driver_kernel;

/* A variant in a context: the code of its images, and its schedule's kernels in their order. */
typedef struct lathe_driver_variant {
  const lathe_driver *driver;
  const lathe_schedule *schedule;
  lathe_driver_code *code;
  int codes;
  lathe_driver_kernel *kernel;
  pthread_mutex_t *lock; /* of what is found */
} lathe_driver_variant;

/* Looks a variant's nth kernel up, or sees to it that it may have more shared memory. */
static inline int lathe_driver_prepare(const lathe_driver_variant *v, int nth, uint32_t shared) {
  lathe_driver_kernel *k = &v->kernel[nth];
  int error = 0;

  pthread_mutex_lock(v->lock);
  if (!k->known) {
    k->found = LATHE_DRIVER_NOT_FOUND;
    for (int i = 0; i < v->codes && k->found == LATHE_DRIVER_NOT_FOUND; i++)
      k->found = lathe_driver_find(v->driver, v->code[i].start, v->code[i].size, v->code[i].part,
                                   v->schedule->kernels[nth], &k->function);
    k->early = !k->found && lathe_driver_is_early(v->driver, k->function);
    __atomic_store_n(&k->known, 1, __ATOMIC_RELEASE);
  }
  if (!k->found && shared > k->shared) { /* 48 KiB need no asking, but a kernel has some itself */
    error = v->driver->function_set(k->function, LATHE_DRIVER_DYNAMIC_SHARED, (int)shared);
    if (!error)
      __atomic_store_n(&k->shared, shared, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(v->lock);
  return k->found ? k->found : error;
}

/* Prepares all of them, with no shared memory, that there are for this GPU. */
static inline int lathe_driver_prepare_all(const lathe_driver_variant *v) {
  int error = 0;

  for (int nth = 0; nth < v->schedule->nkernels && !error; nth++) {
    error = v->schedule->kernels[nth] ? lathe_driver_prepare(v, nth, 0) : 0;
    error = error == LATHE_DRIVER_NOT_FOUND ? 0 : error;
  }
  return error;
}

/* Finds the kernel of a launch; 0, or the driver's error. */
static inline int lathe_driver_kernel_of(const lathe_driver_variant *v, lathe_launch *launch,
                                         lathe_driver_function *function) {
  const lathe_driver_kernel *k;
  int nth = 0, error;

  while (v->schedule->kernels[nth] != launch->kernel)
    nth++;
  k = &v->kernel[nth];
  if (!__atomic_load_n(&k->known, __ATOMIC_ACQUIRE) ||
      launch->shared > __atomic_load_n(&k->shared, __ATOMIC_ACQUIRE)) {
    error = lathe_driver_prepare(v, nth, launch->shared);
    if (error)
      return error;
  }
  *function = k->function;
  launch->early = (uint32_t)k->early;
  return k->found;
}

/* The launches of a call and their kernels: 0, or the driver's error, of the launch *count. *count is 0 where there is
 * no launch for the size. Code for an architecture that has no clusters or tensor maps, which later GPUs' drivers may
 * compile, has no kernels for them. */
static inline int lathe_driver_launches(const lathe_driver_variant *v, const lathe_args *args,
                                        const lathe_limits *limits, lathe_launch *launches,
                                        lathe_driver_function *function, int *count) {
  const int all = v->schedule->launches(v->schedule, args, limits, launches);
  int error = 0;

  for (*count = 0; *count < all; ++*count) {
    lathe_launch *launch = &launches[*count];
    error = lathe_driver_kernel_of(v, launch, &function[*count]);
    const bool is_special = limits->cluster > 1 || limits->maps;
    if ((error == LATHE_DRIVER_NOT_FOUND && is_special) ||
        (!error && launch->joined && !launch->early)) {
      lathe_limits without = *limits;
      without.cluster = 1;
      without.maps = 0;
      return lathe_driver_launches(v, args, &without, launches, function, count);
    }
    if (!error && launch->resident)
      error = lathe_driver_reside(v->driver, function[*count], launch);
    if (error)
      return error;
  }
  return 0;
}

/* Puts the kernels of a call on a stream: 0, the driver's error, or -1 where there is no launch for the size. */
static inline int lathe_driver_call(const lathe_driver_variant *v, lathe_args *args,
                                    const lathe_limits *limits, lathe_driver_stream stream) {
  lathe_launch launches[LATHE_MAX_LAUNCHES];
  lathe_driver_function function[LATHE_MAX_LAUNCHES];
  int count = 0, error = lathe_driver_launches(v, args, limits, launches, function, &count);

  for (int l = 0; l < count && !error; l++)
    if (launches[l].grid[0] > 0 && launches[l].grid[1] > 0)
      error = lathe_driver_launch(v->driver, function[l], &launches[l], args, stream);
  return error || count > 0 ? error : -1;
}

#endif
