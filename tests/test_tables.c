/* test_tables.c - the table on standard output: how wide it is, and what it says. */
#include "tests.h"

#include <math.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made_up_report.h"
#include "run_bench.h"

/* The ops of the longest names in a grid, and their variants by rows: as wide as the table gets. Large sizes are for
 * the processor's own kernels: one that emulates a GPU takes long. */
static void test_tables_fit_the_terminal(void **state) {
  static const char longest[] = "add,cross_entropy_backward,log_softmax_backward";
  run_result r = BENCH("--check-only", "--no-probe", "--op", longest, "--size", "100,1K", "--dtype",
                       "f64,bf16", "--backend", "cpu", "--seed", "1");

  (void)state;
  assert_good(&r);
  run_free(&r);
  r = BENCH("--check-only", "--no-probe", "--op", "add,cross_entropy_backward", "--size", "100",
            "--seed", "1");
  assert_good(&r);
  run_free(&r);
  r = BENCH("--check-only", "--no-probe", "--op", longest, "--rows", "--size", "100", "--backend",
            "cpu", "--seed", "1");
  assert_good(&r);
  run_free(&r);
  r = BENCH("--check-only", "--no-probe", "--op", "cross_entropy_backward", "--rows", "--size",
            "100", "--seed", "1");
  assert_good(&r);
  run_free(&r);
  r = BENCH("--op", "add,log_softmax", "--size", "100,2^20", "--iterations", "1", "--rows",
            "--backend", "cpu", "--seed", "1");
  assert_int_equal(r.status, RIGHT);
  assert_narrow(r.out, 100);
  assert_narrow(r.err, 100);
  run_free(&r);
  r = BENCH("--op", "add,cross_entropy_backward", "--size", "100,1024x1024", "--iterations", "1",
            "--dtype", "f32,f64", "--backend", "cpu", "--seed", "1");
  assert_int_equal(r.status, RIGHT);
  assert_narrow(r.out, 100);
  run_free(&r);
  r = BENCH_WITH("LATHE_CPU_FEATURES=sse2", "--op", "log_softmax", "--size", "2^20", "--iterations",
                 "1", "--backend", "cpu", "--rows");
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
  assert_has(r.err, "bench: warning: 2 rows have too few samples to tell how much they vary "
                    "(--iterations, --min-time)\n");
  assert_lacks(r.err, "vary by more");
  run_free(&r);
}

/* A column that nothing fills is there only where it was asked for. */
static void test_columns_that_nothing_fills(void **state) {
  static const char *const asked[] = {NULL, "cpu,cuda,vulkan"};

  (void)state;
  for (size_t i = 0; i < COUNT(asked); i++) {
    run_result r = BENCH_WITH("LATHE_CPU_FEATURES=", "--op", "add,exp", "--size", "100", "--fast",
                              asked[i] ? "--backend" : NULL, asked[i]);
    const char *head = strstr(r.out, "\nop ");
    char line[160];
    assert_int_equal(r.status, RIGHT);
    assert_non_null(head);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(head + 1, "\n"), head + 1);
    assert_has(line, " scalar ");
    for (const lathe_variant *v = lathe_variants; v < lathe_variants + lathe_variant_count; v++)
      if (v->op == lathe_find("add") && v->backend->kind == LATHE_CPU &&
          v->backend->features & ~LATHE_ON_CPU) {
        if (asked[i])
          assert_has(line, v->backend->name);
        else
          assert_lacks(line, v->backend->name);
        assert_has(r.out, "skipped ");
      }
    run_free(&r);
  }
}

/* Words are explained before they are used, and only there. */
static void test_legend_is_above(void **state) {
  static const char *const forms[] = {"--fast", "--rows"};

  (void)state;
  for (size_t i = 0; i < COUNT(forms); i++) {
    run_result r = BENCH("--op", "add,exp", "--size", "100", "--iterations", "9", "--backend",
                         "scalar", forms[i]);
    const char *head = strstr(r.out, i == 0 ? "\nop " : "\n  variant "), *legend = NULL;
    assert_int_equal(r.status, RIGHT);
    assert_non_null(head);
    for (const char *at = r.out; (at = strstr(at, "ceil: share of what")); at++) {
      assert_null(legend);
      legend = at;
    }
    assert_non_null(legend);
    assert_true(legend < head);
    assert_has(r.out, i == 0 ? "chosen: how much" : "> dispatch's choice");
    run_free(&r);
  }
}

