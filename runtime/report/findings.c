/* findings.c - what is said below the table of all rows together. */
#include "findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/wrap.h"
#include "devices/devices.h"

bool report_many_dtypes(const report *r) {
  for (size_t i = 1; i < r->selection->count; i++)
    if (r->selection->tasks[i].dtype != r->selection->tasks[0].dtype)
      return true;
  return false;
}

size_t report_task_rows(const report *r, size_t i) {
  size_t count = 1;

  while (i + count < r->count && r->rows[i + count]->task == r->rows[i]->task)
    count++;
  return count;
}

/* The fastest of a task's rows; but one of the backend that was fastest at the size before, if
 * it is as good as that: who wins a tie is chance. */
static const row *steady_fastest(row *const *rows, size_t count, const char *before) {
  const double tie = 0.03;
  const row *fastest = row_fastest(rows, count);

  for (size_t i = 0; i < count && before && fastest; i++)
    if (rows[i]->sample_count > 0 && rows[i]->backend == before &&
        rows[i]->real_time <= fastest->real_time * (1 + tie))
      return rows[i];
  return fastest;
}

/* Which backend is fastest at which sizes, for one op and type: "scalar up to 100, then avx2 up
 * to 10K, then avx512". Returns the row after its last; the text is empty where there is but one
 * size. */
static size_t crossover(const report *r, size_t i, char *text, size_t size) {
  const task *first = r->rows[i]->task;
  const row *last = NULL;
  size_t length = 0, sizes = 0;

  text[0] = 0;
  while (i < r->count && r->rows[i]->task->op == first->op &&
         r->rows[i]->task->dtype == first->dtype) {
    const size_t count = report_task_rows(r, i);
    const row *now = steady_fastest(&r->rows[i], count, last ? last->backend : NULL);
    i += count;
    if (!now)
      continue;
    if (last && last->backend != now->backend && length < size)
      length += (size_t)snprintf(text + length, size - length, " up to %s, then ", last->size);
    if ((!last || last->backend != now->backend) && length < size)
      length += (size_t)snprintf(text + length, size - length, "%s", now->backend);
    last = now;
    sizes++;
  }
  if (sizes < 2)
    text[0] = 0;
  return i;
}

/* The crossovers, ops with the same one together. */
void report_crossovers(const report *r) {
  typedef struct group {
    char text[200];
    const task *task;
    bool printed;
  } group;
  group *groups = message_need(calloc(r->count + 1, sizeof *groups));
  const bool dtypes = report_many_dtypes(r);
  size_t count = 0;

  for (size_t i = 0; i < r->count; count++) {
    groups[count].task = r->rows[i]->task;
    i = crossover(r, i, groups[count].text, sizeof groups[count].text);
  }
  for (size_t g = 0, lines = 0; g < count; g++) {
    int column;
    if (groups[g].printed || !groups[g].text[0])
      continue;
    if (lines++ == 0)
      puts("\nFastest by size:");
    column = printf("  %s:", groups[g].text);
    for (size_t same = g; same < count; same++) {
      const task *t = groups[same].task;
      char name[96];
      if (strcmp(groups[g].text, groups[same].text) != 0)
        continue;
      groups[same].printed = true;
      snprintf(name, sizeof name, "%s%s%s", t->op->name, dtypes ? " " : "",
               dtypes ? lathe_dtype_name(t->dtype) : "");
      if (column + (int)strlen(name) + 2 > wrap_width())
        column = printf("\n    ") - 1;
      column += printf(" %s", name);
      if (dtypes)
        column += printf(";");
    }
    putchar('\n');
  }
  free(groups);
}

static bool same_skip(const row *a, const row *b) {
  return b->state == ROW_SKIPPED && strcmp(a->backend, b->backend) == 0 &&
         strcmp(a->reason, b->reason) == 0;
}

/* Why rows were skipped, each reason of a backend once. */
void report_skips(const report *r) {
  for (size_t i = 0; i < r->count; i++) {
    size_t same = 0;
    bool before = false;
    if (r->rows[i]->state != ROW_SKIPPED)
      continue;
    for (size_t j = 0; j < r->count && !before; j++)
      if (same_skip(r->rows[i], r->rows[j])) {
        before = j < i;
        same++;
      }
    if (!before)
      wrap_print(r->rows[i]->reason, printf("skipped %zu rows of %s:", same, r->rows[i]->backend),
                 6);
  }
}

void report_unasked(const report *r) {
  const device *on = r->selection->unasked;
  char text[600];

  if (!on)
    return;
  snprintf(text, sizeof text,
           "%s (%s) is a processor that emulates a GPU; --backend %s or --device %s runs it",
           on->id, on->name, lathe_kind_name(on->kind), on->id);
  wrap_print(text, printf("left out:"), 6);
}

