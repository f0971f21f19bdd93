/* list.c - the --list-... options: what there is. */
#include "list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/units.h"
#include "base/wrap.h"
#include "devices/devices.h"
#include "library/cpu.h"
#include "library/dtype.h"
#include "library/bench.h"
#include "measure/ceiling.h"

/* Whether any variant asked for is of the op. */
static size_t variants_of(const selection *s, const lathe_op *op, const lathe_backend *backend) {
  size_t count = 0;

  for (size_t i = 0; i < lathe_variant_count; i++)
    count += s->variant[i] && (!op || lathe_variants[i].op == op) &&
             (!backend || lathe_variants[i].backend == backend);
  return count;
}

/* Whether an op has a type, and, where configure left some of its types out, was built in it. */
static bool has_dtype(const lathe_op *op, lathe_dtype dtype) {
  const lathe_span span = lathe_span_of(op, dtype);

  return span.count > 0 && (!span.left_out || selection_left_out(op));
}

static void list_ops(const selection *s) {
  int widest = 0;

  for (size_t i = 0; i < lathe_op_count; i++) {
    const int width = (int)strlen(lathe_ops[i].name);
    if (width > widest && variants_of(s, &lathe_ops[i], NULL) > 0)
      widest = width;
  }
  printf("%-*s %-10s %-16s %8s  %s\n", widest, "op", "dimensions", "types", "variants",
         "what it is");
  for (size_t i = 0; i < lathe_op_count; i++) {
    const lathe_op *op = &lathe_ops[i];
    char dims[64] = "", dtypes[64] = "", what[256];
    if (variants_of(s, op, NULL) == 0)
      continue;
    for (int d = 0; d < op->ndim; d++)
      snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%s%s", d ? " " : "", op->dim[d]);
    for (int d = 0; d < LATHE_DTYPES; d++)
      if (has_dtype(op, (lathe_dtype)d))
        snprintf(dtypes + strlen(dtypes), sizeof dtypes - strlen(dtypes), "%s%s",
                 dtypes[0] ? " " : "", lathe_dtype_name((lathe_dtype)d));
    snprintf(what, sizeof what, "%s (%s)", op->doc ? op->doc : "", op->source);
    wrap_print(
        what,
        printf("%-*s %-10s %-16s %8zu ", widest, op->name, dims, dtypes, variants_of(s, op, NULL)),
        widest + 1);
  }
}

/* A set's shapes: 1024x1024, or with its choices 16,32 x 8,64. */
static void describe_set(FILE *to, const lathe_set *set) {
  size_t count = 0;

  fprintf(to, "%s:", set->name);
  for (int n = 0; n < set->nshapes; n++) {
    const lathe_shape *shape = &set->shapes[n];
    const size_t sizes = size_shape_count(shape);
    fputs(n ? ", " : " ", to);
    for (int d = 0; d < shape->ndim; d++) {
      fputs(!d ? "" : sizes > 1 ? " x " : "x", to);
      for (int i = 0; i < shape->count[d]; i++)
        fprintf(to, "%s%zu", i ? "," : "", shape->choice[d][i]);
    }
    count += sizes;
  }
  if (count > (size_t)set->nshapes)
    fprintf(to, " (%zu sizes)", count);
}

/* An op's sizes, a line for those that are run without being asked for and one for each set. */
static char *describe_sizes(const lathe_op *op) {
  char *text = NULL;
  size_t length;
  FILE *to = message_need(open_memstream(&text, &length));

  for (int n = 0; n < op->bench->nsizes; n++) {
    const size_shape shape = size_of_dims(op, op->bench->sizes[n].dim);
    char dims[SIZE_TEXT];
    size_text(&shape, dims);
    fprintf(to, "%s%s", n ? ", " : "", op->bench->sizes[n].name);
    if (strcmp(dims, op->bench->sizes[n].name) != 0)
      fprintf(to, " (%s)", dims);
  }
  for (int n = 0; n < op->bench->nsets; n++) {
    fputc('\n', to);
    describe_set(to, &op->bench->sets[n]);
  }
  fclose(to);
  return text;
}

/* Ops that have the same sizes together. */
static void list_sizes(const selection *s) {
  char **texts = message_need(calloc(lathe_op_count, sizeof *texts));

  for (size_t i = 0; i < lathe_op_count; i++)
    texts[i] = variants_of(s, &lathe_ops[i], NULL) ? describe_sizes(&lathe_ops[i]) : NULL;
  for (size_t i = 0; i < lathe_op_count; i++) {
    char *text = texts[i], *rest = text, *line;
    int column = 0;
    for (size_t j = i; text && j < lathe_op_count; j++) {
      if (!texts[j] || strcmp(texts[j], text) != 0)
        continue;
      if (column + (int)strlen(lathe_ops[j].name) + 2 > wrap_width())
        column = printf(",\n") - 2;
      column += printf("%s%s", column ? ", " : "", lathe_ops[j].name);
      if (j > i)
        free(texts[j]);
      texts[j] = NULL;
    }
    if (text)
      putchar('\n');
    while ((line = strsep(&rest, "\n")))
      wrap_print(line, printf("   "), 6);
    free(text);
  }
  free(texts);
}

