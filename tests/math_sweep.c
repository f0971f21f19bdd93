/* math_sweep.c - the vector mathematics in f32 against MPFR.
 *
 *   math-sweep [--all] [--jobs N] [--backend NAME]... [FUNCTION]...
 *
 * Tries about two million arguments: every so many bit patterns, and all those near points where
 * a function or its program changes its ways; or, with --all, each of the 2^32 there are. A
 * result is first compared with the C library's in double, which is good to some 2^-28 units of
 * the last place of f32; MPFR is asked where that leaves doubt: near the bound, and for each new
 * largest error. One line for each function and instruction set; the last line says
 * "N passed, N failed"; exit status 0 only when something passed and nothing failed. */
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library/cpu.h"
#include "math_functions.h"

enum {
  BLOCK = 1 << 14,   /* arguments tried at a time */
  NEAR = 300,        /* patterns on each side of a special point */
  SAMPLES = 1 << 20, /* patterns spread over all of them */
  ASK_ANYWAY = 997,  /* one of so many sampled results goes to MPFR in any case */
  BACKENDS = 16,
  PRECISION = 128,
};

/* The most that double may be off, in units of the last place of f32: eight of its own. */
static const double doubt = 0x1p-26;

/* What one process found out about one kernel. */
typedef struct finding {
  double ulp;           /* the largest error */
  float at, got;        /* where it is, and what came out there */
  uint64_t wrong;       /* results beyond the bound */
  uint64_t disbelieved; /* results where double was further off than we think it can be */
} finding;

static struct {
  bool all;
  long jobs;
  bool function[MATH_FUNCTIONS];                         /* wanted */
  const lathe_variant *kernel[MATH_FUNCTIONS][BACKENDS]; /* null: not wanted, or not here */
} plan;

/* ---- errors ---------------------------------------------------------------------------------- */

/* The exponent that gives the unit: that of the value, or of the smallest normal number. */
static int unit_exponent(int exponent) {
  return (exponent < -126 ? -126 : exponent) - 23;
}

static int exponent_of(double value) {
  uint64_t bits;

  memcpy(&bits, &value, sizeof bits);
  return (int)(bits >> 52 & 0x7ff) - 1023;
}

