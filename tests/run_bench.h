/* run_bench.h - runs the bench program in the test's own tree, and looks at what it said and wrote.
 * What fails here fails the test. */
#ifndef RUN_BENCH_H
#define RUN_BENCH_H

#include <jansson.h>
#include <stdbool.h>

#include "library/dispatch.h"
#include "run_program.h"
#include "tree.h"

/* Exit statuses; ended by a signal: ENDED and its number. */
enum { RIGHT = 0, WRONG = 1, BAD_REQUEST = 2, NOTHING = 3, ENDED = 128 };

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

/* BENCH("--op", "add"); with a variable of the environment: BENCH_WITH("TERM=dumb", "--op", "add"). */
#define BENCH(...) RUN(tree_root(), test_variable("LATHE_BENCH"), __VA_ARGS__)
#define BENCH_WITH(variable, ...) bench_with(variable, (const char *const[]){__VA_ARGS__, NULL})
run_result bench_with(const char *variable, const char *const *options);

/* Why a backend cannot run where LATHE_CPU_FEATURES leaves less of this processor; null where it can. */
const char *why_not_with(const lathe_backend *backend, uint64_t left);

size_t lines_of(const char *text);
size_t files_in(const char *path);

void assert_has(const char *text, const char *part);
void assert_lacks(const char *text, const char *part);

/* No line is wider than that many columns. */
void assert_narrow(const char *text, size_t width);

/* Ended well, said something that fits 100 columns without colours, and complained of nothing. */
void assert_good(const run_result *r);

/* Ended with BAD_REQUEST and this on standard error, and nothing on standard output. */
void assert_refused(const run_result *r, const char *message);

/* JSON that the bench wrote; release with json_decref. */
json_t *load(const char *path);

/* The rows of a run that went well and was asked for its JSON in the file j. */
const json_t *rows_of(const run_result *r, json_t **root);

/* Members of a type; others than that fail the test. */
const char *text_of(const json_t *object, const char *key);
double number_of(const json_t *object, const char *key);
bool flag_of(const json_t *object, const char *key);

/* The fields that Google Benchmark's compare.py looks at: times are numbers where it compares them. */
void check_benchmark(const json_t *b);

#endif
