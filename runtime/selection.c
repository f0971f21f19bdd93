/* selection.c - what the command line asks for, out of what the table holds. */
#include "selection.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "dtype.h"
#include "message.h"

static const char sweep_set[] = "sweep";      /* of an op that has one, */
static const char sweep_sizes[] = "2^4:2^22"; /* and of others */

enum { MOST_SIZES = 4096 }; /* of one range: more is surely a slip */

static void *allocate(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);

  if (!p)
    message_refuse("out of memory");
  return p;
}

/* A comma list cut into words; the words share one block of memory, freed with [0]. */
typedef struct words {
  char **word;
  size_t count;
} words;

static words split(const char *list) {
  words w = {0};
  char *text = allocate(strlen(list) + 1, 1), *rest = text, *word;

  strcpy(text, list);
  w.word = allocate(strlen(list) + 2, sizeof *w.word);
  w.word[0] = text;
  while ((word = strsep(&rest, ",")))
    if (*word)
      w.word[w.count++] = word;
  if (w.count == 0)
    message_refuse("a list of names was expected, and '%s' has none", list);
  return w;
}

static void words_free(words *w) {
  free(w->word[0]);
  free(w->word);
}

/* Marks the names that the list names, or matches with a glob; with no list, all of them. A
 * word that marks nothing is refused. */
static void mark(const char *list, const char *kind, const char *where, const char *const *names,
                 size_t count, bool *marked) {
  words w;

  if (!list) {
    memset(marked, true, count * sizeof *marked);
    return;
  }
  w = split(list);
  for (size_t i = 0; i < w.count; i++) {
    bool found = false;
    for (size_t n = 0; n < count; n++)
      if (fnmatch(w.word[i], names[n], 0) == 0)
        marked[n] = found = true;
    if (!found)
      message_unknown(kind, w.word[i], names, count, where);
  }
  words_free(&w);
}

static void mark_ops(const char *list, bool *marked) {
  const char **names = allocate(lathe_op_count, sizeof *names);

  for (size_t i = 0; i < lathe_op_count; i++)
    names[i] = lathe_ops[i].name;
  mark(list, "op", "--list-ops lists them", names, lathe_op_count, marked);
  free(names);
}

/* A backend goes by its own name or by its kind's. */
static void mark_backends(const char *list, bool *marked) {
  const size_t count = lathe_backend_count + DEVICE_KINDS;
  const char **names = allocate(count, sizeof *names);
  bool *both = allocate(count, sizeof *both);

  for (size_t i = 0; i < lathe_backend_count; i++)
    names[i] = lathe_backends[i].name;
  for (size_t k = 0; k < DEVICE_KINDS; k++)
    names[lathe_backend_count + k] = device_kind_name((lathe_kind)k);
  mark(list, "backend", "--list-backends lists them", names, count, both);
  for (size_t i = 0; i < lathe_backend_count; i++)
    marked[i] = both[i] || both[lathe_backend_count + (size_t)lathe_backends[i].kind];
  free(names);
  free(both);
}

static void mark_dtypes(const char *list, bool *marked) {
  const char *names[LATHE_DTYPES + 1];
  bool found[LATHE_DTYPES + 1] = {false};

  for (int d = 0; d < LATHE_DTYPES; d++)
    names[d] = lathe_dtype_name((lathe_dtype)d);
  names[LATHE_DTYPES] = "all";
  mark(list, "dtype", "f64, f32, f16, bf16, all", names, LATHE_DTYPES + 1, found);
  for (int d = 0; d < LATHE_DTYPES; d++)
    marked[d] = found[d] || found[LATHE_DTYPES];
}

static void mark_devices(const char *list, bool *marked) {
  const char **names = allocate(device_count(), sizeof *names);

  for (size_t i = 0; i < device_count(); i++)
    names[i] = device_at(i)->id;
  mark(list, "device", "--list-devices lists them", names, device_count(), marked);
  free(names);
}

static void mark_variants(const char *list, bool *marked) {
  const char **names = allocate(lathe_variant_count, sizeof *names);

  for (size_t i = 0; i < lathe_variant_count; i++)
    names[i] = lathe_variants[i].name;
  mark(list, "variant", "--list-variants lists them", names, lathe_variant_count, marked);
  free(names);
}

/* The types of an op that have variants asked for. Where no type was asked for, f32 or else
 * the first there is. */
