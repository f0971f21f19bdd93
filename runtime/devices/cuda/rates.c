/* rates.c - what a CUDA device can do at best: rates of kernels that only move memory, or only compute. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "call.h"
#include "streams.h"

enum { FEW_CALLS = 8 }; /* that are enough where each takes long */

static const size_t large = 64u << 20; /* bytes from which few runs tell a rate */

/* One way to move memory: a kernel, or where there is none the driver's own copy; its blocks, and
 * what it is to move. */
typedef struct streams_run {
  cuda_device *d;
  CUfunction kernel;
  unsigned blocks, threads;
  CUdeviceptr from[STREAMS_MOST], to;
  unsigned long long packs;
} streams_run;

static CUresult launch_streams(const void *argument, int nth) {
  const streams_run *r = argument;
  void *parameters[] = {(void *)&r->from[0], (void *)&r->from[1], (void *)&r->from[2],
                        (void *)&r->to, (void *)&r->packs};

  (void)nth;
  if (!r->kernel)
    return cuda.copy_async(r->to, r->from[0], r->packs * 16, r->d->stream);
  return cuda.launch(r->kernel, r->blocks, 1, 1, r->threads, 1, 1, 0, r->d->stream, parameters,
                     NULL);
}

/* Seconds that a device takes for what `work` puts on its stream; infinite where it fails. */
static double time_work(cuda_device *d, CUresult (*work)(const void *, int), const void *argument) {
  float milliseconds = 0;
  CUresult error = cuda.event_record(d->begin, d->stream);

  if (!error)
    error = work(argument, 0);
  if (!error)
    error = cuda.event_record(d->end, d->stream);
  if (!error)
    error = cuda_finish(d);
  if (!error)
    error = cuda.event_elapsed(&milliseconds, d->begin, d->end);
  d->head.lost = d->head.lost || error;
  return error ? INFINITY : milliseconds * 1e-3;
}

/* Calls that were recorded. */
typedef struct recorded_calls {
  cuda_device *d;
  CUgraphExec graph;
} recorded_calls;

static CUresult launch_recorded(const void *argument, int nth) {
  const recorded_calls *r = argument;

  (void)nth;
  return cuda.graph_launch(r->graph, r->d->stream);
}

/* Seconds of one run at its best; infinite where it fails. */
static double best_run(const streams_run *r, size_t bytes) {
  const int rounds = 4, calls = bytes < large ? GRAPH_CALLS : FEW_CALLS;
  recorded_calls recorded = {r->d, NULL};
  double best = INFINITY;

  if (cuda_capture(r->d, launch_streams, r, 0, calls, &recorded.graph))
    r->d->head.lost = true;
  for (int round = 0; round < rounds && !r->d->head.lost; round++)
    best = fmin(best, time_work(r->d, launch_recorded, &recorded) / calls);
  if (recorded.graph)
    cuda.graph_exec_free(recorded.graph);
  return best;
}

/* The streams to move. */
typedef struct streams_task {
  streams_run run;
  int streams;
  size_t bytes; /* of a stream */
} streams_task;

enum {
  KINDS_OF_ACCESS = 2, /* see streams.h */
  GRIDS = 3,
  BLOCK_SIZES = 3,
  DRIVERS_COPY = 0, /* a way; the others come after it */
  STREAMS_WAYS = 1 + KINDS_OF_ACCESS * GRIDS * BLOCK_SIZES,
};

/* Bytes per second of a kind of accesses, in a grid: a tile for each block, of few threads where there is little to
 * move; or some blocks for each multiprocessor, that go on from tile to tile. */
static double streams_rate_of_way(void *argument, int way) {
  static const unsigned threads[BLOCK_SIZES] = {32, 128, 512};
  streams_task *t = argument;
  streams_run *r = &t->run;
  const int moved = t->streams == STREAMS_READING ? 1 : t->streams + 1;

  r->kernel = NULL;
  if (way == DRIVERS_COPY && t->streams != 1)
    return 0;
  if (way != DRIVERS_COPY) {
    const int nth = way - 1, grid = nth / KINDS_OF_ACCESS % GRIDS;
    unsigned tile, tiles;
    r->threads = threads[nth / KINDS_OF_ACCESS / GRIDS];
    tile = r->threads * STREAMS_ACCESSES;
    tiles = (unsigned)((r->packs + tile - 1) / tile);
    r->blocks = grid ? (unsigned)grid * 1024 / r->threads * r->d->limits.multiprocessors : tiles;
    if ((grid && r->blocks >= tiles) ||
        cuda.module_function(&r->kernel, r->d->streams,
                             streams_name(t->streams, nth % KINDS_OF_ACCESS)))
      return 0;
  }
  return moved * (double)t->bytes / best_run(r, t->bytes);
}

/* The kernels of streams.h, loaded once. */
static bool load_streams(cuda_device *d) {
  const char *ptx = streams_ptx();

  return ptx && cuda_context_use(d) == 0 && (d->streams || cuda.module_load(&d->streams, ptx) == 0);
}