/* ---- rows made up ------------------------------------------------------------------------------ */

static void show_grid(const report *r) {
  report_table_begin(r);
  report_table_task(r, r->rows, r->count, true);
  report_table_end(r);
}

static void fill_known(row *const *rows, size_t count) {
  made_up_other(rows, count)->real_time = 500;
}

static void fill_unknown(row *const *rows, size_t count) {
  made_up_other(rows, count)->real_time = 35;
  for (size_t i = 0; i < count; i++)
    if (rows[i]->dispatched)
      rows[i]->noise = NAN;
}

static void fill_uncertain(row *const *rows, size_t count) {
  made_up_other(rows, count)->real_time = 500;
  made_up_other(rows, count)->noise = 0.3;
}

static void fill_same(row *const *rows, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (rows[i]->dispatched)
      rows[i]->real_time = 500;
}

/* What dispatch costs is said where it is known, not where a single sample would have it. */
static void test_loss_of_dispatch(void **state) {
  static const struct {
    void (*fill)(row *const *, size_t);
    const char *ends;
  } cases[] = {{fill_known, "  +100%\n"},
               {fill_unknown, "      ?\n"},
               {fill_uncertain, "      ?\n"},
               {fill_same, "   same\n"}};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    char *table = made_up_report(cases[i].fill, show_grid);
    assert_has(table, cases[i].ends);
    free(table);
  }
}

/* A processor's choice is not held against what a GPU takes. */
static void test_loss_is_a_devices_own(void **state) {
  row slow = {.device = "cpu", .dispatched = true, .sample_count = 9, .real_time = 100};
  row quick = {.device = "cuda0", .sample_count = 9, .real_time = 1};
  row chosen = {.device = "cuda0", .dispatched = true, .sample_count = 9, .real_time = 2};
  row *const rows[] = {&slow, &quick, &chosen};

  (void)state;
  quick.device = chosen.device;
  assert_ptr_equal(row_chosen(rows, 3, &quick), &chosen);
  assert_ptr_equal(row_chosen(rows, 2, &quick), NULL);
  assert_true(row_loss(&chosen, &quick) == 1);
}

static void mark(row *line) {
  line->ceiling_share = 1.3;
  line->above_ceiling = true;
}

static void fill_mark_of_fastest(row *const *rows, size_t count) {
  rows[0]->real_time = 500;
  mark(rows[0]);
  mark(rows[count - 1]);
}

static void fill_mark_unseen(row *const *rows, size_t count) {
  rows[0]->real_time = 500;
  mark(rows[count - 1]);
}

/* Rows above the ceiling are named, also those that have no line of their own. */
static void test_marks(void **state) {
  char *table = made_up_report(fill_mark_of_fastest, show_grid);

  (void)state;
  assert_has(table, " !130% ");
  assert_has(table, "\n!: above the ceiling, ");
  assert_has(table, " 130.0%, add_f32__");
  free(table);
  table = made_up_report(fill_mark_unseen, show_grid);
  assert_lacks(table, "!130%");
  assert_has(table, "\n!: above the ceiling, ");
  assert_has(table, "/100 130.0%");
  free(table);
}

/* ---- terminals -------------------------------------------------------------------------------- */

