/* ruler_loops.h - the loops of ruler.c, for one instruction set: MEASURE names the function, TARGET says what it is
 * compiled for. They have no branches, so that compilers make vectors of them. */

static TARGET bool MEASURE(const ruler *r, const double *got, const double *expected,
                           const double *magnitude, size_t count, ruler_sums *sums) {
  double worst[LANES] = {0}, off[LANES] = {0}, all[LANES] = {0}, magnitudes[LANES] = {0},
         fourth[LANES] = {0};
  /* Sizes in order are bits in order, and NaN is beyond all: what is odd has the highest bit. */
  const uint64_t largest = double_bits(r->largest), finite = double_bits(DBL_MAX);
  uint64_t odd = 0;

  for (size_t i = 0; i < count; i++) {
    const uint64_t a = double_bits(got[i]), b = double_bits(expected[i]);
    const uint64_t size_a = a & INT64_MAX, size_b = b & INT64_MAX;
    odd |= (largest - size_a) | (largest - size_b) |
           (finite - (double_bits(magnitude[i]) & INT64_MAX));
    odd |= ((size_a | size_b) - 1) & (a ^ b); /* zeros of two signs */
  }
  if (odd >> 63)
    return false;
  for (size_t start = 0; start < count; start += LANES) {
    const size_t some = count - start < LANES ? count - start : LANES;
    for (size_t lane = 0; lane < some; lane++) {
      const size_t i = start + lane;
      const double at = fabs(expected[i]), most = larger(magnitude[i], at);
      const double apart = got[i] - expected[i], square = most * most;
      const double stored = r->stored_unit * power_below(larger(at, r->stored_least));
      const double computed =
          r->computed_unit *
          power_below(larger(larger(at, smaller(magnitude[i], r->most)), r->computed_least));
      const double error = r->times * fabs(apart) / (r->stored * stored + r->computed * computed);
      worst[lane] = larger(worst[lane], error);
      off[lane] += apart * apart;
      all[lane] += expected[i] * expected[i];
      magnitudes[lane] += square;
      fourth[lane] += square * square;
    }
  }
  *sums = (ruler_sums){0};
  for (int lane = 0; lane < LANES; lane++) {
    sums->worst = larger(sums->worst, worst[lane]);
    sums->off += off[lane];
    sums->expected += all[lane];
    sums->magnitude += magnitudes[lane];
    sums->fourth += fourth[lane];
  }
  return true;
}

#undef MEASURE
#undef TARGET