static void list_backends(const selection *s) {
  printf("%-12s %-8s %8s  %s\n", "backend", "kind", "variants", "state");
  for (size_t i = 0; i < lathe_backend_count; i++) {
    const lathe_backend *b = &lathe_backends[i];
    const lathe_variant any = {.backend = b};
    const char *why = selection_why_not(s, &any);
    char state[512];
    snprintf(state, sizeof state, "%s%s", why ? "cannot run: " : "ready", why ? why : "");
    wrap_print(
        state,
        printf("%-12s %-8s %8zu ", b->name, lathe_kind_name(b->kind), variants_of(s, NULL, b)), 32);
  }
}

static const ceiling_when once = {.threads = 1};

static void list_rate(device *on, const char *place, double bytes) {
  const char *name;
  const double read = ceiling_rate(on, bytes, 0, once, &name);
  const double written = ceiling_rate(on, 0, bytes, once, &name);
  const double copy = ceiling_rate(on, bytes / 2, bytes / 2, once, &name);

  if (read > 0 || written > 0 || copy > 0)
    printf("    %-20s read %6s GB/s   write %6s GB/s   copy %6s GB/s (both ways)\n", place,
           units_number(read / 1e9).text, units_number(written / 1e9).text,
           units_number(copy / 1e9).text);
}

/* The rates at a working set that stays in each level of cache, and at one that does not. */
static void list_core_rates(device *on) {
  cpu_cache cache[16];
  const int count = lathe_cpu_caches(cache, sizeof cache / sizeof *cache);
  const double plenty = 1 << 30;
  double largest = 0;

  for (int i = 0; i < count; i++) {
    char place[48];
    if (strcmp(cache[i].type, "Instruction") == 0)
      continue;
    largest = (double)cache[i].size > largest ? (double)cache[i].size : largest;
    snprintf(place, sizeof place, "level %d, %s", cache[i].level,
             units_bytes((double)cache[i].size).text);
    list_rate(on, place, (double)cache[i].size / 2);
  }
  if (largest > 0)
    list_rate(on, "memory", fmax(2 * largest, fmin(4 * largest, plenty)));
}

static void list_rates(device *on) {
  const double beyond = 32; /* so many times the cache, hardly any of it is found there */
  const double plenty =
      1 << 30; /* the same of a cache that is not known, if the memory is so large */
  char place[48];

  if (on->cache <= 0) {
    list_rate(on, "memory", fmin(plenty, device_memory(on) / 8));
    return;
  }
  snprintf(place, sizeof place, "cache, %s", units_bytes(on->cache).text);
  list_rate(on, place, on->cache / 4); /* a part of it: on some GPUs each half keeps a copy */
  list_rate(on, "memory", beyond * on->cache);
}

/* Operations per second by type, in a line for each unit that there is. */
static void list_arithmetic(device *on) {
  static const struct {
    lathe_dtype dtype;
    const char *name[DEVICE_UNITS]; /* null where that is computed in another type of these */
  } types[] = {{LATHE_F64, {"f64", "f64"}},
               {LATHE_F32, {"f32", "tf32"}},
               {LATHE_F16, {NULL, "f16"}},
               {LATHE_BF16, {NULL, "bf16"}},
               {LATHE_I8, {"i8", "i8"}}};
  static const char *const names[] = {"multiply-adds", "matrix units"};

  for (int unit = 0; unit < DEVICE_UNITS; unit++) {
    bool any = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
      const char *type = types[i].name[unit];
      const double rate =
          type ? ceiling_arithmetic(on, types[i].dtype, (device_unit)unit, once) : 0;
      if (rate <= 0)
        continue;
      if (!any)
        printf("    %-20s", names[unit]);
      printf("%s %s %s", any ? "," : "", type, units_count(rate).text);
      any = true;
    }
    if (any)
      puts(" FLOP/s");
  }
}

/* Whether any variant asked for runs on such devices. */
static bool has_kind(const selection *s, lathe_kind kind) {
  for (size_t b = 0; b < lathe_backend_count; b++)
    if (lathe_backends[b].kind == kind && variants_of(s, NULL, &lathe_backends[b]) > 0)
      return true;
  return false;
}