static void narrow_dtypes(const lathe_op *op, bool asked, bool *variant) {
  lathe_dtype only = LATHE_DTYPES;

  if (asked)
    return;
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (variant[i] && lathe_variants[i].op == op &&
        (only == LATHE_DTYPES || lathe_variants[i].dtype == LATHE_F32))
      only = lathe_variants[i].dtype;
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (lathe_variants[i].op == op && lathe_variants[i].dtype != only)
      variant[i] = false;
}

static void choose_variants(const options *o, selection *s) {
  bool *ops = allocate(lathe_op_count, sizeof *ops);
  bool *backends = allocate(lathe_backend_count, sizeof *backends);
  bool dtypes[LATHE_DTYPES] = {false};

  s->variant = allocate(lathe_variant_count, sizeof *s->variant);
  s->device = allocate(device_count(), sizeof *s->device);
  mark_ops(o->op, ops);
  mark_backends(o->backend, backends);
  mark_dtypes(o->dtype, dtypes);
  mark_devices(o->device, s->device);
  mark_variants(o->variant, s->variant);
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    s->variant[i] = s->variant[i] && ops[v->op - lathe_ops] &&
                    backends[v->backend - lathe_backends] && dtypes[v->dtype] &&
                    (!o->device || selection_device(s, v->backend->kind));
  }
  for (size_t i = 0; i < lathe_op_count; i++)
    narrow_dtypes(&lathe_ops[i], o->dtype != NULL, s->variant);
  free(ops);
  free(backends);
}

/* A list of sizes as asked for: each a name, a pattern, or, like 1K, either. */
typedef struct size_item {
  const char *text;
  const char *wrong; /* why it is no pattern, or null */
  size_pattern pattern;
  bool used;
} size_item;

static void add_task(selection *s, const lathe_op *op, lathe_dtype dtype, const size_shape *shape,
                     const char *name) {
  task *t;

  if ((s->count & (s->count - 1)) == 0) { /* at each power of two, room for as many again */
    s->tasks = realloc(s->tasks, (s->count ? 2 * s->count : 1) * sizeof *s->tasks);
    if (!s->tasks)
      message_refuse("out of memory");
  }
  t = &s->tasks[s->count++];
  *t = (task){.op = op, .dtype = dtype, .shape = *shape};
  if (name)
    snprintf(t->size, sizeof t->size, "%s", name);
  else
    size_text(shape, t->size);
  if (!size_fold(shape, op, t->dim))
    message_refuse("--size %s: %s would need more memory than can be addressed", t->size, op->name);
}

static void add_named(selection *s, const lathe_op *op, lathe_dtype dtype, const lathe_size *size) {
  const size_shape shape = size_of_dims(op, size->dim);

  add_task(s, op, dtype, &shape, size->name);
}

static const lathe_size *size_named(const lathe_op *op, const char *name) {
  for (int i = 0; i < op->nsizes; i++)
    if (strcmp(op->sizes[i].name, name) == 0)
      return &op->sizes[i];
  return NULL;
}

static const lathe_set *set_named(const lathe_op *op, const char *name) {
  for (int i = 0; i < op->nsets; i++)
    if (strcmp(op->sets[i].name, name) == 0)
      return &op->sets[i];
  return NULL;
}

/* Whether a size of a sweep is among those that it was narrowed to, if it was. */
static bool among(const size_shape *shape, const lathe_op *op, size_item *items, size_t count) {
  bool any = count == 0;

  for (size_t i = 0; i < count; i++)
    if (!items[i].wrong && size_matches(&items[i].pattern, op, shape))
      any = items[i].used = true;
  return any;
}

/* A set's sizes, or those of them that are among some items. */
static void add_set(selection *s, const lathe_op *op, lathe_dtype dtype, const lathe_set *set,
                    size_item *items, size_t count) {
  for (int n = 0; n < set->nshapes; n++)
    for (size_t i = 0; i < size_shape_count(&set->shapes[n]); i++) {
      const size_shape shape = size_shape_at(&set->shapes[n], i);
      if (among(&shape, op, items, count))
        add_task(s, op, dtype, &shape, NULL);
    }
}

static void add_sweep(selection *s, const lathe_op *op, lathe_dtype dtype, size_item *items,
                      size_t count) {
  const lathe_set *own = set_named(op, sweep_set);
  size_pattern pattern;
  size_shape shape;

  if (own) {
    add_set(s, op, dtype, own, items, count);
    return;
  }
  size_parse(sweep_sizes, &pattern);
  for (size_t i = 0; i < size_count(&pattern); i++)
    if (size_apply(&pattern, i, op, &shape) && among(&shape, op, items, count))
      add_task(s, op, dtype, &shape, NULL);
}

