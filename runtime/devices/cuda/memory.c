/* memory.c - buffers on CUDA devices, between guards, and copies to them. */
#include "call.h"

#include <stdlib.h>

#include "base/memory.h"

enum { SPARE = 64 << 10 /* bytes of a zone that is kept for the next buffer */ };

static CUresult make_zone(cuda_device *d, CUdeviceptr *zone, size_t size) {
  if (size > SPARE)
    return cuda.memory_allocate(zone, size);
  if (d->spares == 0)
    return cuda.memory_allocate(zone, SPARE);
  *zone = d->spare[--d->spares];
  return 0;
}

void cuda_buffer_free(cuda_device *d, cuda_buffer *b) {
  if (b->zone && b->zone_size <= SPARE && d->spares < SPARES)
    d->spare[d->spares++] = b->zone;
  else if (b->zone)
    cuda.memory_free(b->zone);
  *b = (cuda_buffer){0};
}

CUresult cuda_buffer_make(cuda_device *d, cuda_buffer *b, size_t size, size_t offset) {
  const size_t lead = REMOTE_GUARD + offset;
  CUresult error;

  b->size = size;
  b->zone_size = lead + size + REMOTE_GUARD;
  error = make_zone(d, &b->zone, b->zone_size);
  if (error) {
    b->zone = 0;
    return error;
  }
  b->data = b->zone + lead;
  return cuda.fill(b->zone, remote_guard_byte, b->zone_size);
}

/* The driver copies from memory that is not pinned by one thread, at a third of the speed of all. */
static const size_t staged_from = 32u << 20, stage_size = 16u << 20;

/* Whether there are stages to pass through; they are made once. */
static bool have_stages(cuda_device *d) {
  bool ok = cuda.host_register && cuda.to_device_async && cuda.event_synchronize;

  for (int i = 0; i < STAGES && ok; i++) {
    if (d->stage[i])
      continue;
    d->stage[i] = memory_make(stage_size);
    ok = d->stage[i] && cuda.event_create(&d->passed[i], 0) == 0 &&
         cuda.host_register(d->stage[i], stage_size, 0) == 0;
    if (!ok) {
      free(d->stage[i]);
      d->stage[i] = NULL;
    }
  }
  return ok;
}

CUresult cuda_send(cuda_device *d, CUdeviceptr to, const void *from, size_t bytes) {
  CUresult error = 0;
  size_t done = 0;

  if (bytes < staged_from || !have_stages(d)) {
    error = cuda.to_device(to, from, bytes);
    return error ? error : cuda.synchronize();
  }
  error = cuda.synchronize(); /* what was filled there is filled */
  for (int i = 0; done < bytes && !error; i = (i + 1) % STAGES) {
    const size_t some = bytes - done < stage_size ? bytes - done : stage_size;
    if (done >= STAGES * stage_size)
      error = cuda.event_synchronize(d->passed[i]);
    if (!error) {
      memory_copy(d->stage[i], (const char *)from + done, some);
      error = cuda.to_device_async(to + done, d->stage[i], some, d->stream);
    }
    if (!error)
      error = cuda.event_record(d->passed[i], d->stream);
    done += some;
  }
  return error ? error : cuda_finish(d);
}

CUresult cuda_traffic(cuda_device *d, CUstream on) {
  const size_t least = 1u << 20, cache = (size_t)d->head.cache;
  const size_t each = cache > least / 2 ? 2 * cache : least;
  CUresult error = 0;

  if (!d->traffic) {
    error = cuda.memory_allocate(&d->traffic, 2 * each);
    if (error)
      d->traffic = 0;
    else
      error = cuda.fill(d->traffic, 0, 2 * each);
    if (!error)
      error = cuda.synchronize();
  }
  return error ? error : cuda.copy_async(d->traffic + each, d->traffic, each, on);
}
