/* test_worker.c - kernels that take their process with them, or keep it: each costs its own job. */
#include "tests.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "bench/worker.h"
#include "devices/cpu/device.h"
#include "library/bench.h"

static const double limit = 0.3;

static void plant_right(const lathe_args *args) {
  for (size_t i = 0; i < args->dim[0]; i++)
    ((float *)args->buf[1])[i] = 2 * ((const float *)args->buf[0])[i];
}

static void plant_stopped_before(const lathe_args *args) {
  plant_right(args);
}

static void plant_endless(const lathe_args *args) {
  for (const volatile bool go = args != NULL; go;)
    ;
}

static void plant_exits(const lathe_args *args) {
  (void)args;
  _exit(3);
}

/* A driver that has its own use for the signals that could end it. */
static void plant_deaf(const lathe_args *args) {
  signal(SIGALRM, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  plant_endless(args);
}

static void plant_stopped(const lathe_args *args) {
  (void)args;
  raise(SIGSTOP);
}

static void plant_terminated(const lathe_args *args) {
  (void)args;
  raise(SIGTERM);
}

/* How often the next one was called, in all processes. */
static atomic_int *calls;

static void plant_killed_once(const lathe_args *args) {
  if (atomic_fetch_add(calls, 1) == 0)
    raise(SIGKILL);
  plant_right(args);
}

/* Both processes are stopped and go on, as by Ctrl-Z and fg, for longer than a launch may take. */
static void plant_suspended(const lathe_args *args) {
  static bool before;
  const pid_t both[] = {getpid(), getppid()};
  const pid_t terminal = before ? -1 : fork();

  before = true;
  if (terminal == 0) {
    for (int i = 0; i < 2; i++)
      kill(both[i], SIGSTOP);
    usleep((useconds_t)(3e6 * limit));
    for (int i = 0; i < 2; i++)
      kill(both[i], SIGCONT);
    _exit(0);
  }
  if (terminal > 0)
    waitpid(terminal, NULL, 0);
  plant_right(args);
}

static void plant_killed(const lathe_args *args) {
  (void)args;
  raise(SIGKILL);
}

static void plant_aborts(const lathe_args *args) {
  (void)args;
  abort();
}

static void plant_crash(const lathe_args *args) {
  (void)args;
  raise(SIGSEGV);
}

/* Interrupted as by Ctrl-C, which reaches both processes. */
static void plant_interrupt(const lathe_args *args) {
  raise(SIGINT);
  kill(getppid(), SIGINT);
  plant_endless(args);
}

static void reference(const lathe_args *args) {
  for (size_t i = 0; i < args->dim[0]; i++) {
    ((double *)args->buf[1])[i] = 2 * ((const double *)args->buf[0])[i];
    ((double *)args->buf[2])[i] = 0;
  }
}

static void reference_stopped(const lathe_args *args) {
  (void)args;
  raise(SIGSTOP);
}

static const lathe_operand operands[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, -1, 1, false},
    {"y", LATHE_VARIANT_DTYPE, true, 1, {0}, 0, 0, false},
};
static const lathe_op op = {.name = "twice",
                            .ndim = 1,
                            .dim = {"n"},
                            .noperands = 2,
                            .operands = operands,
                            .bench = &(const lathe_bench){.reference_f64 = reference}};
static const lathe_op op_stopped = {.name = "stopped_before",
                                    .ndim = 1,
                                    .dim = {"n"},
                                    .noperands = 2,
                                    .operands = operands,
                                    .bench =
                                        &(const lathe_bench){.reference_f64 = reference_stopped}};
static const lathe_backend backend = {.name = "planted"};