/* A kernel that is to copy nothing. */
bool cuda_empty_launch(device *on, device_time *taken) {
  enum { TRIES = 21 };
  cuda_device *d = (cuda_device *)on;
  streams_run r = {.d = d, .blocks = 1, .threads = 32};

  if (!load_streams(d) || cuda.module_function(&r.kernel, d->streams, streams_name(1, 0)))
    return false;
  taken->own = best_run(&r, 0) * 1e9;
  taken->host = INFINITY;
  for (int i = 0; i < TRIES && !on->lost; i++) {
    const double start = clock_ns();
    on->lost = launch_streams(&r, 0) || cuda_finish(d);
    taken->host = fmin(taken->host, clock_ns() - start);
  }
  return !on->lost && isfinite(taken->own);
}

double cuda_streams_rate(device *on, int streams, size_t bytes, int threads, int *way) {
  cuda_device *d = (cuda_device *)on;
  const int reads = streams == STREAMS_READING ? 1 : streams;
  streams_task t = {{.d = d, .packs = bytes / 16}, streams, bytes};
  streams_run *r = &t.run;
  double rate = 0;
  bool ok = load_streams(d);

  (void)threads;
  for (int s = 0; s < reads && ok; s++)
    ok = cuda.memory_allocate(&r->from[s], bytes) == 0;
  /* Where nothing is written the loops still name a place. */
  ok = ok && cuda.memory_allocate(&r->to, streams == STREAMS_READING ? 16 : bytes) == 0;
  if (ok)
    rate = device_best_way(streams_rate_of_way, &t, STREAMS_WAYS, way);
  for (int s = 0; s < reads; s++)
    if (r->from[s])
      cuda.memory_free(r->from[s]);
  if (r->to)
    cuda.memory_free(r->to);
  return rate;
}

/* A kernel of arithmetic.h, and how it is launched. */
typedef struct arithmetic_run {
  cuda_device *d;
  CUfunction kernel;
  CUdeviceptr to;
  unsigned blocks, rounds;
} arithmetic_run;

static CUresult launch_arithmetic(const void *argument, int nth) {
  const arithmetic_run *r = argument;
  void *parameters[] = {(void *)&r->to, (void *)&r->rounds};

  (void)nth;
  return cuda.launch(r->kernel, r->blocks, 1, 1, ARITHMETIC_THREADS, 1, 1, 0, r->d->stream,
                     parameters, NULL);
}

enum { BLOCK_COUNTS = 6 };

/* The operations to compute: of a block in a round, by each kernel; none where it is 0. */
typedef struct arithmetic_task {
  arithmetic_run run[ARITHMETIC_KERNELS];
  double each[ARITHMETIC_KERNELS];
} arithmetic_task;

/* Operations per second at their best, of launches that are long enough for the clock, of a kernel in some blocks for
 * each multiprocessor. */
static double arithmetic_rate_of_way(void *argument, int way) {
  static const unsigned blocks[BLOCK_COUNTS] = {1, 2, 3, 4, 8, 16};
  const double long_enough = 500e-6;
  const unsigned most_rounds = 1u << 20;
  const int times = 3, nth = way / BLOCK_COUNTS;
  const arithmetic_task *t = argument;
  arithmetic_run r = t->run[nth];
  double best = 0;

  r.rounds = 64;
  r.blocks = blocks[way % BLOCK_COUNTS] * r.d->limits.multiprocessors;
  while (t->each[nth] > 0 && r.rounds < most_rounds &&
         time_work(r.d, launch_arithmetic, &r) < long_enough)
    r.rounds *= 2;
  for (int i = 0; i < times && t->each[nth] > 0 && !r.d->head.lost; i++)
    best = fmax(best, t->each[nth] * r.blocks * r.rounds / time_work(r.d, launch_arithmetic, &r));
  return best;
}

double cuda_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads,
                            int *way) {
  cuda_device *d = (cuda_device *)on;
  CUmodule *loaded = d->arithmetic[dtype][unit];
  arithmetic_task t = {0};
  CUdeviceptr to = 0;
  double rate = 0;
  bool ok = cuda_context_use(d) == 0 && cuda.memory_allocate(&to, sizeof(double)) == 0;

  (void)threads;
  for (int nth = 0; nth < ARITHMETIC_KERNELS && ok; nth++) {
    const arithmetic_kernel k = arithmetic_make(dtype, unit, d->limits.architecture, nth);
    t.run[nth] = (arithmetic_run){.d = d, .to = to};
    if (k.ptx && (loaded[nth] || !cuda.module_load(&loaded[nth], k.ptx)) &&
        !cuda.module_function(&t.run[nth].kernel, loaded[nth], k.name))
      t.each[nth] = k.each;
    free(k.ptx);
  }
  if (ok)
    rate = device_best_way(arithmetic_rate_of_way, &t, ARITHMETIC_KERNELS * BLOCK_COUNTS, way);
  if (to)
    cuda.memory_free(to);
  return rate;
}
