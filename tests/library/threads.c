/* threads.c - 16 threads run one plan at once, and make others: results have the same bits. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lathe.h>

enum { THREADS = 16, ROWS = 2, COLUMNS = 50 };

static const size_t dim[] = {ROWS, COLUMNS};
static float x[ROWS * COLUMNS], right[ROWS * COLUMNS];
static lathe_plan shared;
static int calls;

static void *call(void *argument) {
  float y[ROWS * COLUMNS];
  void *const operand[] = {x, y};
  size_t wrong = 0;

  (void)argument;
  for (int i = 0; i < calls; i++) {
    lathe_plan own;
    memset(y, 0, sizeof y);
    if (i % 16 == 0)
      wrong += lathe_make(&own, lathe_cpu(), "softmax", LATHE_F32, dim, NULL) != LATHE_OK;
    wrong += lathe_run(i % 16 == 0 ? &own : &shared, operand, NULL, NULL, NULL) != LATHE_OK;
    wrong += memcmp(y, right, sizeof y) != 0;
  }
  return (void *)wrong;
}

int main(int count, char **argument) {
  void *const operand[] = {x, right};
  pthread_t thread[THREADS];
  size_t wrong = 0;

  calls = count > 1 ? atoi(argument[1]) : 100000;
  for (int i = 0; i < ROWS * COLUMNS; i++)
    x[i] = (float)(i % 7);
  if (lathe_make(&shared, NULL, "softmax", LATHE_F32, dim, NULL) ||
      lathe_run(&shared, operand, NULL, NULL, NULL))
    return puts(shared.why);
  for (int t = 0; t < THREADS; t++)
    if (pthread_create(&thread[t], NULL, call, NULL))
      return puts("there is no thread");
  for (int t = 0; t < THREADS; t++) {
    void *one;
    pthread_join(thread[t], &one);
    wrong += (size_t)one;
  }
  return wrong != 0;
}
