/* arithmetic_loops.h - one instruction set's loop; arithmetic.c includes this once for each, with
 *   LOOP              the loop's name
 *   TARGET            what the compiler needs to be told of the instruction set
 *   vector, number    the type of a register, and of its elements
 *   SUMS              registers that are added to: enough that none waits for another
 *   SET(x) FMA(a, b, c)
 * No include guard: it is meant to come again. */

/* Every sum is s = s / 2 + 1, rounds times: near 2, in the middle of the range of numbers. Of whole numbers a half is
 * 0, and the sum is s = s + 0. */
TARGET static double LOOP(size_t rounds) {
  const vector half = SET((number)0.5), one = SET((number)1);
  vector sum[SUMS];
  number last[sizeof(vector) / sizeof(number)];
  double all = 0;

#pragma GCC unroll 32
  for (int i = 0; i < SUMS; i++)
    sum[i] = SET((number)i);
  for (size_t round = 0; round < rounds; round++) {
#pragma GCC unroll 32
    for (int i = 0; i < SUMS; i++)
      sum[i] = FMA(sum[i], half, one);
    __asm__ volatile("" : : : "memory"); /* each round is made */
  }
#pragma GCC unroll 32
  for (int i = 0; i < SUMS; i++) {
    memcpy(last, &sum[i], sizeof last);
    all += last[0];
  }
  return all;
}

#undef LOOP
#undef TARGET
#undef vector
#undef number
#undef SUMS
#undef SET
#undef FMA