/* 2^-e, without a call: e is between -149 and 104. */
static double inverse_unit(int e) {
  const uint64_t bits = (uint64_t)(1023 - e) << 52;
  double value;

  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The error of a result against double's; infinite where it is of the wrong kind. */
static double rough_error(float got, double expected) {
  const double beyond = 0x1p128, size = fabs(expected);

  if (isnan(got) || isnan(expected))
    return isnan(got) && isnan(expected) ? 0 : INFINITY;
  if (isinf(expected))
    return got == expected ? 0 : INFINITY;
  if (size >= beyond || isinf(got)) {
    /* Infinity stands for what is one unit beyond the largest value. */
    const double a = isinf(got) ? copysign(beyond, got) : got;
    const double b = size >= beyond ? copysign(beyond, expected) : expected;
    return fabs(a - b) * 0x1p-104;
  }
  if (expected == 0 && got == 0)
    return !signbit(expected) == !signbit(got) ? 0 : INFINITY;
  return fabs(got - expected) * inverse_unit(unit_exponent(exponent_of(expected)));
}

/* The same against MPFR, for a finite result of a finite value that is not zero. */
static double exact_error(const math_function *f, float x, float got) {
  static mpfr_t y;
  static bool ready;
  int unit;

  if (!ready)
    mpfr_init2(y, PRECISION);
  ready = true;
  mpfr_set_flt(y, x, MPFR_RNDN);
  f->exact(y, y, MPFR_RNDN);
  unit = mpfr_zero_p(y) ? unit_exponent(-126) : unit_exponent((int)mpfr_get_exp(y) - 1);
  mpfr_sub_d(y, y, got, MPFR_RNDN);
  mpfr_mul_2si(y, y, -unit, MPFR_RNDN);
  return fabs(mpfr_get_d(y, MPFR_RNDN));
}

static void judge(const math_function *f, double bound, float x, float got, double expected,
                  bool ask, finding *found) {
  double error = rough_error(got, expected);

  if (error > found->ulp - doubt || fabs(error - bound) < doubt || ask) {
    if (isfinite(error) && isfinite(got) && isfinite(expected) && expected != 0) {
      const double exact = exact_error(f, x, got);
      found->disbelieved += fabs(exact - error) > doubt * fmax(1, error);
      error = exact;
    }
    if (error > found->ulp) {
      found->ulp = error;
      found->at = x;
      found->got = got;
    }
  }
  found->wrong += !(error <= bound);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static float float_of(uint32_t bits) {
  float x;

  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint32_t bits_of(float x) {
  uint32_t bits;

  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Arguments on their way to the kernels. */
typedef struct batch {
  float x[BLOCK], y[BLOCK];
  size_t count;
  finding (*found)[BACKENDS];
} batch;

/* Tries one kernel, whose function's values are expected. */
static void try_kernel(batch *b, int f, int k, const double *expected) {
  static uint64_t tried;
  const lathe_variant *v = plan.kernel[f][k];
  const lathe_args args = {.buf = {b->x, b->y}, .dim = {b->count}};
  const double bound = math_bound(v->op, LATHE_F32);

  v->run(&args);
  for (size_t i = 0; i < b->count; i++)
    judge(&math_functions[f], bound, b->x[i], b->y[i], expected[i],
          !plan.all && tried++ % ASK_ANYWAY == 0, &b->found[f][k]);
}

static void try_batch(batch *b) {
  static double expected[BLOCK];

  for (int f = 0; f < MATH_FUNCTIONS; f++) {
    if (!plan.function[f])
      continue;
    for (size_t i = 0; i < b->count; i++)
      expected[i] = math_functions[f].approximate(b->x[i]);
    for (int k = 0; k < BACKENDS; k++)
      if (plan.kernel[f][k])
        try_kernel(b, f, k, expected);
  }
  b->count = 0;
}

static void add(batch *b, uint32_t bits) {
  b->x[b->count++] = float_of(bits);
  if (b->count == BLOCK)
    try_batch(b);
}

/* All patterns near a point, and near its negative. */
static void add_near(batch *b, float point) {
  const uint32_t middle = bits_of(fabsf(point));

  for (uint32_t i = 0; i <= 2 * NEAR; i++) {
    add(b, middle - NEAR + i);
    add(b, (middle - NEAR + i) ^ 0x80000000u);
  }
}

/* The patterns next to a point. */
static void add_few(batch *b, float point) {
  for (uint32_t i = 0; i < 3; i++)
    add(b, bits_of(point) - 1 + i);
}

static void add_special_points(batch *b) {
  /* Where f32 results end: exp at 88.72, -87.34, -103.97; tanh is 1 from 9.01, erf from 3.92,
   * erfc is 0 from 10.06, sigmoid 1 from 17; and where programs change their ways: sin and cos
   * at 6430. sinh and cosh end at 89.416, and asinh and acosh are logarithms above 2^60. */
  static const float points[] = {
      0,           INFINITY,    NAN,         0x1.fffffep127f, 88.722839f,
      87.336548f,  103.97208f,  104,         9.0109129f,      8.3177662f,
      3.9192059f,  10.0546875f, 17.32868f,   149.5f,          150,
      0.70710678f, 1.4142136f,  0.41421356f, 0.29289323f,     0.84375f,
      1.25f,       0.921875f,   0.34657359f, 1.0397208f,      0.625f,
      89.415986f,  0.5f,        1,           0.55f,           1e-4f,
      1e-8f,       6430,
  };

  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    add_near(b, points[i]);
  for (int e = -149; e <= 127; e++)
    add_near(b, ldexpf(1, e));
  /* The middles between whole powers: where an argument is reduced to the next one. */
  for (int k = 0; k <= 150; k++) {
    add_near(b, (float)((k + 0.5) * M_LN2));
    add_near(b, (float)((k + 0.5) * M_LN2 / 2));
    add_near(b, (float)k + 0.5f);
  }
  /* Where sin and cos are next to zero. */
  for (int k = 1; k <= 4200; k++)
    add_few(b, (float)(k * M_PI_2));
}

/* The share of one of the processes. Each begins with the special points, so that it knows large
 * errors from the start and asks MPFR seldom; those of one process count. */
static void sweep(long job, finding (*found)[BACKENDS]) {
  const uint64_t patterns = 1ull << 32, step = plan.all ? 1 : patterns / SAMPLES;
  static batch b;

  b.found = found;
  add_special_points(&b);
  try_batch(&b);
  for (int f = 0; f < MATH_FUNCTIONS; f++)
    for (int k = 0; k < BACKENDS; k++)
      if (job > 0 || plan.all)
        found[f][k].wrong = 0;
  for (uint64_t block = 0; block < patterns / (BLOCK * step); block++) {
    if ((long)(block % (uint64_t)plan.jobs) != job)
      continue;
    /* An odd offset, for other last bits than zeros. */
    for (uint64_t i = 0; i < BLOCK; i++)
      add(&b, (uint32_t)((block * BLOCK + i) * step + (plan.all ? 0 : (i * 2654435761u) % step)));
    if (job == 0 && block % 1024 == 0 && isatty(STDERR_FILENO))
      fprintf(stderr, "\r%3.0f %%", 100.0 * (double)(block * BLOCK * step) / (double)patterns);
  }
  try_batch(&b);
  if (job == 0 && isatty(STDERR_FILENO))
    fputs("\r\033[K", stderr);
}

/* ---- processes and the report ---------------------------------------------------------------- */

/* Runs all processes; false where one of them failed. What job j found is at found[j]. */
static bool run(finding (*found)[MATH_FUNCTIONS][BACKENDS]) {
  bool ok = true;
  int status;

  fflush(NULL);
  for (long job = 0; job < plan.jobs; job++) {
    const pid_t child = fork();
    if (child == 0) {
      sweep(job, found[job]);
      _exit(0);
    }
    ok = ok && child > 0;
  }
  while (wait(&status) > 0)
    ok = ok && status == 0;
  return ok;
}

/* One kernel's line; true where it is as good as its spec says. */
static bool report(const math_function *f, const lathe_variant *v,
                   finding (*found)[MATH_FUNCTIONS][BACKENDS], int k) {
  const ptrdiff_t index = f - math_functions;
  const double bound = math_bound(v->op, LATHE_F32);
  finding all = found[0][index][k];
  bool good;

  for (long job = 1; job < plan.jobs; job++) {
    const finding *other = &found[job][index][k];
    const uint64_t wrong = all.wrong + other->wrong;
    const uint64_t disbelieved = all.disbelieved + other->disbelieved;
    if (other->ulp > all.ulp)
      all = *other;
    all.wrong = wrong;
    all.disbelieved = disbelieved;
  }
  good = all.wrong == 0 && all.disbelieved == 0;
  printf("%s %-8s %-8s %.4f ulp of %g at %a (%08x), where it is %a", good ? "ok    " : "FAILED",
         f->name, v->backend->name, all.ulp, bound, all.at, bits_of(all.at), all.got);
  if (all.wrong)
    printf("; %llu results are worse", (unsigned long long)all.wrong);
  if (all.disbelieved)
    printf("; %llu results of the C library in double are not what they should be",
           (unsigned long long)all.disbelieved);
  putchar('\n');
  return good;
}

/* Whether a backend has kernels of functions of one element: a unit for products of matrices has none. */
static bool has_functions(const lathe_backend *backend) {
  for (size_t v = 0; v < lathe_variant_count; v++)
    if (lathe_variants[v].backend == backend &&
        strcmp(lathe_variants[v].op->template_name, "map") == 0)
      return true;
  return false;
}

/* Chooses the kernels of a backend, or says why it cannot run. Returns how many are missing. */
static int choose(size_t backend) {
  const lathe_variant probe = {.backend = &lathe_backends[backend]};
  const char *why = has_functions(probe.backend) ? lathe_why_not(&probe, lathe_cpu_features())
                                                 : "it has no functions of one element";
  int missing = 0;

  if (why)
    printf("skipped %s: %s\n", probe.backend->name, why);
  for (int f = 0; f < MATH_FUNCTIONS && !why; f++) {
    if (!plan.function[f])
      continue;
    plan.kernel[f][backend] = math_kernel(math_functions[f].name, probe.backend, LATHE_F32);
    if (!plan.kernel[f][backend]) {
      printf("FAILED %-8s %-8s there is no such kernel\n", math_functions[f].name,
             probe.backend->name);
      missing++;
    }
  }
  return missing;
}

static _Noreturn void refuse(const char *what, const char *word) {
  fprintf(stderr,
          "math-sweep: %s '%s'\n"
          "usage: math-sweep [--all] [--jobs N] [--backend NAME]... [FUNCTION]...\n",
          what, word);
  exit(2);
}

static void want_backend(bool wanted[BACKENDS], const char *name) {
  size_t b = 0;

  while (b < lathe_backend_count && strcmp(lathe_backends[b].name, name) != 0)
    b++;
  if (b == lathe_backend_count)
    refuse("unknown backend", name);
  wanted[b] = true;
}

static void want_function(const char *name) {
  int f = 0;

  while (f < MATH_FUNCTIONS && strcmp(math_functions[f].name, name) != 0)
    f++;
  if (f == MATH_FUNCTIONS)
    refuse("unknown function", name);
  plan.function[f] = true;
}

static long jobs_of(const char *text) {
  char *end;
  const long jobs = strtol(text, &end, 10);

  if (*end || jobs < 1 || jobs > 1024)
    refuse("--jobs takes a number from 1 to 1024, and was given", text);
  return jobs;
}

/* Fills in the plan; without --backend with all that can run here. Returns how many kernels are
 * missing. */
static int parse(int argc, char **argv) {
  static const struct option options[] = {{"all", no_argument, NULL, 'a'},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {"backend", required_argument, NULL, 'b'},
                                          {NULL, 0, NULL, 0}};
  bool backends[BACKENDS] = {false}, any = false;
  int c, missing = 0;

  plan.jobs = sysconf(_SC_NPROCESSORS_ONLN);
  while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
    switch (c) {
    case 'a': plan.all = true; break;
    case 'j': plan.jobs = jobs_of(optarg); break;
    case 'b': want_backend(backends, optarg), any = true; break;
    default: exit(2);
    }
  for (int i = optind; i < argc; i++)
    want_function(argv[i]);
  for (int f = 0; f < MATH_FUNCTIONS && optind == argc; f++)
    plan.function[f] = true;
  for (size_t b = 0; b < lathe_backend_count && b < BACKENDS; b++)
    if (backends[b] || !any)
      missing += choose(b);
  return missing;
}

int main(int argc, char **argv) {
  int passed = 0, failed = parse(argc, argv);
  finding(*found)[MATH_FUNCTIONS][BACKENDS];
  const size_t size = (size_t)plan.jobs * sizeof *found;

  found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED || !run(found)) {
    fprintf(stderr, "math-sweep: a process of the sweep did not end well\n");
    failed++;
  } else {
    for (int f = 0; f < MATH_FUNCTIONS; f++)
      for (int k = 0; k < BACKENDS; k++)
        if (plan.kernel[f][k]) {
          const bool good = report(&math_functions[f], plan.kernel[f][k], found, k);
          passed += good;
          failed += !good;
        }
  }
  printf("%d passed, %d failed\n", passed, failed);
  return passed > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