static void add_item(selection *s, const lathe_op *op, lathe_dtype dtype, size_item *item) {
  const lathe_size *named = size_named(op, item->text);
  const lathe_set *set = set_named(op, item->text);
  size_shape shape;

  if (named)
    add_named(s, op, dtype, named);
  else if (set)
    add_set(s, op, dtype, set, NULL, 0);
  item->used = item->used || named || set;
  if (named || set || item->wrong)
    return;
  for (size_t i = 0; i < size_count(&item->pattern); i++) {
    if (!size_apply(&item->pattern, i, op, &shape))
      return; /* another op may have the dimension */
    add_task(s, op, dtype, &shape, NULL);
    item->used = true;
  }
}

/* The names that the sizes of the ops asked for go by; or with dims, their dimensions. */
static const char **names_of_sizes(const selection *s, bool dims, size_t *count) {
  const char **names;
  size_t limit = SIZE_PLACES;

  for (size_t i = 0; i < lathe_op_count; i++)
    limit += (size_t)(lathe_ops[i].nsizes + lathe_ops[i].nsets) + LATHE_MAX_DIMS;
  names = allocate(limit, sizeof *names);
  *count = 0;
  for (int i = 0; dims && i < SIZE_PLACES; i++)
    names[(*count)++] = size_places[i];
  for (size_t i = 0; i < lathe_op_count; i++) {
    const lathe_op *op = &lathe_ops[i];
    bool asked = false;
    for (size_t v = 0; v < lathe_variant_count && !asked; v++)
      asked = s->variant[v] && lathe_variants[v].op == op;
    for (int d = 0; asked && dims && d < op->ndim; d++)
      names[(*count)++] = op->dim[d];
    for (int n = 0; asked && !dims && n < op->nsizes; n++)
      names[(*count)++] = op->sizes[n].name;
    for (int n = 0; asked && !dims && n < op->nsets; n++)
      names[(*count)++] = op->sets[n].name;
  }
  return names;
}

/* No op asked for has such a size: says why. */
_Noreturn static void refuse_size(const size_item *item, const selection *s, bool sweep) {
  const bool number = isdigit((unsigned char)item->text[0]) || strpbrk(item->text, "-=:.");
  const char **names;
  size_t count;

  if (item->wrong && number)
    message_refuse("--size %s: %s (--help shows how sizes are given)", item->text, item->wrong);
  if (item->wrong && sweep)
    message_refuse("--sweep is narrowed by numbers such as --size width=64, and was given '%s'",
                   item->text);
  names = names_of_sizes(s, number, &count);
  if (!number)
    message_unknown("size", item->text, names, count, "--list-sizes lists them");
  for (int i = 0; i < item->pattern.count; i++) {
    char name[SIZE_TEXT];
    snprintf(name, sizeof name, "%s", item->pattern.factor[i].name);
    for (size_t n = 0; n < count && name[0]; n++)
      if (strcmp(names[n], name) == 0)
        name[0] = 0;
    if (name[0])
      message_unknown("dimension", name, names, count, "--list-ops shows each op's");
  }
  free(names);
  for (size_t v = 0; v < lathe_variant_count; v++)
    if (s->variant[v] && size_repeats(&item->pattern, lathe_variants[v].op))
      message_refuse("--size %s: a dimension of %s is given twice (--list-ops shows each op's)",
                     item->text, lathe_variants[v].op->name);
  for (size_t v = 0; v < lathe_variant_count && !sweep; v++) {
    const lathe_op *op = lathe_variants[v].op;
    const char *missing = s->variant[v] ? size_missing(&item->pattern, op) : NULL;
    if (missing)
      message_refuse("--size %s: %s of %s is missing, as in %sx%s=64 (--list-ops shows each op's)",
                     item->text, missing, op->name, item->text, missing);
  }
  if (sweep)
    message_refuse(
        "--size %s: no sweep of the ops asked for has such a size (--list-sizes shows them)",
        item->text);
  message_refuse("--size %s: no op asked for has all of these dimensions", item->text);
}

