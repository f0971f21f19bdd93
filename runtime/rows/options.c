/* options.c - the bench program's command line. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/pool.h"
#include "problem/random.h"

#ifndef LATHE_RELEASE
#define LATHE_RELEASE "0.1"
#endif

/* The command line's wishes, and values that are settled after it. */
typedef struct request {
  options o;
  double min_time; /* seconds; 0: not asked */
  long rounds;     /* 0: not asked */
  bool seeded;
} request;

typedef struct option_row option_row;
struct option_row {
  const char *name;  /* null: help has a heading, or a text between options */
  const char *value; /* as help calls it; null: it takes none */
  const char *help;  /* lines */
  /* Takes the value, null where there is none, into the member at an offset. */
  void (*set)(request *r, const option_row *row, const char *value);
  size_t to;
  uint64_t least, most; /* of a number */
  const char *suffix;   /* that a number may have */
  unsigned what;        /* of --list-... */
  bool own;             /* it concerns one process alone */
};

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
  joined = message_need(realloc(*list, length + strlen(items) + 1));
  if (length)
    joined[length - 1] = ',';
  strcpy(joined + length, items);
  *list = joined;
}

static uint64_t whole(const option_row *row, const char *text) {
  char *end;

  errno = 0;
  const uint64_t value = strtoull(text, &end, 0);
  if (errno || end == text || *end || !isdigit((unsigned char)*text) || value < row->least ||
      value > row->most)
    message_refuse("--%s takes a whole number from %llu to %llu, and was given '%s'", row->name,
                   (unsigned long long)row->least, (unsigned long long)row->most, text);
  return value;
}

static double real(const option_row *row, const char *text) {
  char *end;
  const double value = strtod(text, &end);

  if (end != text && *end && strcmp(end, row->suffix) == 0)
    end += strlen(end);
  if (end == text || *end || !(value > 0) || value > (double)row->most)
    message_refuse("--%s takes a number above 0 and up to %g, and was given '%s'", row->name,
                   (double)row->most, text);
  return value;
}

static void *member(request *r, const option_row *row) {
  return (char *)r + row->to;
}

static void set_flag(request *r, const option_row *row, const char *value) {
  (void)value;
  *(bool *)member(r, row) = true;
}

static void set_list(request *r, const option_row *row, const char *value) {
  append(member(r, row), row->name, value);
}

static void set_path(request *r, const option_row *row, const char *value) {
  *(const char **)member(r, row) = name(row->name, value);
}

static void set_count(request *r, const option_row *row, const char *value) {
  *(long *)member(r, row) = (long)whole(row, value);
}

static void set_bytes(request *r, const option_row *row, const char *value) {
  *(size_t *)member(r, row) = (size_t)whole(row, value);
}

static void set_cut(request *r, const option_row *row, const char *value) {
  r->o.layout.cut = (unsigned)whole(row, value);
}

static void set_seed(request *r, const option_row *row, const char *value) {
  r->o.seed = whole(row, value);
  r->seeded = true;
}

static void set_trust(request *r, const option_row *row, const char *value) {
  if (strcmp(value, "none") != 0)
    message_refuse("--%s takes none, and was given '%s'", row->name, value);
  r->o.trust = value;
}

static void set_threads(request *r, const option_row *row, const char *value) {
  const int asked = (int)whole(row, value);

  r->o.layout.threads = asked > 0 ? asked : pool_threads();
  if (asked > pool_threads())
    pool_use(asked);
}

static void set_real(request *r, const option_row *row, const char *value) {
  *(double *)member(r, row) = real(row, value);
}

static void set_percent(request *r, const option_row *row, const char *value) {
  *(double *)member(r, row) = real(row, value) / 100;
}

/* A variant that is checked otherwise than it is used is not measured. */
static void set_check(request *r, const option_row *row, const char *value) {
  (void)value;
  *(bool *)member(r, row) = r->o.check_only = true;
}

static void set_special(request *r, const option_row *row, const char *value) {
  r->o.special |= random_kinds_of(name(row->name, value));
  r->o.check_only = true;
}

