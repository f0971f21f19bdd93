#include <lathe.h>
#include <stdio.h>
int main(void) {
  const size_t dim[] = {1, 2};
  float x[] = {0, 0}, y[2];
  void *const operand[] = {x, y};
  lathe_plan plan;
  return lathe_make(&plan, lathe_cpu(), "softmax", LATHE_F32, dim, NULL) ? puts(plan.why) :
         lathe_run(&plan, operand, NULL, NULL, NULL) || printf("%g %g\n", y[0], y[1]) < 0;
}
