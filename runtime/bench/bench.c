/* bench.c - the bench program: checks what was asked for, times what is right, and reports. */
#define _GNU_SOURCE /* pthread_setattr_default_np */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/message.h"
#include "base/output.h"
#include "base/signals.h"
#include "commands.h"
#include "devices/foreign/foreign.h"
#include "devices/peer/peers.h"
#include "explain.h"
#include "fleet.h"
#include "library/cpu.h"
#include "library/tuning.h"
#include "list.h"
#include "report/against.h"
#include "report/compare.h"
#include "report/files.h"
#include "report/json.h"
#include "report/report.h"
#include "report/stored.h"
#include "report/tune.h"
#include "rounds.h"
#include "rows/beside.h"
#include "rows/missing.h"
#include "turns.h"
#include "worker.h"

static char *join(int argc, char **argv) {
  size_t size = 1;
  char *all;

  for (int i = 0; i < argc; i++)
    size += strlen(argv[i]) + 1;
  all = message_need(calloc(size, 1));
  for (int i = 0; i < argc; i++) {
    if (i > 0)
      strcat(all, " ");
    strcat(all, argv[i]);
  }
  return all;
}

static void describe_run(report *r, int argc, char **argv) {
  const time_t now = time(NULL);

  r->program = argv[0];
  r->command = join(argc, argv);
  strftime(r->date, sizeof r->date, "%Y-%m-%dT%H:%M:%S%z", localtime(&now));
  if (gethostname(r->host, sizeof r->host - 1) != 0)
    snprintf(r->host, sizeof r->host, "unknown");
}

/* Where kernels are to be judged, of these alone. */
static int status_of_foreign(const report *r) {
  size_t killed = 0, skipped = 0;

  for (size_t i = 0; i < r->count; i++) {
    killed += r->rows[i]->foreign && r->rows[i]->state == ROW_KILLED;
    skipped += r->rows[i]->foreign && r->rows[i]->state == ROW_SKIPPED &&
               strcmp(r->rows[i]->verdict, "stateful") != 0;
  }
  if (r->foreign_right + killed + skipped < r->foreign)
    return EXIT_WRONG;
  return killed ? EXIT_KILLED : skipped || r->foreign == 0 ? EXIT_NOTHING : EXIT_RIGHT;
}

static int exit_status(const report *r) {
  if (r->options->with)
    return status_of_foreign(r);
  if (r->wrong || r->unproved || r->above)
    return EXIT_WRONG;
  if (r->killed)
    return EXIT_KILLED;
  return r->right || r->selection->count == 0 /* of its share */ ? EXIT_RIGHT : EXIT_NOTHING;
}

/* A LATHE_CPU_FEATURES with a word in it that is no feature's name would hide what it was to show. */
static void check_features_variable(void) {
  const char *names[CPU_FEATURES];
  const size_t count = lathe_cpu_features_known(names);
  char unknown[64], where[128];
  size_t used;

  if (!lathe_cpu_unknown_feature(getenv(lathe_cpu_features_variable), unknown, sizeof unknown))
    return;
  used = (size_t)snprintf(where, sizeof where, "%s takes", lathe_cpu_features_variable);
  for (size_t i = 0; i < count; i++)
    used += (size_t)snprintf(where + used, sizeof where - used, "%s %s", i ? "," : "", names[i]);
  message_unknown("processor feature", unknown, names, count, where);
}

/* Whether the run is no worse than the one that --compare names. */
static bool is_no_worse(const report *r, json_t *base) {
  json_t *now = report_as_json(r);
  bool no_worse;

  putchar('\n');
  no_worse = compare_print(base, now);
  json_decref(now);
  return no_worse;
}

/* The stored run to compare with; null where none was asked for. */
static json_t *load_base(const report *r) {
  json_t *base = r->options->compare ? stored_load(r->options->compare) : NULL;
  json_t *here = base ? report_as_json(r) : NULL;
  const char *refusal = base ? compare_refusal(base, here) : NULL;

  if (refusal)
    message_refuse("--compare %s: %s (`compare BASE NEW --any-machine` compares them all the same)",
                   r->options->compare, refusal);
  json_decref(here);
  return base;
}

/* Dispatch takes the choices of a file, where one was named, or else of the one that the build was given. */
static void load_tuning(const options *o, const selection *s) {
  const char *path = o->tuning ? o->tuning : getenv("LATHE_TUNING");
  char error[LATHE_TUNING_ERROR];
  long stale, all_stale = 0;

  if (path && !*path)
    path = NULL;
  for (int kind = 0; kind < DEVICE_KINDS; kind++) {
    const device *on = selection_device(s, (lathe_kind)kind);
    if (on && lathe_tuning_load(path, (lathe_kind)kind, on->name, &stale, error) < 0)
      message_refuse("%s (`bench tune FILE` makes one)", error);
    all_stale += on ? stale : 0;
  }
  if (all_stale)
    message_warn("%ld choices of %s are of other variants than this program has; `bench tune %s` "
                 "measures their calls again",
                 all_stale, path ? path : "./configure --tuning", path ? path : "FILE");
}

