/* tune.c - which variants are the fastest of a device: measured, and kept by it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "choice.h"
#include "launch.h"
#include "plan.h"

#pragma GCC visibility push(default)
#include "lathe_tune.h"
#pragma GCC visibility pop

struct lathe_choices {
  size_t count, room;
  lathe_tuning_line at[];
};

static uint64_t features_of(const lathe_device *device) {
  return device->make ? device->features : lathe_present_features();
}

/* ---- what a device has kept -------------------------------------------------------------------- */

static const lathe_variant *variant_of(const lathe_kernels *table, const char *name) {
  for (size_t i = 0; i < table->count; i++)
    if (strcmp(table->variants[i].name, name) == 0)
      return &table->variants[i];
  return NULL;
}

/* The variant of the nearest size; null where there is none that can run. */
static const lathe_variant *tuned(const lathe_device *device, const lathe_kernels *table,
                                  const size_t *dim) {
  const char *dtype = lathe_dtype_name(table->dtype);
  const lathe_variant *found = NULL;
  double nearest = 0;

  for (size_t i = 0; i < device->choices->count; i++) {
    const lathe_tuning_line *line = &device->choices->at[i];
    double log[LATHE_MAX_DIMS];
    const lathe_variant *v;
    if (line->mark != table->mark || strcmp(line->op, table->op->name) != 0 ||
        strcmp(line->dtype, dtype) != 0 || !lathe_tuning_logs(table->op, line->size, log))
      continue;
    const double away = lathe_tuning_away(table->op, dim, log);
    v = variant_of(table, line->variant);
    if ((found ? away >= nearest : away > 1e9) || !v || v->by_name ||
        lathe_why_not(v, features_of(device)) ||
        !lathe_fits(v, dim, lathe_least_shared(features_of(device))))
      continue;
    nearest = away;
    found = v;
  }
  return found;
}

static void forget(lathe_device *device) {
  free(device->choices);
}

static bool is_of_same_call(const lathe_tuning_line *a, const lathe_tuning_line *b) {
  return strcmp(a->op, b->op) == 0 && strcmp(a->dtype, b->dtype) == 0 &&
         strcmp(a->size, b->size) == 0;
}

/* Keeps a line, in the place of one of the same call; false where there is no memory. */
static bool keep(lathe_device *device, const lathe_tuning_line *line) {
  lathe_choices *kept = device->choices;
  size_t at = 0;

  while (kept && at < kept->count && !is_of_same_call(&kept->at[at], line))
    at++;
  if (!kept || at == kept->room) {
    const size_t room = kept ? 2 * kept->room : 16;
    lathe_choices *larger = realloc(kept, sizeof *kept + room * sizeof *kept->at);
    if (!larger)
      return false;
    larger->count = kept ? larger->count : 0;
    larger->room = room;
    kept = device->choices = larger;
    device->tuned = tuned;
    device->forget = forget;
  }
  kept->at[at] = *line;
  kept->count += at == kept->count;
  return true;
}

/* ---- measuring --------------------------------------------------------------------------------- */

