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
#include "report/page.h"
#include "report/stored.h"

static const char report_usage[] = "report FILE.json... [--html PAGE.html (report.html)]";
static const char compare_usage[] = "compare BASE.json NEW.json [--any-machine]";

_Noreturn void command_help(const char *usage) {
  printf("usage: bench %s\n", usage);
  exit(EXIT_RIGHT);
}

/* Takes the next option, of which there is one; false where there is none left. */
static bool next_option(int argc, char **argv, const struct option *known, const char *usage) {
  const int c = getopt_long(argc, argv, ":", known, NULL);

  if (c == '?' && strcmp(argv[optind - 1], "--help") == 0)
    command_help(usage);
  if (c == ':')
    message_refuse("%s needs a value; expected %s", argv[optind - 1], usage);
  if (c == '?')
    message_refuse("unknown option '%s'; expected %s", argv[optind - 1], usage);
  return c >= 0;
}

static int report_command(int argc, char **argv) {
  static const struct option known[] = {{"html", required_argument, NULL, 'h'}, {0}};
  const char *path = "report.html";
  json_t *runs = json_array();
  output page;
  bool written;

  while (next_option(argc, argv, known, report_usage))
    path = optarg;
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

command *command_of(const char *name) {
  static const struct {
    const char *name;
    command *run;
  } commands[] = {{"report", report_command},
                  {"compare", compare_command},
                  {kept_command, kept_keep}, /* which no person calls */
                  {guest_command, guest_main},
                  {trust_command, trust_become}};

  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(commands[i].name, name) == 0)
      return commands[i].run;
  return NULL;
}
