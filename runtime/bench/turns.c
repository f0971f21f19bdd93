/* turns.c - --against: another build of this program has its turn with each row, in the same rounds. */
#include "turns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/message.h"
#include "base/signals.h"
#include "report/made_of.h"
#include "serve.h"

enum { VERSION = 1, LINE = 2 * TURNS_NAME + 32 };
static const char hello[] = "lathe turns %d ";

const char turns_command[] = "turns";

/* The other program, as this one knows it. */
static struct {
  pid_t child; /* 0: none */
  FILE *line, *errors;
  const char *path;
  char commit[64];
  bool ended;
} base;

/* Options that are for this program alone. */
static bool is_left_out(const char *word) {
  static const char *const names[] = {"--rounds=", "--peers=", "--profile",
                                      "--rows",    "--with=",  "--trust="};

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(word, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}

static child_words words_for(const options *o, const char *program) {
  child_words words = {0};

  child_word(&words, "%s", program);
  child_word(&words, "%s", turns_command);
  for (size_t i = 0; i < o->word_count; i++)
    if (!is_left_out(o->words[i]))
      child_word(&words, "%s", o->words[i]);
  if (o->device)
    child_word(&words, "--device=%s", o->device);
  if (o->shard.of)
    child_word(&words, "--shard=%d/%d", o->shard.nth, o->shard.of);
  child_word(&words, "--rounds=%d", o->limits.rounds);
  child_word(&words, "--seed=%llu", (unsigned long long)o->seed);
  return words;
}

/* The first line of what the program complained of, or how it ended. */
static void complaint(char *text, size_t size) {
  const int status = child_wait(base.child);
  size_t length;

  rewind(base.errors);
  if (!fgets(text, (int)size, base.errors))
    snprintf(text, size, status == 127 ? "it cannot be started" : "it ended with status %d",
             status);
  length = strcspn(text, "\n");
  text[length] = 0;
  base.child = 0;
  fclose(base.line);
}

/* Without a signal where the program has ended. */
static bool put(const char *text) {
  return serve_put(fileno(base.line), text, strlen(text));
}

static bool read_line(char line[LINE]) {
  char *end;

  if (!fgets(line, LINE, base.line) || !(end = strchr(line, '\n')))
    return false;
  *end = 0;
  return true;
}

void turns_start(const options *o, const char *program) {
  child_words words = words_for(o, o->against);
  char line[LINE], why[200];
  int ends[2], version = 0, length = 0;

  base.path = o->against;
  base.errors = tmpfile();
  if (!base.errors || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    message_refuse("no line to %s: %s", o->against, strerror(errno));
  base.child = child_start(o->against, &words, ends[1], ends[1], fileno(base.errors));
  if (!base.child)
    message_refuse("no process for %s: %s", o->against, strerror(errno));
  close(ends[1]);
  child_words_free(&words);
  base.line = fdopen(ends[0], "r");
  if (!base.line || !read_line(line)) {
    complaint(why, sizeof why);
    message_refuse(
        "--against %s: it takes no turns: %s (expected a build of this program, which is %s, "
        "that has --against too)",
        o->against, why, program);
  }
  if (sscanf(line, hello, &version) != 1 || version != VERSION)
    message_refuse("--against %s: it says '%.60s'; expected 'lathe turns %d', as a build of this "
                   "program does",
                   o->against, line, VERSION);
  sscanf(line, "lathe turns %d %n", &version, &length);
  snprintf(base.commit, sizeof base.commit, "%s", line + length);
}

bool turns_are_taken(void) {
  return base.child != 0;
}

const char *turns_commit(void) {
  return strcmp(base.commit, "-") != 0 && base.commit[0] ? base.commit : NULL;
}

static void lose(void) {
  char why[200];

  if (!signals_interrupted())
    complaint(why, sizeof why);
  if (!signals_interrupted())
    message_warn("--against %s ended: %s; later rounds are without it", base.path, why);
  base.child = 0;
  base.ended = true;
}

base_turn turns_ask(const row *line, const device *on) {
  unsigned long long calls = 0;
  base_turn turn = {NULL, NAN, 0};
  char question[LINE], told[LINE], status[32];

  if (!base.child)
    return turn;
  snprintf(question, sizeof question, "%s\t%s\t%llu\n", line->name, on ? on->id : "-",
           (unsigned long long)line->warm.calls);
  if (!put(question) || !read_line(told)) {
    lose();
    return turn;
  }
  if (sscanf(told, "%31s %lf %llu", status, &turn.median, &calls) < 1 ||
      strcmp(status, "none") == 0)
    return (base_turn){NULL, NAN, 0};
  turn.status = row_status_named(status);
  turn.calls = calls;
  return turn;
}

void turns_renew(void) {
  if (base.child)
    put("\t\t0\n");
}

bool turns_end(void) {
  if (base.child) {
    fclose(base.line);
    child_wait(base.child);
    base.child = 0;
  }
  if (base.errors)
    fclose(base.errors);
  return !base.ended;
}

/* ---- in the other program ---------------------------------------------------------------------- */

void turns_begin(void) {
  printf(hello, VERSION);
  printf("%s\n", made_of_commit ? made_of_commit : "-");
  fflush(stdout);
}

bool turns_next(turns_row *next) {
  char line[LINE];

  if (!fgets(line, sizeof line, stdin))
    return false;
  *next = (turns_row){.name = ""};
  return sscanf(line, "%319[^\t]\t%319[^\t]\t%llu", next->name, next->on, &next->calls) == 3 ||
         *line == '\t';
}

void turns_answer(const char *status, double median, uint64_t calls) {
  printf("%s %.17g %llu\n", status ? status : "unknown", median, (unsigned long long)calls);
  fflush(stdout);
}
