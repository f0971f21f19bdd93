/* math_samples.c - the vector mathematics where not every argument can be tried: all functions in f64, and those of
 * two arguments in f32 too, against MPFR.
 *
 *   math-samples [--seed N] [--count N] [FUNCTION]...
 *
 * Tries so many arguments of each function: any bits, and numbers of the sizes at which the function has something to
 * do; and all pairs of special values. One line for each function, type and instruction set; the last line says
 * "N passed, N failed"; exit status 0 only when something passed and nothing failed. */
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/cpu.h"
#include "math_functions.h"

enum { BLOCK = 1 << 12, PRECISION = 160 };

/* A type: where its units end, its largest number's exponent, its digits. */
typedef struct format {
  const char *name;
  lathe_dtype dtype;
  int least, most, digits;
} format;

static const format formats[] = {{"f32", LATHE_F32, -126, 127, 24},
                                 {"f64", LATHE_F64, -1022, 1023, 53}};

/* Arguments, as double whatever the type is, and what is expected of them. */
static double first[BLOCK], second[BLOCK];
static long double expected[BLOCK];

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t state;

/* xorshift64* (Vigna 2016). */
static uint64_t next(void) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1du;
}

/* In [0, 1). */
static double unit(void) {
  return (double)(next() >> 11) * 0x1p-53;
}

static double between(double low, double high) {
  return low + (high - low) * unit();
}

static double any_bits(const format *t) {
  const uint64_t bits = next();
  double wide;
  float narrow;

  if (t->dtype == LATHE_F64)
    return memcpy(&wide, &bits, sizeof wide), wide;
  return memcpy(&narrow, &bits, sizeof narrow), narrow;
}

static double rounded(const format *t, double x) {
  return t->dtype == LATHE_F64 ? x : (float)x;
}

static double signed_power(double low, double high) {
  return (next() & 1 ? 1 : -1) * exp2(between(low, high));
}

/* ---- what is tried --------------------------------------------------------------------------- */

static const double special[] = {0,
                                 1,
                                 2,
                                 3,
                                 0.5,
                                 1.5,
                                 1.0 / 3,
                                 1e6,
                                 1e30,
                                 0x1p-30,
                                 127,
                                 1024,
                                 16777215,
                                 16777216,
                                 16777217,
                                 1e17,
                                 1e-30,
                                 1e15,
                                 1e-45,
                                 0x1p-149,
                                 0x1p-126,
                                 INFINITY,
                                 NAN,
                                 0x1p-1074,
                                 1e308,
                                 0x1p53,
                                 0x1.fffffep127,
                                 0x1p52 + 1,
                                 0x1.6ac5b262ca1ffp+849};
enum { SPECIAL = sizeof special / sizeof *special };

static double special_value(size_t k) {
  return k % 2 ? -special[k / 2] : special[k / 2];
}

/* One argument: any bits, an ordinary number, or one next to a multiple of pi / 2 or ln(2) / 2. */
static double sample(const format *t) {
  switch (next() % 4) {
  case 0: return any_bits(t);
  case 1: return between(-40, 40);
  case 2: return rint(signed_power(0, 30)) * (next() & 1 ? M_PI_2 : M_LN2 / 2);
  default: return signed_power(-60, 11);
  }
}

/* Two arguments: any bits; of pow a power in the type's range, and a base near 1; numbers of near sizes; small numbers
 * in halves. */
static void sample_pair(const format *t, double *x, double *y) {
  switch (next() % 5) {
  case 0:
    *x = any_bits(t);
    *y = any_bits(t);
    break;
  case 1:
    *x = rounded(t, fabs(any_bits(t)));
    *y = between(1.02 * (t->least - t->digits), 1.02 * t->most) / log2(*x);
    break;
  case 2:
    *x = rounded(t, 1 + signed_power(-t->digits, -1));
    *y = between(t->least - t->digits, t->most) / log2(*x);
    break;
  case 3:
    *x = rounded(t, signed_power(t->least, t->most));
    *y = *x * between(-4, 4);
    break;
  default: *x = rint(between(-30, 30)) / 2; *y = rint(between(-60, 60)) / 2;
  }
}

static const math_function of_two[] = {{"atan2", .exact_of_two = mpfr_atan2},
                                       {"hypot", .exact_of_two = mpfr_hypot},
                                       {"pow", .exact_of_two = mpfr_pow}};
enum { OF_TWO = sizeof of_two / sizeof *of_two };

/* ---- errors ---------------------------------------------------------------------------------- */

/* In units of the last place; infinite where a result is of the wrong kind. */
static long double error_of(const format *t, double got, long double want) {
  const long double beyond = ldexpl(1, t->most + 1);
  int exponent;

  if (isnan(got) || isnan(want))
    return isnan(got) && isnan(want) ? 0 : INFINITY;
  if (isinf(want))
    return got == want ? 0 : INFINITY;
  if (want == 0 && got == 0)
    return !signbit(want) == !signbit(got) ? 0 : INFINITY;
  /* Infinity stands for what is one unit beyond the largest value. */
  if (fabsl(want) > beyond)
    want = copysignl(beyond, want);
  frexpl(want, &exponent);
  exponent = exponent - 1 < t->least ? t->least : exponent - 1 > t->most ? t->most : exponent - 1;
  return fabsl((isinf(got) ? copysignl(beyond, got) : got) - want) *
         ldexpl(1, t->digits - 1 - exponent);
}

/* What one kernel was found to be. */
typedef struct finding {
  const lathe_variant *kernel;
  long double ulp;
  double x, y, got;
  size_t wrong;
} finding;

