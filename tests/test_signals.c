/* test_signals.c - a run that is ended from outside: what was finished is kept. */
#include "tests.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_bench.h"

enum { ROWS = 18 }; /* of the run below */

/* The bench in a process group of its own, with standard output and error in the files out and err.
 * One signal may be ignored from the start, as under nohup; 0 for none. */
static pid_t start(int ignored, const char *const *options) {
  static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  const char *arguments[20] = {test_variable("LATHE_BENCH")};
  const char *out = tree_path("out"), *err = tree_path("err");
  pid_t child;

  for (size_t i = 0; options[i]; i++) {
    assert_true(i + 2 < COUNT(arguments));
    arguments[i + 1] = options[i];
  }
  fflush(NULL);
  child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    setpgid(0, 0);
    for (size_t i = 0; i < COUNT(all); i++)
      signal(all[i], all[i] == ignored ? SIG_IGN : SIG_DFL);
    dup2(open(out, O_CREAT | O_WRONLY, 0666), STDOUT_FILENO);
    dup2(open(err, O_CREAT | O_WRONLY, 0666), STDERR_FILENO);
    alarm(60);
    if (chdir(tree_root()) == 0)
      execv(arguments[0], (char *const *)arguments);
    _exit(127);
  }
  return child;
}
#define START(ignored, ...) start(ignored, (const char *const[]){__VA_ARGS__, NULL})

/* A run of two rows for each size, each of which takes a tenth of a second in its only round. */
static pid_t start_long_run(void) {
  return START(0, "--op", "add", "--backend", "scalar", "--size", "2^4:2^12", "--min-time", "0.1",
               "--rounds", "1", "--json", "out.json", "--csv", "out.csv", "--markdown", "out.md");
}

/* Returns when some rows had their turn, and others had not: the table is printed after the last round. */
static void wait_for_rows(void) {
  bool seen = false;

  for (int i = 0; i < 3000 && !seen; i++) {
    char *text;
    usleep(10000);
    if (!tree_has("out"))
      continue;
    text = tree_read("out");
    seen = strstr(text, "variant") != NULL;
    free(text);
  }
  assert_true(seen);
  usleep(500000);
}

