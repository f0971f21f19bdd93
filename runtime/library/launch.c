#include "launch.h"

#include <math.h>

double lathe_workspace(const lathe_variant *v, const size_t *dim) {
  if (!v || !dim)
    return 0;
  if (lathe_is_beyond(v->op, v->dtype, dim))
    return INFINITY;
  lathe_cost *workspace = v->schedule ? v->schedule->workspace : v->workspace;
  return workspace ? workspace(dim) : 0;
}

bool lathe_fits(const lathe_variant *v, const size_t *dim, size_t shared) {
  return !v->schedule || !v->schedule->fits || v->schedule->fits(dim, shared);
}

static size_t product(const size_t *dim, uint32_t of) {
  size_t all = 1;
  for (int d = 0; d < LATHE_MAX_DIMS; d++)
    all *= of >> d & 1 ? dim[d] : 1;
  return all;
}

bool lathe_is_placed(const lathe_tensor_map *map, const size_t *dim) {
  return map->place && (!map->padded || product(dim, map->extent[0]) * map->bytes % 16 != 0);
}

void *lathe_map_start(const lathe_tensor_map *map, const lathe_args *args) {
  return lathe_is_placed(map, args->dim) ? (char *)args->workspace + (size_t)map->place(args->dim)
                                         : args->buf[map->operand];
}

int lathe_lay_out(const lathe_tensor_map *map, const lathe_args *args, uint64_t extents[5],
                  uint64_t strides[4]) {
  const uint64_t most_extent = INT32_MAX, most_stride = (uint64_t)1 << 40;
  uint64_t stride = map->bytes;
  int count = 0;

  const bool placed = lathe_is_placed(map, args->dim);
  if ((uintptr_t)(placed ? args->workspace : args->buf[map->operand]) % 16 != 0)
    return 0;
  for (; count < 5 && map->extent[count]; count++) {
    if (count > 0 && (stride % 16 != 0 || stride >= most_stride))
      return 0;
    if (count > 0)
      strides[count - 1] = stride;
    extents[count] = product(args->dim, map->extent[count]);
    if (extents[count] == 0 || extents[count] > most_extent)
      return 0;
    stride *= extents[count];
    if (count == 0 && placed && map->padded)
      stride = (stride + 15) / 16 * 16;
  }
  return count;
}
