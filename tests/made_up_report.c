#include "made_up_report.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices/devices.h"
#include "tests.h"
#include "tree.h"

static row *make(const task *t, const lathe_variant *v) {
  row *line = row_make(t, v, device_at(0), 1);

  line->status = "right";
  line->sample_count = 100;
  line->real_time = 1000;
  line->noise = 0.01;
  line->ceiling_share = 0.5;
  return line;
}

/* The process's own devices and its table are not those of the tests after this one. */
static _Noreturn void show_in_child(const char *to, void (*fill)(row *const *, size_t),
                                    void (*show)(const report *)) {
  static const device_list none = {.missing = "not here"};
  char ops[] = "add,exp", size[] = "100"; /* two ops make a grid */
  options o = {.op = ops, .size = size};
  row *rows[64];
  report r = {.options = &o, .program = "bench", .command = ops, .rows = rows};
  selection s;

  device_put(LATHE_CUDA, &none);
  device_put(LATHE_VULKAN, &none);
  s = selection_make(&o);
  r.selection = &s;
  for (size_t i = 0; i < lathe_variant_count && r.count < sizeof rows / sizeof *rows; i++)
    if (selection_has(&s, &s.tasks[0], &lathe_variants[i]) &&
        !selection_why_not(&s, &lathe_variants[i]))
      rows[r.count++] = make(&s.tasks[0], &lathe_variants[i]);
  fill(rows, r.count);
  if (!freopen(to, "w", stdout))
    _exit(1);
  show(&r);
  _exit(fflush(stdout) != 0);
}

char *made_up_report(void (*fill)(row *const *rows, size_t count), void (*show)(const report *r)) {
  const char *to = tree_path("shown");
  int status;
  pid_t child;

  fflush(NULL);
  child = fork();
  assert_true(child >= 0);
  if (child == 0)
    show_in_child(to, fill, show);
  assert_true(waitpid(child, &status, 0) == child);
  assert_int_equal(status, 0);
  return tree_read("shown");
}

row *made_up_other(row *const *rows, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!rows[i]->dispatched)
      return rows[i];
  return NULL;
}
