/* right.c - softmax of rows, and other ops, by somebody else: one way for each -DNAME, all of them right. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static double larger(double a, double b) {
  return a > b || isnan(a) ? a : b;
}

#ifdef SHARED_BY_THREADS /* of which there is one */
int softmax_f32(const float *x, float *y, size_t rows, size_t cols) {
#pragma omp parallel for
  for (size_t r = 0; r < rows; r++) {
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < cols; c++)
      most = larger(x[r * cols + c], most);
    for (size_t c = 0; c < cols; c++)
      sum += exp(x[r * cols + c] - most);
    for (size_t c = 0; c < cols; c++)
      y[r * cols + c] = (float)(exp(x[r * cols + c] - most) / sum);
  }
  return 0;
}
#else
int softmax_f32(const float *x, float *y, size_t rows, size_t cols) {
  for (size_t r = 0; r < rows; r++, x += cols, y += cols) {
#if defined ONLINE      /* the largest and the sum in one pass */
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < cols; c++) {
      const double now = larger(x[c], most);
      sum = sum * (now == most ? 1 : exp(most - now)) + (x[c] == -INFINITY ? 0 : exp(x[c] - now));
      most = now;
    }
    for (size_t c = 0; c < cols; c++)
      y[c] = (float)(exp(x[c] - most) / sum);
#elif defined BACKWARDS /* from the last element to the first */
    double most = -INFINITY, sum = 0;
    for (size_t c = cols; c-- > 0;)
      most = larger(x[c], most);
    for (size_t c = cols; c-- > 0;)
      sum += exp(x[c] - most);
    for (size_t c = cols; c-- > 0;)
      y[c] = (float)(exp(x[c] - most) / sum);
#elif defined SINGLE    /* in f32 throughout, sums of eight */
    float most = -INFINITY, sums[8] = {0}, sum = 0;
    for (size_t c = 0; c < cols; c++)
      most = (float)larger(x[c], most);
    for (size_t c = 0; c < cols; c++) {
      y[c] = expf(x[c] - most);
      sums[c % 8] += y[c];
    }
    for (int i = 0; i < 8; i++)
      sum += sums[i];
    for (size_t c = 0; c < cols; c++)
      y[c] /= sum;
#elif defined ALLOCATES /* and gives back */
    double most = -INFINITY, sum = 0, *e = malloc((cols + 1) * sizeof *e);
    for (size_t c = 0; c < cols; c++)
      most = larger(x[c], most);
    for (size_t c = 0; c < cols; c++)
      sum += e[c] = exp(x[c] - most);
    for (size_t c = 0; c < cols; c++)
      y[c] = (float)(e[c] / sum);
    free(e);
#elif defined IN_PLACE  /* copies first, and works on its result */
    double most = -INFINITY, sum = 0;
    memmove(y, x, cols * sizeof *y);
    for (size_t c = 0; c < cols; c++)
      most = larger(y[c], most);
    for (size_t c = 0; c < cols; c++)
      sum += exp(y[c] - most);
    for (size_t c = 0; c < cols; c++)
      y[c] = (float)(exp(y[c] - most) / sum);
#else                   /* as it is written down */
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < cols; c++)
      most = larger(x[c], most);
    for (size_t c = 0; c < cols; c++)
      sum += exp(x[c] - most);
    for (size_t c = 0; c < cols; c++)
      y[c] = (float)(exp(x[c] - most) / sum);
#endif
  }
  return 0;
}

#endif

#if defined __FLT16_MANT_DIG__ && !defined __clang__
int softmax_f16(const uint16_t *x, uint16_t *y, size_t rows, size_t cols) {
  const _Float16 *from = (const void *)x;
  _Float16 *to = (void *)y;
  for (size_t r = 0; r < rows; r++, from += cols, to += cols) {
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < cols; c++)
      most = larger((double)from[c], most);
    for (size_t c = 0; c < cols; c++)
      sum += exp((double)from[c] - most);
    for (size_t c = 0; c < cols; c++)
      to[c] = (_Float16)(exp((double)from[c] - most) / sum);
  }
  return 0;
}
#endif

int sum_f32(const float *x, float *y, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += x[i];
  *y = (float)sum;
  return 0;
}

int gelu_f32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++)
    y[i] = (float)(0.5 * x[i] * erfc(-x[i] * sqrt(0.5)));
  return 0;
}

int lerp_f32(const float *x, const float *y, float *z, double t, size_t n) {
  for (size_t i = 0; i < n; i++)
    z[i] = x[i] + (float)t * (y[i] - x[i]);
  return 0;
}

/* With a workspace, which its library says the size of. */
size_t matmul_f32_workspace(size_t m, size_t n, size_t k) {
  (void)m, (void)k;
  return n * sizeof(double);
}

int matmul_f32(const float *a, const float *b, float *c, size_t m, size_t n, size_t k,
               void *workspace) {
  double *sums = workspace;
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++)
      sums[j] = 0;
    for (size_t l = 0; l < k; l++)
      for (size_t j = 0; j < n; j++)
        sums[j] += (double)a[i * k + l] * b[l * n + j];
    for (size_t j = 0; j < n; j++)
      c[i * n + j] = (float)sums[j];
  }
  return 0;
}
