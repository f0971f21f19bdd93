/* selection.c - what the command line asks for, out of what the table holds. */
#include "selection.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "choice.h"
#include "devices/devices.h"
#include "library/cpu.h"
#include "library/dtype.h"
#include "library/bench.h"

static const char sweep_set[] = "sweep";      /* of an op that has one, */
static const char sweep_sizes[] = "2^4:2^22"; /* and of others */

enum { MOST_SIZES = 4096 }; /* of one range: more is surely a slip */

const char *selection_left_out(const lathe_op *op) {
  const char *why = NULL;

  for (int d = 0; d < LATHE_DTYPES; d++) {
    const lathe_span span = lathe_span_of(op, (lathe_dtype)d);
    if (span.count > 0 && !span.left_out)
      return NULL;
    why = span.left_out ? span.left_out : why;
  }
  return why;
}

static choice mark_ops(const char *list) {
  choice c = choice_of("op", "--list-ops lists them", lathe_op_count);

  for (size_t i = 0; i < lathe_op_count; i++) {
    c.name[i] = lathe_ops[i].name;
    c.left_out[i] = selection_left_out(&lathe_ops[i]);
  }
  choice_mark(&c, list);
  return c;
}

/* A backend goes by its own name or by its kind's. */
static choice mark_backends(const char *list) {
  choice c = choice_of("backend", "--list-backends lists them", lathe_backend_count + DEVICE_KINDS);

  for (size_t i = 0; i < lathe_backend_count; i++)
    c.name[i] = lathe_backends[i].name;
  for (size_t k = 0; k < DEVICE_KINDS; k++)
    c.name[lathe_backend_count + k] = lathe_kind_name((lathe_kind)k);
  choice_mark(&c, list);
  for (size_t i = 0; i < lathe_backend_count; i++)
    c.marked[i] = c.marked[i] || c.marked[lathe_backend_count + (size_t)lathe_backends[i].kind];
  return c;
}

static choice mark_dtypes(const char *list) {
  choice c = choice_of("dtype", lathe_dtype_choices, LATHE_DTYPES + 1);

  for (int d = 0; d < LATHE_DTYPES; d++)
    c.name[d] = lathe_dtype_name((lathe_dtype)d);
  c.name[LATHE_DTYPES] = "all";
  choice_mark(&c, list);
  for (int d = 0; d < LATHE_DTYPES; d++)
    c.marked[d] = c.marked[d] || c.marked[LATHE_DTYPES];
  return c;
}

static choice mark_devices(const char *list) {
  choice c = choice_of("device", "--list-devices lists them", device_count());

  for (size_t i = 0; i < device_count(); i++)
    c.name[i] = device_at(i)->id;
  choice_mark(&c, list);
  return c;
}

static choice mark_variants(const char *list) {
  choice c = choice_of("variant", "--list-variants lists them", lathe_variant_count);

  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    c.name[i] = v->name;
    c.left_out[i] = lathe_span_of(v->op, v->dtype).left_out;
  }
  choice_mark(&c, list);
  return c;
}

/* Ways to compute an op go by the spec's word for them, or by the name of its template. */
static choice mark_implementations(const char *list) {
  choice c = choice_of("implementation", "--list-variants lists them", lathe_variant_count);

  for (size_t i = 0; i < lathe_variant_count; i++)
    c.name[i] = lathe_implementation(&lathe_variants[i]);
  choice_mark(&c, list);
  return c;
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

/* Leaves out the variants of a processor that emulates a GPU, unless no others can run: they take as long as all the
 * rest, and their times say nothing about a GPU. */
static void leave_out_processors(selection *s) {
  bool other = false;

  for (size_t i = 0; i < lathe_variant_count; i++) {
    const device *on = s->variant[i] ? selection_device(s, lathe_variants[i].backend->kind) : NULL;
    if (!on || lathe_why_not(&lathe_variants[i], on->features))
      continue;
    if (on->is_processor)
      s->unasked = on;
    else
      other = true;
  }
  if (!other)
    s->unasked = NULL;
  for (size_t i = 0; i < lathe_variant_count && s->unasked; i++)
    s->variant[i] = s->variant[i] && lathe_variants[i].backend->kind != s->unasked->kind;
}

static void choose_variants(const options *o, selection *s) {
  choice ops = mark_ops(o->op), backends = mark_backends(o->backend);
  choice dtypes = mark_dtypes(o->dtype), devices = mark_devices(o->device);
  choice variants = mark_variants(o->variant), ways = mark_implementations(o->implementation);

  s->device = devices.marked;
  s->variant = variants.marked;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    const size_t op = (size_t)(v->op - lathe_ops);
    const bool insisted =
        variants.insisted[i] || (ops.left_out[op] ? ops.insisted[op] : dtypes.insisted[v->dtype]);
    s->variant[i] = s->variant[i] && ops.marked[op] &&
                    backends.marked[v->backend - lathe_backends] && dtypes.marked[v->dtype] &&
                    ways.marked[i] && (!variants.left_out[i] || insisted) &&
                    (!o->device || selection_device(s, v->backend->kind));
  }
  for (size_t i = 0; i < lathe_op_count; i++)
    narrow_dtypes(&lathe_ops[i], o->dtype != NULL, s->variant);
  if (!o->list && !o->backend && !o->device && !o->variant && !o->implementation)
    leave_out_processors(s);
  devices.marked = variants.marked = NULL; /* the selection's now */
  choice_free(&ops);
  choice_free(&backends);
  choice_free(&dtypes);
  choice_free(&devices);
  choice_free(&variants);
  choice_free(&ways);
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
    s->tasks = message_need(realloc(s->tasks, (s->count ? 2 * s->count : 1) * sizeof *s->tasks));
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
  for (int i = 0; i < op->bench->nsizes; i++)
    if (strcmp(op->bench->sizes[i].name, name) == 0)
      return &op->bench->sizes[i];
  return NULL;
}

