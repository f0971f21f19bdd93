/* generator.h - lathe-gen in the tree of a test: its call, and what that is expected to say. */
#ifndef GENERATOR_H
#define GENERATOR_H

#include "run_program.h"
#include "tests.h"
#include "tree.h"

#define GEN(...) RUN(tree_root(), test_variable("LATHE_GEN"), __VA_ARGS__)

/* Nothing on standard error, and the status 0; frees the result. */
void expect_success(run_result result);

/* This message alone, and this status; frees the result. */
void expect_failure(run_result result, int status, const char *message);

/* The text has this in it. */
void expect_in(const char *text, const char *part);

/* An op of a matrix x, and an s with these axes, with a function's body and `more` keys. */
void write_matrix_op(const char *axes, const char *output, const char *body, const char *more);

/* The golden specs with the project's templates. */
int golden_tree(void **state);

#define GENERATOR_TEST(function)                                                                   \
  { "generator: " #function, function, tree_setup_small, tree_teardown, NULL }
#define GOLDEN_TEST(function)                                                                      \
  { "generator: " #function, function, golden_tree, tree_teardown, NULL }

#endif