static void list_devices(const selection *s) {
  for (size_t i = 0; i < device_count(); i++) {
    device *on = device_at(i);
    char text[320];
    if (!s->device[i] || !has_kind(s, on->kind))
      continue;
    snprintf(text, sizeof text, "%s, %s of memory free", on->name,
             units_bytes(device_memory(on)).text);
    wrap_print(text, printf("%s:", on->id), 4);
    if (on->notes)
      wrap_print(on->notes, printf("   "), 4);
    if (device_kind_of(on->kind)->on_host) {
      printf("    %s\n", lathe_cpu_feature_names(on->features));
      list_core_rates(on);
    } else {
      list_rates(on);
    }
    list_arithmetic(on);
  }
  for (int k = 0; k < DEVICE_KINDS; k++)
    if (has_kind(s, (lathe_kind)k) && device_missing((lathe_kind)k))
      printf("%s: none: %s\n", lathe_kind_name((lathe_kind)k), device_missing((lathe_kind)k));
}

/* Why a variant cannot run here, or the sizes at which dispatch chooses it. */
static void describe(const selection *s, const lathe_variant *v, char *text, size_t size) {
  const char *why = selection_why_not(s, v);
  const device *on = selection_device(s, v->backend->kind);
  size_t length = 0;

  snprintf(text, size, "%s%s", why ? "cannot run: " : "", why ? why : "");
  for (size_t i = 0; i < s->count && !why && length < size; i++) {
    const task *t = &s->tasks[i];
    if (selection_has(s, t, v) && lathe_select(t->op, t->dtype, t->dim, on->features, NULL) == v)
      length += (size_t)snprintf(text + length, size - length, "%s%s",
                                 length ? ", " : "dispatch chooses it at ", t->size);
  }
}

static void list_variants(const selection *s) {
  char text[512], line[1024];

  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    if (!s->variant[i])
      continue;
    const char *params = v->params ? v->params : "";
    int column = printf("%-32s", v->name);
    describe(s, v, text, sizeof text);
    if (column + 1 + (int)strlen(params) <= wrap_width()) {
      column += printf(" %-28s", params);
      wrap_print(text, column, 6);
    } else {
      snprintf(line, sizeof line, "%s %s", params, text);
      wrap_print(line, column, 6);
    }
  }
}

static bool same_reason(const char *one, const char *other) {
  return one && other && strcmp(one, other) == 0;
}

/* The ops of which nothing was built for a reason, where this op is the first of them. */
static void list_left_out_with(size_t first, const char *why) {
  char *names = NULL;
  size_t length;
  FILE *to;

  for (size_t i = 0; i < first; i++)
    if (same_reason(selection_left_out(&lathe_ops[i]), why))
      return;
  to = message_need(open_memstream(&names, &length));
  for (size_t i = first; i < lathe_op_count; i++)
    if (same_reason(selection_left_out(&lathe_ops[i]), why))
      fprintf(to, "%s%s", i > first ? ", " : "", lathe_ops[i].name);
  fputs(" (--op names them)", to);
  fclose(to);
  wrap_print(names, printf("%s:", why), 4);
  free(names);
}

/* By which option of configure some op that was built lacks a type; null for none. */
static const char *left_out_of_built(lathe_dtype dtype) {
  for (size_t i = 0; i < lathe_op_count; i++)
    if (lathe_spans[i][dtype].left_out && !selection_left_out(&lathe_ops[i]))
      return lathe_spans[i][dtype].left_out;
  return NULL;
}

/* Ops that configure's options left out, by name, and the types that the other ops lack for them. */
static void list_left_out(void) {
  char dtypes[64] = "";
  const char *why = NULL;

  for (size_t i = 0; i < lathe_op_count; i++)
    if (selection_left_out(&lathe_ops[i]))
      list_left_out_with(i, selection_left_out(&lathe_ops[i]));
  for (int d = 0; d < LATHE_DTYPES; d++)
    if (left_out_of_built((lathe_dtype)d)) {
      snprintf(dtypes + strlen(dtypes), sizeof dtypes - strlen(dtypes), "%s%s", why ? ", " : "",
               lathe_dtype_name((lathe_dtype)d));
      why = left_out_of_built((lathe_dtype)d);
    }
  if (why)
    printf("%s: %s (--dtype names them)\n", why, dtypes);
}

void list_print(const options *o, const selection *s) {
  if (o->list & LIST_OPS)
    list_ops(s);
  if (o->list & LIST_SIZES)
    list_sizes(s);
  if (o->list & LIST_BACKENDS)
    list_backends(s);
  if (o->list & LIST_DEVICES)
    list_devices(s);
  if (o->list & LIST_VARIANTS)
    list_variants(s);
  if (o->list & (LIST_OPS | LIST_VARIANTS))
    list_left_out();
}
