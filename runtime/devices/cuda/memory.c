/* memory.c - buffers on CUDA devices, between guards. */
#include "call.h"

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
