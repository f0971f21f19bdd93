/* cuda.c - plans on CUDA devices: the driver is opened at run time, and a context borrowed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"
#include "image.h"
#include "lathe_tune.h"
#include "on_cuda.h"

/* A variant's kernels. */
typedef struct loaded {
  struct loaded *next;
  const lathe_variant *of;
  lathe_driver_variant variant;
  lathe_driver_kernel kernel[];
} loaded;

typedef struct cuda_device {
  lathe_device head;
  void *library, *context;
  lathe_driver driver;
  int (*current)(void **context), (*use)(void *context), (*unload)(lathe_driver_module module);
  int (*error_text)(int error, const char **text);
  int (*event_create)(void **event, unsigned flags), (*event_destroy)(void *event);
  int (*event_record)(void *event, void *stream), (*event_wait)(void *event);
  int (*event_elapsed)(float *milliseconds, void *from, void *to);
  lathe_limits limits;
  pthread_mutex_t lock; /* of what follows, and of what is found of a variant */
  loaded *loaded;
  lathe_images images;
} cuda_device;

/* Puts a function of the driver's where `to` is; false where it has none. */
static bool get(void *library, const char *name, void *to) {
  void *const function = dlsym(library, name);

  memcpy(to, &function, sizeof function);
  return function != NULL;
}

static bool get_all(cuda_device *d, int (**device_of)(int *),
                    int (**name_of)(char *name, int size, int device)) {
  get(d->library, "cuTensorMapEncodeTiled", &d->driver.tensor_map);
  get(d->library, "cuFuncGetAttribute", &d->driver.function_attribute);
  get(d->library, "cuDriverGetVersion", &d->driver.version);
  get(d->library, "cuDeviceGetName", name_of);
  get(d->library, "cuEventDestroy_v2", &d->event_destroy);
  return get(d->library, "cuDeviceGetAttribute", &d->driver.device_attribute) &&
         get(d->library, "cuModuleLoadData", &d->driver.module_load) &&
         get(d->library, "cuModuleUnload", &d->unload) &&
         get(d->library, "cuModuleGetFunction", &d->driver.module_function) &&
         get(d->library, "cuFuncSetAttribute", &d->driver.function_set) &&
         get(d->library, "cuLaunchKernelEx", &d->driver.launch) &&
         get(d->library, "cuOccupancyMaxActiveClusters", &d->driver.max_active_clusters) &&
         get(d->library, "cuCtxGetCurrent", &d->current) &&
         get(d->library, "cuCtxGetDevice", device_of) &&
         get(d->library, "cuCtxSetCurrent", &d->use) &&
         get(d->library, "cuEventCreate", &d->event_create) &&
         get(d->library, "cuEventRecord", &d->event_record) &&
         get(d->library, "cuEventSynchronize", &d->event_wait) &&
         get(d->library, "cuEventElapsedTime", &d->event_elapsed) &&
         get(d->library, "cuGetErrorString", &d->error_text);
}

/* Makes a device's context the thread's; its former one is given back afterwards. */
static int enter(const cuda_device *d, void **former) {
  const int error = d->current(former);

  return error || *former == d->context ? error : d->use(d->context);
}

static void leave(const cuda_device *d, void *former) {
  if (former != d->context)
    d->use(former);
}

/* ---- code -------------------------------------------------------------------------------------- */

static lathe_driver_code *codes_of(lathe_unpacked *u) {
  return (void *)u->code;
}

static bool fill(lathe_image_bundle *kept, const lathe_image *image, void *record,
                 const char **why) {
  lathe_driver_code *code = record;

  code->start = lathe_image_unpack(kept, image, &code->size, why);
  return code->start;
}

