/* rates.c - what a CUDA device can do at best: rates of kernels that only move memory, or only compute. */
#include <math.h>
#include <stdlib.h>

#include "arithmetic.h"
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

/* Seconds of one run at its best; infinite where it fails. */
static double best_run(const streams_run *r, size_t bytes) {
  const int rounds = 4, calls = bytes < large ? GRAPH_CALLS : FEW_CALLS;
  cuda_device *d = r->d;
  CUgraphExec graph = NULL;
  CUresult error = cuda_capture(d, launch_streams, r, 0, calls, &graph);
  double best = INFINITY;
  float milliseconds = 0;

  for (int round = 0; round < rounds && !error; round++) {
    error = cuda.event_record(d->begin, d->stream);
    if (!error)
      error = cuda.graph_launch(graph, d->stream);
    if (!error)
      error = cuda.event_record(d->end, d->stream);
    if (!error)
      error = cuda_finish(d);
    if (!error)
      error = cuda.event_elapsed(&milliseconds, d->begin, d->end);
    if (!error)
      best = fmin(best, milliseconds * 1e-3 / calls);
  }
  if (graph)
    cuda.graph_exec_free(graph);
  d->head.lost = d->head.lost || error;
  return best;
}

/* The best over both kinds of accesses and over grids: a tile for each block, of few threads where
 * there is little to move; or some blocks for each multiprocessor, that go on from tile to tile. */
static double best_streams(cuda_device *d, streams_run *r, int streams, size_t bytes) {
  double best = streams == 1 ? best_run(r, bytes) : INFINITY;

  for (int once = 0; once < 2; once++) {
    if (cuda.module_function(&r->kernel, d->streams, streams_name(streams, once)))
      return INFINITY;
    for (r->threads = 32; r->threads <= 512; r->threads *= 4) {
      const unsigned tile = r->threads * STREAMS_ACCESSES;
      const unsigned tiles = (unsigned)((r->packs + tile - 1) / tile);
      r->blocks = tiles;
      best = fmin(best, best_run(r, bytes));
      for (unsigned each = 1024 / r->threads; each <= 2048 / r->threads; each *= 2) {
        r->blocks = each * d->limits.multiprocessors;
        if (r->blocks < tiles)
          best = fmin(best, best_run(r, bytes));
      }
    }
  }
  return best;
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

double cuda_streams_rate(device *on, int streams, size_t bytes, int threads) {
  cuda_device *d = (cuda_device *)on;
  const int reads = streams == STREAMS_READING ? 1 : streams;
  const int moved = streams == STREAMS_READING ? 1 : streams + 1;
  streams_run r = {.d = d, .packs = bytes / 16};
  double rate = 0;
  bool ok = load_streams(d);

  (void)threads;
  for (int s = 0; s < reads && ok; s++)
    ok = cuda.memory_allocate(&r.from[s], bytes) == 0;
  /* Where nothing is written the loops still name a place. */
  ok = ok && cuda.memory_allocate(&r.to, moved > reads ? bytes : 16) == 0;
  if (ok)
    rate = moved * (double)bytes / best_streams(d, &r, streams, bytes);
  for (int s = 0; s < reads; s++)
    if (r.from[s])
      cuda.memory_free(r.from[s]);
  if (r.to)
    cuda.memory_free(r.to);
  return rate;
}

/* Seconds of one launch of a kernel of arithmetic.h; infinite where it fails. */
static double time_arithmetic(cuda_device *d, CUfunction kernel, unsigned blocks, CUdeviceptr to,
                              unsigned rounds) {
  void *parameters[] = {&to, &rounds};
  float milliseconds = 0;
  CUresult error = cuda.event_record(d->begin, d->stream);

  if (!error)
    error =
        cuda.launch(kernel, blocks, 1, 1, ARITHMETIC_THREADS, 1, 1, 0, d->stream, parameters, NULL);
  if (!error)
    error = cuda.event_record(d->end, d->stream);
  if (!error)
    error = cuda_finish(d);
  if (!error)
    error = cuda.event_elapsed(&milliseconds, d->begin, d->end);
  d->head.lost = d->head.lost || error;
  return error ? INFINITY : milliseconds * 1e-3;
}

/* Operations per second at their best, of launches that are long enough for the clock, of some blocks for each
 * multiprocessor; each: operations of a block in a round. */
static double best_arithmetic(cuda_device *d, CUfunction kernel, CUdeviceptr to, double each) {
  const double long_enough = 500e-6;
  const unsigned most_rounds = 1u << 20, most_blocks = 16;
  const int times = 3;
  unsigned rounds = 64;
  double best = 0;

  while (rounds < most_rounds &&
         time_arithmetic(d, kernel, d->limits.multiprocessors, to, rounds) < long_enough)
    rounds *= 2;
  for (unsigned blocks = 1; blocks <= most_blocks; blocks += blocks < 4 ? 1 : blocks)
    for (int i = 0; i < times && !d->head.lost; i++) {
      const unsigned all = blocks * d->limits.multiprocessors;
      best = fmax(best, each * all * rounds / time_arithmetic(d, kernel, all, to, rounds));
    }
  return best;
}

double cuda_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads) {
  enum { KERNELS = 2 };
  cuda_device *d = (cuda_device *)on;
  CUdeviceptr to = 0;
  double best = 0;
  bool ok = cuda_context_use(d) == 0 && cuda.memory_allocate(&to, sizeof(double)) == 0;

  (void)threads;
  for (int nth = 0; nth < KERNELS && ok; nth++) {
    const arithmetic_kernel k = arithmetic_make(dtype, unit, d->limits.architecture, nth);
    CUmodule loaded; /* for good, as it is asked for once */
    CUfunction kernel;
    if (k.ptx && !cuda.module_load(&loaded, k.ptx) &&
        !cuda.module_function(&kernel, loaded, k.name))
      best = fmax(best, best_arithmetic(d, kernel, to, k.each));
    free(k.ptx);
  }
  if (to)
    cuda.memory_free(to);
  return best;
}
