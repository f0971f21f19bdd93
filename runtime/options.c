/* options.c - the bench program's command line. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "random.h"

#ifndef LATHE_VERSION
#define LATHE_VERSION "0.1"
#endif

static const char help_text[] =
    "usage: bench [OPTION]...\n"
    "Checks the kernels that this machine can run against references in higher\n"
    "precision, times those that are right, and says which is fastest. Without\n"
    "options: every op, f32.\n"
    "\n"
    "What there is\n"
    "  --list-ops --list-sizes --list-backends --list-devices\n"
    "  --list-variants      why one cannot run here, where dispatch chooses it; with\n"
    "                         --json FILE, there what each cost to build\n"
    "\n"
    "What to run (comma lists; options of this kind narrow each other)\n"
    "  --op A,B             ops, or globs: --op 'norm_*'\n"
    "  --backend A,B        backends (avx2), or kinds of them (cpu)\n"
    "  --dtype D,...        f64 f32 f16 bf16, or all; f32 where there is a choice\n"
    "  --size S,...         a spec's size or set of sizes by name (large;\n"
    "                         --list-sizes), or\n"
    "                         4096  100K  2^20       the last dimension\n"
    "                         1024x2048              the last two\n"
    "                         rows=8xcols=512        by name; batch, sequence, width\n"
    "                                                are the last three of any op\n"
    "                                                (those before what is given\n"
    "                                                are 1)\n"
    "                         2^10:2^20              each power of two\n"
    "                         2^10:2^20:4            each second\n"
    "  --sweep              the sets 'sweep' of the specs, 2^4:2^22 where there is\n"
    "                         none; --size narrows it: --size batch=16xwidth=8:64\n"
    "  --variant GLOB       variants by name\n"
    "  --device D,...       devices by name\n"
    "\n"
    "How to measure\n"
    "  --fast               less time for each row\n"
    "  --warmup N           N calls before measuring, instead of by time\n"
    "  --iterations N       exactly N samples, instead of until the noise is low\n"
    "  --min-time SECONDS   measure each row at least this long\n"
    "  --max-noise PERCENT  stop when the median is known within this (1)\n"
    "  --timeout SECONDS    a row fails where a launch, or its driver, takes longer\n"
    "                         (60)\n"
    "  --in-process         use devices in this process, for debuggers and\n"
    "                         compute-sanitizer; a crash then ends the run\n"
    "  --check-only         do not measure\n"
    "\n"
    "How to check\n"
    "  --seed N             the inputs' seed, as an earlier run printed it\n"
    "  --special KIND,...   sprinkle nan, inf, zero (of both signs), denormal; does\n"
    "                         not measure; alone: one in a row; ties, narrow, small,\n"
    "                         scalars: drawn as the probe does\n"
    "  --in-place           the output on the input, where the op can; does not\n"
    "                         measure\n"
    "  --offset BYTES       start buffers so far from a 64-byte boundary, all but an\n"
    "                         op's first two twice as far; a multiple of the smallest\n"
    "                         elements' size, rounded up for larger ones\n"
    "  --page-end           end buffers where memory ends\n"
    "\n"
    "What to show\n"
    "  --rows               a line for each variant, as for one op alone\n"
    "  --json FILE          everything, in Google Benchmark's form\n"
    "  --csv FILE           one line for each row\n"
    "  --markdown FILE      a report to read\n"
    "                         one FILE may be -: standard output, and the table goes\n"
    "                         to standard error\n"
    "  --help --version\n"
    "\n"
    "Exit status: 0 all right, 1 a result was wrong or proves nothing, 2 a bad\n"
    "             request or output, 3 nothing can run here, 4 killed from outside,\n"
    "             128 + N signal N\n"
    "\n"
    "Examples\n"
    "  bench                                      a bit of everything\n"
    "  bench --op add,exp --size 100K             how two ops do at one size\n"
    "  bench --op sum --sweep --backend scalar,avx2   where vectors begin to pay\n"
    "  bench --op exp --variant '*avx2*' --min-time 1   one kernel, carefully\n"
    "  bench --check-only --dtype all             is everything right?\n"
    "  bench --json new.json                      for Google Benchmark's compare.py\n";

enum {
  OP = 256,
  BACKEND,
  DTYPE,
  SIZE,
  DEVICE,
  VARIANT,
  FAST,
  SWEEP,
  ROWS,
  WARMUP,
  ITERATIONS,
  MIN_TIME,
  MAX_NOISE,
  TIMEOUT,
  IN_PROCESS,
  SEED,
  CHECK_ONLY,
  SPECIAL,
  IN_PLACE,
  OFFSET,
  PAGE_END,
  JSON,
  CSV,
  MARKDOWN,
  HELP,
  VERSION,
  LIST, /* and, after it, the number of a bit */
};