/* A variant's code and kernels; null with the reason in why. */
static const loaded *load(cuda_device *d, const lathe_variant *v, const char **why) {
  loaded *l;

  *why = "the host's memory does not suffice";
  pthread_mutex_lock(&d->lock);
  l = d->loaded;
  while (l && l->of != v)
    l = l->next;
  if (!l) {
    lathe_unpacked *u = lathe_images_of(&d->images, v->image, why);
    const size_t kernels = (size_t)v->schedule->nkernels;
    l = u ? calloc(1, sizeof *l + kernels * sizeof *l->kernel) : NULL;
    if (l) {
      l->of = v;
      l->variant = (lathe_driver_variant){&d->driver,    v->schedule, codes_of(u),
                                          (int)u->codes, l->kernel,   &d->lock};
      l->next = d->loaded;
      d->loaded = l;
    }
  }
  pthread_mutex_unlock(&d->lock);
  return l;
}

/* ---- plans ------------------------------------------------------------------------------------- */

static lathe_limits limits_of(const lathe_made *made) {
  lathe_limits limits = ((const cuda_device *)made->device)->limits;

  limits.cut = made->cut;
  return limits;
}

static int run(const lathe_made *made, void *const *operand, const double *scalar, void *workspace,
               void *stream) {
  const lathe_limits limits = limits_of(made);
  lathe_args args = {0};
  int error;

  lathe_fill_args(&args, made, operand, scalar, workspace);
  error = lathe_driver_call(made->loaded, &args, &limits, (lathe_driver_stream)stream);
  return error < 0 ? LATHE_SHAPE : -error;
}

static lathe_status fail(const cuda_device *d, const lathe_variant *v, int error,
                         lathe_line *line) {
  const char *text = NULL;

  lathe_say(line, v->name);
  lathe_say(line, ": ");
  if (d->error_text(error, &text) || !text)
    text = "the driver has no text for its error";
  lathe_say(line, text);
  if (error == LATHE_DRIVER_NO_BINARY)
    lathe_say(line, "; configure --cuda-arch adds this GPU's code");
  return error == LATHE_DRIVER_NO_BINARY || error == LATHE_DRIVER_NOT_FOUND ? LATHE_NO_VARIANT
                                                                            : LATHE_DRIVER;
}

void lathe_cuda_cut(lathe_plan *plan, uint32_t cut) {
  ((lathe_made *)plan->own)->cut = cut;
}

int lathe_cuda_launches(const lathe_plan *plan, const lathe_args *args, lathe_launch *launches,
                        lathe_driver_function *function, int *count) {
  const lathe_made *made = lathe_made_of(plan);
  const lathe_limits limits = limits_of(made);

  return lathe_driver_launches(made->loaded, args, &limits, launches, function, count);
}

/* Sees to it that calls find all that they launch, however operands lie. */
static lathe_status prepare(const cuda_device *d, const lathe_plan *plan, lathe_line *line) {
  static const uintptr_t anywhere = 1u << 20;
  const lathe_made *made = lathe_made_of(plan);
  int error = lathe_driver_prepare_all(made->loaded);
  lathe_launch launches[LATHE_MAX_LAUNCHES];
  lathe_driver_function function[LATHE_MAX_LAUNCHES];

  for (uintptr_t off = 0; off <= 8 && !error; off += 8) {
    lathe_args args = {0};
    int count;
    for (int o = 0; o < made->noperands; o++)
      args.buf[o] = (void *)(anywhere + off); /* NOLINT */
    memcpy(args.dim, made->dim, sizeof args.dim);
    args.workspace = (void *)anywhere; /* NOLINT */
    error = lathe_cuda_launches(plan, &args, launches, function, &count);
    if (!error && count == 0 && off == 0) {
      lathe_say(line, made->variant->name);
      lathe_say(line,
                lathe_fits(made->variant, made->dim, d->limits.shared)
                    ? ": the variant has no launch for this size"
                    : ": a block's shared memory has no room for rows that long: it has for "
                      "narrower layers, and plain contractions one after the other need none");
      return LATHE_SHAPE;
    }
  }
  return error ? fail(d, made->variant, error, line) : LATHE_OK;
}

