/* planted.c - runs planted kernels as the bench program does. */
#include "planted.h"

#include <string.h>

#include "bench/worker.h"
#include "devices/cpu/device.h"

const lathe_backend planted_backend = {.name = "planted"};

static void expect(const lathe_variant *v, const size_t *dim, bool check_only, const char *said) {
  job j = {.variant = v,
           .seed = 20240229,
           .check_only = check_only,
           .limits = {.warmup = 1},
           .samples = 24};
  const char *why;
  outcome out;

  memcpy(j.dim, dim, 3 * sizeof *dim);
  assert_int_equal(worker_run(device_cpu(), &j, &out, &why), WORKER_LIVES);
  if (out.check.verdict != (said ? CHECK_WRONG : CHECK_RIGHT) ||
      strncmp(out.check.message, said ? said : "", said ? strlen(said) : 1) != 0)
    fail_msg("%s, %zu, %s: verdict %d, said '%s', expected '%s'", v->name, dim[0],
             check_only ? "checked" : "timed", out.check.verdict, out.check.message,
             said ? said : "");
  if (!said && !check_only)
    assert_int_equal(out.warm.count, 24);
  outcome_free(&out);
}

void planted_expect(const planted *all, size_t count) {
  worker_begin(60, false);
  for (size_t i = 0; i < count; i++) {
    expect(&all[i].variant, all[i].dim, true, all[i].checking);
    expect(&all[i].variant, all[i].dim, false, all[i].timing);
  }
  worker_end();
}