void report_next(const report *r) {
  const options *o = r->options;

  if (o->op || o->size || o->dtype || o->backend || o->device || o->variant)
    return;
  wrap_print(
      "--rows shows every variant, --dtype all the other types, --op and --size some ops and any "
      "sizes, --json FILE writes all that was measured; --help says more, and README.md how to "
      "add an op",
      printf("next:"), 6);
}

void report_above_ceiling(const report *r) {
  const size_t most = 5; /* rows that are named */
  size_t length, count = 0;
  char *text = NULL;
  FILE *to = message_need(open_memstream(&text, &length));

  fputs(
      "above the ceiling, which was measured too low, or the row's bytes are fewer; this counts as "
      "a failure:",
      to);
  for (size_t i = 0; i < r->count; i++)
    if (r->rows[i]->above_ceiling && (!r->rows[i]->peer || r->rows[i]->foreign) && ++count <= most)
      fprintf(to, "%s %s %.1f%%", count > 1 ? "," : "", r->rows[i]->name,
              100 * r->rows[i]->ceiling_share);
  if (count > most)
    fprintf(to, ", and %zu more", count - most);
  fclose(to);
  if (count)
    wrap_print(text, printf("!:"), 3);
  free(text);
}

/* The first row of a backend, where all of its rows were skipped; else null. */
static const row *left_out(const report *r, const lathe_backend *backend) {
  const row *first = NULL;

  for (size_t i = 0; i < r->count; i++) {
    if (r->rows[i]->of->backend != backend)
      continue;
    if (r->rows[i]->state != ROW_SKIPPED)
      return NULL;
    if (!first)
      first = r->rows[i];
  }
  return first;
}

void report_left_out(FILE *to, const report *r) {
  size_t count = 0;

  for (size_t b = 0; b < lathe_backend_count; b++) {
    const row *line = left_out(r, &lathe_backends[b]);
    if (!line)
      continue;
    fprintf(to, "%s%s", count++ ? "; " : " (", line->backend);
    if (device_kind_of(lathe_backends[b].kind)->on_host)
      fprintf(to, ": %s", line->reason);
  }
  if (count)
    fputc(')', to);
}

/* Whether a row is the first of its op that has a note. */
static bool is_noted(const report *r, const row *line) {
  size_t i = 0;

  if (!line->note)
    return false;
  while (!r->rows[i]->note || r->rows[i]->task->op != line->task->op)
    i++;
  return r->rows[i] == line;
}

/* How little some right rows show: once for each op, those together of which the same is to be said. */
void report_notes(const report *r) {
  bool *said = message_need(calloc(r->count + 1, sizeof *said));

  for (size_t i = 0; i < r->count; i++) {
    char *text = NULL;
    size_t length;
    FILE *to;
    if (said[i] || !is_noted(r, r->rows[i]))
      continue;
    to = message_need(open_memstream(&text, &length));
    fprintf(to, "%s:", r->rows[i]->note);
    for (size_t j = i; j < r->count; j++)
      if (is_noted(r, r->rows[j]) && strcmp(r->rows[j]->note, r->rows[i]->note) == 0) {
        fprintf(to, "%s %s %s %s", j > i ? "," : "", r->rows[j]->op, r->rows[j]->dtype,
                r->rows[j]->size);
        said[j] = true;
      }
    fclose(to);
    wrap_print(text, printf("note:"), 6);
    free(text);
  }
  free(said);
}

/* A device whose clock was not the same for all rows: they are less alike than their intervals say. */
static void warn_of_clock(const report *r, const device *on) {
  const double drift = 0.1;
  double low = INFINITY, high = 0;
  size_t retaken = 0;

  for (size_t i = 0; i < r->count; i++) {
    const row *of = r->rows[i];
    if (!of->device || strcmp(of->device, on->id) != 0 || !isfinite(of->clock_mhz))
      continue;
    low = fmin(low, of->clock_low_mhz);
    high = fmax(high, of->clock_high_mhz);
    retaken += of->retaken;
  }
  if (low < (1 - drift) * high)
    message_warn("%s's clock went from %.0f to %.0f MHz (throttled?); %zu rounds taken again",
                 on->id, low, high, retaken);
}

/* Where so few calls were timed that nothing is known of their noise, that is no sign of a busy machine. */
void report_noise(const report *r) {
  size_t unsteady = 0, unknown = 0;

  for (size_t i = 0; i < r->count; i++)
    if (r->rows[i]->sample_count > 0) {
      unknown += !isfinite(r->rows[i]->noise);
      unsteady += isfinite(r->rows[i]->noise) && r->rows[i]->noise > row_noise_limit;
    }
  if (unsteady)
    message_warn(
        "%zu rows vary by more than %.0f %%: a busy machine, or too little time (--min-time)",
        unsteady, 100 * row_noise_limit);
  if (unknown)
    message_warn(
        "%zu rows have too few samples to tell how much they vary (--iterations, --min-time)",
        unknown);
  for (size_t i = 0; i < device_count(); i++)
    warn_of_clock(r, device_at(i));
}
