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

/* Seconds of one run at its best, of some batches that are long enough for the clock. */
static double best_run(const streams_run *r) {
  const int rounds = 4, most = 64;
  const double batch_ns = 500e3, once = time_streams(r, 1);
  const int runs = (int)fmin(most, 1 + batch_ns / fmax(once, 1));
  double best = INFINITY;

  for (int round = 0; round < rounds && isfinite(once); round++)
    best = fmin(best, time_streams(r, runs) * 1e-9 / runs);
  return best;
}

/* The best over workgroups and grids: a tile for each workgroup, of few invocations where there is
 * little to move; or some workgroups for each multiprocessor, that go on from tile to tile. */
static double best_streams(streams_run *r, int streams) {
  vulkan_device *d = r->d;
  const uint32_t accesses = 4; /* as in streams.comp */
  const uint32_t reading = STREAMS_MOST + 1;
  double best = streams == 1 ? best_run(r) : INFINITY;

  for (uint32_t threads = 32; threads <= 512 && threads <= d->limits.group; threads *= 4) {
    const lathe_launch launch = {
        .block = {threads, 1, 1},
        .constant = {0, streams == STREAMS_READING ? reading : (uint32_t)streams},
    };
    const uint64_t tile = threads * accesses, tiles = (r->args.packs + tile - 1) / tile;
    if (vulkan_code_get(&d->code, &vulkan_streams, &launch, &r->pipeline))
      return INFINITY;
    r->groups = tiles < d->limits.grid ? (uint32_t)tiles : d->limits.grid;
    best = fmin(best, best_run(r));
    for (uint32_t each = 1024 / threads; each <= 2048 / threads; each *= 2)
      if (each * d->limits.multiprocessors < tiles) {
        r->groups = each * d->limits.multiprocessors;
        best = fmin(best, best_run(r));
      }
  }
  return best;
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

double vulkan_streams_rate(device *on, int streams, size_t bytes, int threads) {
  vulkan_device *d = (vulkan_device *)on;
  const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const int reads = streams == STREAMS_READING ? 1 : streams;
  const int moved = streams == STREAMS_READING ? 1 : streams + 1;
  streams_run r = {.d = d, .args.packs = bytes / 16};
  VkResult error;
  double rate = 0;

  (void)threads;
  if (!vulkan_streams.start || !d->clock_mask || on->lost)
    return 0;
  error = vulkan_device_open(d);
  if (error)
    return 0;
  for (int s = 0; s < reads && !error; s++) {
    error = vulkan_buffer_make(d, &r.from[s], bytes, local, 0);
    r.args.from[s] = r.from[s].address;
  }
  if (!error) /* where nothing is written the loops still name a place */
    error = vulkan_buffer_make(d, &r.to, moved > reads ? bytes : 16, local, 0);
  r.args.to = r.to.address;
  if (!error)
    rate = moved * (double)bytes / best_streams(&r, streams);
  for (int s = 0; s < reads; s++)
    vulkan_buffer_free(d, &r.from[s]);
  vulkan_buffer_free(d, &r.to);
  return rate;
}

/* Operations per second at their best, of runs that are long enough for the clock, of some workgroups for each
 * multiprocessor; each: operations of a workgroup in a round. */
static double best_arithmetic(streams_run *r, double each) {
  const double long_enough = 500e3; /* nanoseconds */
  const uint64_t most_rounds = 1 << 20;
  const uint32_t most_groups = 16;
  const int times = 3;
  double best = 0;

  r->groups = r->d->limits.multiprocessors;
  for (r->args.packs = 16; r->args.packs < most_rounds && time_streams(r, 1) < long_enough;)
    r->args.packs *= 2;
  for (uint32_t groups = 1; groups <= most_groups; groups *= 2)
    for (int i = 0; i < times; i++) {
      r->groups = groups * r->d->limits.multiprocessors;
      best = fmax(best, each * r->groups * (double)r->args.packs * 1e9 / time_streams(r, 1));
    }
  return best;
}

/* In f32, which types of 16 bits and less are computed in; in the matrix units of f16, added up in f32. */
double vulkan_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads) {
  vulkan_device *d = (vulkan_device *)on;
  const bool matrices = unit == DEVICE_MATRIX;
  const lathe_image *image = matrices ? &vulkan_matrices : &vulkan_streams;
  const uint32_t *sides = d->limits.matrix, group = d->limits.group < 256 ? d->limits.group : 256;
  /* As in matrices.comp, and in streams.comp, whose second kernel it is. */
  const double each = matrices
                          ? 2.0 * 8 * sides[0] * sides[1] * sides[2] * group / d->limits.subgroup
                          : 2.0 * 16 * 8 * group;
  const lathe_launch launch = {.block = {group, 1, 1},
                               .constant = {!matrices, 0, 0, sides[0], sides[1], sides[2]}};
  streams_run r = {.d = d};
  double rate = 0;

  (void)threads;
  if ((matrices && (dtype != LATHE_F16 || sides[0] == 0 || group % d->limits.subgroup != 0)) ||
      lathe_dtype_format_of(dtype)->computed != LATHE_F32 || !image->start || !d->clock_mask ||
      on->lost || vulkan_device_open(d))
    return 0;
  if (!vulkan_buffer_make(d, &r.to, 16, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0) &&
      !vulkan_code_get(&d->code, image, &launch, &r.pipeline)) {
    r.args.to = r.to.address;
    rate = best_arithmetic(&r, each);
  }
  vulkan_buffer_free(d, &r.to);
  return rate;
}

#endif
