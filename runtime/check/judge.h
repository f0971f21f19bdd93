/* judge.h - is an output of a problem right? Two laws, which hold for every kernel alike.
 *
 * The first is for each element. A floating result is right where it is off by no more than
 *
 *     bound * spacing(computed type, magnitude) + half a spacing(stored type, reference)
 *
 * where bound is the spec's `ulp`; the spacing of a type's numbers at a value is never below that at its smallest
 * normal number; the second term is there where results are rounded once more, to a type narrower than the one
 * computed in (f16 and bf16 are computed in f32). The magnitude is that of the reference or of what rounding may put
 * it off in units of one rounding (gen/trace/magnitude.lua), whichever is larger. A bound of 0 allows nothing at all. A
 * reference beyond the largest finite value is taken as the infinity that it rounds to, one unit beyond; NaN must be
 * NaN, a true infinity the same infinity, and a true zero, where nothing cancels, of the same sign unless the op
 * says otherwise. Where a magnitude is infinite nothing can be said of the element: a divisor may be zero, or
 * something on the way is beyond the range of the type, and the reference's is wider. Where the order of evaluation
 * says which of zeros of both signs is the largest, or their sum, or what the sign of a NaN is, either is right, and
 * what copysign or a quotient makes of either: a magnitude is as large as that (gen/trace/zero.lua).
 *
 * The second is for an output as a whole. Rounding errors do not all point one way, nor are all as large as they
 * may be, as those of a wrong formula are. So in the 2-norm all elements together are off by no more than
 *
 *     unit of the computed type * min(share * |magnitude|, max(84 * |reference|, usual * |magnitude|))
 *         + half a unit of the stored type * |reference|
 *
 * share: of few elements the bound, of many a half; (0.5 + 1.5 bound / sqrt(n)) where n elements of one magnitude would
 * have such norms. usual: the same with n for its root. Elements that are equal, as where a mean of a row is handed out
 * at each of its points, have one error and count as one; and so does what all elements of a row are off by together,
 * in proportion to their magnitudes, as what is computed once for the row makes them. 84 units are 1e-5 in f32. Where a
 * variant rounds what is between two products, and inputs are special values, so few that most of these roundings are
 * the same, n is 1.
 *
 * What is rounded to integers (i8, u8) is judged by the first law alone, with half a unit of 1, and by the number of
 * the type's range that is nearest to the reference; 0 for NaN. So it is the nearest integer, or the next where the
 * bound leaves open on which side of a tie the number is.
 *
 * Indexes must be equal, but for the index of a largest or smallest term that is rounded
 * (lathe_bench.rounded_terms): the first of those that a kernel's precision makes equal may be another, and is right
 * where its term and the reference's differ by no more than if both were as far off as the bound, or half a unit
 * where that is less; so that NaN is still found where it is first.
 *
 * What kernels may do besides (problem_leeway) is asked of an element that is wrong without it. On a device that may
 * count numbers below the normal range as zero (device.may_flush), every operation may be off by the smallest normal
 * number: by what its graph makes of that an element may be off. Or it is the result, as far off, of the inputs with
 * those numbers replaced by zero. A result that counts as zero is off by less than that smallest number. Of a variant
 * that rounds products to fewer digits, values meet at its errors: max, select and floor are as far off as either
 * branch. */
#ifndef JUDGE_H
#define JUDGE_H

#include "problem/problem.h"

/* Of one output. Errors are told in units of the last place of its type: `worst` is the bound where an element is
 * off by as much as the first law allows. */
typedef struct judgement {
  double bound;
  double worst;  /* the largest error */
  size_t wrong;  /* how many elements are beyond the bound */
  size_t at;     /* the first of them */
  double at_ulp; /* its error */
  size_t
      unlike; /* how many of them are NaN or infinite, where the right result is not, or the other way round */
  size_t unjudged; /* elements of which nothing can be said */
  double off,
      off_allowed; /* the second law: shares of the result's 2-norm; 0 where it does not apply */
} judgement;

/* The most that a result of an op in a type may be off, in the units of judgement.worst. */
double judge_bound(const lathe_op *op, lathe_dtype dtype);

/* got: in the output's own type. views: what the problem may be to the kernel besides; null for nothing. */
judgement judge_output(const problem *p, const problem_views *views, int output, const void *got);

/* The same of a variant that rounds products to so many digits, where that is not 0: the type computed in has
 * no more. */
judgement judge_products(const problem *p, int digits, const problem_views *views, int output,
                         const void *got);
bool judge_is_right(const judgement *j);

/* Whether what is wrong is no more than the op's roughest operation may be off by itself, but more than the spec's
 * bound: then that may be too tight. */
bool judge_may_be_spec(const lathe_op *op, lathe_dtype dtype, const judgement *j);

/* Whether `factor` times the right result would pass for right. A floating output alone. */
bool judge_lets_pass(const problem *p, int output, double factor);

#endif