static void set_shard(request *r, const option_row *row, const char *value) {
  if (!shard_parse(value, &r->o.shard))
    message_refuse("--%s takes which of how many, as in 3/8, up to %d/%d, and was given '%s'",
                   row->name, SHARDS_MOST, SHARDS_MOST, value);
}

static void set_all_devices(request *r, const option_row *row, const char *value) {
  if (strcmp(value, "all") != 0)
    message_refuse("--%s takes 'all', and was given '%s' (--device takes names)", row->name, value);
  r->o.all_devices = true;
}

static void set_list_what(request *r, const option_row *row, const char *value) {
  (void)value;
  r->o.list |= row->what;
}

/* A row is a variant at a size, or at all. */
static void set_explain(request *r, const option_row *row, const char *value) {
  const char *slash = strchr(value, '/');

  r->o.explain = name(row->name, value);
  if (slash == value)
    message_refuse("--explain %s names no variant; expected VARIANT or VARIANT/SIZE", value);
  append(&r->o.variant, row->name, value);
  if (slash)
    r->o.variant[strlen(r->o.variant) - strlen(slash)] = '\0';
  if (slash)
    append(&r->o.size, row->name, slash + 1);
  append(&r->o.dtype, row->name, "all");
}

static void print_help(request *r, const option_row *row, const char *value);

static void print_version(request *r, const option_row *row, const char *value) {
  (void)r, (void)row, (void)value;
  puts("lathe bench " LATHE_RELEASE);
  exit(EXIT_RIGHT);
}

#define TO(field) offsetof(request, field)

enum {
  MOST_THREADS = 256,
  MOST_ROUNDS = 1000,
  MOST_CALLS = 1000000000,
  MOST_SECONDS = 3600,
  MOST_OFFSET = 4096,
};

