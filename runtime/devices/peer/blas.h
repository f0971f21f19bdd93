/* blas.h - products of matrices by the OpenBLAS that this machine has, which is opened when it is first called. */
#ifndef BLAS_H
#define BLAS_H

#include "library/dispatch.h"

/* The call of OpenBLAS that computes an op whose spec has `blas` among its peers: of the operands' dimensions follows
 * which matrix is transposed. Null with the reason in why, static, where there is none for the op or the type, or no
 * OpenBLAS. */
lathe_fn *blas_function(const lathe_op *op, lathe_dtype dtype, const char **why);

#endif