static double now(void) {
  struct timespec at;

  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static int time_calls(lathe_device *device, const lathe_plan *plan, const lathe_tuning *with,
                      size_t calls, double *seconds) {
  const double from = now();
  int error = 0;

  if (device->time)
    return device->time(device, plan, with, calls, seconds);
  for (size_t i = 0; i < calls && !error; i++)
    error = lathe_run(plan, with->operand, with->scalar, with->workspace, NULL);
  *seconds = now() - from;
  return error;
}

/* A variant, and what is known of it. */
typedef struct entrant {
  const lathe_variant *variant;
  size_t calls; /* that are measured at once */
  double best;  /* seconds of one */
} entrant;

enum { MOST = 256, ROUNDS = 5 };

/* Measures one: its plan may not be made, and want too much. */
static int measure(lathe_device *device, const lathe_kernels *table, const size_t *dim,
                   const lathe_tuning *with, double least, entrant *e, lathe_plan *plan) {
  double seconds = 0;
  int error;

  plan->ulp = table->ulp;
  if (lathe_make_variant(plan, e->variant, device, dim, NULL) ||
      plan->workspace > (with->workspace ? with->workspace_bytes : 0)) {
    e->variant = NULL;
    return 0;
  }
  if (e->calls == 0) { /* the first call finds cold caches */
    error = time_calls(device, plan, with, 1, &seconds);
    for (e->calls = 1; !error && e->calls < 1 << 20; e->calls *= 2) {
      error = time_calls(device, plan, with, e->calls, &seconds);
      if (seconds >= least / 2)
        break;
    }
  } else {
    error = time_calls(device, plan, with, e->calls, &seconds);
  }
  if (!error && (e->best == 0 || seconds / (double)e->calls < e->best))
    e->best = seconds / (double)e->calls;
  return error;
}

static lathe_status refuse(lathe_plan *made, lathe_status status, const lathe_kernels *table,
                           const char *why) {
  lathe_line line = lathe_begin_line(made->why);

  made->variant = made->source = NULL;
  lathe_say(&line, table ? table->op->name : "lathe_tune");
  lathe_say(&line, ": ");
  lathe_say(&line, why);
  return status;
}

lathe_status lathe_tune(lathe_device *device, const lathe_kernels *table, const size_t *dim,
                        const lathe_tuning *with, lathe_plan *made) {
  const double nearly = 0.98;
  entrant entrants[MOST];
  const entrant *best = NULL, *chosen = NULL;
  lathe_tuning_line line = {.gain = 1};
  lathe_status status;
  size_t count = 0;
  int error = 0;

  if (!device || !table || !with || with->size != sizeof *with || !with->operand)
    return refuse(made, LATHE_OPTIONS, table,
                  "expected a device that was opened, operands, and sizeof(lathe_tuning)");
  if (device->needs_queue && (!with->queue || !with->stream))
    return refuse(made, LATHE_OPTIONS, table,
                  "expected a VkQueue and a command buffer of its family to measure with");
  /* What the device takes that knows nothing; and whether calls may be made so. */
  const lathe_choices *const known = device->choices;
  device->choices = NULL;
  status = lathe_make_of(made, table, device, dim, NULL);
  device->choices = (lathe_choices *)known;
  if (status)
    return status;
  const char *const first = made->variant;
  for (int o = 0; o < table->op->noperands; o++)
    if (!with->operand[o] && lathe_elements(table->op, o, dim) > 0)
      return refuse(made, LATHE_NULL, table,
                    "an operand is null; expected memory for its elements");
  for (size_t i = 0; i < table->count && count < MOST; i++)
    if (!table->variants[i].by_name && !lathe_why_not(&table->variants[i], features_of(device)))
      entrants[count++] = (entrant){.variant = &table->variants[i]};
  const double least = (with->seconds > 0 ? with->seconds : 0.1) / (double)(count * ROUNDS + 1);
  for (int round = 0; round < ROUNDS && !error; round++)
    for (size_t i = 0; i < count && !error; i++)
      if (entrants[i].variant)
        error = measure(device, table, dim, with, least, &entrants[i], made);
  if (error)
    return refuse(made, error < 0 ? LATHE_DRIVER : (lathe_status)error, table,
                  "a call failed while it was measured");
  for (size_t i = 0; i < count; i++) {
    const entrant *e = &entrants[i];
    if (!e->variant || e->best <= 0)
      continue;
    best = best && best->best <= e->best ? best : e;
    chosen = strcmp(e->variant->name, first) == 0 ? e : chosen;
  }
  if (!best)
    return refuse(made, LATHE_WORKSPACE, table,
                  "every variant wants more than was lent: lathe_tuning_workspace bytes suffice");
  if (chosen && best->best > nearly * chosen->best)
    best = chosen;
  snprintf(line.op, sizeof line.op, "%s", table->op->name);
  snprintf(line.dtype, sizeof line.dtype, "%s", lathe_dtype_name(table->dtype));
  snprintf(line.kind, sizeof line.kind, "%s", lathe_kind_name(device->kind));
  lathe_tuning_size(table->op, dim, line.size);
  snprintf(line.variant, sizeof line.variant, "%s", best->variant->name);
  line.gain = chosen ? chosen->best / best->best : 1;
  line.mark = table->mark;
  if (!keep(device, &line))
    return refuse(made, LATHE_MEMORY, table, "the host's memory does not suffice");
  made->ulp = table->ulp;
  return lathe_make_variant(made, best->variant, device, dim, NULL);
}

size_t lathe_tuning_workspace(const lathe_device *device, const lathe_kernels *table,
                              const size_t *dim) {
  double most = 0;

  for (size_t i = 0; i < table->count; i++) {
    const lathe_variant *v = &table->variants[i];
    const bool runs = !v->by_name && !lathe_why_not(v, features_of(device));
    const double bytes = runs ? lathe_workspace_of_parts(v, dim, 1) : 0;
    most = bytes > most ? bytes : most;
  }
  return most < 0x1p62 ? (size_t)most : 0;
}

/* ---- as text ----------------------------------------------------------------------------------- */

size_t lathe_save_tuning(const lathe_device *device, char *text, size_t room) {
  const char *kind = lathe_kind_name(device->kind);
  char nothing[1], *to = room ? text : nothing;
  size_t used =
      (size_t)snprintf(to, room, "%s\ndevice %s %s\n", lathe_tuning_head, kind, device->name);

  for (size_t i = 0; device->choices && i < device->choices->count; i++) {
    const lathe_tuning_line *line = &device->choices->at[i];
    const size_t left = used < room ? room - used : 0;
    used += (size_t)snprintf(left ? to + used : nothing, left, "%s %s %s %s %s %.3g %08x\n",
                             line->op, line->dtype, kind, line->size, line->variant, line->gain,
                             (unsigned)line->mark);
  }
  return used;
}

static lathe_status refuse_line(char why[160], size_t number, const char *expected,
                                const char *found) {
  lathe_line line = lathe_begin_line(why);

  lathe_say(&line, "line ");
  lathe_say_number(&line, number);
  lathe_say(&line, ": expected ");
  lathe_say(&line, expected);
  lathe_say(&line, ", found '");
  lathe_say(&line, found);
  lathe_say(&line, "'");
  return LATHE_OPTIONS;
}

lathe_status lathe_load_tuning(lathe_device *device, const char *text, char why[160]) {
  const char *kind = lathe_kind_name(device->kind);
  bool ours = false;
  size_t number = 1;

  lathe_begin_line(why);
  for (const char *at = text; *at; number++) {
    const size_t length = strcspn(at, "\r\n");
    char line[4 * LATHE_TUNING_NAME], of[16];
    lathe_tuning_line choice;
    int name = 0;
    snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), at);
    at += length + strspn(at + length, "\r");
    at += *at == '\n';
    if (number == 1 && strcmp(line, lathe_tuning_head) != 0)
      return refuse_line(why, number, lathe_tuning_head, line);
    if (number == 1 || !line[0])
      continue;
    if (sscanf(line, "device %15s %n", of, &name) == 1 && name > 0) {
      ours = ours || strcmp(of, kind) == 0;
      if (strcmp(of, kind) == 0 && strcmp(line + name, device->name) != 0)
        return refuse_line(why, number, device->name, line + name);
    } else if (!lathe_tuning_parse(line, &choice)) {
      return refuse_line(why, number, "an op, type, kind of device, size, variant, ratio and mark",
                         line);
    } else if (strcmp(choice.kind, kind) == 0) {
      if (!ours)
        return refuse_line(why, number, "a line with the device's name before this", line);
      if (!keep(device, &choice))
        return LATHE_MEMORY;
    }
  }
  return number > 1 ? LATHE_OK : refuse_line(why, number, lathe_tuning_head, "");
}

/* ---- processors -------------------------------------------------------------------------------- */

/* What this processor is called, as the bench program calls it. */
static void name_processor(char *name, size_t size) {
  snprintf(name, size, "unknown processor");
#ifdef __x86_64__
  const uint32_t first = 0x80000002;
  uint32_t words[13] = {0};
  const char *brand = (const char *)words;

  for (uint32_t i = 0; i < 3; i++)
    if (!__get_cpuid(first + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                     &words[4 * i + 3]))
      return;
  snprintf(name, size, "%s", brand + strspn(brand, " "));
  for (size_t length = strlen(name); length > 0 && name[length - 1] == ' '; length--)
    name[length - 1] = '\0';
#endif
}

static void close_processor(lathe_device *device) {
  free(device);
}

lathe_status lathe_open_cpu(lathe_device **made) {
  *made = calloc(1, sizeof **made);
  if (!*made)
    return LATHE_MEMORY;
  (*made)->kind = LATHE_CPU;
  name_processor((*made)->name, sizeof(*made)->name);
  (*made)->close = close_processor;
  return LATHE_OK;
}
