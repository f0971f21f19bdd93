/* tune.c - what a run measured, as a file of choices for dispatch. */
#include "tune.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/output.h"
#include "base/units.h"
#include "base/wrap.h"
#include "library/tuning.h"

/* The rows of one call on one kind of device, and what they come to. */
typedef struct contest {
  const row *chosen; /* by the table; null where that one was not right */
  const row *best;   /* the fastest, or `chosen` where that is not known to take longer */
  double slower; /* how many times as long `chosen` takes as the fastest; 1 where it is not there */
} contest;

void tune_check(const char *path, const report *r) {
  char error[LATHE_TUNING_ERROR];
  long stale;

  output_check(path);
  for (int kind = 0; kind < DEVICE_KINDS && access(path, F_OK) == 0; kind++) {
    const device *on = selection_device(r->selection, (lathe_kind)kind);
    if (on && lathe_tuning_load(path, (lathe_kind)kind, on->name, &stale, error) < 0)
      message_refuse("%s; name another file, or remove this one", error);
  }
  lathe_tuning_clear(); /* the table's own choices are to be seen beside the fastest */
}

static contest contest_of(const report *r, const task *t, lathe_kind kind) {
  contest c = {.slower = 1};

  for (size_t i = 0; i < r->count; i++) {
    const row *line = r->rows[i];
    if (line->task != t || line->peer || line->state != ROW_RIGHT || line->sample_count == 0 ||
        line->of->backend->kind != kind)
      continue;
    if (line->dispatched)
      c.chosen = line;
    if (!c.best || line->real_time < c.best->real_time)
      c.best = line;
  }
  if (c.chosen) {
    c.slower = c.chosen->real_time / c.best->real_time;
    if (c.chosen->low <= c.best->high)
      c.best = c.chosen;
  }
  return c;
}

static bool has_kind(const report *r, lathe_kind kind) {
  for (size_t i = 0; i < r->selection->count; i++)
    if (contest_of(r, &r->selection->tasks[i], kind).best)
      return true;
  return false;
}

/* The line of a call without its variant: what two lines for the same call have alike. */
static void key_of(const task *t, lathe_kind kind, char key[2 * LATHE_TUNING_NAME]) {
  char size[LATHE_TUNING_NAME];

  lathe_tuning_size(t->op, t->dim, size);
  snprintf(key, (size_t)2 * LATHE_TUNING_NAME, "%s %s %s %s ", t->op->name,
           lathe_dtype_name(t->dtype), lathe_kind_name(kind), size);
}

static bool is_measured(const report *r, const char *text) {
  for (size_t i = 0; i < r->selection->count; i++)
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
      char key[2 * LATHE_TUNING_NAME];
      key_of(&r->selection->tasks[i], (lathe_kind)kind, key);
      if (strncmp(text, key, strlen(key)) == 0)
        return contest_of(r, &r->selection->tasks[i], (lathe_kind)kind).best != NULL;
    }
  return false;
}

/* The lines of the file that is there which stay: calls that were not measured now, and devices of other kinds. */
static void copy_old(FILE *to, const char *path, const report *r) {
  FILE *from = fopen(path, "r");
  char *text = NULL;
  size_t room = 0;

  while (from && getline(&text, &room, from) > 0) {
    bool stays = strcspn(text, "\r\n") > 0 &&
                 strncmp(text, lathe_tuning_head, strlen(lathe_tuning_head)) != 0;
    if (strncmp(text, "device ", 7) == 0)
      for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        const char *name = lathe_kind_name((lathe_kind)kind);
        stays =
            stays && !(has_kind(r, (lathe_kind)kind) && strncmp(text + 7, name, strlen(name)) == 0);
      }
    if (stays && !is_measured(r, text))
      fputs(text, to);
  }
  free(text);
  if (from)
    fclose(from);
}

/* What the choices of a run come to. */
typedef struct outcome_of_run {
  size_t calls, near; /* measured, and of these where the table's choice takes at most 3 % longer */
  double worst;       /* how many times as long it takes at most */
  const row *worst_at; /* null: nowhere longer */
} outcome_of_run;

static outcome_of_run write_choices(FILE *to, const report *r) {
  const double little = 1.03;
  outcome_of_run all = {.worst = 1};

  for (size_t i = 0; i < r->selection->count; i++)
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
      const task *t = &r->selection->tasks[i];
      const contest c = contest_of(r, t, (lathe_kind)kind);
      char key[2 * LATHE_TUNING_NAME];
      if (!c.best)
        continue;
      key_of(t, (lathe_kind)kind, key);
      fprintf(to, "%s%s %.3g %08x\n", key, c.best->variant,
              c.chosen ? c.chosen->real_time / c.best->real_time : 1,
              (unsigned)lathe_tuning_mark(t->op, t->dtype));
      all.calls++;
      all.near += c.slower <= little;
      if (c.slower > all.worst) {
        all.worst = c.slower;
        all.worst_at = c.chosen;
      }
    }
  return all;
}

static void tell(const char *path, const outcome_of_run *all) {
  char text[1024], worst[512] = "";

  if (all->worst_at)
    snprintf(worst, sizeof worst, ", and %.2f times as long at most (%s)", all->worst,
             all->worst_at->name);
  snprintf(text, sizeof text,
           "calls in %.200s: the table's own choice takes at most 3 %% longer than the fastest at "
           "%zu%s; --tuning FILE, or LATHE_TUNING=FILE, takes the fastest",
           path, all->near, worst);
  wrap_print(text, printf("%zu", all->calls), 4);
}

bool tune_write(const char *path, const report *r) {
  output file = output_open(path);
  outcome_of_run all = {0};
  bool written;

  if (file.file) {
    fprintf(file.file, "%s\n", lathe_tuning_head);
    for (int kind = 0; kind < DEVICE_KINDS; kind++)
      if (has_kind(r, (lathe_kind)kind))
        fprintf(file.file, "device %s %s\n", lathe_kind_name((lathe_kind)kind),
                selection_device(r->selection, (lathe_kind)kind)->name);
    copy_old(file.file, path, r);
    all = write_choices(file.file, r);
  }
  written = output_commit(&file);
  if (written)
    tell(path, &all);
  return written;
}
