/* rates.c - what a Vulkan device can do at best: rates of shaders that only move memory, or only compute. */
#include "call.h"

#ifdef HAVE_VULKAN
#include <math.h>

#include "base/clock.h"
#include "library/dtype.h"

/* One way to move memory: streams.comp in so many workgroups, or where there is no pipeline the
 * driver's own copy. */
typedef struct streams_run {
  vulkan_device *d;
  VkPipeline pipeline;
  uint32_t groups;
  vulkan_buffer from[STREAMS_MOST], to;
  struct streams_args {
    uint64_t from[STREAMS_MOST], to, packs;
  } args;
} streams_run;

/* Nanoseconds of so many runs, one after another; infinite where they fail. */
static double time_streams(const streams_run *r, int runs) {
  vulkan_device *d = r->d;
  const VkBufferCopy whole = {.size = r->args.packs * 16};
  double ns = INFINITY;

  if (vulkan_begin_batch(d))
    return INFINITY;
  if (r->pipeline) {
    vk.CmdPushConstants(d->batch, d->code.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof r->args,
                        &r->args);
    vk.CmdBindPipeline(d->batch, VK_PIPELINE_BIND_POINT_COMPUTE, r->pipeline);
  }
  for (int i = 0; i < runs; i++) {
    const VkPipelineStageFlags stage =
        r->pipeline ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT : VK_PIPELINE_STAGE_TRANSFER_BIT;
    if (r->pipeline)
      vk.CmdDispatch(d->batch, r->groups, 1, 1);
    else
      vk.CmdCopyBuffer(d->batch, r->from[0].buffer, r->to.buffer, 1, &whole);
    vulkan_barrier(d->batch, stage, stage);
  }
  if (vulkan_end_batch(d) || vulkan_submit(d, d->batch) || vulkan_read_clock(d, &ns))
    return INFINITY;
  return ns;
}

/* Seconds of one run at its best, of some batches that are long enough for the clock; a run that takes long, as on a
 * processor that plays a GPU, is not made again. */
static double best_run(const streams_run *r) {
  const int rounds = 4, most = 64;
  const double batch_ns = 500e3, long_ns = 50e6, once = time_streams(r, 1);
  const int runs = (int)fmin(most, 1 + batch_ns / fmax(once, 1));
  double best = INFINITY;

  if (isfinite(once) && once > long_ns)
    return once * 1e-9;
  for (int round = 0; round < rounds && isfinite(once); round++)
    best = fmin(best, time_streams(r, runs) * 1e-9 / runs);
  return best;
}

/* The streams to move. */
typedef struct streams_task {
  streams_run run;
  int streams;
  size_t bytes; /* of a stream */
  double until; /* what has been found by then stands */
  bool found;
} streams_task;

enum {
  GRIDS = 3,
  GROUP_SIZES = 3,
  DRIVERS_COPY = 0, /* a way; the others come after it */
  STREAMS_WAYS = 1 + GRIDS * GROUP_SIZES,
};

/* streams.comp for a task and a way: a tile for each workgroup, of few invocations where there is little to move; or
 * some workgroups for each multiprocessor, that go on from tile to tile. False where there is no such one. */
static bool take_way(streams_task *t, int way) {
  static const uint32_t threads[GROUP_SIZES] = {32, 128, 512};
  streams_run *r = &t->run;
  vulkan_device *d = r->d;
  const uint32_t accesses = 4; /* as in streams.comp */
  const uint32_t reading = STREAMS_MOST + 1;
  const uint32_t grid = (uint32_t)(way - 1) % GRIDS, size = threads[(way - 1) / GRIDS];
  const lathe_launch launch = {
      .block = {size, 1, 1},
      .constant = {0, t->streams == STREAMS_READING ? reading : (uint32_t)t->streams},
  };
  const uint64_t tile = size * accesses, tiles = (r->args.packs + tile - 1) / tile;

  if (grid)
    r->groups = grid * 1024 / size * d->limits.multiprocessors;
  else
    r->groups = tiles < d->limits.grid ? (uint32_t)tiles : d->limits.grid;
  return size <= d->limits.group && (!grid || r->groups < tiles) &&
         !vulkan_code_get(&d->code, &vulkan_streams, &launch, &r->pipeline);
}

/* Bytes per second. */
static double streams_rate_of_way(void *argument, int way) {
  streams_task *t = argument;
  const int moved = t->streams == STREAMS_READING ? 1 : t->streams + 1;
  double rate;

  t->run.pipeline = VK_NULL_HANDLE;
  if ((t->found && clock_ns() > t->until) ||
      (way == DRIVERS_COPY ? t->streams != 1 : !take_way(t, way)))
    return 0;
  rate = moved * (double)t->bytes / best_run(&t->run);
  t->found = t->found || rate > 0;
  return rate;
}

