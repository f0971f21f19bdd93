/* rates.c - what the threads of a call move and compute together: each does a core's loops, all at the same time. */
#include "rates.h"

#include "arithmetic.h"
#include "base/pool.h"
#include "streams.h"

enum { MOST_THREADS = 1024 };

typedef struct cores {
  int streams;
  size_t bytes; /* of each core's streams */
  lathe_dtype dtype;
  device_unit unit;
  double rate[MOST_THREADS];
  int way[MOST_THREADS]; /* each finds its own, but where one is asked for */
} cores;

static void move(void *context, size_t core, int thread) {
  cores *c = context;

  (void)thread;
  c->rate[core] = cpu_streams_rate(c->streams, c->bytes, &c->way[core]);
}

static void compute(void *context, size_t core, int thread) {
  cores *c = context;

  (void)thread;
  c->rate[core] = cpu_arithmetic_rate(c->dtype, c->unit, &c->way[core]);
}

/* No more than there are to work at the same time. */
static int together(int threads) {
  const int most = pool_threads() < MOST_THREADS ? pool_threads() : MOST_THREADS;

  return threads < 1 ? 1 : threads < most ? threads : most;
}

static double sum_of(cores *c, pool_work *work, int threads, int *way) {
  double sum = 0;

  for (int i = 0; i < threads; i++)
    c->way[i] = *way;
  pool_run(work, c, (size_t)threads);
  for (int i = 0; i < threads; i++)
    sum += c->rate[i];
  *way = c->way[0];
  return sum;
}

double cpu_threads_streams_rate(device *on, int streams, size_t bytes, int threads, int *way) {
  const size_t line = 64;
  const int n = together(threads);
  cores c = {.streams = streams};

  (void)on;
  c.bytes = (bytes / (size_t)n + line - 1) / line * line;
  return sum_of(&c, move, n, way);
}

double cpu_threads_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads,
                                   int *way) {
  cores c = {.dtype = dtype, .unit = unit};

  (void)on;
  return sum_of(&c, compute, together(threads), way);
}