/* What is run of one op and type. */
static void add_sizes(const options *o, selection *s, const lathe_op *op, lathe_dtype dtype,
                      size_item *items, size_t count) {
  if (o->sweep) {
    add_sweep(s, op, dtype, items, count);
    return;
  }
  for (int n = 0; !o->size && n < op->nsizes; n++)
    add_named(s, op, dtype, &op->sizes[n]);
  for (size_t n = 0; n < count; n++)
    add_item(s, op, dtype, &items[n]);
}

static void choose_sizes(const options *o, selection *s) {
  words w = {0};
  size_item *items = NULL;
  const lathe_variant *last = NULL;

  if (o->size) {
    w = split(o->size);
    items = allocate(w.count, sizeof *items);
    for (size_t i = 0; i < w.count; i++) {
      items[i].text = w.word[i];
      items[i].wrong = size_parse(w.word[i], &items[i].pattern);
      if (!items[i].wrong && size_count(&items[i].pattern) > MOST_SIZES)
        message_refuse("--size %s stands for more than %d sizes", w.word[i], MOST_SIZES);
    }
  }
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    if (!s->variant[i] || (last && last->op == v->op && last->dtype == v->dtype))
      continue;
    last = v;
    add_sizes(o, s, v->op, v->dtype, items, w.count);
  }
  for (size_t n = 0; n < w.count; n++)
    if (!items[n].used)
      refuse_size(&items[n], s, o->sweep);
  if (o->size)
    words_free(&w);
  free(items);
}

/* Elements lie at multiples of their size, here as anywhere. An offset that is none of the smallest
 * elements asked for is none of any; larger ones have it rounded up (device_offset). */
static void check_offset(const options *o, const selection *s) {
  lathe_dtype least = LATHE_F64;

  for (size_t i = 0; i < lathe_variant_count; i++)
    if (s->variant[i] && lathe_dtype_size(lathe_variants[i].dtype) < lathe_dtype_size(least))
      least = lathe_variants[i].dtype;
  if (o->layout.offset % lathe_dtype_size(least) != 0)
    message_refuse("--offset %zu: elements of %s lie at multiples of %zu bytes", o->layout.offset,
                   lathe_dtype_name(least), lathe_dtype_size(least));
}

selection selection_make(const options *o) {
  selection s = {0};
  bool any = false;

  choose_variants(o, &s);
  for (size_t i = 0; i < lathe_variant_count; i++)
    any = any || s.variant[i];
  if (any)
    choose_sizes(o, &s);
  if (s.count == 0)
    message_refuse("no variant matches all of what was asked for (--list-variants lists them)");
  check_offset(o, &s);
  s.one_op = true;
  for (size_t i = 1; i < s.count; i++)
    s.one_op = s.one_op && s.tasks[i].op == s.tasks[0].op;
  return s;
}

void selection_free(selection *s) {
  free(s->tasks);
  free(s->variant);
  free(s->device);
}

bool selection_has(const selection *s, const task *t, const lathe_variant *variant) {
  return s->variant[variant - lathe_variants] && variant->op == t->op && variant->dtype == t->dtype;
}

device *selection_device(const selection *s, lathe_kind kind) {
  for (size_t i = 0; i < device_count(); i++)
    if (s->device[i] && device_at(i)->kind == kind)
      return device_at(i);
  return NULL;
}

/* As lathe_why_not, but where the processor could and the environment has it not: that. */
static const char *why_not_on(const lathe_variant *variant, const device *on) {
  static char text[160];
  const uint64_t hidden = on->kind == LATHE_CPU ? cpu_hidden_features() : 0;
  const uint64_t lacking = (variant->backend->features | variant->features) & hidden;
  const char *why = lathe_why_not(variant, on->features | hidden);

  if (why || !lacking)
    return why;
  snprintf(text, sizeof text, "LATHE_CPU_FEATURES leaves out %s", cpu_feature_names(lacking));
  return text;
}

const char *selection_why_not(const selection *s, const lathe_variant *variant) {
  static const char *const not_asked[DEVICE_KINDS] = {
      [LATHE_CPU] = "no processor was asked for",
      [LATHE_CUDA] = "no CUDA device was asked for",
      [LATHE_VULKAN] = "no Vulkan device was asked for",
  };
  const device *on = selection_device(s, variant->backend->kind);

  if (on)
    return why_not_on(variant, on);
  if (variant->disabled)
    return variant->disabled;
  if (variant->backend->disabled)
    return variant->backend->disabled;
  if (device_missing(variant->backend->kind))
    return device_missing(variant->backend->kind);
  return not_asked[variant->backend->kind];
}
