/* missing.c - names that the command line has, and the run has not: options narrow each other. */
#include "missing.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "choice.h"
#include "devices/devices.h"

static bool matches(const char *word, const char *name) {
  return fnmatch(word, name, 0) == 0;
}

static bool has_op(const lathe_variant *v, const char *word) {
  return matches(word, v->op->name);
}

static bool has_backend(const lathe_variant *v, const char *word) {
  return matches(word, v->backend->name) || matches(word, lathe_kind_name(v->backend->kind));
}

static bool has_dtype(const lathe_variant *v, const char *word) {
  return matches(word, "all") || matches(word, lathe_dtype_name(v->dtype));
}

static bool has_implementation(const lathe_variant *v, const char *word) {
  return matches(word, lathe_implementation(v));
}

static bool has_name(const lathe_variant *v, const char *word) {
  return matches(word, v->name);
}

static bool has_device(const lathe_variant *v, const char *word) {
  for (size_t i = 0; i < device_count(); i++)
    if (device_at(i)->kind == v->backend->kind && matches(word, device_at(i)->id))
      return true;
  return false;
}

/* The options that choose among variants by words. */
static const struct {
  const char *option;
  size_t list; /* in options */
  bool (*has)(const lathe_variant *v, const char *word);
} filters[] = {
    {"op", offsetof(options, op), has_op},
    {"backend", offsetof(options, backend), has_backend},
    {"dtype", offsetof(options, dtype), has_dtype},
    {"implementation", offsetof(options, implementation), has_implementation},
    {"variant", offsetof(options, variant), has_name},
    {"device", offsetof(options, device), has_device},
};
enum { FILTERS = sizeof filters / sizeof *filters };

/* A set of variants, by index in the table. */
static bool *set_of_variants(void) {
  return message_need(calloc(lathe_variant_count + 1, sizeof(bool)));
}

/* The variants that have a task. */
static bool *selected(const selection *s) {
  bool *set = set_of_variants();
  bool *has_task = message_need(calloc(lathe_op_count * LATHE_DTYPES + 1, sizeof *has_task));

  for (size_t i = 0; i < s->count; i++)
    has_task[(size_t)(s->tasks[i].op - lathe_ops) * LATHE_DTYPES + s->tasks[i].dtype] = true;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    set[i] = s->variant[i] && has_task[(size_t)(v->op - lathe_ops) * LATHE_DTYPES + v->dtype];
  }
  free(has_task);
  return set;
}

/* Leaves of a set what one of a list's words names; whether anything. */
static bool keep(bool *set, int filter, const char *list) {
  words w = words_split(list);
  bool any = false;

  for (size_t i = 0; i < lathe_variant_count; i++) {
    bool named = false;
    for (size_t n = 0; n < w.count && set[i] && !named; n++)
      named = filters[filter].has(&lathe_variants[i], w.word[n]);
    set[i] = named;
    any = any || named;
  }
  words_free(&w);
  return any;
}

static bool any_in(const bool *set, const bool *other) {
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (set[i] && other[i])
      return true;
  return false;
}

static const char *list_of(const options *o, int filter) {
  return *(char *const *)((const char *)o + filters[filter].list);
}

/* Why the variants of a set are not run that were built, or were left out of the build. */
static void tell_of_rest(const selection *s, const char *named, const bool *set) {
  const char *why = NULL;

  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    if (!set[i])
      continue;
    if (s->unasked && s->unasked->kind == v->backend->kind)
      return; /* a line at the run's end says so */
    why = lathe_span_of(v->op, v->dtype).left_out;
    if (!why)
      break;
  }
  message_warn("no rows of %s: %s", named,
               why ? why : "without --dtype one type of an op is run, and it has no rows in that");
}

/* Says which option leaves a word's variants out. */
static void tell(const options *o, const selection *s, int filter, const char *word, bool *set) {
  static const char left_out[] = "no rows of %s: --%s %s leaves it out";
  char named[200];
  int by = 0;

  snprintf(named, sizeof named, "%s '%s'", filters[filter].option, word);
  if (!any_in(set, set)) {
    message_warn("no rows of %s: no op of this program has it", named);
    return;
  }
  while (by < FILTERS && (by == filter || !list_of(o, by) || keep(set, by, list_of(o, by))))
    by++;
  if (by < FILTERS)
    message_warn(left_out, named, filters[by].option, list_of(o, by));
  else if (any_in(set, s->variant) && o->shard.of)
    ; /* another share has them */
  else if (any_in(set, s->variant))
    message_warn(left_out, named, "size", o->size);
  else
    tell_of_rest(s, named, set);
}

void missing_tell(const options *o, const selection *s) {
  bool *run = selected(s);

  for (int f = 0; f < FILTERS; f++) {
    words w;
    if (!list_of(o, f))
      continue;
    w = words_split(list_of(o, f));
    for (size_t n = 0; n < w.count; n++) {
      bool *set = set_of_variants();
      for (size_t i = 0; i < lathe_variant_count; i++)
        set[i] = filters[f].has(&lathe_variants[i], w.word[n]);
      if (!any_in(set, run))
        tell(o, s, f, w.word[n], set);
      free(set);
    }
    words_free(&w);
  }
  free(run);
}
