/* code.c - from the SPIR-V that the program carries to pipelines. */
#include "vulkan.h"

#ifdef HAVE_VULKAN
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"

static const char *reason_of(int error) {
  return error == LATHE_VULKAN_NO_MEMORY ? "its code has no such kernel, or there is no memory"
                                         : vulkan_error(error);
}

const char *vulkan_code_get(vulkan_code *code, const lathe_image *first, const lathe_launch *launch,
                            VkPipeline *pipeline) {
  const char *why;
  const lathe_vulkan_code *codes = lathe_vulkan_codes(code->library, first, &why);
  int error;

  if (!codes)
    return why;
  error = lathe_vulkan_pipeline_of(lathe_vulkan_of(code->library), &codes[launch->image], launch,
                                   pipeline);
  return error ? reason_of(error) : NULL;
}

typedef struct pipelines {
  lathe_vulkan_device *on;
  const lathe_vulkan_code *codes;
  const lathe_launch **one;
} pipelines;

static void make_one(void *context, size_t part, int thread) {
  const pipelines *all = context;
  const lathe_launch *launch = all->one[part];
  VkPipeline made;

  (void)thread;
  lathe_vulkan_pipeline_of(all->on, &all->codes[launch->image], launch, &made);
}

static bool are_same(const lathe_launch *a, const lathe_launch *b) {
  return a->image == b->image && a->block[0] == b->block[0] &&
         memcmp(a->constant, b->constant, sizeof a->constant) == 0;
}

void vulkan_code_expect(vulkan_code *code, const lathe_image *first, const lathe_launch *launches,
                        size_t count) {
  const char *why;
  pipelines all = {.on = lathe_vulkan_of(code->library),
                   .codes = lathe_vulkan_codes(code->library, first, &why),
                   .one = calloc(count + 1, sizeof *all.one)};
  size_t wanted = 0;

  for (size_t i = 0; i < count && all.codes && all.one; i++) {
    size_t other = 0;
    while (other < wanted && !are_same(all.one[other], &launches[i]))
      other++;
    if (other == wanted)
      all.one[wanted++] = &launches[i];
  }
  pool_run(make_one, &all, wanted);
  free(all.one);
}
#endif