enum { BACKENDS = 16 };

static void try_kernel(const format *t, finding *found, size_t count, bool pair) {
  static double wide[3][BLOCK];
  static float narrow[3][BLOCK];
  const bool is_wide = t->dtype == LATHE_F64;
  const double bound = math_bound(found->kernel->op, t->dtype);
  lathe_args args = {.dim = {count}};

  for (int b = 0; b < 3; b++)
    args.buf[b] =
        is_wide ? (void *)wide[b == 1 && !pair ? 2 : b] : (void *)narrow[b == 1 && !pair ? 2 : b];
  for (size_t i = 0; i < count; i++) {
    wide[0][i] = first[i], wide[1][i] = second[i];
    narrow[0][i] = (float)first[i], narrow[1][i] = (float)second[i];
  }
  found->kernel->run(&args);
  for (size_t i = 0; i < count; i++) {
    const double got = is_wide ? wide[2][i] : narrow[2][i];
    const long double error = error_of(t, got, expected[i]);
    found->wrong += !(error <= bound);
    if (error > found->ulp) {
      found->ulp = error;
      found->x = first[i], found->y = second[i], found->got = got;
    }
  }
}

/* Fills in what is expected of `count` arguments. Results below every number stay what they are: MPFR's are of any
 * size, but too large and too small for long double they become infinity and zero. */
static void expect(const math_function *f, size_t count) {
  static mpfr_t x, y;
  static bool ready;

  if (!ready)
    mpfr_inits2(PRECISION, x, y, (mpfr_ptr)0);
  ready = true;
  for (size_t i = 0; i < count; i++) {
    mpfr_set_d(x, first[i], MPFR_RNDN);
    mpfr_set_d(y, second[i], MPFR_RNDN);
    if (f->exact)
      f->exact(y, x, MPFR_RNDN);
    else
      f->exact_of_two(y, x, y, MPFR_RNDN);
    expected[i] = mpfr_get_ld(y, MPFR_RNDN);
  }
}

/* Fills in arguments from number `from` on; returns how many. */
static size_t fill(const format *t, bool pair, size_t from, size_t total) {
  const size_t specials = pair ? 4 * SPECIAL * SPECIAL : 2 * SPECIAL;
  size_t count = 0;

  for (size_t k = from; k < specials + total && count < BLOCK; k++, count++) {
    if (k < specials) {
      first[count] = special_value(k % (2 * SPECIAL));
      second[count] = special_value(k / (2 * SPECIAL));
    } else if (pair) {
      sample_pair(t, &first[count], &second[count]);
    } else {
      first[count] = sample(t);
    }
    first[count] = rounded(t, first[count]);
    second[count] = pair ? rounded(t, second[count]) : 0;
  }
  return count;
}

/* Tries a function; adds to how many kernels passed and failed. */
static void try_function(const math_function *f, const format *t, size_t total, int *passed,
                         int *failed) {
  const bool pair = f->exact_of_two;
  finding found[BACKENDS] = {0};
  size_t count;

  for (size_t b = 0; b < lathe_backend_count && b < BACKENDS; b++) {
    const lathe_variant probe = {.backend = &lathe_backends[b]};
    if (!lathe_why_not(&probe, lathe_cpu_features()))
      found[b].kernel = math_kernel(f->name, probe.backend, t->dtype);
  }
  for (size_t from = 0; (count = fill(t, pair, from, total)) > 0; from += count) {
    expect(f, count);
    for (int b = 0; b < BACKENDS; b++)
      if (found[b].kernel)
        try_kernel(t, &found[b], count, pair);
  }
  for (int b = 0; b < BACKENDS; b++) {
    const finding *k = &found[b];
    if (!k->kernel)
      continue;
    printf("%s %-8s %s %-8s %.4Lf ulp of %g at %a", k->wrong ? "FAILED" : "ok    ", f->name,
           t->name, k->kernel->backend->name, k->ulp, math_bound(k->kernel->op, t->dtype), k->x);
    if (pair)
      printf(", %a", k->y);
    printf(", where it is %a", k->got);
    if (k->wrong)
      printf("; %zu results are worse", k->wrong);
    putchar('\n');
    *passed += !k->wrong;
    *failed += k->wrong > 0;
  }
}

static unsigned long long number(const char *text) {
  char *end;
  const unsigned long long n = strtoull(text, &end, 10);

  if (*end || n < 1) {
    fprintf(stderr, "math-samples: expected a number from 1 on, found '%s'\n", text);
    exit(2);
  }
  return n;
}

int main(int argc, char **argv) {
  static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                          {"count", required_argument, NULL, 'c'},
                                          {NULL, 0, NULL, 0}};
  size_t total = 20000;
  int c, passed = 0, failed = 0;

  state = 20261123;
  while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
    switch (c) {
    case 's': state = number(optarg); break;
    case 'c': total = number(optarg); break;
    default: exit(2);
    }
  printf("seed %llu\n", (unsigned long long)state);
  for (int k = 0; k < MATH_FUNCTIONS + OF_TWO; k++) {
    const math_function *f = k < MATH_FUNCTIONS ? &math_functions[k] : &of_two[k - MATH_FUNCTIONS];
    bool wanted = optind == argc;
    for (int i = optind; i < argc; i++)
      wanted = wanted || strcmp(argv[i], f->name) == 0;
    for (size_t t = f->exact ? 1 : 0; wanted && t < sizeof formats / sizeof *formats; t++)
      try_function(f, &formats[t], f->exact ? total : 4 * total, &passed, &failed);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return passed > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
