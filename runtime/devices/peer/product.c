/* product.c - which product of matrices an op is. */
#include "product.h"

const char product_expected[] = "expected of a spec with peers.blas a product of two matrices";

/* Whether a matrix has these dimensions, or with *transposed these the other way round. */
static bool has(const int *dim, int rows, int columns, bool *transposed) {
  *transposed = dim[0] == columns;
  return dim[*transposed] == rows && dim[!*transposed] == columns;
}

bool product_of(const lathe_op *op, product *p) {
  enum { MATRICES = 3 };
  const lathe_operand *o = op->operands;
  const int batched = op->ndim - 3;
  int sum = 0;

  if (op->noperands != MATRICES || batched < 0 || batched > 1 || op->nscalars > 0)
    return false;
  p->batch = batched ? o[2].dim[0] : -1;
  for (int i = 0; i < MATRICES; i++)
    if (o[i].ndim != 2 + batched || (batched && o[i].dim[0] != p->batch))
      return false;
  for (int d = 0; d < op->ndim; d++)
    sum += d;
  p->m = o[2].dim[batched];
  p->n = o[2].dim[batched + 1];
  p->k = sum - p->m - p->n - (batched ? p->batch : 0);
  return has(o[0].dim + batched, p->m, p->k, &p->a_transposed) &&
         has(o[1].dim + batched, p->k, p->n, &p->b_transposed);
}

size_t product_batch(const product *p, const size_t *dim) {
  return p->batch < 0 ? 1 : dim[p->batch];
}
