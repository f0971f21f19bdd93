/* merge.c - one run made of its shares, as several machines ran them. */
#include "merge.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "rows/row.h"
#include "stored.h"

/* ---- what belongs together -------------------------------------------------------------------- */

static char why[640];

static const char *refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *refuse(const char *format, ...) {
  va_list list;

  va_start(list, format);
  vsnprintf(why, sizeof why, format, list);
  va_end(list);
  return why;
}

static const json_t *run_at(const json_t *runs, size_t i) {
  return json_array_get(runs, i);
}

static const json_t *context_of(const json_t *run) {
  return json_object_get(run, "context");
}

static bool share_of(const json_t *run, shard *s) {
  return shard_parse(stored_text(context_of(run), "shard"), s);
}

/* The devices' names, without which one of several alike it is. */
static void machine_of(const json_t *run, char *text, size_t size) {
  const json_t *devices = json_object_get(context_of(run), "devices");
  size_t length = (size_t)snprintf(text, size, "%s", stored_text(context_of(run), "cpu_name"));

  for (size_t i = 0; i < json_array_size(devices) && length < size; i++) {
    const char *name = stored_text(json_array_get(devices, i), "name");
    if (!strstr(text, name))
      length += (size_t)snprintf(text + length, size - length, ", %s", name);
  }
}

/* Whether a share is of the same run as the first. */
static const char *refuse_foreign(const json_t *first, const json_t *run) {
  static const struct {
    const char *member, *of;
  } members[] = {{"asked", "what was asked for"},
                 {"commit", "the commit"},
                 {"specs_hash", "the hash of specs"},
                 {"templates_hash", "the hash of templates"},
                 {"kernel_flags", "the flags of kernels"},
                 {"nvcc_flags", "the flags of nvcc"},
                 {"compiler", "the compiler"},
                 {"cpu_features", "the processor's features"}};
  char here[200], there[200];

  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    const char *one = stored_text(context_of(first), members[i].member);
    const char *other = stored_text(context_of(run), members[i].member);
    if (strcmp(one, other) != 0)
      return refuse("%.100s is of another run: %s is '%.80s', and '%.80s' in %.100s",
                    stored_text(run, "file"), members[i].of, other, one,
                    stored_text(first, "file"));
  }
  machine_of(first, there, sizeof there);
  machine_of(run, here, sizeof here);
  if (strcmp(here, there) != 0)
    return refuse("%.100s is of another kind of machine: '%.150s', and '%.150s' in %.100s",
                  stored_text(run, "file"), here, there, stored_text(first, "file"));
  return NULL;
}

/* Which shares are not there. */
static const char *refuse_missing(const json_t *const *found, int of) {
  const size_t room = 120; /* for the names of some */
  size_t length = 0, missing = 0;
  char names[200] = "";

  for (int i = 0; i < of; i++)
    if (!found[i] && missing++ < (size_t)of && length < room)
      length += (size_t)snprintf(names + length, sizeof names - length, "%s%d/%d",
                                 length ? ", " : "", i + 1, of);
    else if (!found[i] && length < room + 5)
      length += (size_t)snprintf(names + length, sizeof names - length, ", ...");
  return missing ? refuse("%zu of %d shards are missing: %s", missing, of, names) : NULL;
}

static const char *place(const json_t *run, const json_t *first, const json_t **found) {
  const char *file = stored_text(run, "file");
  const double left = stored_number(context_of(run), "rows_not_run");
  const char *foreign;
  shard s, begun;

  if (!share_of(run, &s))
    return refuse("%.200s is no shard: expected a run with --shard", file);
  share_of(first, &begun);
  if (s.of != begun.of)
    return refuse("%.150s is shard %d/%d, and %.150s is of %d", file, s.nth, s.of,
                  stored_text(first, "file"), begun.of);
  foreign = refuse_foreign(first, run);
  if (foreign)
    return foreign;
  if (left > 0 || json_is_true(json_object_get(context_of(run), "interrupted")))
    return refuse("%.150s: shard %d/%d ended early, with %.0f rows not run: run it again", file,
                  s.nth, s.of, left > 0 ? left : 0);
  if (found[s.nth - 1])
    return refuse("shard %d/%d is there twice: %.200s and %.200s", s.nth, s.of,
                  stored_text(found[s.nth - 1], "file"), file);
  found[s.nth - 1] = run;
  return NULL;
}

const char *merge_refusal(const json_t *runs) {
  const json_t *first = run_at(runs, 0), **found;
  const char *refusal = NULL;
  shard s;

  if (!share_of(first, &s))
    return refuse("%.200s is no shard: expected a run with --shard", stored_text(first, "file"));
  found = message_need(calloc((size_t)s.of, sizeof *found));
  for (size_t i = 0; i < json_array_size(runs) && !refusal; i++)
    refusal = place(run_at(runs, i), first, found);
  if (!refusal)
    refusal = refuse_missing(found, s.of);
  free(found);
  return refusal;
}

/* ---- one run of them -------------------------------------------------------------------------- */

/* A row, and what its place follows from. */
typedef struct item {
  json_t *row;
  double place, family;
  size_t nth; /* as it came */
} item;

static int by_number(double a, double b) {
  return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b) {
  const item *x = a, *y = b;
  int order = by_number(x->place, y->place);

  order = order ? order : by_number(x->family, y->family);
  return order ? order : by_number((double)x->nth, (double)y->nth);
}

