/* cuda_calls.c - what plans for CUDA do, by the driver of tests/export/counting.c: it prints what is not as it should
 * be. Without that driver there is a status. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/softmax.h>
#include <lathe_tune.h>

static int failed;

#define EXPECT(what)                                                                               \
  ((what) ? (void)0 : (void)(failed = 1, printf("line %d: expected %s\n", __LINE__, #what)))

enum { THREADS = 16, CALLS = 1000 };

/* The host's memory, of which there can be none. */
static int is_full;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size) {
  return is_full ? NULL : __real_calloc(count, size);
}

static float *const x = (float *)4096, *const y = (float *)8192; /* nothing is there */
static void *const stream = (void *)64;
static lathe_plan plan;
static lathe_device *device, *fresh;

static void *call(void *argument) {
  int (*use)(void *) = (int (*)(void *))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSetCurrent");
  size_t wrong = (size_t)use(argument);

  for (int i = 0; i < CALLS; i++) {
    const size_t dim[] = {5, 7 + (size_t)i % 900};
    lathe_plan own;
    wrong += lathe_softmax_f32_run(&plan, x, y, (void *)64, stream) != 0;
    wrong += lathe_make_of(&own, &lathe_softmax_f32_cuda, fresh, dim, NULL) != LATHE_OK;
    wrong += lathe_softmax_f32_run(&own, x + i % 4, y, (void *)64, stream) != 0;
  }
  return (void *)wrong;
}

/* Measuring launches on the caller's stream, and finds what has the fewest launches. */
static void tune(lathe_device *on) {
  void *const operand[] = {x, y};
  const size_t dim[] = {5, 7};
  lathe_tuning with = {.size = sizeof with,
                       .operand = operand,
                       .workspace = (void *)64,
                       .workspace_bytes = 1 << 30,
                       .stream = stream,
                       .seconds = 1e-4};
  char text[4096];
  lathe_plan made;

  EXPECT(lathe_tune(on, &lathe_softmax_f32_cuda, dim, &with, &made) == LATHE_OK);
  EXPECT(made.variant && plan.variant && !strcmp(made.variant, plan.variant));
  EXPECT(lathe_save_tuning(on, text, sizeof text) == strlen(text));
  EXPECT(strstr(text, "softmax f32 cuda 5x7 softmax_f32__cuda") && strstr(text, "device cuda "));
  with.workspace_bytes = 0;
  EXPECT(lathe_tune(on, &lathe_softmax_f32_cuda, dim, &with, &made) == LATHE_WORKSPACE);
}

