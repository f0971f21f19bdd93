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
  bool whole;        /* the table's choice is among them */
  const row *chosen; /* that one; null where it was not right */
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

/* A call that was measured on one kind of device. */
typedef struct call {
  char key
      [2 *
       LATHE_TUNING_NAME]; /* its line without the variant: what two lines for one call have alike */
  const task *of;
  lathe_kind kind;
  contest came_to;
} call;

/* All of a run, in the order of its rows, and by their keys. */
typedef struct calls {
  call *at;
  const call **by_key;
  size_t count;
  size_t narrowed; /* others, of which the run left out what the table chooses */
} calls;

static contest contest_of(row *const *rows, size_t count, lathe_kind kind) {
  contest c = {.slower = 1};

  for (size_t i = 0; i < count; i++) {
    const row *line = rows[i];
    if (line->peer || line->of->backend->kind != kind)
      continue;
    c.whole = c.whole || line->dispatched;
    if (line->rounds_factors || line->state != ROW_RIGHT || line->sample_count == 0)
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

static void add_calls(calls *all, const task *t, row *const *rows, size_t count) {
  char size[LATHE_TUNING_NAME];

  lathe_tuning_size(t->op, t->dim, size);
  for (int kind = 0; kind < DEVICE_KINDS; kind++) {
    call *c = &all->at[all->count];
    *c = (call){.of = t, .kind = (lathe_kind)kind};
    c->came_to = contest_of(rows, count, c->kind);
    snprintf(c->key, sizeof c->key, "%s %s %s %s ", t->op->name, lathe_dtype_name(t->dtype),
             lathe_kind_name(c->kind), size);
    all->count += c->came_to.best && c->came_to.whole;
    all->narrowed += c->came_to.best && !c->came_to.whole;
  }
}

static int by_key(const void *a, const void *b) {
  return strcmp((*(const call *const *)a)->key, (*(const call *const *)b)->key);
}

/* The rows of a task follow each other. */
static calls calls_of(const report *r) {
  const size_t most = (r->selection->count + 1) * DEVICE_KINDS;
  calls all = {.at = message_need(calloc(most, sizeof *all.at)),
               .by_key = message_need(calloc(most, sizeof *all.by_key))};

  for (size_t from = 0, to; from < r->count; from = to) {
    for (to = from; to < r->count && r->rows[to]->task == r->rows[from]->task;)
      to++;
    add_calls(&all, r->rows[from]->task, r->rows + from, to - from);
  }
  for (size_t i = 0; i < all.count; i++)
    all.by_key[i] = &all.at[i];
  qsort(all.by_key, all.count, sizeof *all.by_key, by_key);
  return all;
}

static bool has_kind(const calls *all, lathe_kind kind) {
  for (size_t i = 0; i < all->count; i++)
    if (all->at[i].kind == kind)
      return true;
  return false;
}

static bool is_measured(const calls *all, const char *text) {
  const call **found;
  lathe_tuning_line line;
  call wanted, *key = &wanted;

  if (!lathe_tuning_parse(text, &line))
    return false;
  snprintf(wanted.key, sizeof wanted.key, "%.160s %.15s %.15s %.180s ", line.op, line.dtype,
           line.kind, line.size);
  found = bsearch(&key, all->by_key, all->count, sizeof *all->by_key, by_key);
  return found != NULL;
}

/* The lines of the file that is there which stay: calls that were not measured now, and devices of other kinds. */
static void copy_old(FILE *to, const char *path, const calls *all) {
  FILE *from = fopen(path, "r");
  char *text = NULL;
  size_t room = 0;

  while (from && getline(&text, &room, from) > 0) {
    bool stays = strcspn(text, "\r\n") > 0 &&
                 strncmp(text, lathe_tuning_head, strlen(lathe_tuning_head)) != 0;
    if (strncmp(text, "device ", 7) == 0)
      for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        const char *name = lathe_kind_name((lathe_kind)kind);
        stays = stays &&
                !(has_kind(all, (lathe_kind)kind) && strncmp(text + 7, name, strlen(name)) == 0);
      }
    if (stays && !is_measured(all, text))
      fputs(text, to);
  }
  free(text);
  if (from)
    fclose(from);
}

/* A summary of a run's choices. */
typedef struct outcome_of_run {
  size_t calls, near; /* measured, and of these where the table's choice takes at most 3 % longer */
  double worst;       /* how many times as long it takes at most */
  const row *worst_at; /* null: nowhere longer */
} outcome_of_run;

static outcome_of_run write_choices(FILE *to, const calls *all) {
  const double little = 1.03;
  outcome_of_run sum = {.calls = all->count, .worst = 1};

  for (size_t i = 0; i < all->count; i++) {
    const call *at = &all->at[i];
    const contest *c = &at->came_to;
    fprintf(to, "%s%s %.3g %08x\n", at->key, c->best->variant,
            c->chosen ? c->chosen->real_time / c->best->real_time : 1,
            (unsigned)lathe_tuning_mark(at->of->op, at->of->dtype));
    sum.near += c->slower <= little;
    if (c->slower > sum.worst) {
      sum.worst = c->slower;
      sum.worst_at = c->chosen;
    }
  }
  return sum;
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

static bool write_calls(const char *path, const report *r, const calls *all) {
  output file = output_open(path);
  outcome_of_run sum = {0};
  bool written;

  if (file.file) {
    fprintf(file.file, "%s\n", lathe_tuning_head);
    for (int kind = 0; kind < DEVICE_KINDS; kind++)
      if (has_kind(all, (lathe_kind)kind))
        fprintf(file.file, "device %s %s\n", lathe_kind_name((lathe_kind)kind),
                selection_device(r->selection, (lathe_kind)kind)->name);
    copy_old(file.file, path, all);
    sum = write_choices(file.file, all);
  }
  written = output_commit(&file);
  if (written)
    tell(path, &sum);
  return written;
}

bool tune_write(const char *path, const report *r) {
  calls all = calls_of(r);
  const bool written = all.count > 0 && write_calls(path, r, &all);

  if (all.narrowed > 0)
    message_warn("%zu calls are not in %s: the run left out the variant that the table chooses for "
                 "them, so that it is not known to be slower; tune with all variants of a device",
                 all.narrowed, path);
  if (all.count == 0)
    message_warn("no call was measured with all of its variants: %s is left as it was", path);
  free(all.at);
  free(all.by_key);
  return written;
}
