/* run-tests [PATTERN [PART/PARTS]]: runs the tests whose names match, all of them by default; or every PARTS-th of
 * these from number PART on, for programs that run at once. The last line says "N passed, N failed"; exit status 0
 * only when something passed and nothing failed. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests.h"

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    const struct CMUnitTest *tests;
    const size_t *count;
  } groups[] = {
#define ROW(name) {#name, name##_tests, &name##_test_count},
      TEST_GROUPS(ROW)
#undef ROW
  };
  size_t part = 1, parts = 1, passed = 0, failed = 0, matched = 0;
  if (argc > 3 ||
      (argc == 3 && (sscanf(argv[2], "%zu/%zu", &part, &parts) != 2 || part < 1 || part > parts))) {
    fprintf(stderr, "usage: %s [PATTERN [PART/PARTS]]\n", argv[0]);
    return 2;
  }
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
#ifdef __SANITIZE_ADDRESS__
    if (strcmp(groups[i].name, "build") == 0) {
      puts("skipped: builds of their own, in which nothing has sanitizers");
      continue;
    }
#endif
    struct CMUnitTest *wanted = malloc((*groups[i].count + 1) * sizeof *wanted);
    size_t count = 0;
    if (!wanted) {
      fputs("not enough memory\n", stderr);
      return EXIT_FAILURE;
    }
    for (size_t t = 0; t < *groups[i].count; t++) {
      if (argc < 2 || fnmatch(argv[1], groups[i].tests[t].name, 0) == 0) {
        if (matched++ % parts == part - 1)
          wanted[count++] = groups[i].tests[t];
      }
    }
    if (count > 0) {
      int bad = _cmocka_run_group_tests(groups[i].name, wanted, count, NULL, NULL);
      failed += (size_t)bad;
      passed += count - (size_t)bad;
    }
    free(wanted);
  }
  fflush(stderr);
  printf("%zu passed, %zu failed\n", passed, failed);
  return passed > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