/* In the order that --help has them. */
static const option_row rows[] = {
    {.help = "usage: bench [OPTION]...\n"
             "Checks the kernels that this machine can run against references in higher\n"
             "precision, times those that are right, and says which is fastest. Without\n"
             "options: every op, f32.\n"
             "\n"
             "Lists"},
    {"list-ops", NULL, "ops, with their dimensions, types and variants", .set = set_list_what,
     .what = LIST_OPS},
    {"list-sizes", NULL, "sizes that --size takes by name", .set = set_list_what,
     .what = LIST_SIZES},
    {"list-backends", NULL, "and why one cannot run here", .set = set_list_what,
     .what = LIST_BACKENDS},
    {"list-devices", NULL, "and how fast each moves memory", .set = set_list_what,
     .what = LIST_DEVICES},
    {"list-variants", NULL,
     "why one cannot run here, where dispatch chooses it; with\n"
     "--json FILE, there its cost in the build",
     .set = set_list_what, .what = LIST_VARIANTS},
    {"explain", "ROW",
     "all that is known of a variant, or of it at one size, as\n"
     "rows are named in files: exp_f32__avx2_u4/10K",
     .set = set_explain},
    {.help = "\n"
             "Choice of rows (comma lists; these options narrow each other)"},
    {"op", "A,B", "ops, or globs: --op 'norm_*'", .set = set_list, .to = TO(o.op)},
    {"backend", "A,B", "backends (avx2), or kinds of them (cpu)", .set = set_list,
     .to = TO(o.backend)},
    {"dtype", "D,...",
     "f32, f16, ..., as --list-ops has them, or all;\n"
     "f32 where there is a choice",
     .set = set_list, .to = TO(o.dtype)},
    {"size", "S,...",
     "a spec's size or set of sizes by name (large;\n"
     "--list-sizes), or\n"
     "4096  100K  2^20       the last dimension\n"
     "1024x2048              the last two\n"
     "rows=8xcols=512        by name; batch, sequence, width\n"
     "                       are the last three of any op\n"
     "                       (those before what is given\n"
     "                       are 1)\n"
     "2^10:2^20              each power of two\n"
     "2^10:2^20:4            each second",
     .set = set_list, .to = TO(o.size)},
    {"sweep", NULL,
     "the sets 'sweep' of the specs, 2^4:2^22 where there is\n"
     "none; --size narrows it: --size batch=16xwidth=8:64,\n"
     "or --size small, by name",
     .set = set_flag, .to = TO(o.sweep)},
    {"batch-size", "N", "in place of the sizes' dimension 'batch'", .set = set_bytes,
     .to = TO(o.batch_size), .least = 1, .most = (uint64_t)1 << 40},
    {"implementation", "A,B",
     "ways to compute an op, where its spec names several\n"
     "(simd, for_loop), or the op's own template (contract)",
     .set = set_list, .to = TO(o.implementation)},
    {"variant", "GLOB", "variants by name", .set = set_list, .to = TO(o.variant)},
    {"device", "D,...", "devices by name", .set = set_list, .to = TO(o.device), .own = true},
    {"devices", "all",
     "a process for each GPU at once, which share the rows, and\n"
     "then one for the processor",
     .set = set_all_devices, .own = true},
    {"shard", "I/N",
     "the I-th of N shares of the rows; `bench merge`\n"
     "makes one of their JSON files",
     .set = set_shard, .own = true},
    {"peers", "P,...",
     "other libraries beside them, on the same inputs, where a\n"
     "spec says how: numpy, torch, torch.compile, openblas,\n"
     "cublas, cudnn; runs Python of the specs, in no sandbox",
     .set = set_list, .to = TO(o.peers)},
    {"with", "FILE,...",
     "kernels that somebody wrote, judged beside ours:\n"
     "mine.so              functions that `lathe-gen export`\n"
     "                     declares, as softmax_f32\n"
     "mine.py:FUNCTION     of the inputs and scalars of --op\n"
     "mine.cu, .cubin,     device code, and mine.json, which\n"
     ".ptx, .spv           has its launches\n"
     "ours are dispatch's choices unless named; the status is\n"
     "0 where all of FILE's are right",
     .set = set_list, .to = TO(o.with)},
    {"trust", "none",
     "shuts the code of --with in: no network, no files but\n"
     "those that programs consist of, few system calls",
     .set = set_trust},
    {.help = "\n"
             "How to measure"},
    {"fast", NULL, "less time for each row", .set = set_flag, .to = TO(o.fast)},
    {"warmup", "N", "N calls before measuring, instead of by time", .set = set_count,
     .to = TO(o.limits.warmup), .least = 0, .most = MOST_CALLS},
    {"iterations", "N", "exactly N samples, instead of until the noise is low", .set = set_count,
     .to = TO(o.limits.samples), .least = 1, .most = MOST_CALLS},
    {"min-time", "SECONDS", "measure each row at least this long", .set = set_real,
     .to = TO(min_time), .most = MOST_SECONDS, .suffix = "s"},
    {"rounds", "N",
     "at least N rounds (4; with --fast 3, with --min-time 10):\n"
     "all rows are timed once in each, in an order that the\n"
     "seed draws",
     .set = set_count, .to = TO(rounds), .least = 1, .most = MOST_ROUNDS},
    {"max-noise", "PERCENT", "stop when the median is known within this (1)", .set = set_percent,
     .to = TO(o.limits.max_noise), .most = 100, .suffix = "%"},
    {"timeout", "SECONDS",
     "a row fails where a launch, or its driver, takes longer\n"
     "(60)",
     .set = set_real, .to = TO(o.timeout), .most = MOST_SECONDS, .suffix = "s"},
    {"threads", "N",
     "N threads share a call on a processor, of an op that can\n"
     "be cut and a size that is worth it (1); 0: as many as\n"
     "there are processors",
     .set = set_threads, .least = 0, .most = MOST_THREADS},
    {"tuning", "FILE",
     "dispatch chooses as `bench tune FILE` found out; else as\n"
     "the file says that LATHE_TUNING names",
     .set = set_path, .to = TO(o.tuning)},
    {"in-process", NULL,
     "use devices in this process, for debuggers and\n"
     "compute-sanitizer; a crash then ends the run",
     .set = set_flag, .to = TO(o.in_process)},
    {"check-only", NULL, "do not measure", .set = set_flag, .to = TO(o.check_only)},
    {.help = "\n"
             "How to check"},
    {"seed", "N", "the inputs' seed, as an earlier run printed it", .set = set_seed, .least = 0,
     .most = INT64_MAX, .own = true},
    {"special", "KIND,...",
     "sprinkle nan, inf, zero (of both signs), denormal,\n"
     "beyond (the range); does not measure; alone: one in a\n"
     "row; ties, narrow, scalars, small, negative, equal,\n"
     "ends, far, poked, nulls, same, rising, falling: drawn\n"
     "as the probe does",
     .set = set_special},
    {"in-place", NULL,
     "the output on the input, where the op can; does not\n"
     "measure",
     .set = set_check, .to = TO(o.layout.in_place)},
    {"offset", "BYTES",
     "start buffers so far from a 64-byte boundary, all but an\n"
     "op's first two twice as far; a multiple of the smallest\n"
     "elements' size, rounded up for larger ones",
     .set = set_bytes, .to = TO(o.layout.offset), .least = 0, .most = MOST_OFFSET},
    {"cut", "N",
     "the N-th of the ways in which a GPU's product may be cut\n"
     "into blocks, where it can be, in place of the fastest",
     .set = set_cut, .least = 1, .most = 99},
    {"page-end", NULL, "end buffers where memory ends", .set = set_flag,
     .to = TO(o.layout.page_end)},
    {"mutants", NULL,
     "in place of a size, a kernel's results made wrong in\n"
     "some ways: a row is right where all are called wrong;\n"
     "does not measure",
     .set = set_check, .to = TO(o.mutants)},
    {"no-probe", NULL,
     "not the trials ahead of a variant's sizes, which another\n"
     "run has made; does not measure",
     .set = set_check, .to = TO(o.no_probe)},
    {.help = "\n"
             "Output"},
    {"rows", NULL, "a line for each variant, as for one op alone", .set = set_flag,
     .to = TO(o.rows)},
    {"profile", NULL,
     "where the time of a call goes: host, launch, kernel,\n"
     "copies and memory; on a processor its counters",
     .set = set_flag, .to = TO(o.profile)},
    {"json", "FILE", "everything, in Google Benchmark's form", .set = set_path, .to = TO(o.json),
     .own = true},
    {"csv", "FILE", "one line for each row", .set = set_path, .to = TO(o.csv), .own = true},
    {"html", "FILE", "a page to look at, which needs no network", .set = set_path, .to = TO(o.html),
     .own = true},
    {"markdown", "FILE",
     "a report to read\n"
     "one FILE may be -: standard output, and the table goes\n"
     "to standard error",
     .set = set_path, .to = TO(o.markdown), .own = true},
    {"compare", "BASE.json",
     "which rows take longer than in a stored run; the exit\n"
     "status is 1 where some do",
     .set = set_path, .to = TO(o.compare), .own = true},
    {"against", "BENCH",
     "another build of this program, in turns in the same\n"
     "rounds (24; with --fast 12): which rows take longer\n"
     "than there; the exit status is 1 where some do",
     .set = set_path, .to = TO(o.against), .own = true},
    {"help", NULL, "this", .set = print_help},
    {"version", NULL, "of this program", .set = print_version},
    {.help = "\n"
             "Exit status: 0 all right, 1 a result was wrong or proves nothing, or a row is\n"
             "             above its ceiling, or slower, with --compare or --against, 2 a bad\n"
             "             request or output, 3 nothing can run here, 4 killed from outside,\n"
             "             128 + N signal N\n"
             "\n"
             "Dispatch\n"
             "  bench tune FILE [OPTION]...   the fastest variant for each of the calls that\n"
             "                                the options name, in FILE beside those there\n"
             "\n"
             "Stored runs\n"
             "  bench report FILE.json... [--html PAGE.html]   a page of several runs\n"
             "  bench compare BASE.json NEW.json [--any-machine]   better, worse or the same\n"
             "  bench merge SHARD.json... [--json ALL.json]   one run of its shards\n"
             "  bench badge RUN.json   JSON of which shields.io makes a badge\n"
             "  bench history add FOLDER RUN.json...   keeps runs of many commits\n"
             "  bench report --history FOLDER [--html PAGE.html]   where times stepped\n"
             "\n"
             "Examples\n"
             "  bench                                      a bit of everything\n"
             "  bench --op add,exp --size 100K             how two ops do at one size\n"
             "  bench --op sum --sweep --backend scalar,avx2   where vectors begin to pay\n"
             "  bench --op exp --variant '*avx2*' --min-time 1   one kernel, carefully\n"
             "  bench --check-only --dtype all             is everything right?\n"
             "  bench --json new.json                      for Google Benchmark's compare.py"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void print_help(request *r, const option_row *row, const char *value) {
  enum { INDENT = 23 }; /* of what an option does */

  (void)r, (void)row, (void)value;
  for (int i = 0; i < ROWS; i++) {
    const char *line = rows[i].help;
    const char *value_of = rows[i].value ? rows[i].value : "";
    int column =
        rows[i].name ? printf("  --%s%s%s", rows[i].name, *value_of ? " " : "", value_of) : 0;
    if (column >= INDENT)
      column = printf("\n") - 1;
    for (bool first = true; first || *line; first = false) {
      const int length = (int)strcspn(line, "\n");
      const int indent = rows[i].name ? INDENT + (first ? 0 : 2) - column : 0;
      printf("%*s%.*s\n", length ? indent : 0, "", length, line);
      column = 0;
      line += length + (line[length] == '\n');
    }
  }
  exit(EXIT_RIGHT);
}

/* known: it is one, but has a value that it does not take. */
_Noreturn static void unknown_option(const char *word, bool known) {
  const char *names[ROWS];
  char given[64];
  size_t count = 0;

  for (int i = 0; i < ROWS; i++)
    if (rows[i].name)
      names[count++] = rows[i].name;
  while (*word == '-')
    word++;
  snprintf(given, sizeof given, "%.*s", (int)strcspn(word, "="), word);
  if (known)
    message_refuse("--%s takes no value (--help tells more)", given);
  message_unknown("option", given, names, count, "--help lists them");
}

static void set_times(request *r) {
  const double ms = 1e6, patience = 4; /* how many times the least time is allowed for low noise */
  const int least = r->o.fast ? 3 : 4, by_turns = r->o.fast ? 12 : 24, many = 10;
  const int few = r->o.against ? by_turns : least;
  measure_limits *l = &r->o.limits;

  l->warmup_ns = 0.1 * ms;
  l->round_ns = (r->o.fast ? 0.2 : 0.4) * ms;
  l->rounds = r->rounds ? (int)r->rounds : r->min_time > 0 ? many : few;
  l->most_ns = (r->o.fast ? 1 : patience) * l->rounds * l->round_ns;
  l->longer = r->o.fast ? 0 : 0.2;
  if (r->min_time > 0) {
    l->least_ns = r->min_time * 1e9;
    l->round_ns = fmax(l->round_ns, l->least_ns / l->rounds);
    l->most_ns = fmax(l->most_ns, patience * l->least_ns);
    l->longer = patience;
  }
}

#define LISTS "list-ops list-sizes list-backends list-devices list-variants"
#define CHECKS "check-only special in-place mutants no-probe"
#define MEASURES "warmup iterations min-time rounds max-noise profile compare against"
#define RUNS                                                                                       \
  "fast threads seed offset cut page-end peers with trust rows csv html markdown shard devices"

/* Options of which one would do nothing beside another one. */
static const struct {
  const char *some, *others; /* names, with a space between */
  const char *why;
} conflicts[] = {
    {LISTS, "explain", "each shows something else"},
    {LISTS " explain", CHECKS " " MEASURES " " RUNS, "nothing is run"},
    {"list-ops list-sizes list-backends list-devices explain", "json",
     "of these only --list-variants writes a file"},
    {CHECKS, MEASURES, "what is only checked is not measured"},
    {"iterations", "min-time max-noise", "so many samples are taken whatever their time and noise"},
    {"offset", "page-end", "buffers cannot be placed by both ends"},
    {"against", "devices in-process", "both programs have processes and devices of their own"},
    {"against", "peers", "each round has new processes, and a peer's takes seconds to begin"},
    {"against", "max-noise", "rows go on for what is known of their ratios"},
    {"devices", "device in-process", "there are several processes, each with devices of its own"},
    {"devices", "csv markdown", "of several processes only --json and --html write a file"},
};

/* The first of some options that was given; null where none was. given: by row, or null. */
static const char *first_given(const char *names, const char *const *given) {
  for (const char *at = names; *at; at += strspn(at, " ")) {
    const size_t length = strcspn(at, " ");
    for (int i = 0; i < ROWS; i++)
      if (given[i] && strncmp(rows[i].name, at, length) == 0 && !rows[i].name[length])
        return rows[i].name;
    at += length;
  }
  return NULL;
}

static void refuse_conflicts(const char *const *given) {
  for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++) {
    const char *one = first_given(conflicts[i].some, given);
    const char *other = first_given(conflicts[i].others, given);
    if (one && other)
      message_refuse("--%s with --%s: %s; leave one of them out", one, other, conflicts[i].why);
  }
}

static void remember(options *o, const char *option, const char *value) {
  const size_t size = strlen(option) + (value ? strlen(value) : 0) + 4;

  o->words = message_need(realloc(o->words, (o->word_count + 1) * sizeof *o->words));
  o->words[o->word_count] = message_need(malloc(size));
  snprintf(o->words[o->word_count++], size, "--%s%s%s", option, value ? "=" : "",
           value ? value : "");
}

/* Takes an option's value; of two values for what has one, neither would be meant more than the other. */
static void take(request *r, const option_row *row, const char *value, const char **given) {
  const bool adds_up = !row->value || row->set == set_list || row->set == set_special;

  if (*given && !adds_up)
    message_refuse("--%s is given twice, as '%s' and '%s'; leave one of them out", row->name,
                   *given, value);
  row->set(r, row, value);
  *given = value ? value : "";
  if (!row->own)
    remember(&r->o, row->name, value);
}

options options_parse(int argc, char **argv) {
  enum { FIRST = 256 }; /* of what getopt_long returns for rows, beyond all letters */
  const char *given[ROWS] = {NULL};
  request r = {.o = {.limits = {.warmup = -1, .max_noise = 0.01}, .timeout = 60}};
  struct option table[ROWS + 1] = {{0}};
  options *o = &r.o;
  int c, count = 0;

  for (int i = 0; i < ROWS; i++)
    if (rows[i].name)
      table[count++] = (struct option){
          rows[i].name, rows[i].value ? required_argument : no_argument, NULL, FIRST + i};
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":", table, NULL)) != -1)
    if (c == ':')
      message_refuse("%s needs a value (--help tells more)", argv[optind - 1]);
    else if (c == '?')
      unknown_option(argv[optind - 1], optopt >= FIRST);
    else
      take(&r, &rows[c - FIRST], optarg, &given[c - FIRST]);
  if (optind < argc)
    message_refuse("'%s' is not an option (--help lists them)", argv[optind]);
  refuse_conflicts(given);
  if (o->limits.samples > 0 && o->limits.samples < r.rounds)
    message_refuse(
        "--iterations %ld with --rounds %ld: each round takes a sample at least; ask for "
        "as many samples, or for fewer rounds",
        o->limits.samples, r.rounds);
  if (!r.seeded)
    o->seed = random_seed();
  set_times(&r);
  if (o->against) /* how well the ratios are known is what matters */
    o->limits.max_noise = 0;
  o->limits.longer = o->against ? 1 : o->limits.longer;
  o->limits.stay = o->against != NULL;
  return *o;
}

void options_free(options *o) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].set == set_list)
      free(*(char **)((char *)o + rows[i].to - TO(o)));
  for (size_t i = 0; i < o->word_count; i++)
    free(o->words[i]);
  free(o->words);
}