static const lathe_set *set_named(const lathe_op *op, const char *name) {
  for (int i = 0; i < op->bench->nsets; i++)
    if (strcmp(op->bench->sets[i].name, name) == 0)
      return &op->bench->sets[i];
  return NULL;
}

/* The extent of a shape's dimension, counted from the last; 1 before its first. */
static size_t extent_at(const size_shape *shape, int place) {
  return place < shape->ndim ? shape->extent[shape->ndim - 1 - place] : 1;
}

static bool is_same(const size_shape *shape, const size_shape *other) {
  for (int place = 0; place < shape->ndim || place < other->ndim; place++)
    if (extent_at(shape, place) != extent_at(other, place))
      return false;
  return true;
}

/* Whether a shape is what an op calls by a name: a size, or one of a set. */
static bool goes_by(const size_shape *shape, const lathe_op *op, const char *name) {
  const lathe_size *size = size_named(op, name);
  const lathe_set *set = set_named(op, name);
  size_shape other;

  if (size) {
    other = size_of_dims(op, size->dim);
    return is_same(shape, &other);
  }
  for (int n = 0; set && n < set->nshapes; n++)
    for (size_t i = 0; i < size_shape_count(&set->shapes[n]); i++) {
      other = size_shape_at(&set->shapes[n], i);
      if (is_same(shape, &other))
        return true;
    }
  return false;
}

/* Whether a size of a sweep is among those that it was narrowed to, if it was. */
static bool among(const size_shape *shape, const lathe_op *op, size_item *items, size_t count) {
  bool any = count == 0;

  for (size_t i = 0; i < count; i++)
    if (goes_by(shape, op, items[i].text) ||
        (!items[i].wrong && size_matches(&items[i].pattern, op, shape)))
      any = items[i].used = true;
  return any;
}

/* A set's sizes, or the ones among some items. */
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
    limit += (size_t)(lathe_ops[i].bench->nsizes + lathe_ops[i].bench->nsets) + LATHE_MAX_DIMS;
  names = message_need(calloc(limit, sizeof *names));
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
    for (int n = 0; asked && !dims && n < op->bench->nsizes; n++)
      names[(*count)++] = op->bench->sizes[n].name;
    for (int n = 0; asked && !dims && n < op->bench->nsets; n++)
      names[(*count)++] = op->bench->sets[n].name;
  }
  return names;
}