static json_t *rows_of(const json_t *runs) {
  json_t *all = json_array(), *instances = json_object();
  size_t count = 0, most = 0;
  item *items;

  for (size_t i = 0; i < json_array_size(runs); i++)
    most += json_array_size(json_object_get(run_at(runs, i), "benchmarks"));
  items = message_need(calloc(most + 1, sizeof *items));
  for (size_t i = 0; i < json_array_size(runs); i++) {
    const json_t *rows = json_object_get(run_at(runs, i), "benchmarks");
    for (size_t r = 0; r < json_array_size(rows); r++, count++) {
      json_t *one = json_array_get(rows, r);
      items[count] = (item){.row = one,
                            .place = stored_number(one, "place"),
                            .family = stored_number(one, "family_index"),
                            .nth = count};
    }
  }
  qsort(items, count, sizeof *items, by_place);
  for (size_t i = 0; i < count; i++) {
    const char *variant = stored_text(items[i].row, "variant");
    const json_int_t instance = json_integer_value(json_object_get(instances, variant));
    json_object_set_new(items[i].row, "per_family_instance_index", json_integer(instance));
    json_object_set_new(instances, variant, json_integer(instance + 1));
    json_array_append(all, items[i].row);
  }
  json_decref(instances);
  free(items);
  return all;
}

/* Those of all runs, each once. */
static json_t *devices_of(const json_t *runs) {
  json_t *all = json_array(), *known = json_object();

  for (size_t i = 0; i < json_array_size(runs); i++) {
    const json_t *devices = json_object_get(context_of(run_at(runs, i)), "devices");
    for (size_t d = 0; d < json_array_size(devices); d++) {
      json_t *one = json_array_get(devices, d);
      const char *id = stored_text(one, "id");
      if (!json_object_get(known, id))
        json_array_append(all, one);
      json_object_set(known, id, one);
    }
  }
  json_decref(known);
  return all;
}

json_t *merge_runs(const json_t *runs) {
  static const char *const own[] = {"shard", "date", "host_name", "seconds", "seed", "devices"};
  json_t *context = json_deep_copy(context_of(run_at(runs, 0)));
  json_t *shards = json_array(), *merged = json_object();
  double seconds = 0, left = 0;
  bool interrupted = false;

  for (size_t i = 0; i < json_array_size(runs); i++) {
    const json_t *of = context_of(run_at(runs, i));
    json_t *one = json_object();
    json_object_set(one, "file", json_object_get(run_at(runs, i), "file"));
    for (size_t m = 0; m < sizeof own / sizeof *own; m++)
      if (json_object_get(of, own[m]))
        json_object_set(one, own[m], json_object_get(of, own[m]));
    json_array_append_new(shards, one);
    seconds = fmax(seconds, stored_number(of, "seconds"));
    left += fmax(0, stored_number(of, "rows_not_run"));
    interrupted = interrupted || json_is_true(json_object_get(of, "interrupted"));
  }
  json_object_set_new(context, "interrupted", json_boolean(interrupted));
  json_object_set_new(context, "rows_not_run", json_integer((json_int_t)left));
  json_object_del(context, "shard");
  json_object_set_new(context, "seconds", json_real(seconds));
  json_object_set_new(context, "devices", devices_of(runs));
  json_object_set_new(context, "shards", shards);
  json_object_set_new(merged, "context", context);
  json_object_set_new(merged, "benchmarks", rows_of(runs));
  return merged;
}

/* ---- what it says ------------------------------------------------------------------------------ */

typedef struct counts {
  size_t rows, right, wrong, unproved, killed, skipped, above;
} counts;

/* Of our own rows: what another library does is no failure of ours. */
static counts count(const json_t *run) {
  const json_t *rows = json_object_get(run, "benchmarks");
  counts c = {0};

  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *one = json_array_get(rows, i);
    const char *status = stored_text(one, "status");
    if (json_is_true(json_object_get(one, "peer")))
      continue;
    c.rows++;
    c.right += strcmp(status, "right") == 0;
    c.wrong += strcmp(status, "wrong") == 0;
    c.unproved += strcmp(status, "unproved") == 0;
    c.killed += strcmp(status, "killed") == 0;
    c.skipped += strcmp(status, "skipped") == 0;
    c.above += json_is_true(json_object_get(one, "above_ceiling"));
  }
  return c;
}

int merge_status(const json_t *run) {
  const counts c = count(run);

  if (c.wrong || c.unproved || c.above)
    return EXIT_WRONG;
  if (c.killed)
    return EXIT_KILLED;
  return c.right || !c.rows ? EXIT_RIGHT : EXIT_NOTHING;
}

void merge_badge(const json_t *run, FILE *to) {
  const counts c = count(run);
  const int status = merge_status(run);
  json_t *badge =
      json_pack("{s:i, s:s, s:o, s:s}", "schemaVersion", 1, "label", "kernels", "message",
                json_sprintf("%zu right, %zu wrong", c.right, c.wrong + c.unproved), "color",
                status == EXIT_RIGHT   ? "brightgreen"
                : status == EXIT_WRONG ? "red"
                                       : "lightgrey");

  json_dumpf(badge, to, JSON_COMPACT | JSON_PRESERVE_ORDER);
  fputc('\n', to);
  json_decref(badge);
}

void merge_count(const json_t *run, FILE *to) {
  const counts c = count(run);

  fprintf(to, "%zu rows: %zu right, %zu wrong, %zu skipped", c.rows, c.right, c.wrong, c.skipped);
  if (c.unproved)
    fprintf(to, ", %zu unproved", c.unproved);
  if (c.killed)
    fprintf(to, ", %zu killed", c.killed);
  fputc('\n', to);
}