/* Static, as the table's are: the worker finds them where they are here. */
#define PLANT(how) PLANT_OF(op, how)
#define PLANT_OF(its, how)                                                                         \
  static const lathe_variant how = {                                                               \
      .name = #how, .op = &its, .backend = &backend, .dtype = LATHE_F32, .run = plant_##how}
PLANT(right);
PLANT(endless);
PLANT(exits);
PLANT(killed);
PLANT(aborts);
PLANT(crash);
PLANT(interrupt);
PLANT(deaf);
PLANT(stopped);
PLANT(terminated);
PLANT(killed_once);
PLANT(suspended);
PLANT_OF(op_stopped, stopped_before); /* by its reference */

static job job_of(const lathe_variant *v, bool check_only) {
  return (job){.variant = v,
               .dim = {1000},
               .seed = 1,
               .check_only = check_only,
               .limits = {.warmup = 1},
               .samples = 9};
}

static void expect_right(bool check_only) {
  const job j = job_of(&right, check_only);
  const char *why;
  outcome out;

  assert_int_equal(worker_run(device_cpu(), &j, &out, &why), WORKER_LIVES);
  assert_string_equal(out.check.message, "");
  assert_int_equal(out.check.verdict, CHECK_RIGHT);
  assert_int_equal(out.warm.count, check_only ? 0 : 9);
  for (size_t i = 0; i < out.warm.count; i++)
    assert_true(out.warm.host[i] > 0 && isfinite(out.warm.own[i]));
  outcome_free(&out);
}

static void expect_end(const lathe_variant *v, worker_fate fate, const char *how) {
  const job j = job_of(v, true);
  const double start = clock_ns();
  const char *said;
  outcome out;

  assert_int_equal(worker_run(device_cpu(), &j, &out, &said), fate);
  if (strcmp(said, how) != 0)
    fail_msg("%s: said '%s', expected '%s'", v->name, said, how);
  assert_true(clock_ns() - start < 20e9);
}

static void test_results_come_back(void **state) {
  (void)state;
  worker_begin(limit, false);
  expect_right(true);
  expect_right(false);
  worker_end();
}

/* The same without a process between: a worker's own leaks and errors are seen by nobody. */
static void test_a_job_here(void **state) {
  job j = job_of(&right, false);

  (void)state;
  for (int round = 0; round < 3; round++) {
    outcome out = job_run(&j);
    assert_int_equal(out.check.verdict, CHECK_RIGHT);
    assert_int_equal(out.warm.count, 9);
    assert_int_equal(out.cold.count, 0);
    assert_false(out.lost);
    outcome_free(&out);
    j.seed = (uint64_t)round; /* another problem */
  }
  j.device = 7;
  assert_int_equal(job_run(&j).check.verdict, CHECK_UNABLE);
}

/* The limit is for one launch, and not for a row of them. */
static void test_limit_is_for_each_launch(void **state) {
  job j = job_of(&right, false);
  const char *why;
  outcome out;

  (void)state;
  j.limits = (measure_limits){.warmup = 1, .round_ns = 4 * limit * 1e9};
  worker_begin(limit, false);
  assert_int_equal(worker_run(device_cpu(), &j, &out, &why), WORKER_LIVES);
  assert_int_equal(out.check.verdict, CHECK_RIGHT);
  outcome_free(&out);
  worker_end();
}

static void test_one_job_fails(void **state) {
  (void)state;
  worker_begin(limit, false);
  expect_end(&endless, WORKER_LATE, "did not end within 0.3 s");
  expect_right(true);
  expect_end(&deaf, WORKER_LATE, "did not end within 0.3 s");
  expect_right(true);
  expect_end(&exits, WORKER_FAILED, "its process ended with status 3");
  expect_right(true);
  expect_end(&aborts, WORKER_FAILED, "its process crashed with SIGABRT");
  expect_right(false);
  worker_end();
}

/* What others do to the worker is no verdict on the kernel, and worth another try. */
static void test_killed_from_outside(void **state) {
  static const char stopped_for[] = "its process was stopped, and did not go on within 0.3 s";
  const job j = job_of(&killed_once, true);
  const char *why;
  outcome out;

  (void)state;
  calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(calls, MAP_FAILED);
  worker_begin(limit, false);
  assert_int_equal(worker_run(device_cpu(), &j, &out, &why), WORKER_LIVES);
  assert_int_equal(out.check.verdict, CHECK_RIGHT);
  assert_true(*calls > 1);
  outcome_free(&out);
  expect_end(&killed, WORKER_KILLED,
             "its process was killed from outside: signal 9, Killed (is the memory full?)");
  expect_end(&terminated, WORKER_KILLED,
             "its process was killed from outside: signal 15, Terminated");
  expect_right(true);
  expect_end(&stopped, WORKER_KILLED, stopped_for);
  expect_end(&stopped_before, WORKER_KILLED, stopped_for);
  expect_right(false);
  worker_end();
  munmap(calls, sizeof *calls);
}

/* In a process of its own, for a shell would take the tests for stopped. */
static void test_suspended_is_not_late(void **state) {
  const job j = job_of(&suspended, true);
  const pid_t child = fork();
  int status;

  (void)state;
  assert_true(child >= 0);
  if (child == 0) {
    const char *why = "";
    outcome out;
    bool ok;
    worker_begin(limit, false);
    ok = worker_run(device_cpu(), &j, &out, &why) == WORKER_LIVES &&
         out.check.verdict == CHECK_RIGHT;
    if (!ok)
      fprintf(stderr, "suspended: %s\n", why);
    worker_end();
    _exit(!ok);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* What the worker itself withstands costs it nothing. */
static void test_crash_is_a_verdict(void **state) {
  const job j = job_of(&crash, true);
  const char *why;
  outcome out;

  (void)state;
  worker_begin(limit, false);
  assert_int_equal(worker_run(device_cpu(), &j, &out, &why), WORKER_LIVES);
  assert_int_equal(out.check.verdict, CHECK_WRONG);
  assert_non_null(strstr(out.check.message, "crashed with SIGSEGV"));
  outcome_free(&out);
  worker_end();
}

/* Last, for the flag stays up. The worker does not heed it, and does not outlive it. */
static void test_interrupt_ends_the_wait(void **state) {
  const job j = job_of(&interrupt, true);
  const double start = clock_ns();
  const char *why;
  outcome out;

  (void)state;
  worker_begin(60, false);
  signals_note_interrupts(NULL);
  assert_int_not_equal(worker_run(device_cpu(), &j, &out, &why), WORKER_LIVES);
  assert_true(signals_interrupted());
  assert_true(clock_ns() - start < 20e9);
  worker_end();
}

const struct CMUnitTest worker_tests[] = {
    cmocka_unit_test(test_a_job_here),
    cmocka_unit_test(test_results_come_back),
    cmocka_unit_test(test_limit_is_for_each_launch),
    cmocka_unit_test(test_one_job_fails),
    cmocka_unit_test(test_killed_from_outside),
    cmocka_unit_test(test_suspended_is_not_late),
    cmocka_unit_test(test_crash_is_a_verdict),
    cmocka_unit_test(test_interrupt_ends_the_wait),
};
const size_t worker_test_count = sizeof worker_tests / sizeof *worker_tests;
