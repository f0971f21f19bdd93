/* cuda_calls.c - what calls of softmax_cuda.c do, by counting.c: it prints what is not as it should be. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softmax_cuda.h"

static int failed;

#define EXPECT(what)                                                                               \
  ((what) ? (void)0 : (void)(failed = 1, printf("line %d: expected %s\n", __LINE__, #what)))

enum { THREADS = 8, CALLS = 1000 };

static void *stream = (void *)64; /* any address */
static float *const x = (float *)1024, *const y = (float *)4096;

static void *call(void *context) {
  int (*use)(void *) = (int (*)(void *))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSetCurrent");
  long wrong = use(context);
  for (int i = 0; i < CALLS; i++)
    wrong += softmax_f32_cuda(x, y, 5, 7 + (size_t)i % 900, stream, (void *)64) != SOFTMAX_CUDA_OK;
  return (void *)wrong;
}

int main(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  int (*create)(void **, unsigned, int) =
      (int (*)(void **, unsigned, int))dlsym(library, "cuCtxCreate_v2");
  atomic_int *launches = dlsym(library, "counted_launches"),
             *loads = dlsym(library, "counted_loads");
  atomic_int *others = dlsym(library, "counted_others");
  void **used = dlsym(library, "counted_stream");
  int *error = dlsym(library, "counted_error");
  void *context, *results[THREADS];
  pthread_t threads[THREADS];

  if (!create) { /* a library that is no driver, or none */
    EXPECT(softmax_f32_cuda(x, y, 5, 7, stream, NULL) == SOFTMAX_CUDA_DRIVER);
    EXPECT(strstr(softmax_cuda_status(SOFTMAX_CUDA_DRIVER), "libcuda.so.1"));
    return failed;
  }
  EXPECT(softmax_f32_cuda(x, y, 5, 7, stream, NULL) == SOFTMAX_CUDA_CONTEXT);
  EXPECT(softmax_f32_cuda_workspace(5, 7) == 0);
  EXPECT(!create(&context, 0, 0));
  const size_t needed = softmax_f32_cuda_workspace(5, 7);
  EXPECT(needed > 0);
  EXPECT(softmax_f32_cuda(x, y, 5, 7, stream, (void *)64) == SOFTMAX_CUDA_OK);
  EXPECT(*launches == 1 && *loads == 1 && *others == 0 && *used == stream);
  EXPECT(softmax_f32_cuda(x, y, 1, 1 << 20, NULL, (void *)64) == SOFTMAX_CUDA_OK);
  EXPECT(*launches > 1 && *loads >= 1 && *used == NULL);
  EXPECT(strncmp(softmax_f32_cuda_variant(5, 7), "softmax_f32__cuda", 17) == 0);
  /* What is wrong launches nothing. */
  *launches = 0;
  EXPECT(softmax_f32_cuda(NULL, y, 5, 7, stream, (void *)64) == SOFTMAX_CUDA_NULL);
  EXPECT(softmax_f32_cuda(x, NULL, 5, 7, stream, (void *)64) == SOFTMAX_CUDA_NULL);
  EXPECT(softmax_f32_cuda(NULL, NULL, 0, 7, stream, (void *)64) == SOFTMAX_CUDA_OK);
  EXPECT(softmax_f32_cuda(x, y, 5, 7, stream, NULL) == SOFTMAX_CUDA_WORKSPACE);
  EXPECT(softmax_f32_cuda(x, y, 5, 7, stream, (void *)68) == SOFTMAX_CUDA_WORKSPACE);
  EXPECT(softmax_f32_cuda(x, y, (size_t)1 << 40, (size_t)1 << 40, stream, (void *)64) ==
         SOFTMAX_CUDA_SIZE);
  EXPECT(*launches == 0);
  *error = 719;
  EXPECT(softmax_f32_cuda(x, y, 5, 7, stream, (void *)64) == -719);
  EXPECT(strcmp(softmax_cuda_status(-719), "unspecified launch failure") == 0);
  EXPECT(softmax_cuda_status(-1)[0] && softmax_cuda_status(77)[0]);
  *error = 0;
  /* Another context has code of its own, which threads load once. */
  EXPECT(!create(&context, 0, 0));
  *loads = *launches = 0;
  for (int i = 0; i < THREADS; i++)
    EXPECT(!pthread_create(&threads[i], NULL, call, context));
  for (int i = 0; i < THREADS; i++) {
    EXPECT(!pthread_join(threads[i], &results[i]));
    EXPECT(!results[i]);
  }
  const int one = *loads;
  EXPECT(one >= 1 && one <= 2 && *launches >= THREADS * CALLS);
  EXPECT(softmax_cuda_load() == SOFTMAX_CUDA_OK);
  EXPECT(*loads <= 2 && *others == 0);
  for (int i = 0; i < 14; i++) {
    EXPECT(!create(&context, 0, 0));
    EXPECT(softmax_f32_cuda(x, y, 5, 7, stream, (void *)64) == SOFTMAX_CUDA_OK);
  }
  EXPECT(!create(&context, 0, 0));
  EXPECT(softmax_f32_cuda(x, y, 5, 7, stream, (void *)64) == SOFTMAX_CUDA_CONTEXT);
  return failed;
}
