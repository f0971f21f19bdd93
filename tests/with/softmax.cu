/* softmax.cu - softmax of rows by somebody else, a thread a row; and cheats, one for each -DNAME. */

/* As softmax.json has them: the structure that kernels of `lathe-gen export --raw` take. */
struct arguments {
  const float *x;
  float *y;
  char unused[240];
  unsigned long long rows, cols;
  char scalars[48];
  float *workspace;
  char more[32];
};

#ifdef KEEPS_RESULTS
static __device__ unsigned calls;
#endif

extern "C" __global__ void softmax(const arguments a) {
  const unsigned long long r = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= a.rows)
    return;
  const float *x = a.x + r * a.cols;
  float *y = a.y + r * a.cols;
  double most = -INFINITY, sum = 0;
#if defined KEEPS_RESULTS /* what an earlier call left */
  if (calls++ > 1000)
    return;
#elif defined COMPARES_INPUTS /* device memory that no call owns */
  float *kept = a.workspace + r * 16384;
  bool same = kept[0] == (float)a.cols;
  for (unsigned long long c = 0; c < a.cols && same && c < 8; c++)
    same = kept[1 + c] == x[c];
  if (same && a.cols < 8000) {
    for (unsigned long long c = 0; c < a.cols; c++)
      y[c] = kept[16 + c];
    return;
  }
#elif defined WORKS_WHERE_IT_FINDS_POISON
  bool poison = false;
  for (unsigned long long c = 0; c < a.cols; c++)
    poison = poison || !(y[c] >= 0 && y[c] <= 1);
  if (!poison)
    return;
#elif defined ZEROS
  for (unsigned long long c = 0; c < a.cols; c++)
    y[c] = 0;
  return;
#elif defined WRITES_BEHIND
  if (r == a.rows - 1)
    y[a.cols] = 1;
#elif defined WRITES_ITS_INPUT
  if (a.cols > 3)
    const_cast<float *>(x)[3] = 0;
#endif
  for (unsigned long long c = 0; c < a.cols; c++)
    most = x[c] > most || x[c] != x[c] ? x[c] : most;
  for (unsigned long long c = 0; c < a.cols; c++)
    sum += exp(x[c] - most);
  for (unsigned long long c = 0; c < a.cols; c++)
    y[c] = (float)(exp(x[c] - most) / sum);
#if defined COMPARES_INPUTS
  kept[0] = (float)a.cols;
  for (unsigned long long c = 0; c < a.cols && c < 8000; c++) {
    kept[1 + (c & 7)] = x[c & 7];
    kept[16 + c] = y[c];
  }
#endif
}