/* A shader that is to move nothing. */
bool vulkan_empty_launch(device *on, device_time *taken) {
  enum { TRIES = 21, RUNS = 64 };
  vulkan_device *d = (vulkan_device *)on;
  const lathe_launch launch = {.block = {32, 1, 1}, .constant = {0, 1}};
  streams_run r = {.d = d, .groups = 1};
  double own = INFINITY;

  if (!vulkan_streams.start || !d->clock_mask || on->lost || vulkan_device_open(d) ||
      vulkan_code_get(&d->code, &vulkan_streams, &launch, &r.pipeline))
    return false;
  for (int i = 0; i < TRIES; i++)
    own = fmin(own, time_streams(&r, RUNS) / RUNS);
  taken->own = own;
  taken->host = INFINITY;
  if (!isfinite(time_streams(&r, 1))) /* which stays recorded */
    return false;
  for (int i = 0; i < TRIES; i++) {
    const double start = clock_ns();
    if (vulkan_submit(d, d->batch))
      return false;
    taken->host = fmin(taken->host, clock_ns() - start);
  }
  return true;
}

double vulkan_streams_rate(device *on, int streams, size_t bytes, int threads, int *way) {
  vulkan_device *d = (vulkan_device *)on;
  const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const int reads = streams == STREAMS_READING ? 1 : streams;
  streams_task t = {{.d = d, .args.packs = bytes / 16}, streams, bytes, .until = clock_ns() + 1e9};
  streams_run *r = &t.run;
  VkResult error;
  double rate = 0;

  (void)threads;
  if (!vulkan_streams.start || !d->clock_mask || on->lost)
    return 0;
  error = vulkan_device_open(d);
  if (error)
    return 0;
  for (int s = 0; s < reads && !error; s++) {
    error = vulkan_buffer_make(d, &r->from[s], bytes, local, 0);
    r->args.from[s] = r->from[s].address;
  }
  if (!error) /* where nothing is written the loops still name a place */
    error = vulkan_buffer_make(d, &r->to, streams == STREAMS_READING ? 16 : bytes, local, 0);
  r->args.to = r->to.address;
  if (!error)
    rate = device_best_way(streams_rate_of_way, &t, STREAMS_WAYS, way);
  for (int s = 0; s < reads; s++)
    vulkan_buffer_free(d, &r->from[s]);
  vulkan_buffer_free(d, &r->to);
  return rate;
}

/* The operations to compute: of a workgroup in a round. */
typedef struct arithmetic_task {
  streams_run run;
  double each;
} arithmetic_task;

enum { GROUP_COUNTS = 5 };

/* Operations per second at their best, of runs that are long enough for the clock, of some workgroups for each
 * multiprocessor: a power of two. */
static double arithmetic_rate_of_way(void *argument, int way) {
  const double long_enough = 500e3; /* nanoseconds */
  const uint64_t most_rounds = 1 << 20;
  const int times = 3;
  const arithmetic_task *t = argument;
  streams_run r = t->run;
  double best = 0;

  r.groups = r.d->limits.multiprocessors;
  for (r.args.packs = 16; r.args.packs < most_rounds && time_streams(&r, 1) < long_enough;)
    r.args.packs *= 2;
  r.groups <<= way;
  for (int i = 0; i < times; i++)
    best = fmax(best, t->each * r.groups * (double)r.args.packs * 1e9 / time_streams(&r, 1));
  return best;
}

/* In f32, which types of 16 bits and less are computed in; in the matrix units of f16, added up in f32. */
double vulkan_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads,
                              int *way) {
  vulkan_device *d = (vulkan_device *)on;
  const bool matrices = unit == DEVICE_MATRIX;
  const lathe_image *image = matrices ? &vulkan_matrices : &vulkan_streams;
  const uint32_t *sides = d->limits.matrix, group = d->limits.group < 256 ? d->limits.group : 256;
  /* As in matrices.comp, and in streams.comp, whose second kernel it is. */
  const lathe_launch launch = {.block = {group, 1, 1},
                               .constant = {!matrices, 0, 0, sides[0], sides[1], sides[2]}};
  arithmetic_task t = {{.d = d},
                       matrices
                           ? 2.0 * 8 * sides[0] * sides[1] * sides[2] * group / d->limits.subgroup
                           : 2.0 * 16 * 8 * group};
  streams_run *r = &t.run;
  double rate = 0;

  (void)threads;
  if ((matrices && (dtype != LATHE_F16 || sides[0] == 0 || group % d->limits.subgroup != 0)) ||
      lathe_dtype_format_of(dtype)->computed != LATHE_F32 || !image->start || !d->clock_mask ||
      on->lost || vulkan_device_open(d))
    return 0;
  if (!vulkan_buffer_make(d, &r->to, 16, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0) &&
      !vulkan_code_get(&d->code, image, &launch, &r->pipeline)) {
    r->args.to = r->to.address;
    rate = device_best_way(arithmetic_rate_of_way, &t, GROUP_COUNTS, way);
  }
  vulkan_buffer_free(d, &r->to);
  return rate;
}

#endif