/* No op asked for has such a size: says why. */
_Noreturn static void refuse_size(const size_item *item, const selection *s, bool sweep) {
  const bool number = isdigit((unsigned char)item->text[0]) || strpbrk(item->text, "-=:.");
  static const size_pattern none;
  const size_pattern *pattern = item->wrong ? &none : &item->pattern;
  bool known = false;
  const char **names;
  size_t count;

  if (item->wrong && number)
    message_refuse("--size %s: %s (--help shows how sizes are given)", item->text, item->wrong);
  names = names_of_sizes(s, number, &count);
  for (size_t n = 0; n < count && !number; n++)
    known = known || strcmp(names[n], item->text) == 0;
  if (!number && !known)
    message_unknown("size", item->text, names, count, "--list-sizes lists them");
  for (int i = 0; i < pattern->count; i++) {
    char name[SIZE_TEXT];
    snprintf(name, sizeof name, "%s", pattern->factor[i].name);
    for (size_t n = 0; n < count && name[0]; n++)
      if (strcmp(names[n], name) == 0)
        name[0] = 0;
    if (name[0])
      message_unknown("dimension", name, names, count, "--list-ops shows each op's");
  }
  free(names);
  for (size_t v = 0; v < lathe_variant_count; v++)
    if (s->variant[v] && size_repeats(pattern, lathe_variants[v].op))
      message_refuse("--size %s: a dimension of %s is given twice (--list-ops shows each op's)",
                     item->text, lathe_variants[v].op->name);
  for (size_t v = 0; v < lathe_variant_count && !sweep; v++) {
    const lathe_op *op = lathe_variants[v].op;
    const char *missing = s->variant[v] ? size_missing(pattern, op) : NULL;
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

/* The tasks of one op and type. */
static void add_sizes(const options *o, selection *s, const lathe_op *op, lathe_dtype dtype,
                      size_item *items, size_t count) {
  if (o->sweep) {
    add_sweep(s, op, dtype, items, count);
    return;
  }
  for (int n = 0; !o->size && n < op->bench->nsizes; n++)
    add_named(s, op, dtype, &op->bench->sizes[n]);
  for (size_t n = 0; n < count; n++)
    add_item(s, op, dtype, &items[n]);
}

static void choose_sizes(const options *o, selection *s) {
  static size_item *items; /* static, so that it is no leak where a refusal ends the program */
  words w = {0};
  const lathe_variant *last = NULL;

  if (o->size) {
    w = words_split(o->size);
    items = message_need(calloc(w.count, sizeof *items));
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
  items = NULL;
}

/* Puts another extent in the place of the batch of all sizes whose ops have one. */
static void set_batch(selection *s, size_t batch) {
  bool any = false;

  for (size_t i = 0; i < s->count; i++) {
    task *t = &s->tasks[i];
    for (int d = 0; d < t->op->ndim; d++)
      if (strcmp(t->op->dim[d], "batch") == 0 && (any = true) && t->dim[d] != batch) {
        t->dim[d] = batch;
        t->shape = size_of_dims(t->op, t->dim);
        size_text(&t->shape, t->size);
        if (!size_fold(&t->shape, t->op, t->dim))
          message_refuse("--batch-size %zu: %s would need more memory than can be addressed", batch,
                         t->op->name);
      }
  }
  if (!any)
    message_refuse("--batch-size %zu: no op asked for has a dimension 'batch' (--list-ops shows "
                   "each op's)",
                   batch);
}

/* Sizes may overlap, and be alike once their batch is another: each is run once, under the first of its names. The
 * tasks of an op and type follow each other. */
static void drop_repeats(selection *s) {
  size_t kept = 0, of_op = 0;

  for (size_t i = 0; i < s->count; i++) {
    const task t = s->tasks[i];
    bool repeats = false;
    if (kept > 0 && (s->tasks[kept - 1].op != t.op || s->tasks[kept - 1].dtype != t.dtype))
      of_op = kept;
    for (size_t j = of_op; j < kept && !repeats; j++)
      repeats = is_same(&s->tasks[j].shape, &t.shape);
    if (!repeats)
      s->tasks[kept++] = t;
  }
  s->count = kept;
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

/* The op, type and dimensions of a task: sizes may have several names. */
static uint64_t hash_task(uint64_t hash, const task *t) {
  char extent[24];

  hash = shard_hash(shard_hash(hash, t->op->name), lathe_dtype_name(t->dtype));
  for (int d = 0; d < t->op->ndim; d++) {
    snprintf(extent, sizeof extent, "%zu", t->dim[d]);
    hash = shard_hash(hash, extent);
  }
  return hash;
}

/* Leaves the tasks of one share. */
static void share_out(const options *o, selection *s) {
  size_t kept = 0;

  s->asked = shard_hash(SHARD_SEED, o->peers ? o->peers : "");
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (s->variant[i])
      s->asked = shard_hash(s->asked, lathe_variants[i].name);
  for (size_t i = 0; i < s->count; i++) {
    s->asked = hash_task(s->asked, &s->tasks[i]);
    s->tasks[i].place = i;
    if (shard_has(o->shard, hash_task(SHARD_SEED, &s->tasks[i])))
      s->tasks[kept++] = s->tasks[i];
  }
  s->count = kept;
}

selection selection_make(const options *o) {
  selection s = {0};
  bool any = false;

  choose_variants(o, &s);
  for (size_t i = 0; i < lathe_variant_count; i++)
    any = any || s.variant[i];
  if (any)
    choose_sizes(o, &s);
  if (s.count > 0 && o->batch_size > 0)
    set_batch(&s, o->batch_size);
  drop_repeats(&s);
  if (s.count == 0)
    message_refuse("no variant matches all of what was asked for (--list-variants lists them)");
  check_offset(o, &s);
  s.one_op = true;
  for (size_t i = 1; i < s.count; i++)
    s.one_op = s.one_op && s.tasks[i].op == s.tasks[0].op;
  share_out(o, &s);
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
  return kind == LATHE_PEER ? device_own(kind).at[0] : NULL;
}

/* As lathe_why_not, but where the processor could and the environment has it not: that. */
static const char *why_not_on(const lathe_variant *variant, const device *on) {
  static char text[160];
  const uint64_t lacking = (variant->backend->features | variant->features) & on->hidden;
  const char *why = lathe_why_not(variant, on->features | on->hidden);

  if (why || !lacking)
    return why;
  snprintf(text, sizeof text, "LATHE_CPU_FEATURES leaves out %s", lathe_cpu_feature_names(lacking));
  return text;
}

const char *selection_why_not(const selection *s, const lathe_variant *variant) {
  const device *on = selection_device(s, variant->backend->kind);

  if (on)
    return why_not_on(variant, on);
  if (variant->disabled)
    return variant->disabled;
  if (variant->backend->disabled)
    return variant->backend->disabled;
  if (device_missing(variant->backend->kind))
    return device_missing(variant->backend->kind);
  return device_kind_of(variant->backend->kind)->not_asked;
}
