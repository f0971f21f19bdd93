/* one.c - one op by its own header, at once and by a plan. */
#include <stdio.h>

#include <lathe/softmax.h>

int main(void) {
  const float x[6] = {0, 0, 0, 3, 3, 3};
  const size_t dim[] = {2, 3};
  float y[6], z[6];
  lathe_plan plan;
  int status = lathe_softmax_f32(x, y, 2, 3);

  if (!status)
    status = lathe_make_of(&plan, &lathe_softmax_f32_cpu, NULL, dim, NULL);
  if (!status)
    status = lathe_softmax_f32_run(&plan, x, z, NULL, NULL);
  for (int i = 0; i < 6 && !status; i++)
    status = y[i] != z[i] || y[i] < 0.333f || y[i] > 0.334f;
  puts(lathe_text(status));
  return status;
}
