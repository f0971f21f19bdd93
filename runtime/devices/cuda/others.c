/* others.c - calls that another library puts on a CUDA device's stream. */
#include "others.h"

enum { MOST = 512 };

static struct {
  const lathe_backend *backend;
  const cuda_other *other;
} all[MOST];
static size_t count;

void cuda_other_put(const lathe_backend *backend, const cuda_other *other) {
  if (count == MOST)
    return;
  all[count].backend = backend;
  all[count++].other = other;
}

const cuda_other *cuda_other_of(const lathe_backend *backend) {
  for (size_t i = 0; i < count; i++)
    if (all[i].backend == backend)
      return all[i].other;
  return NULL;
}
