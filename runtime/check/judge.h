/* judge.h - is an output of a problem right? Two laws, which hold for every kernel alike.
 *
 * The first is for each element. A floating result is right where it is off by no more than
 *
 *     bound * spacing(computed type, magnitude) + half a spacing(stored type, reference)
 *
 * bound: the spec's `ulp`; 0 allows nothing at all.
 * spacing: between a type's numbers at a value; below the smallest normal number it is the spacing there.
 * magnitude: the reference's own, or the error that rounding allows in units of one rounding (gen/trace/magnitude.lua),
 *   whichever is larger. Where it is infinite nothing can be said of the element: a divisor may be zero, or a value on
 *   the way is beyond the range of the type, and the reference's is wider.
 * half a spacing: where results are rounded once more, to a type narrower than the one computed in, as f16 and bf16
 * are.
 *
 * A reference beyond the largest finite value is taken as the infinity that it rounds to, one unit beyond. NaN must be
 * NaN, and a true infinity the same infinity. A true zero, where nothing cancels, must have the same sign unless the op
 * says otherwise. The order of evaluation may decide the sign of a zero or of a NaN. Then either is right, also in
 * results of copysign or a quotient: the magnitude is as large as their difference (gen/trace/zero.lua).
 *
 * The second is for an output as a whole. Rounding errors do not all point one way, nor are all as large as they may
 * be; the errors of a wrong formula do and are. So in the 2-norm all elements together are off by no more than
 *
 *     unit of the computed type * min(share * |magnitude|, max(84 * |reference|, usual * |magnitude|))
 *         + half a unit of the stored type * |reference|
 *
 * n: so many elements of one magnitude would have such norms.
 * share: 0.5 + 1.5 bound / sqrt(n), at most the bound: for few elements the bound, for many a half.
 * usual: the same with n in place of its root.
 * 84 units are 1e-5 in f32.
 *
 * Equal elements have one error and count as one, as where a mean of a row is handed out at each of its points. An
 * error that is computed once for a row counts as one too: it puts all elements of the row off together, in proportion
 * to their magnitudes. n is 1 where a variant rounds values between two products and inputs are special values: so few
 * that most of these roundings are the same.
 *
 * Results that are rounded to integers (i8, u8) are judged by the first law alone, with half a unit of 1. The reference
 * is the nearest number of the type's range, and 0 for NaN. So the nearest integer is right. The next one is right
 * where the bound leaves open on which side of a tie the number is.
 *
 * Indexes must be equal, with one exception: the index of a largest or smallest term that is rounded
 * (lathe_bench.rounded_terms). A kernel's precision may make several terms equal, and another may be the first. Its
 * index is right where both terms differ by no more than twice the bound, or twice half a unit where that is less. So
 * NaN is still found where it is first.
 *
 * An element that is wrong is judged again by the further liberties of its kernel (problem_leeway). A device may count
 * numbers below the normal range as zero (device.may_flush). Then every operation may be off by the smallest normal
 * number, and the element by the sum that its graph makes of these. Or it may be the result, as far off, of the inputs
 * with those numbers replaced by zero. A result that counts as zero is off by less than that smallest number. A variant
 * may round products to fewer digits. Then max, select and floor may take either branch where values meet at its
 * errors. */
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
  /* How many of them are NaN or infinite, where the right result is not, or the other way round. */
  size_t unlike;
  size_t unjudged; /* elements of which nothing can be said */
  /* The second law: shares of the result's 2-norm; 0 where it does not apply. */
  double off, off_allowed;
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
