/* references.c - ops that a test writes, as their references alone. */
#include "references.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/solve.h"
#include "run_program.h"
#include "tests.h"
#include "tree.h"

void *references_build(const char *spec) {
  char *command = malloc(1 << 12);
  run_result result;
  void *library;

  assert_non_null(command);
  tree_write("specs/s.lua", spec);
  tree_copy("templates", "templates");
  result = RUN(tree_root(), test_variable("LATHE_GEN"), "all");
  assert_string_equal(result.err, "");
  run_free(&result);
  snprintf(
      command, 1 << 12,
      "cc -shared -fPIC -O1 -ffp-contract=off -I'%s/runtime/library' -Itemplates/c -o s.so %s -lm",
      test_variable("LATHE_SRC"), "out/gen/*/*_reference.c");
  result = RUN(tree_root(), "sh", "-c", command);
  assert_string_equal(result.err, "");
  run_free(&result);
  library = dlopen(tree_path("s.so"), RTLD_NOW);
  assert_non_null(library);
  free(command);
  return library;
}

lathe_fn *references_find(void *library, const char *format, size_t number) {
  char symbol[64];
  lathe_fn *found;

  snprintf(symbol, sizeof symbol, format, number);
  *(void **)&found = dlsym(library, symbol);
  assert_non_null(found);
  return found;
}

void references_ask(lathe_fn *reference, bool wide, const lathe_args *args, double unit,
                    double flushed) {
  reference_part part = {
      .args = *args, .read = solve_reader(wide), .unit = unit, .flushed = flushed};

  for (int b = 0; b < LATHE_MAX_OPERANDS; b++)
    part.type[b] = LATHE_DTYPES;
  assert_true(solve_by(reference, &part, wide ? sizeof(long double) : sizeof(double)));
}
