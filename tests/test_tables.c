/* test_tables.c - the table on standard output: how wide it is, and what it says. */
#include "tests.h"

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_bench.h"

/* Every op in a grid, and every variant by rows: as wide as the table gets. */
static void test_tables_fit_the_terminal(void **state) {
  run_result r = BENCH("--check-only", "--size", "100,1K", "--dtype", "all", "--seed", "1");

  (void)state;
  assert_good(&r);
  run_free(&r);
  r = BENCH("--check-only", "--rows", "--size", "100", "--seed", "1");
  assert_good(&r);
  run_free(&r);
  r = BENCH("--op", "add,log_softmax", "--size", "100,2^20", "--iterations", "1", "--rows",
            "--seed", "1");
  assert_int_equal(r.status, RIGHT);
  assert_narrow(r.out, 100);
  assert_narrow(r.err, 100);
  run_free(&r);
  r = BENCH_WITH("LATHE_CPU_FEATURES=sse2", "--op", "log_softmax", "--size", "2^20", "--iterations",
                 "1", "--rows");
  assert_narrow(r.out, 100);
  run_free(&r);
}

/* Noise that is not known is not called noise. */
static void test_few_samples(void **state) {
  run_result r = BENCH("--op", "add", "--variant", "*_f32__scalar_u1", "--size", "100,1K",
                       "--iterations", "1");

  (void)state;
  assert_int_equal(r.status, RIGHT);
  assert_has(r.out, "     ? ");
  assert_string_equal(r.err,
                      "bench: warning: 2 rows have too few samples to tell how much they vary "
                      "(--iterations, --min-time)\n");
  run_free(&r);
}

/* All that the bench says on a terminal of its own. */
static void run_on_terminal(const char *variable, char *text, size_t size) {
  const char *const program = test_variable("LATHE_BENCH");
  size_t used = 0;
  ssize_t got;
  int terminal, status;
  pid_t child;

  fflush(NULL);
  child = forkpty(&terminal, NULL, NULL, NULL);
  assert_true(child >= 0);
  if (child == 0) {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    if (variable)
      putenv((char *)variable);
    execl(program, program, "--op", "add", "--size", "100", "--check-only", (char *)NULL);
    _exit(127);
  }
  /* Reading fails when the other side has closed. */
  while (used < size - 1 && (got = read(terminal, text + used, size - 1 - used)) > 0)
    used += (size_t)got;
  text[used] = 0;
  close(terminal);
  assert_true(waitpid(child, &status, 0) == child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == RIGHT);
}

static void test_colours(void **state) {
  char text[1 << 14];

  (void)state;
  run_on_terminal(NULL, text, sizeof text);
  assert_has(text, "\033[1;32m");
  run_on_terminal("NO_COLOR=1", text, sizeof text);
  assert_lacks(text, "\033[1");
  run_on_terminal("TERM=dumb", text, sizeof text);
  assert_lacks(text, "\033[1");
}

const struct CMUnitTest tables_tests[] = {
    TEST(test_tables_fit_the_terminal),
    TEST(test_few_samples),
    TEST(test_colours),
};
const size_t tables_test_count = COUNT(tables_tests);