/* As a shell has it: 128 and the number of a signal that the program died of. */
static int status_of(pid_t child) {
  int status;

  assert_true(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : ENDED + WTERMSIG(status);
}

/* The files have the rows that were finished, and say that there should have been more. */
static void assert_kept(void) {
  json_t *root = load("out.json");
  const json_t *context = json_object_get(root, "context");
  const json_t *all = json_object_get(root, "benchmarks");
  const size_t rows = json_array_size(all);
  char said[80], *text;

  assert_in_range(rows, 1, ROWS - 1);
  for (size_t i = 0; i < rows; i++)
    check_benchmark(json_array_get(all, i));
  assert_true(flag_of(context, "interrupted"));
  assert_true(number_of(context, "rows_not_run") == (double)(ROWS - rows));
  json_decref(root);
  text = tree_read("out.csv");
  assert_int_equal(lines_of(text), 1 + rows);
  free(text);
  text = tree_read("out.md");
  snprintf(said, sizeof said, "\n| interrupted | %zu rows not run |\n", ROWS - rows);
  assert_has(text, said);
  free(text);
  text = tree_read("out");
  snprintf(said, sizeof said, "\n%zu of %d rows: %zu right, 0 wrong, 0 skipped, in ", rows, ROWS,
           rows);
  assert_has(text, said);
  free(text);
  text = tree_read("err");
  snprintf(said, sizeof said, "bench: warning: interrupted: %zu rows not run\n", ROWS - rows);
  assert_has(text, said);
  free(text);
  assert_int_equal(files_in(tree_root()), 5);
}

static void end_by(int number) {
  const pid_t child = start_long_run();

  wait_for_rows();
  assert_int_equal(kill(child, number), 0);
  assert_int_equal(status_of(child), ENDED + number);
  assert_kept();
}

static void test_interrupt(void **state) {
  (void)state;
  end_by(SIGINT);
}

static void test_terminated(void **state) {
  (void)state;
  end_by(SIGTERM);
}

static void test_quit(void **state) {
  (void)state;
  end_by(SIGQUIT);
}

/* Timers, limits, and what people send: any that would end a program. */
static void test_other_signals(void **state) {
  const int others[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU,   SIGPROF,
                        SIGIO,   SIGPWR,  SIGXFSZ, SIGVTALRM, SIGRTMIN};
  (void)state;
  for (size_t i = 0; i < COUNT(others); i++) {
    const pid_t child = START(0, "--op", "add", "--backend", "scalar", "--size", "16,32,64",
                              "--min-time", "0.1", "--rounds", "1", "--json", "out.json");
    json_t *root;
    wait_for_rows();
    assert_int_equal(kill(child, others[i]), 0);
    assert_int_equal(status_of(child), ENDED + others[i]);
    root = load("out.json");
    assert_true(flag_of(json_object_get(root, "context"), "interrupted"));
    assert_true(json_array_size(json_object_get(root, "benchmarks")) > 0);
    json_decref(root);
    tree_remove("out");
    tree_remove("out.json");
  }
}

/* A terminal that is gone tells all of its processes, and their shell tells them again. */
static void test_hangup(void **state) {
  const pid_t child = start_long_run();

  (void)state;
  wait_for_rows();
  assert_int_equal(kill(-child, SIGHUP), 0);
  usleep(20000);
  kill(-child, SIGHUP);
  assert_int_equal(status_of(child), ENDED + SIGHUP);
  assert_kept();
}

/* timeout(1) sends its signal to the program, and then to the whole group. */
static void test_same_signal_twice(void **state) {
  const pid_t child = start_long_run();

  (void)state;
  wait_for_rows();
  for (int i = 0; i < 2; i++) {
    assert_int_equal(kill(child, SIGTERM), 0);
    usleep(2000);
  }
  assert_int_equal(status_of(child), ENDED + SIGTERM);
  assert_kept();
}

/* Who insists need not wait for the row to end. */
static void test_insistent(void **state) {
  const pid_t child = START(0, "--op", "add", "--variant", "*_f32__scalar_u4", "--size", "16,32",
                            "--in-process", "--min-time", "30", "--json", "out.json");

  (void)state;
  usleep(500000);
  assert_int_equal(kill(child, SIGINT), 0);
  usleep(1500000);
  assert_int_equal(kill(child, 0), 0);
  assert_int_equal(kill(child, SIGINT), 0);
  assert_int_equal(status_of(child), ENDED + SIGINT);
  assert_int_equal(files_in(tree_root()), 2);
}

/* nohup: what was ignored when the program began still is. */
static void test_ignored_hangup(void **state) {
  const pid_t child = START(SIGHUP, "--op", "add", "--backend", "scalar", "--size", "16,32,64",
                            "--min-time", "0.1", "--json", "out.json");
  json_t *root;

  (void)state;
  wait_for_rows();
  assert_int_equal(kill(child, SIGHUP), 0);
  assert_int_equal(status_of(child), RIGHT);
  root = load("out.json");
  assert_int_equal(json_array_size(json_object_get(root, "benchmarks")), 6);
  json_decref(root);
}

/* A run that cannot write its files any more leaves no others behind. */
static void test_killed(void **state) {
  const pid_t child = start_long_run();

  (void)state;
  wait_for_rows();
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(status_of(child), ENDED + SIGKILL);
  assert_int_equal(files_in(tree_root()), 2);
}

/* Who reads the table has seen enough. */
static void test_broken_pipe(void **state) {
  run_result r = RUN(tree_root(), "sh", "-c",
                     "{ \"$LATHE_BENCH\" --op add --backend scalar --size 2^4:2^12 --fast "
                     "--json out.json; echo $? >status; } | head -n 1");
  char *status = tree_read("status");
  json_t *root;
  size_t rows;

  (void)state;
  assert_int_equal(atoi(status), ENDED + SIGPIPE);
  assert_int_equal(lines_of(r.out), 1);
  assert_has(r.err, "bench: warning: interrupted: ");
  assert_lacks(r.err, "cannot write");
  root = load("out.json");
  rows = json_array_size(json_object_get(root, "benchmarks"));
  assert_in_range(rows, 1, ROWS);
  assert_int_equal(files_in(tree_root()), 2);
  json_decref(root);
  free(status);
  run_free(&r);
}

/* A file that may not grow so large is told of, and the others are written. */
static void test_limited_file(void **state) {
  run_result r = RUN(tree_root(), "sh", "-c",
                     "ulimit -f 16; exec \"$LATHE_BENCH\" --op add --variant '*_f32__scalar_u1' "
                     "--size 100 --iterations 5000 --json out.json --csv out.csv");
  char *csv = tree_read("out.csv");

  (void)state;
  assert_int_equal(r.status, ENDED + SIGXFSZ);
  assert_has(r.err, "bench: warning: cannot write out.json: File too large\n");
  assert_int_equal(lines_of(csv), 2);
  assert_int_equal(files_in(tree_root()), 1);
  free(csv);
  run_free(&r);
}

const struct CMUnitTest signals_tests[] = {
    TEST(test_interrupt),     TEST(test_terminated),     TEST(test_quit),
    TEST(test_other_signals), TEST(test_hangup),         TEST(test_same_signal_twice),
    TEST(test_insistent),     TEST(test_ignored_hangup), TEST(test_killed),
    TEST(test_broken_pipe),   TEST(test_limited_file),
};
const size_t signals_test_count = COUNT(signals_tests);