static const char tune_usage[] = "tune FILE [OPTION]...";

/* The file of `bench tune FILE [OPTION]...`, whose words are taken off the command line; null for another command. */
static const char *take_tune(int *argc, char ***argv) {
  char **all = *argv;

  if (*argc < 2 || strcmp(all[1], "tune") != 0)
    return NULL;
  if (*argc > 2 && strcmp(all[2], "--help") == 0)
    command_help(tune_usage);
  if (*argc < 3 || all[2][0] == '-')
    message_refuse("no file; expected %s", tune_usage);
  all[1] = all[2];
  all[2] = all[0];
  *argc -= 2;
  *argv += 2;
  return all[1];
}

/* Whether this is `bench turns [OPTION]...`, whose word is taken off the command line. */
static bool take_turns(int *argc, char ***argv) {
  if (*argc < 2 || strcmp((*argv)[1], turns_command) != 0)
    return false;
  (*argv)[1] = (*argv)[0];
  *argc -= 1;
  *argv += 1;
  return true;
}

/* Kernels and their checks have what they need of a stack where the system lets them, threads' stacks too. */
static void find_stack(void) {
  const rlim_t wanted = 8 << 20, least = 1 << 20;
  struct rlimit stack;

  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= wanted)
    return;
  stack.rlim_cur = stack.rlim_max < wanted ? stack.rlim_max : wanted;
  if (setrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur < least)
    message_refuse("the stack may have %llu KiB, and kernels need %llu: raise its limit, as by "
                   "`ulimit -s 8192`",
                   (unsigned long long)stack.rlim_cur >> 10, (unsigned long long)least >> 10);
#ifdef __GLIBC__
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack.rlim_cur);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
#endif
}

int main(int argc, char **argv) {
  command *other = argc > 1 ? command_of(argv[1]) : NULL;
  const char *tune;
  bool in_turns;
  options o;
  selection s;
  int status = EXIT_RIGHT;

  output_guard_standard();
  if (other)
    return other(argc - 1, argv + 1);
  in_turns = take_turns(&argc, &argv);
  tune = in_turns ? NULL : take_tune(&argc, &argv);
  o = options_parse(argc, argv);
  if (o.against)
    child_settle(argv);
  if (in_turns)
    o.limits.stay = true;
  if (tune && (o.check_only || o.list || o.explain || o.tuning || o.all_devices))
    message_refuse("tune measures, and takes no options that only check, list or explain, no "
                   "--tuning, and no --devices");
  check_features_variable();
  find_stack();
  job_share();
  beside_choose(o.peers);
  foreign_make(o.with, o.op, o.trust, beside_on_gpus(&o));
  worker_begin(o.timeout, o.in_process);
  s = selection_make(&o);
  missing_tell(&o, &s);
  beside_place(&s);
  report_files_check(&o, tune);
  if (!tune)
    load_tuning(&o, &s);
  if (o.explain) {
    explain_print(argv[0], &s);
  } else if (o.list) {
    list_print(&o, &s);
    status = !o.json || list_json(o.json, &s) ? EXIT_RIGHT : EXIT_REQUEST;
  } else if (in_turns) {
    rounds_in_turns(&(report){.options = &o, .selection = &s, .program = argv[0]});
  } else if (o.all_devices) {
    status = fleet_run(&o, &s, argv[0]);
  } else {
    report r = {.options = &o, .selection = &s};
    json_t *base;
    describe_run(&r, argc, argv);
    base = load_base(&r);
    if (tune)
      tune_check(tune, &r);
    if (o.against)
      turns_start(&o, argv[0]);
    r.base_commit = turns_commit();
    rounds_run(&r);
    if (o.against)
      against_judge(&r);
    status = report_files_write(&r) ? exit_status(&r) : EXIT_REQUEST;
    if (tune && !tune_write(tune, &r))
      status = EXIT_REQUEST;
    if (base && !is_no_worse(&r, base) && status == EXIT_RIGHT)
      status = EXIT_WRONG;
    if (o.against && !against_print(&r) && status == EXIT_RIGHT)
      status = EXIT_WRONG;
    if (!turns_end() && status == EXIT_RIGHT)
      status = EXIT_KILLED;
    json_decref(base);
    if (signals_interrupted()) /* also where all rows were finished */
      status = EXIT_SIGNAL + signals_interrupted();
    for (size_t i = 0; i < r.count; i++)
      row_free(r.rows[i]);
    free(r.rows);
    free(r.command);
  }
  worker_end();
  peers_free();
  selection_free(&s);
  options_free(&o);
  return status;
}
