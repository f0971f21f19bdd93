/* fleet.c - --devices all: a process for each GPU, all at once, and then one for the processor alone. */
#include "fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/message.h"
#include "base/output.h"
#include "base/signals.h"
#include "devices/devices.h"
#include "report/compare.h"
#include "report/json.h"
#include "report/merge.h"
#include "report/page.h"
#include "report/stored.h"
#include "worker.h"

enum { MOST = 64, NAMES = 256 };

/* The devices of one process: a GPU, as one driver or several know it, or the processor. */
typedef struct member {
  char devices[NAMES], kind[NAMES]; /* as --device takes them; and their makers' names */
  unsigned char uuid[16];
  shard share;
  char path[NAMES]; /* of its JSON */
  FILE *table;
  pid_t child;
} member;

typedef struct fleet {
  member at[MOST];
  size_t count;
  char folder[NAMES - 16]; /* where the members' files are */
} fleet;

static bool is_asked(const selection *s, lathe_kind kind) {
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (s->variant[i] && lathe_variants[i].backend->kind == kind)
      return true;
  return false;
}

static void append(char *text, const char *with, const char *more) {
  const size_t length = strlen(text);

  snprintf(text + length, NAMES - length, "%s%s", length ? with : "", more);
}

/* The member that a device is of: one that has its GPU by another driver, or a new one. */
static member *member_of(fleet *f, const device *on) {
  static const unsigned char unknown[16];

  for (size_t i = 0; i < f->count; i++)
    if (memcmp(f->at[i].uuid, on->uuid, sizeof on->uuid) == 0 &&
        memcmp(on->uuid, unknown, sizeof unknown) != 0)
      return &f->at[i];
  if (f->count == MOST - 1)
    message_refuse("--devices all: there are more than %d devices", MOST - 1);
  return &f->at[f->count++];
}

static void gather_gpus(fleet *f, const selection *s) {
  for (size_t i = 0; i < device_count(); i++) {
    device *on = device_at(i);
    member *m;
    if (device_kind_of(on->kind)->on_host || on->is_processor || !is_asked(s, on->kind))
      continue;
    m = member_of(f, on);
    memcpy(m->uuid, on->uuid, sizeof m->uuid);
    append(m->devices, ",", on->id);
    append(m->kind, ", ", on->name);
  }
}

/* GPUs of a kind share the rows. */
static void share_out(fleet *f, shard whole) {
  for (size_t i = 0; i < f->count; i++) {
    int before = 0, all = 0;
    for (size_t j = 0; j < f->count; j++)
      if (strcmp(f->at[i].kind, f->at[j].kind) == 0) {
        before += j < i;
        all++;
      }
    f->at[i].share = all > 1 ? shard_part(whole, before + 1, all) : whole;
  }
}

static void start(fleet *f, member *m, const options *o, const char *program) {
  child_words words = {0};

  snprintf(m->path, sizeof m->path, "%s/%zu.json", f->folder, (size_t)(m - f->at));
  m->table = tmpfile();
  child_word(&words, "%s", program);
  for (size_t i = 0; i < o->word_count; i++)
    child_word(&words, "%s", o->words[i]);
  child_word(&words, "--device=%s", m->devices);
  child_word(&words, "--seed=%llu", (unsigned long long)o->seed);
  child_word(&words, "--json=%s", m->path);
  if (m->share.of)
    child_word(&words, "--shard=%d/%d", m->share.nth, m->share.of);
  fflush(stdout);
  m->child =
      m->table ? child_start(NULL, &words, STDIN_FILENO, fileno(m->table), STDERR_FILENO) : 0;
  if (!m->child)
    message_refuse("no process for %s: %s", m->devices, strerror(errno));
  child_words_free(&words);
}

static void print_table(member *m) {
  char line[4096];

  printf("---- %s: %s\n", m->devices, m->kind);
  rewind(m->table);
  while (fgets(line, sizeof line, m->table))
    fputs(line, stdout);
  fclose(m->table);
  putchar('\n');
  output_flush_standard();
}

