/* cuda_results.c - plans on the first CUDA device: results on a stream of the caller's, and of a graph that it
 * captured. Exits with 2 where there is no device. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/softmax.h>

static int failed;

#define EXPECT(what)                                                                               \
  ((what) ? (void)0 : (void)(failed = 1, printf("line %d: expected %s\n", __LINE__, #what)))

typedef unsigned long long address;

/* What is used of the driver: a row each, of its name here, in the library, and its parameters. */
#define FUNCTIONS(ROW)                                                                             \
  ROW(init, "cuInit", (unsigned))                                                                  \
  ROW(device, "cuDeviceGet", (int *, int))                                                         \
  ROW(context, "cuCtxCreate_v2", (void **, unsigned, int))                                         \
  ROW(use, "cuCtxSetCurrent", (void *))                                                            \
  ROW(memory, "cuMemAlloc_v2", (address *, size_t))                                                \
  ROW(free, "cuMemFree_v2", (address))                                                             \
  ROW(fill, "cuMemsetD8_v2", (address, unsigned char, size_t))                                     \
  ROW(send, "cuMemcpyHtoD_v2", (address, const void *, size_t))                                    \
  ROW(receive, "cuMemcpyDtoH_v2", (void *, address, size_t))                                       \
  ROW(stream, "cuStreamCreate", (void **, unsigned))                                               \
  ROW(wait, "cuStreamSynchronize", (void *))                                                       \
  ROW(begin, "cuStreamBeginCapture_v2", (void *, int))                                             \
  ROW(end, "cuStreamEndCapture", (void *, void **))                                                \
  ROW(instantiate, "cuGraphInstantiateWithFlags", (void **, void *, unsigned long long))           \
  ROW(launch, "cuGraphLaunch", (void *, void *))

static struct {
#define MEMBER(name, symbol, parameters) int(*name) parameters;
  FUNCTIONS(MEMBER)
#undef MEMBER
} cu;

/* A row's softmax. */
static void right_row(const float *x, double *y, size_t columns) {
  double most = -INFINITY, sum = 0;

  for (size_t c = 0; c < columns; c++)
    most = fmax(most, (double)x[c]);
  for (size_t c = 0; c < columns; c++)
    sum += y[c] = exp(x[c] - most);
  for (size_t c = 0; c < columns; c++)
    y[c] /= sum;
}

static double worst_of(const float *x, const float *y, size_t rows, size_t columns) {
  double *right = malloc(columns * sizeof *right), worst = 0;

  for (size_t r = 0; r < rows; r++) {
    right_row(x + r * columns, right, columns);
    for (size_t c = 0; c < columns; c++)
      worst = fmax(worst, fabs(y[r * columns + c] / right[c] - 1));
  }
  free(right);
  return worst;
}

/* A softmax on a stream, then as a graph. off: elements after a multiple of 16 bytes. */
static void call(const lathe_device *on, void *stream, size_t rows, size_t columns, size_t off) {
  const size_t count = rows * columns, bytes = (count + off) * sizeof(float);
  const size_t dim[] = {rows, columns};
  float *x = malloc(bytes), *y = malloc(bytes);
  void *graph, *ready;
  address from, to, workspace;
  double once, again;
  lathe_plan plan;

  for (size_t i = 0; i < count + off; i++)
    x[i] = (float)(i * 7919 % 1000) / 100;
  EXPECT(!lathe_make(&plan, on, "softmax", LATHE_F32, dim, NULL));
  if (plan.why[0])
    puts(plan.why);
  EXPECT(!cu.memory(&from, bytes) && !cu.memory(&to, bytes));
  EXPECT(!cu.memory(&workspace, plan.workspace + 64) &&
         !cu.fill(workspace, 0, plan.workspace + 64));
  EXPECT(!cu.send(from, x, bytes) && !cu.fill(to, 0xff, bytes));
#define ARGUMENTS                                                                                  \
  &plan, (const float *)(from + 4 * off), (float *)(to + 4 * off), (void *)workspace, stream
  EXPECT(!lathe_softmax_f32_run(ARGUMENTS) && !cu.wait(stream) && !cu.receive(y, to, bytes));
  once = worst_of(x + off, y + off, rows, columns);
  EXPECT(!cu.fill(to, 0xff, bytes));
  again = once;
  if (cu.begin(stream, 1)) { /* as on the tests' emulator */
    puts("streams are not captured here");
  } else {
    EXPECT(!lathe_softmax_f32_run(ARGUMENTS));
    EXPECT(!cu.end(stream, &graph) && !cu.instantiate(&ready, graph, 0));
    for (int i = 0; i < 3; i++)
      EXPECT(!cu.launch(ready, stream));
    EXPECT(!cu.wait(stream) && !cu.receive(y, to, bytes));
    again = worst_of(x + off, y + off, rows, columns);
  }
  printf("softmax of %zux%zu: %s, %.2g off, %.2g of a graph\n", rows, columns, plan.variant, once,
         again);
  EXPECT(once < 1e-6 && again < 1e-6);
  EXPECT(!cu.free(from) && !cu.free(to) && !cu.free(workspace));
  free(x);
  free(y);
}

int main(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *context, *other, *stream;
  lathe_device *on;
  int device;

#define FIND(name, symbol, parameters)                                                             \
  cu.name = library ? (int(*) parameters)dlsym(library, symbol) : NULL;
  FUNCTIONS(FIND)
#undef FIND
  if (!library || !cu.init || cu.init(0) || cu.device(&device, 0) ||
      cu.context(&context, 0, device) || cu.context(&other, 0, device)) {
    puts("there is no CUDA device");
    return 2;
  }
  /* A context that is not this thread's when plans are made, but when they are run. */
  EXPECT(!lathe_open_cuda(&on, context));
  EXPECT(!cu.use(context) && !cu.stream(&stream, 1));
  call(on, stream, 3, 7, 0);
  call(on, stream, 3, 7, 1);
  call(on, stream, 300, 64, 0);
  call(on, stream, 2, 5000, 0);
  call(on, stream, 1, 30000, 0);
  lathe_close(on);
  return failed;
}