static const struct option table[] = {
    {"list-ops", no_argument, NULL, LIST + 0},
    {"list-sizes", no_argument, NULL, LIST + 1},
    {"list-backends", no_argument, NULL, LIST + 2},
    {"list-devices", no_argument, NULL, LIST + 3},
    {"list-variants", no_argument, NULL, LIST + 4},
    {"op", required_argument, NULL, OP},
    {"backend", required_argument, NULL, BACKEND},
    {"dtype", required_argument, NULL, DTYPE},
    {"size", required_argument, NULL, SIZE},
    {"device", required_argument, NULL, DEVICE},
    {"variant", required_argument, NULL, VARIANT},
    {"fast", no_argument, NULL, FAST},
    {"sweep", no_argument, NULL, SWEEP},
    {"rows", no_argument, NULL, ROWS},
    {"warmup", required_argument, NULL, WARMUP},
    {"iterations", required_argument, NULL, ITERATIONS},
    {"min-time", required_argument, NULL, MIN_TIME},
    {"max-noise", required_argument, NULL, MAX_NOISE},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"in-process", no_argument, NULL, IN_PROCESS},
    {"seed", required_argument, NULL, SEED},
    {"check-only", no_argument, NULL, CHECK_ONLY},
    {"special", required_argument, NULL, SPECIAL},
    {"in-place", no_argument, NULL, IN_PLACE},
    {"offset", required_argument, NULL, OFFSET},
    {"page-end", no_argument, NULL, PAGE_END},
    {"json", required_argument, NULL, JSON},
    {"csv", required_argument, NULL, CSV},
    {"markdown", required_argument, NULL, MARKDOWN},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};
enum { OPTIONS = sizeof table / sizeof *table - 1 };

static const char *name(const char *option, const char *text) {
  if (!*text)
    message_refuse("--%s needs a name, and was given nothing", option);
  return text;
}

/* An option given twice adds to its list. */
static void append(char **list, const char *option, const char *items) {
  const size_t length = *list ? strlen(*list) + 1 : 0;
  char *joined;

  name(option, items);
  joined = realloc(*list, length + strlen(items) + 1);
  if (!joined)
    message_refuse("out of memory");
  if (length)
    joined[length - 1] = ',';
  strcpy(joined + length, items);
  *list = joined;
}

static uint64_t whole(const char *option, const char *text, uint64_t least, uint64_t most) {
  char *end;
  uint64_t value;

  errno = 0;
  value = strtoull(text, &end, 0);
  if (errno || end == text || *end || !isdigit((unsigned char)*text) || value < least ||
      value > most)
    message_refuse("--%s takes a whole number from %llu to %llu, and was given '%s'", option,
                   (unsigned long long)least, (unsigned long long)most, text);
  return value;
}

static double real(const char *option, const char *text, const char *suffix, double most) {
  char *end;
  const double value = strtod(text, &end);

  if (end != text && *end && strcmp(end, suffix) == 0)
    end += strlen(end);
  if (end == text || *end || !(value > 0) || value > most)
    message_refuse("--%s takes a number above 0 and up to %g, and was given '%s'", option, most,
                   text);
  return value;
}

static unsigned special_kinds(const char *list) {
  unsigned kinds = 0;
  char word[32];

  while (*list) {
    const size_t length = strcspn(list, ",");
    int kind = 0;
    snprintf(word, sizeof word, "%.*s", (int)length, list);
    while (kind < RANDOM_NAMES && strcmp(word, random_names[kind]) != 0)
      kind++;
    if (kind == RANDOM_NAMES)
      message_unknown("special value", word, random_names, RANDOM_NAMES,
                      "nan, inf, zero, denormal, alone, ties, narrow, scalars, small");
    kinds |= 1u << kind;
    list += length + (list[length] == ',');
  }
  return kinds;
}