int main(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  int (*create)(void **, unsigned, int) =
      library ? (int (*)(void **, unsigned, int))dlsym(library, "cuCtxCreate_v2") : NULL;
  int (*use)(void *) = library ? (int (*)(void *))dlsym(library, "cuCtxSetCurrent") : NULL;
  int (*current)(void **) = library ? (int (*)(void **))dlsym(library, "cuCtxGetCurrent") : NULL;
  const size_t dim[] = {5, 7}, huge[] = {(size_t)1 << 40, (size_t)1 << 40};
  const lathe_options cpu_alone = {.size = sizeof cpu_alone, .variant = "*avx2*"};
  void *first, *second, *found, *operand[] = {x, y};
  pthread_t threads[THREADS];

  if (!create) {
    EXPECT(lathe_open_cuda(&device, NULL) == LATHE_DRIVER && !device);
    return failed;
  }
  atomic_int *launches = dlsym(library, "counted_launches"),
             *loads = dlsym(library, "counted_loads"), *early = dlsym(library, "counted_early");
  atomic_int *others = dlsym(library, "counted_others");
  void **used = dlsym(library, "counted_stream");
  int *error = dlsym(library, "counted_error");
  EXPECT(lathe_open_cuda(&device, NULL) == LATHE_DRIVER && !device); /* there is no context */
  EXPECT(!create(&first, 0, 0) && !create(&second, 0, 0));
  is_full = 1;
  EXPECT(lathe_open_cuda(&device, first) == LATHE_MEMORY && !device);
  is_full = 0;
  EXPECT(lathe_open_cuda(&device, first) == LATHE_OK);
  EXPECT(!current(&found) && found == second);
  is_full = 1;
  EXPECT(lathe_make_of(&plan, &lathe_softmax_f32_cuda, device, dim, NULL) == LATHE_MEMORY);
  EXPECT(strstr(plan.why, "memory") && !plan.variant && *loads == 0);
  is_full = 0;
  /* A plan loads, in the device's context, and gives this thread its own one back. */
  EXPECT(lathe_make_of(&plan, &lathe_softmax_f32_cuda, device, dim, NULL) == LATHE_OK);
  EXPECT(!current(&found) && found == second && *loads >= 1 && *launches == 0 && *others == 0);
  EXPECT(strncmp(plan.variant, "softmax_f32__cuda", 17) == 0 && plan.workspace > 0);
  EXPECT(!use(first));
  /* A call launches. */
  const int loaded = *loads;
  EXPECT(lathe_softmax_f32_run(&plan, x, y, (void *)64, stream) == 0);
  EXPECT(*launches == 1 && *used == stream);
  EXPECT(lathe_run(&plan, operand, NULL, (void *)64, NULL) == 0 && *used == NULL);
  EXPECT(*launches == 2 && *others == 0 && *loads == loaded);
  /* Kernels that wait for the one before them may begin early, and no others. */
  EXPECT(*early == (getenv("COUNTED_90") ? 2 : 0));
  /* What is refused launches nothing. */
  *launches = 0;
  plan.why[0] = '\0';
  EXPECT(lathe_make_of(&plan, &lathe_softmax_f32_cuda, NULL, dim, NULL) == LATHE_NO_VARIANT);
  EXPECT(strstr(plan.why, "for cuda, the device is of the kind cpu"));
  EXPECT(lathe_make_of(&plan, &lathe_softmax_f32_cuda, device, dim, &cpu_alone) ==
         LATHE_NO_VARIANT);
  EXPECT(lathe_make(&plan, device, "softmax", LATHE_F32, huge, NULL) == LATHE_SHAPE);
  EXPECT(lathe_make(&plan, device, "softmax", LATHE_U8, dim, NULL) == LATHE_NO_TYPE);
  EXPECT(strstr(plan.why, "for cuda it is built in"));
  EXPECT(lathe_make(&plan, device, "softmax", LATHE_F32, dim, NULL) == LATHE_OK);
  EXPECT(lathe_check(&plan, operand, (void *)64, NULL) == LATHE_OK);
  EXPECT(lathe_check(&plan, operand, NULL, NULL) == LATHE_WORKSPACE && *launches == 0);
  /* The driver's errors are a call's. */
  *error = 719;
  EXPECT(lathe_softmax_f32_run(&plan, x, y, (void *)64, stream) == -719 && lathe_text(-719)[0]);
  *error = 0;
  /* Threads share a plan, and a device that nothing is loaded on yet. */
  EXPECT(lathe_open_cuda(&fresh, first) == LATHE_OK);
  *launches = *loads = 0;
  for (int i = 0; i < THREADS; i++)
    EXPECT(!pthread_create(&threads[i], NULL, call, first));
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    EXPECT(!pthread_join(threads[i], &wrong) && !wrong);
  }
  EXPECT(*launches >= 2 * THREADS * CALLS && *loads <= loaded && *others == 0);
  lathe_close(fresh);
  lathe_close(device);
  *loads = 0;
  lathe_close(NULL);
  /* Another context has code of its own. */
  EXPECT(lathe_open_cuda(&device, second) == LATHE_OK);
  EXPECT(lathe_make(&plan, device, "softmax", LATHE_F32, dim, NULL) == LATHE_OK && *loads > 0);
  *launches = 0;
  tune(device);
  EXPECT(*launches > 10 && *used == stream && *others == 0);
  lathe_close(device);
  return failed;
}