/* Waits for a member, and adds its run to others; its exit status. */
static int finish(member *m, json_t *runs) {
  const int status = child_wait(m->child);

  print_table(m);
  if (access(m->path, R_OK) == 0) {
    json_array_append_new(runs, stored_load(m->path));
    unlink(m->path);
  } else {
    message_warn("%s: its process ended with status %d and left no rows", m->devices, status);
  }
  return status;
}

static bool write_json(const char *path, const json_t *run) {
  output file = output_open(path);

  if (file.file)
    json_write_run(file.file, run);
  return output_commit(&file);
}

static bool write_page(const char *path, json_t *run) {
  output file = output_open(path);
  json_t *runs = json_pack("[O]", run);

  if (file.file)
    page_write(file.file, runs);
  json_decref(runs);
  return output_commit(&file);
}

/* Statuses, the weightiest first: a signal, a bad request, wrong rows, killed rows. */
static int graver(int one, int other) {
  static const int order[] = {EXIT_REQUEST, EXIT_WRONG, EXIT_KILLED};

  if (one >= EXIT_SIGNAL || other >= EXIT_SIGNAL)
    return one > other ? one : other;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (one == order[i] || other == order[i])
      return order[i];
  return one == EXIT_RIGHT || other == EXIT_RIGHT ? EXIT_RIGHT : EXIT_NOTHING;
}

static int report_all(const options *o, const json_t *runs, int status) {
  json_t *all = merge_runs(runs), *base = o->compare ? stored_load(o->compare) : NULL;
  const char *refusal = base ? compare_refusal(base, all) : NULL;

  if (o->shard.of)
    json_object_set_new(json_object_get(all, "context"), "shard",
                        json_sprintf("%d/%d", o->shard.nth, o->shard.of));
  if ((o->json && !write_json(o->json, all)) || (o->html && !write_page(o->html, all)))
    status = graver(status, EXIT_REQUEST);
  merge_count(all, stdout);
  if (refusal)
    message_refuse("--compare %s: %s", o->compare, refusal);
  if (base && !compare_print(base, all))
    status = graver(status, EXIT_WRONG);
  json_decref(base);
  json_decref(all);
  return status;
}

int fleet_run(const options *o, const selection *s, const char *program) {
  const char *temporary = getenv("TMPDIR");
  fleet f = {.count = 0};
  json_t *runs = json_array();
  int status = EXIT_NOTHING;
  size_t gpus;

  gather_gpus(&f, s);
  share_out(&f, o->shard);
  gpus = f.count;
  if (is_asked(s, LATHE_CPU)) {
    f.at[f.count] = (member){.devices = "cpu", .share = o->shard};
    snprintf(f.at[f.count++].kind, NAMES, "%s", device_own(LATHE_CPU).at[0]->name);
  }
  if (f.count == 0)
    message_refuse("--devices all: nothing that was asked for runs on a GPU or processor here");
  for (int k = 0; k < DEVICE_KINDS; k++)
    if (is_asked(s, (lathe_kind)k) && device_missing((lathe_kind)k))
      message_warn("no rows of %s: %s", lathe_kind_name((lathe_kind)k),
                   device_missing((lathe_kind)k));
  worker_end(); /* whose drivers would hold memory of all GPUs */
  signals_note_interrupts(output_abandon);
  snprintf(f.folder, sizeof f.folder, "%s/lathe-XXXXXX",
           temporary && *temporary ? temporary : "/tmp");
  if (!mkdtemp(f.folder))
    message_refuse("cannot make the folder %s: %s", f.folder, strerror(errno));
  for (size_t i = 0; i < gpus; i++)
    start(&f, &f.at[i], o, program);
  for (size_t i = 0; i < f.count; i++) {
    if (i == gpus && signals_interrupted())
      break;
    if (i == gpus)
      start(&f, &f.at[i], o, program);
    status = graver(status, finish(&f.at[i], runs));
  }
  rmdir(f.folder);
  if (json_array_size(runs))
    status = report_all(o, runs, status);
  if (signals_interrupted())
    status = EXIT_SIGNAL + signals_interrupted();
  json_decref(runs);
  return status;
}
