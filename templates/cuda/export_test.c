/* ---- the device: the first that CUDA's driver has, with memory of its own ---- */

static struct {
  int (*init)(unsigned flags);
  int (*device)(int *device, int nth);
  int (*context)(void **context, unsigned flags, int device);
  int (*stream)(void **stream, unsigned flags);
  int (*allocate)(unsigned long long *at, size_t bytes);
  int (*release)(unsigned long long at);
  int (*fill)(unsigned long long at, unsigned char value, size_t bytes);
  int (*send)(unsigned long long to, const void *from, size_t bytes);
  int (*fetch)(void *to, unsigned long long from, size_t bytes);
  int (*finish)(void);
} driver;

static void *device_queue;

static void device_failed(const char *what, int error) {
  if (!error)
    return;
  fprintf(stderr, "$name$_test: %s: the driver's error %d\n", what, error);
  exit(2);
}

/* Null, or why there is none. */
static const char *device_open(void) {
  static const char *const names[] = {"cuInit", "cuDeviceGet", "cuCtxCreate_v2", "cuStreamCreate", "cuMemAlloc_v2",
                                      "cuMemFree_v2", "cuMemsetD8_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",
                                      "cuCtxSynchronize"};
  void *const to[] = {&driver.init, &driver.device, &driver.context, &driver.stream, &driver.allocate, &driver.release,
                      &driver.fill, &driver.send, &driver.fetch, &driver.finish};
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  void *context = NULL;
  int device = 0;
  if (!library)
    return "there is no libcuda.so.1";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *const function = dlsym(library, names[i]);
    if (!function)
      return names[i];
    memcpy(to[i], &function, sizeof function);
  }
  if (driver.init(0) || driver.device(&device, 0))
    return "the driver finds no device";
  device_failed("a context", driver.context(&context, 0, device));
  device_failed("a stream", driver.stream(&device_queue, 1 /* it does not wait for the default one */));
  return NULL;
}

/* Memory of zeros. */
static void *device_room(size_t size) {
  unsigned long long at = 0;
  device_failed("memory", driver.allocate(&at, size + 1));
  device_failed("memory", driver.fill(at, 0, size + 1));
  return (void *)(uintptr_t)at;
}

static void device_release(void *memory) {
  device_failed("memory", driver.release((unsigned long long)(uintptr_t)memory));
}

static void device_send(void *to, const void *from, size_t size) {
  device_failed("a copy", size ? driver.send((unsigned long long)(uintptr_t)to, from, size) : 0);
}

static void device_fetch(void *to, const void *from, size_t size) {
  device_failed("a copy", size ? driver.fetch(to, (unsigned long long)(uintptr_t)from, size) : 0);
}

static void device_begin(void) {
  device_failed("copies", driver.finish()); /* which the stream does not wait for */
}

static void device_finish(void) {
  device_failed("the kernels", driver.finish());
}

