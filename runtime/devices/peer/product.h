/* product.h - which product of matrices an op is: of its operands' dimensions follows which matrix is transposed. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "library/dispatch.h"

typedef struct product {
  int batch, m, n, k; /* where the extents stand in the op's dimensions; batch: -1 for none */
  bool a_transposed, b_transposed;
} product;

/* The expected form of an op whose spec has `blas` among its peers, for a row of one that is something else. */
extern const char product_expected[];

/* False where the op is no product of its first two operands, or of each pair of a batch of them. */
bool product_of(const lathe_op *op, product *p);

size_t product_batch(const product *p, const size_t *dim);

#endif
