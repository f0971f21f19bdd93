/* vulkan.c - plans on Vulkan devices, which are borrowed: calls are recorded into command buffers of the caller's. */
#include "plan.h"

#if __has_include(<vulkan/vulkan_core.h>)
#define VK_NO_PROTOTYPES
#include "image.h"
#include "vulkan_device.h"

typedef struct vulkan_device {
  lathe_device head;
  lathe_vulkan_device on;
  pthread_mutex_t lock; /* of what follows */
  lathe_images images;
} vulkan_device;

static bool fill(lathe_image_bundle *kept, const lathe_image *image, void *record,
                 const char **why) {
  lathe_vulkan_code *code = record;
  size_t bytes;

  code->words = lathe_image_unpack_words(kept, image, &bytes, why);
  if (!code->words)
    return false;
  code->count = bytes / sizeof *code->words;
  code->loose = image->loose;
  return true;
}

lathe_vulkan_device *lathe_vulkan_of(lathe_device *device) {
  return &((vulkan_device *)device)->on;
}

const lathe_vulkan_code *lathe_vulkan_codes(lathe_device *device, const lathe_image *first,
                                            const char **why) {
  vulkan_device *d = (vulkan_device *)device;
  const lathe_unpacked *u;

  pthread_mutex_lock(&d->lock);
  u = lathe_images_of(&d->images, first, why);
  pthread_mutex_unlock(&d->lock);
  return u ? (const void *)u->code : NULL;
}

/* ---- plans ------------------------------------------------------------------------------------- */

/* A kernel's arguments, in the order of gen/pour/lower_glsl.lua, and their bytes: more than LATHE_VULKAN_PUSHED where
 * there is no room for it. */
typedef struct pushed {
  unsigned char at[LATHE_VULKAN_PUSHED];
  uint32_t size;
} pushed;

static void add(pushed *to, const void *value, uint32_t size) {
  if (to->size + size <= sizeof to->at)
    memcpy(to->at + to->size, value, size);
  to->size += size;
}

static pushed give(const lathe_made *made, const lathe_args *args) {
  const lathe_op *op = made->variant->op;
  const uint64_t workspace = (uintptr_t)args->workspace;
  pushed given = {.size = 0};

  for (int o = 0; o < op->noperands; o++) {
    const uint64_t address = (uintptr_t)args->buf[o];
    add(&given, &address, sizeof address);
  }
  add(&given, &workspace, sizeof workspace);
  for (int d = 0; d < op->ndim; d++) {
    const uint64_t extent = args->dim[d];
    add(&given, &extent, sizeof extent);
  }
  for (int s = 0; s < op->nscalars; s++) {
    const float number = (float)args->scalar[s];
    if (made->variant->dtype == LATHE_F64)
      add(&given, &args->scalar[s], sizeof args->scalar[s]);
    else
      add(&given, &number, sizeof number);
  }
  return given;
}

static int run(const lathe_made *made, void *const *operand, const double *scalar, void *workspace,
               void *stream) {
  vulkan_device *d = (vulkan_device *)made->device; /* pipelines may be made */
  lathe_args args = {0};
  pushed given;
  int error;

  lathe_fill_args(&args, made, operand, scalar, workspace);
  given = give(made, &args);
  error = lathe_vulkan_record(&d->on, stream, made->variant->schedule, made->loaded, &args,
                              given.at, given.size);
  return error == LATHE_VULKAN_NO_LAUNCH   ? LATHE_SHAPE
         : error == LATHE_VULKAN_NO_MEMORY ? LATHE_MEMORY
                                           : error;
}

/* Makes the pipelines of calls, however operands lie. */
static lathe_status prepare(vulkan_device *d, const lathe_made *made, lathe_line *line) {
  static const uintptr_t anywhere = 1u << 20;
  lathe_launch launches[LATHE_MAX_LAUNCHES];
  VkPipeline pipeline[LATHE_MAX_LAUNCHES];

  for (uintptr_t off = 0; off <= 8; off += 8) {
    lathe_args args = {0};
    int count, error;
    for (int o = 0; o < made->noperands; o++)
      args.buf[o] = (void *)(anywhere + off); /* NOLINT */
    memcpy(args.dim, made->dim, sizeof args.dim);
    args.workspace = (void *)anywhere; /* NOLINT */
    if (give(made, &args).size > LATHE_VULKAN_PUSHED) {
      lathe_say(line, ": push constants have no room for so many arguments; 'lathe-gen export' "
                      "writes calls that take a buffer for them");
      return LATHE_NO_VARIANT;
    }
    error = lathe_vulkan_launches(&d->on, made->variant->schedule, made->loaded, &args, launches,
                                  pipeline, &count);
    if (!error || (error == LATHE_VULKAN_NO_LAUNCH && off > 0))
      continue;
    lathe_say(line, error == LATHE_VULKAN_NO_LAUNCH ? ": the variant has no launch for this size"
                                                    : ": no pipeline could be made of it");
    return error == LATHE_VULKAN_NO_LAUNCH   ? LATHE_SHAPE
           : error == LATHE_VULKAN_NO_MEMORY ? LATHE_MEMORY
                                             : LATHE_DRIVER;
  }
  return LATHE_OK;
}

static lathe_status make(const lathe_device *device, lathe_plan *plan, lathe_made *made,
                         lathe_line *line) {
  vulkan_device *d = (vulkan_device *)device; /* what is unpacked grows */
  const char *why;

  made->run = run;
  plan->workspace = (size_t)lathe_workspace(made->variant, made->dim);
  made->loaded = lathe_vulkan_codes(&d->head, made->variant->image, &why);
  lathe_say(line, made->variant->name);
  if (made->loaded) {
    const lathe_status status = prepare(d, made, line);
    if (!status)
      lathe_begin_line(plan->why);
    return status;
  }
  lathe_say(line, ": ");
  lathe_say(line, why);
  return LATHE_MEMORY;
}

/* ---- devices ----------------------------------------------------------------------------------- */

static void close_device(lathe_device *device) {
  vulkan_device *d = (vulkan_device *)device;

  lathe_vulkan_close(&d->on);
  lathe_images_forget(&d->images);
  pthread_mutex_destroy(&d->lock);
  free(d);
}

lathe_status lathe_open_vulkan(lathe_device **made, const lathe_vulkan *yours) {
  vulkan_device *d = calloc(1, sizeof *d);
  PFN_vkGetInstanceProcAddr get;
  int error;

  *made = NULL;
  if (!d)
    return LATHE_MEMORY;
  memcpy(&get, &yours->get_instance_proc_addr, sizeof get);
  error = lathe_vulkan_open(&d->on, yours->instance, get, yours->physical, yours->device,
                            yours->enabled, VK_NULL_HANDLE);
  if (error) {
    free(d);
    return LATHE_DRIVER;
  }
  d->head = (lathe_device){
      .kind = LATHE_VULKAN, .features = d->on.features, .make = make, .close = close_device};
  pthread_mutex_init(&d->lock, NULL);
  d->images = (lathe_images){.bytes = sizeof(lathe_vulkan_code), .fill = fill};
  *made = &d->head;
  return LATHE_OK;
}

#else

lathe_status lathe_open_vulkan(lathe_device **made, const lathe_vulkan *yours) {
  (void)yours;
  *made = NULL;
  return LATHE_DRIVER;
}

#endif