_Noreturn static void unknown_option(const char *word) {
  const char *names[OPTIONS];
  char given[64];

  for (int i = 0; i < OPTIONS; i++)
    names[i] = table[i].name;
  while (*word == '-')
    word++;
  snprintf(given, sizeof given, "%.*s", (int)strcspn(word, "="), word);
  message_unknown("option", given, names, OPTIONS, "--help lists them");
}

static void set_times(options *o, double min_time) {
  const double ms = 1e6;

  o->limits.warmup_ns = (o->fast ? 0.5 : 1.5) * ms;
  o->limits.min_ns = (o->fast ? 1.5 : 3) * ms;
  o->limits.max_ns = (o->fast ? 5 : 15) * ms;
  if (min_time > 0) {
    const double patience = 4; /* how many times the least time is allowed for low noise */
    o->limits.min_ns = min_time * 1e9;
    o->limits.max_ns = fmax(o->limits.max_ns, patience * o->limits.min_ns);
  }
}

options options_parse(int argc, char **argv) {
  const uint64_t most = 1000000000;
  options o = {.limits = {.warmup = -1, .max_noise = 0.01}, .timeout = 60};
  double min_time = 0;
  bool seeded = false;
  int c;

  opterr = 0;
  while ((c = getopt_long(argc, argv, ":", table, NULL)) != -1) {
    switch (c) {
    case OP: append(&o.op, "op", optarg); break;
    case BACKEND: append(&o.backend, "backend", optarg); break;
    case DTYPE: append(&o.dtype, "dtype", optarg); break;
    case SIZE: append(&o.size, "size", optarg); break;
    case DEVICE: append(&o.device, "device", optarg); break;
    case VARIANT: append(&o.variant, "variant", optarg); break;
    case FAST: o.fast = true; break;
    case SWEEP: o.sweep = true; break;
    case ROWS: o.rows = true; break;
    case WARMUP: o.limits.warmup = (long)whole("warmup", optarg, 0, most); break;
    case ITERATIONS: o.limits.samples = (long)whole("iterations", optarg, 1, most); break;
    case MIN_TIME: min_time = real("min-time", optarg, "s", 3600); break;
    case MAX_NOISE: o.limits.max_noise = real("max-noise", optarg, "%", 100) / 100; break;
    case IN_PROCESS: o.in_process = true; break;
    case TIMEOUT: o.timeout = real("timeout", optarg, "s", 3600); break;
    case SEED: o.seed = whole("seed", optarg, 0, INT64_MAX), seeded = true; break;
    case CHECK_ONLY: o.check_only = true; break;
    case SPECIAL: o.special |= special_kinds(name("special", optarg)), o.check_only = true; break;
    case IN_PLACE: o.layout.in_place = o.check_only = true; break;
    case OFFSET: o.layout.offset = whole("offset", optarg, 0, 4096); break;
    case PAGE_END: o.layout.page_end = true; break;
    case JSON: o.json = name("json", optarg); break;
    case CSV: o.csv = name("csv", optarg); break;
    case MARKDOWN: o.markdown = name("markdown", optarg); break;
    case HELP: fputs(help_text, stdout); exit(EXIT_RIGHT);
    case VERSION: puts("lathe bench " LATHE_VERSION); exit(EXIT_RIGHT);
    case ':': message_refuse("%s needs a value (--help tells more)", argv[optind - 1]);
    case '?': unknown_option(argv[optind - 1]);
    default: o.list |= 1u << (c - LIST); break;
    }
  }
  if (optind < argc)
    message_refuse("'%s' is not an option (--help lists them)", argv[optind]);
  if (o.list && (o.csv || o.markdown || (o.json && o.list != LIST_VARIANTS)))
    message_refuse("--json, --csv and --markdown are for a run, and a list runs nothing; only "
                   "--list-variants has "
                   "--json");
  if (o.layout.page_end && o.layout.offset)
    message_refuse("--offset and --page-end: buffers cannot be placed by both ends");
  if (!seeded)
    o.seed = random_seed();
  set_times(&o, min_time);
  return o;
}

void options_free(options *o) {
  free(o->op);
  free(o->backend);
  free(o->dtype);
  free(o->size);
  free(o->device);
  free(o->variant);
}
