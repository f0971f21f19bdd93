/* $name$.c - $doc$: see $name$.h.
 * $made$ Make it again with:
 *   $command$
 * SPDX-License-Identifier: 0BSD */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
//@ for _, include in ipairs(system) do
#include <$include$>
//@ end

#include "$name$.h"

/* ---- launches ---- */

$common$
$launches$
/* ---- device code ---- */

/* Fat binaries, one after another, as words of 8 bytes, the lowest first. */
//@ for _, image in ipairs(images) do
$image.place$
//@ end

typedef struct lathe_code {
  const uint64_t *words;
  size_t size;
} lathe_code;

static const lathe_code lathe_codes[] = {
  //@ for _, image in ipairs(images) do
  {$image.name$, $image.size$},
  //@ end
};

/* ---- the driver ---- */

enum {
  LATHE_CODES = $(#images),
  LATHE_KERNELS = $kernels$,
  LATHE_CONTEXTS = 16, /* that one process may use */
};

/* What is used of libcuda.so.1. */
static lathe_driver lathe_functions;
typedef struct CUctx_st *lathe_context_handle;

static int (*lathe_context_get)(lathe_context_handle *context);
static int (*lathe_context_device)(int *device);
static int (*lathe_context_number)(lathe_context_handle context, unsigned long long *number);
static int (*lathe_error_text)(int error, const char **text);

/* A context, and what is loaded in it. Another one may get the address of one that is gone, but no number twice. */
typedef struct lathe_context {
  lathe_context_handle context;
  unsigned long long number;
  uint64_t features;
  lathe_limits limits;
  lathe_driver_code code[LATHE_CODES];
  lathe_driver_kernel kernel[LATHE_KERNELS];
} lathe_context;

static lathe_context lathe_contexts[LATHE_CONTEXTS];
static int lathe_context_count; /* written when all of the last one is */
static int lathe_opened;        /* 1 when the driver is there */
static pthread_mutex_t lathe_lock = PTHREAD_MUTEX_INITIALIZER; /* of what is written after the start */

/* Puts a function of the library where `to` is; false where it has none. */
static int lathe_get(void *library, const char *name, void *to) {
  void *const function = dlsym(library, name);
  memcpy(to, &function, sizeof function);
  return function != NULL;
}

static int lathe_open(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return $UPPER$_DRIVER;
  lathe_get(library, "cuTensorMapEncodeTiled", &lathe_functions.tensor_map);
  lathe_get(library, "cuFuncGetAttribute", &lathe_functions.function_attribute);
  lathe_get(library, "cuDriverGetVersion", &lathe_functions.version);
  lathe_get(library, "cuCtxGetId", &lathe_context_number);
  if (lathe_get(library, "cuDeviceGetAttribute", &lathe_functions.device_attribute) &&
      lathe_get(library, "cuModuleLoadData", &lathe_functions.module_load) &&
      lathe_get(library, "cuModuleGetFunction", &lathe_functions.module_function) &&
      lathe_get(library, "cuFuncSetAttribute", &lathe_functions.function_set) &&
      lathe_get(library, "cuLaunchKernelEx", &lathe_functions.launch) &&
      lathe_get(library, "cuOccupancyMaxActiveClusters", &lathe_functions.max_active_clusters) &&
      lathe_get(library, "cuCtxGetCurrent", &lathe_context_get) &&
      lathe_get(library, "cuCtxGetDevice", &lathe_context_device) &&
      lathe_get(library, "cuGetErrorString", &lathe_error_text)) {
    __atomic_store_n(&lathe_opened, 1, __ATOMIC_RELEASE);
    return $UPPER$_OK;
  }
  dlclose(library);
  return $UPPER$_DRIVER;
}

/* ---- contexts ---- */

static lathe_context *lathe_known(lathe_context_handle context, int count) {
  for (int i = 0; i < count; i++)
    if (lathe_contexts[i].context == context)
      return &lathe_contexts[i];
  return NULL;
}

/* Describes the context that is current, in the place of a former one with its address, or in a new one. */
static int lathe_add(lathe_context_handle context, unsigned long long number) {
  const int count = lathe_context_count;
  lathe_context *c = lathe_known(context, count);
  int device = 0, error;

  if (c && c->number == number)
    return $UPPER$_OK;
  if (!c && count == LATHE_CONTEXTS)
    return $UPPER$_CONTEXT;
  error = lathe_context_device(&device);
  if (error)
    return -error;
  if (!c)
    c = &lathe_contexts[count];
  memset(c, 0, sizeof *c);
  for (int i = 0; i < LATHE_CODES; i++) {
    c->code[i].start = (const unsigned char *)lathe_codes[i].words;
    c->code[i].size = lathe_codes[i].size;
  }
  c->features = lathe_driver_describe(&lathe_functions, device, &c->limits);
  c->number = number;
  c->context = context;
  if (c == &lathe_contexts[count])
    __atomic_store_n(&lathe_context_count, count + 1, __ATOMIC_RELEASE);
  return $UPPER$_OK;
}

/* The context that is current, described; null with the reason in *status. */
static lathe_context *lathe_current(int *status) {
  lathe_context_handle context = NULL;
  unsigned long long number = 0;
  lathe_context *c;

  *status = $UPPER$_OK;
  if (!__atomic_load_n(&lathe_opened, __ATOMIC_ACQUIRE)) {
    pthread_mutex_lock(&lathe_lock);
    if (!lathe_opened)
      *status = lathe_open();
    pthread_mutex_unlock(&lathe_lock);
  }
  if (!*status) /* an error: the driver was not begun, so that there is no context */
    *status = lathe_context_get(&context) || !context ? $UPPER$_CONTEXT : $UPPER$_OK;
  if (!*status && lathe_context_number && lathe_context_number(context, &number))
    number = 0;
  if (*status)
    return NULL;
  c = lathe_known(context, __atomic_load_n(&lathe_context_count, __ATOMIC_ACQUIRE));
  if (c && c->number == number)
    return c;
  pthread_mutex_lock(&lathe_lock);
  *status = lathe_add(context, number);
  c = *status ? NULL : lathe_known(context, lathe_context_count);
  pthread_mutex_unlock(&lathe_lock);
  return c;
}

/* ---- variants ---- */

/* A variant: what it must find in a device, the bytes of all operands that it is the best for, the first of its kernels
 * among those of a context, and in which of lathe_codes they are. */
typedef struct lathe_choice {
  const char *name;
  const lathe_schedule *schedule;
  uint64_t features;
  lathe_prefer prefer[LATHE_PREFERS];
  int first, code, codes;
} lathe_choice;
//@ for _, t in ipairs(types) do

/* Dispatch takes the first that fits. */
static const lathe_choice $t.name$_choices[] = {
  //@ for _, row in ipairs(rows[t]) do
  {"$row.name$", &$row.name$_schedule, $row.features$, {$row.prefer$}, $row.first$, $row.code$, $row.codes$},
  //@ end
  {NULL, NULL, 0, {$no_calls$}, 0, 0, 0},
};
//@ end

static const double lathe_largest = 72057594037927936.0; /* 2^56: no memory has so many bytes */

/* The first variant that can run and is for so many bytes, else the first that can run; null where none can. */
static const lathe_choice *lathe_choose(const lathe_choice *all, const lathe_context *c, const size_t *dim,
                                        double bytes) {
  const lathe_choice *able = NULL;

  for (const lathe_choice *v = all; v->name; v++) {
    if ((v->features & ~c->features) ||
        (v->schedule->fits && !v->schedule->fits(dim, lathe_least_shared(c->features))))
      continue;
    if (lathe_prefers(v->prefer, dim, bytes))
      return v;
    able = able ? able : v;
  }
  return able;
}

/* A variant in a context. */
static lathe_driver_variant lathe_variant_in(lathe_context *c, const lathe_choice *v) {
  const lathe_driver_variant variant = {&lathe_functions, v->schedule, &c->code[v->code], v->codes, &c->kernel[v->first],
                                        &lathe_lock};
  return variant;
}

/* What a call returns for an error of the driver's. */
static int lathe_status_of(int error) {
  return error == LATHE_DRIVER_NOT_FOUND || error == LATHE_DRIVER_NO_BINARY ? $UPPER$_DEVICE : -error;
}

/* ---- calls ---- */

const char *$name$_status(int status) {
  const char *text = NULL;

  switch (status) {
  case $UPPER$_OK: return "done";
  case $UPPER$_NULL: return "$name$: an operand that has elements is null";
  case $UPPER$_SIZE: return "$name$: no memory has such a size, or no kernel is for it";
  case $UPPER$_WORKSPACE: return "$name$: the workspace is null, or its address no multiple of 64";
  case $UPPER$_DRIVER: return "$name$: there is no libcuda.so.1, or one older than CUDA 11.8's";
  case $UPPER$_CONTEXT: return "$name$: this thread has no context, which cudaSetDevice gives it, or 16 were used before";
  case $UPPER$_DEVICE: return "$name$: no kernel of the file runs on this device";
  default:
    if (status < 0 && lathe_error_text && lathe_error_text(-status, &text) == 0 && text)
      return text;
    return status < 0 ? "$name$: the driver has no text for its error" : "$name$: no status";
  }
}

/* Every kernel of the variants that may be called here. */
static int lathe_load_all(lathe_context *c, const lathe_choice *all) {
  int error = 0;

  for (const lathe_choice *v = all; v->name && !error; v++)
    if (!(v->features & ~c->features)) {
      const lathe_driver_variant variant = lathe_variant_in(c, v);
      error = lathe_driver_prepare_all(&variant);
    }
  return lathe_status_of(error);
}

int $name$_load(void) {
  int status;
  lathe_context *c = lathe_current(&status);

  //@ for _, t in ipairs(types) do
  if (!status)
    status = lathe_load_all(c, $t.name$_choices);
  //@ end
  return status;
}
//@ for _, t in ipairs(types) do

/* The variant for a size; null with the reason in *status. */
static const lathe_choice *$t.name$_choice($t.extents$, lathe_context **context, int *status) {
  const double bytes = ($t.all_extents$) >> 56 ? lathe_largest : $t.bytes$;
  const size_t dim[] = {$t.extents_given$};
  const lathe_choice *variant;

  if (bytes >= lathe_largest) {
    *status = $UPPER$_SIZE;
    return NULL;
  }
  *context = lathe_current(status);
  if (!*context)
    return NULL;
  variant = lathe_choose($t.name$_choices, *context, dim, bytes);
  *status = variant ? $UPPER$_OK : $UPPER$_DEVICE;
  return variant;
}

const char *$t.name$_variant($t.extents$) {
  int status;
  lathe_context *context;
  const lathe_choice *variant = $t.name$_choice($t.extents_given$, &context, &status);
  return variant ? variant->name : "none";
}
//@ if t.workspace then

size_t $t.name$_workspace($t.extents$) {
  const size_t dim[] = {$t.extents_given$};
  int status;
  lathe_context *context;
  const lathe_choice *variant = $t.name$_choice($t.extents_given$, &context, &status);
  return variant && variant->schedule->workspace ? (size_t)variant->schedule->workspace(dim) : 0;
}
//@ end

$t.prototype$ {
  int status;
  lathe_context *context;
  const lathe_choice *variant = $t.name$_choice($t.extents_given$, &context, &status);
  lathe_driver_variant loaded;
  lathe_args args;
  if (!variant)
    return status;
  if ($t.absent$)
    return $UPPER$_NULL;
  if ($t.nothing$)
    return $UPPER$_OK;
  memset(&args, 0, sizeof args);
  //@ for i, argument in ipairs(t.arguments) do
  args.buf[$(i - 1)] = (void *)$argument$;
  //@ end
  //@ for i, scalar in ipairs(t.scalars) do
  args.scalar[$(i - 1)] = $scalar$;
  //@ end
  //@ for i, extent in ipairs(t.dims) do
  args.dim[$(i - 1)] = $extent$;
  //@ end
  //@ if t.workspace then
  args.workspace = workspace;
  if ((uintptr_t)workspace % 64 != 0 || (!workspace && variant->schedule->workspace && variant->schedule->workspace(args.dim) > 0))
    return $UPPER$_WORKSPACE;
  //@ end
  loaded = lathe_variant_in(context, variant);
  status = lathe_driver_call(&loaded, &args, &context->limits, (lathe_driver_stream)stream);
  return status < 0 ? $UPPER$_SIZE : lathe_status_of(status);
}
//@ end