/* All that the bench says on a terminal of its own, of so many columns; free it. */
static char *on_terminal(unsigned short columns, const char *variable, const char *const *given) {
  const struct winsize size = {.ws_row = 24, .ws_col = columns};
  const char *arguments[16] = {test_variable("LATHE_BENCH")};
  enum { MOST = 1 << 18 };
  char *text = malloc(MOST);
  size_t used = 0;
  ssize_t got;
  int terminal, status;
  pid_t child;

  assert_non_null(text);
  for (size_t i = 0; given[i]; i++) {
    assert_true(i + 2 < COUNT(arguments));
    arguments[i + 1] = given[i];
  }
  fflush(NULL);
  child = forkpty(&terminal, NULL, NULL, &size);
  assert_true(child >= 0);
  if (child == 0) {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    if (variable)
      putenv((char *)variable);
    execv(arguments[0], (char *const *)arguments);
    _exit(127);
  }
  /* Reading fails when the other side has closed. */
  while (used < MOST - 1 && (got = read(terminal, text + used, MOST - 1 - used)) > 0)
    used += (size_t)got;
  text[used] = 0;
  close(terminal);
  assert_true(waitpid(child, &status, 0) == child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == RIGHT);
  return text;
}
#define ON_TERMINAL(columns, variable, ...)                                                        \
  on_terminal(columns, variable, (const char *const[]){__VA_ARGS__, NULL})

static void test_colours(void **state) {
  static const struct {
    const char *variable;
    bool coloured;
  } cases[] = {{NULL, true}, {"NO_COLOR=1", false}, {"TERM=dumb", false}};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    char *text = ON_TERMINAL(80, cases[i].variable, "--op", "add", "--size", "100", "--check-only");
    if (cases[i].coloured)
      assert_has(text, "\033[1;32m");
    else
      assert_lacks(text, "\033[1");
    free(text);
  }
}

/* What is left of a terminal's text without its colours and up to its first warning, each line and each
 * state of the line of progress by itself. */
static void strip(char *text) {
  char *to = text;

  for (const char *at = text; *at; at++) {
    if (*at == '\033')
      at += strcspn(at, "mK");
    else
      *to++ = *at == '\r' ? '\n' : *at;
  }
  *to = 0;
  to = strstr(text, "bench: warning: ");
  if (to)
    *to = 0;
}

/* On a terminal its own width counts, for the table, the progress, and what is said below. */
static void test_width_of_the_terminal(void **state) {
  static const struct {
    const char *form[2], *backends;
    unsigned short columns;
  } cases[] = {{{"--fast", "--iterations=5"}, "cpu", 80},
               {{"--rows", "--iterations=5"}, "cpu", 80},
               {{"--check-only", "--no-probe"}, "cpu,cuda,vulkan", 80},
               {{"--fast", "--iterations=5"}, "cpu", 72},
               {{"--check-only"}, "cpu,cuda,vulkan", 64}};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    char *text = ON_TERMINAL(
        cases[i].columns, NULL, "--op", "add,cross_entropy_backward,log_softmax_backward", "--size",
        "100,1024x1024", "--backend", cases[i].backends, cases[i].form[0], cases[i].form[1]);
    strip(text);
    assert_has(text, " rows: ");
    assert_narrow(text, cases[i].columns);
    free(text);
  }
}

/* Where there is room all columns are there; the list of ops is no wider than is read well. */
static void test_wide_terminal(void **state) {
  char *text = ON_TERMINAL(160, "NO_COLOR=1", "--op", "add,cross_entropy_backward", "--size", "100",
                           "--iterations", "9");

  (void)state;
  assert_has(text, " fastest ");
  assert_has(text, " GB/s ");
  assert_has(text, " ceil chosen\r\n");
  free(text);
  text = ON_TERMINAL(160, "NO_COLOR=1", "--list-ops");
  strip(text);
  assert_narrow(text, 100);
  free(text);
}

const struct CMUnitTest tables_tests[] = {
    TEST(test_tables_fit_the_terminal),
    TEST(test_few_samples),
    TEST(test_columns_that_nothing_fills),
    TEST(test_legend_is_above),
    TEST(test_loss_of_dispatch),
    TEST(test_loss_is_a_devices_own),
    TEST(test_marks),
    TEST(test_colours),
    TEST(test_width_of_the_terminal),
    TEST(test_wide_terminal),
};
const size_t tables_test_count = COUNT(tables_tests);
