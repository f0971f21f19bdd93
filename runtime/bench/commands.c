/* commands.c - what the bench program does with stored runs. */
#include "commands.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/output.h"
#include "devices/common/kept.h"
#include "devices/foreign/guest.h"
#include "devices/foreign/trust.h"
#include "report/compare.h"
#include "report/history.h"
#include "report/json.h"
#include "report/merge.h"
#include "report/page.h"
#include "report/stored.h"

static const char report_usage[] = "report FILE.json... [--html PAGE.html (report.html)], or "
                                   "report --history FOLDER [--html PAGE.html]";
static const char badge_usage[] = "badge RUN.json";
static const char history_usage[] = "history add FOLDER RUN.json...";
static const char compare_usage[] = "compare BASE.json NEW.json [--any-machine]";
static const char merge_usage[] = "merge SHARD.json... [--json ALL.json (-)]";

_Noreturn void command_help(const char *usage) {
  printf("usage: bench %s\n", usage);
  exit(EXIT_RIGHT);
}

/* The letter of the next option; 0 where there is none left. */
static int next_option(int argc, char **argv, const struct option *known, const char *usage) {
  const int c = getopt_long(argc, argv, ":", known, NULL);

  if (c == '?' && strcmp(argv[optind - 1], "--help") == 0)
    command_help(usage);
  if (c == ':')
    message_refuse("%s needs a value; expected %s", argv[optind - 1], usage);
  if (c == '?')
    message_refuse("unknown option '%s'; expected %s", argv[optind - 1], usage);
  return c >= 0 ? c : 0;
}

static int report_command(int argc, char **argv) {
  static const struct option known[] = {
      {"html", required_argument, NULL, 'h'}, {"history", required_argument, NULL, 'f'}, {0}};
  const char *path = "report.html", *folder = NULL, *asked = NULL;
  json_t *runs = json_array();
  output page;
  bool written;

  for (int c; (c = next_option(argc, argv, known, report_usage));)
    if (c == 'f')
      folder = optarg;
    else
      path = asked = optarg;
  if (folder && optind < argc)
    message_refuse("'%s' beside --history; expected %s", argv[optind], report_usage);
  if (folder) {
    json_decref(runs);
    return history_report(folder, asked) ? EXIT_RIGHT : EXIT_REQUEST;
  }
  if (optind == argc)
    message_refuse("no file; expected %s", report_usage);
  for (int i = optind; i < argc; i++) {
    if (output_same(path, argv[i]))
      message_refuse("--html %s would overwrite %s: name another file", path, argv[i]);
    json_array_append_new(runs, stored_load(argv[i]));
  }
  output_check(path);
  page = output_open(path);
  if (page.file)
    page_write(page.file, runs);
  written = output_commit(&page);
  if (written && strcmp(path, "-") != 0)
    printf("%s\n", path);
  json_decref(runs);
  return written ? EXIT_RIGHT : EXIT_REQUEST;
}

static int compare_command(int argc, char **argv) {
  static const struct option known[] = {{"any-machine", no_argument, NULL, 'm'}, {0}};
  bool any = false, held;
  const char *refusal;
  json_t *base, *now;

  while (next_option(argc, argv, known, compare_usage))
    any = true;
  if (argc - optind != 2)
    message_refuse("%d files; expected %s", argc - optind, compare_usage);
  base = stored_load(argv[optind]);
  now = stored_load(argv[optind + 1]);
  refusal = compare_refusal(base, now);
  if (refusal && !any)
    message_refuse("%s (--any-machine compares them all the same)", refusal);
  held = compare_print(base, now);
  json_decref(base);
  json_decref(now);
  return held ? EXIT_RIGHT : EXIT_WRONG;
}

static bool write_run(const char *path, const json_t *run) {
  output file = output_open(path);

  if (file.file)
    json_write_run(file.file, run);
  return output_commit(&file);
}

static int merge_command(int argc, char **argv) {
  static const struct option known[] = {{"json", required_argument, NULL, 'j'}, {0}};
  const char *path = "-", *refusal;
  json_t *runs = json_array(), *merged;
  int status;

  while (next_option(argc, argv, known, merge_usage))
    path = optarg;
  if (optind == argc)
    message_refuse("no file; expected %s", merge_usage);
  for (int i = optind; i < argc; i++) {
    if (output_same(path, argv[i]))
      message_refuse("--json %s would overwrite %s: name another file", path, argv[i]);
    json_array_append_new(runs, stored_load(argv[i]));
  }
  refusal = merge_refusal(runs);
  if (refusal)
    message_refuse("%s", refusal);
  output_check(path);
  if (strcmp(path, "-") == 0)
    output_divert_standard();
  merged = merge_runs(runs);
  status = write_run(path, merged) ? merge_status(merged) : EXIT_REQUEST;
  merge_count(merged, stdout);
  json_decref(merged);
  json_decref(runs);
  return status;
}

/* A badge says what became of the rows; that some are wrong is no failure of its making. */
static int badge_command(int argc, char **argv) {
  static const struct option known[] = {{0}};
  json_t *run;

  next_option(argc, argv, known, badge_usage);
  if (argc - optind != 1)
    message_refuse("%d files; expected %s", argc - optind, badge_usage);
  run = stored_load(argv[optind]);
  merge_badge(run, stdout);
  json_decref(run);
  return EXIT_RIGHT;
}

static int history_command(int argc, char **argv) {
  static const struct option known[] = {{0}};
  bool all = true;

  next_option(argc, argv, known, history_usage);
  if (argc - optind < 3 || strcmp(argv[optind], "add") != 0)
    message_refuse("expected %s", history_usage);
  for (int i = optind + 2; i < argc; i++)
    all = history_add(argv[optind + 1], argv[i]) && all;
  return all ? EXIT_RIGHT : EXIT_REQUEST;
}

command *command_of(const char *name) {
  static const struct {
    const char *name;
    command *run;
  } commands[] = {
      {"report", report_command},  {"compare", compare_command},
      {"merge", merge_command},    {"history", history_command},
      {"badge", badge_command},    {kept_command, kept_keep}, /* which no person calls */
      {guest_command, guest_main}, {trust_command, trust_become}};

  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(commands[i].name, name) == 0)
      return commands[i].run;
  return NULL;
}
