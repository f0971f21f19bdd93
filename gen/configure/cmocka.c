#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
static void test(void **state) {
  (void)state;
}
int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