static lathe_status make(const lathe_device *device, lathe_plan *plan, lathe_made *made,
                         lathe_line *line) {
  cuda_device *d = (cuda_device *)device; /* what is loaded grows */
  const char *why = NULL;
  lathe_status status;
  void *former;
  int error;

  made->run = run;
  plan->workspace = (size_t)lathe_workspace(made->variant, made->dim);
  made->loaded = NULL;
  error = enter(d, &former);
  if (error)
    return fail(d, made->variant, error, line);
  const loaded *l = load(d, made->variant, &why);
  if (l) {
    made->loaded = &l->variant;
    status = prepare(d, plan, line);
  } else {
    lathe_say(line, made->variant->name);
    lathe_say(line, ": ");
    lathe_say(line, why);
    status = LATHE_MEMORY;
  }
  leave(d, former);
  return status;
}

/* The time of some calls on the caller's stream, by the device's clock. */
static int time_calls(lathe_device *device, const lathe_plan *plan, const lathe_tuning *with,
                      size_t calls, double *seconds) {
  const cuda_device *d = (cuda_device *)device;
  void *former, *from = NULL, *to = NULL;
  float milliseconds = 0;
  int error = -enter(d, &former);

  if (error)
    return error;
  error = -d->event_create(&from, 0);
  error = error ? error : -d->event_create(&to, 0);
  error = error ? error : -d->event_record(from, with->stream);
  for (size_t i = 0; i < calls && !error; i++)
    error = lathe_run(plan, with->operand, with->scalar, with->workspace, with->stream);
  error = error ? error : -d->event_record(to, with->stream);
  error = error ? error : -d->event_wait(to);
  error = error ? error : -d->event_elapsed(&milliseconds, from, to);
  if (from && d->event_destroy)
    d->event_destroy(from);
  if (to && d->event_destroy)
    d->event_destroy(to);
  leave(d, former);
  *seconds = milliseconds / 1e3;
  return error;
}

/* ---- devices ----------------------------------------------------------------------------------- */

static void close_device(lathe_device *device) {
  cuda_device *d = (cuda_device *)device;
  void *former;
  const bool is_there = enter(d, &former) == 0;

  while (d->loaded) {
    loaded *next = d->loaded->next;
    free(d->loaded);
    d->loaded = next;
  }
  for (lathe_unpacked *u = d->images.first; u && is_there; u = u->next)
    for (size_t i = 0; i < u->codes; i++)
      for (int part = 0; part < LATHE_DRIVER_PARTS; part++)
        if (codes_of(u)[i].part[part])
          d->unload(codes_of(u)[i].part[part]);
  if (is_there)
    leave(d, former);
  lathe_images_forget(&d->images);
  pthread_mutex_destroy(&d->lock);
  dlclose(d->library);
  free(d);
}

lathe_status lathe_open_cuda(lathe_device **made, void *context) {
  int (*device_of)(int *) = NULL, (*name_of)(char *, int, int) = NULL, ordinal = 0;
  cuda_device *d = calloc(1, sizeof *d);
  void *former;

  *made = NULL;
  if (!d)
    return LATHE_MEMORY;
  d->context = context;
  d->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (d->library && get_all(d, &device_of, &name_of) &&
      (context || (d->current(&d->context) == 0 && d->context)) && enter(d, &former) == 0) {
    const int error = device_of(&ordinal);
    leave(d, former);
    if (!error) {
      char *name = d->head.name;
      d->head = (lathe_device){
          .kind = LATHE_CUDA, .make = make, .close = close_device, .time = time_calls};
      d->head.features = lathe_driver_describe(&d->driver, ordinal, &d->limits);
      if (!name_of || name_of(name, (int)sizeof d->head.name, ordinal))
        snprintf(name, sizeof d->head.name, "unknown GPU");
      snprintf(name + strlen(name), sizeof d->head.name - strlen(name),
               ", compute capability %u.%u", d->limits.architecture / 10,
               d->limits.architecture % 10);
      pthread_mutex_init(&d->lock, NULL);
      d->images = (lathe_images){.bytes = sizeof(lathe_driver_code), .fill = fill};
      *made = &d->head;
      return LATHE_OK;
    }
  }
  if (d->library)
    dlclose(d->library);
  free(d);
  return LATHE_DRIVER;
}
