/* explain.c - --explain: why a variant was generated, why dispatch chooses it or passes it over, what it launches, and
 * where its code is. */
#include "explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "base/wrap.h"
#include "devices/devices.h"
#include "library/bench.h"
#include "library/launch.h"
#include "library/tuning.h"
#include "worker.h"

enum { INDENT = 15, MOST_KERNELS = 64 };

/* "  made           by ..." */
static void __attribute__((format(printf, 2, 3))) say(const char *what, const char *format, ...) {
  char text[600];
  va_list values;

  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  wrap_print(text, printf("  %-*s", INDENT - 3, what), INDENT);
}

static void say_made(const lathe_variant *v) {
  const lathe_made *made = lathe_variants_made[v - lathe_variants];

  say("asked for", "%s lists %s for the backend %s, in %s; %s computes it as '%s'", v->source,
      v->params && *v->params ? v->params : "the defaults", v->backend->name,
      lathe_dtype_name(v->dtype), v->op->source, lathe_implementation(v));
  if (v->template_file && made[0].path) /* a generated file is of the same language */
    say("generated", "out/gen/%.*s%s, from %s", (int)(strrchr(made[0].path, '.') - made[0].path),
        made[0].path, strrchr(v->template_file, '.'), v->template_file);
  for (int n = 0; n < LATHE_MADE_OF && made[n].path; n++)
    say(n ? "host's side" : "compiled", "out/gen/%s, of %zu variant%s", made[n].path,
        made[n].variants, made[n].variants == 1 ? "" : "s");
}

/* How its code is read as instructions. */
static void say_disassembly(const char *program, const lathe_variant *v) {
  static const char *const by[] = {
      [LATHE_CUDA] = "cuobjdump --dump-sass", [LATHE_VULKAN] = "spirv-dis"};
  const char *path = lathe_variants_made[v - lathe_variants][0].path;

  if (path && v->run)
    say("disassembly", "objdump -d --no-show-raw-insn --disassemble=%s %s", v->name, program);
  else if (path)
    say("disassembly", "%s out/gen/%s", by[v->backend->kind], path);
}

static void say_kernel(const device_kernel *k) {
  char text[600], part[160];

  snprintf(text, sizeof text, "%.111s:", k->name);
#define ADD(...)                                                                                   \
  (snprintf(part, sizeof part, __VA_ARGS__), strncat(text, part, sizeof text - strlen(text) - 1))
  if (k->architecture)
    ADD(" sm_%d,", k->architecture);
  if (k->grid[0])
    ADD(" %ux%ux%u blocks of %ux%ux%u threads,", k->grid[0], k->grid[1], k->grid[2], k->block[0],
        k->block[1], k->block[2]);
  if (k->cluster > 1)
    ADD(" in clusters of %u,", k->cluster);
  if (k->registers >= 0)
    ADD(" %d registers,", k->registers);
  if (k->local > 0)
    ADD(" %d bytes of each thread in memory,", k->local);
  if (k->shared || k->fixed > 0)
    ADD(" %s of shared memory,", units_bytes(k->shared + (k->fixed > 0 ? k->fixed : 0)).text);
  if (k->at_once >= 0)
    ADD(" %d blocks at once on a multiprocessor,", k->at_once);
  if (isfinite(k->occupancy))
    ADD(" occupancy %.0f%%,", 100 * k->occupancy);
#undef ADD
  text[strlen(text) - 1] = '\0';
  say("kernel", "%s", text);
}

/* The launches of calls: on a device at one size, or as far as the code tells without a device. */
static void say_kernels(const lathe_variant *v, const device *on, const task *t) {
  device_kernel kernels[MOST_KERNELS];
  job j = {.variant = v};
  const char *why;
  int count;

  memcpy(j.dim, t->dim, sizeof j.dim);
  count = on ? worker_kernels(on, &j, kernels, &why)
             : device_image_kernels(v, kernels, MOST_KERNELS, &why);
  if (count < 0)
    say("kernels", "%s", why);
  for (int k = 0; k < count; k++)
    say_kernel(&kernels[k]);
}

/* Why dispatch chooses it at a size, or another one. */
static void say_dispatch(const selection *s, const task *t, const lathe_variant *v) {
  const device *on = selection_device(s, v->backend->kind);
  const double bytes = lathe_bytes(t->op, t->dtype, t->dim);
  const lathe_variant *chosen =
      on ? lathe_select(t->op, t->dtype, t->dim, on->features, NULL) : NULL;
  const bool tuned = chosen && lathe_tuned(t->op, t->dtype, t->dim, on->features) == chosen;
  const bool prefers = lathe_prefers(v->prefer, t->dim, bytes), more = bytes < v->prefer->from;

  if (!on)
    say("dispatch", "not here: %s",
        device_missing(v->backend->kind) ? device_missing(v->backend->kind)
                                         : "its device was not asked for");
  else if (selection_why_not(s, v))
    say("dispatch", "passed over: %s", selection_why_not(s, v));
  else if (chosen == v)
    say("dispatch", "chosen: %s",
        tuned     ? "a tuning file has it as the fastest, at this size or the nearest one"
        : prefers ? "the first of those that can run here and prefer such a size"
                  : "the first of those that can run here, none of which prefers such a size");
  else if (v->by_name)
    say("dispatch",
        "passed over: it rounds products to %d digits, which the op's spec does not allow; "
        "--variant takes it all the same",
        v->digits ? v->digits : v->narrowed);
  else if (tuned)
    say("dispatch", "passed over: a tuning file has %s as the fastest", chosen->name);
  else if (prefers)
    say("dispatch", "passed over for %s, which the spec's rows have before it", chosen->name);
  else if (more || bytes >= v->prefer->to)
    say("dispatch", "passed over for %s: its row is for operands %s %s, and these have %s",
        chosen->name, more ? "of at least" : "below",
        units_bytes(more ? v->prefer->from : v->prefer->to).text, units_bytes(bytes).text);
  else
    say("dispatch",
        v->prefer->width ? "passed over for %s: its row is for products at most %zu wide"
                         : "passed over for %s: its row is for widths that are multiples of %zu",
        chosen->name, v->prefer->width ? v->prefer->width : v->prefer->multiple);
}

static void explain(const char *program, const selection *s, const lathe_variant *v) {
  device *on = selection_device(s, v->backend->kind);
  const char *why = selection_why_not(s, v);
  bool any = false;

  printf("%s%s%s: %s\n", terminal_paint(STRONG), v->name, terminal_paint(PLAIN), v->op->doc);
  say_made(v);
  say_disassembly(program, v);
  if (why)
    say("cannot run", "%s", why);
  for (size_t i = 0; i < s->count; i++) {
    const task *t = &s->tasks[i];
    if (!selection_has(s, t, v))
      continue;
    if (why && !any && !v->disabled && !v->backend->disabled)
      say_kernels(v, NULL, t);
    any = true;
    printf("  at %s%s%s\n", terminal_paint(STRONG), t->size, terminal_paint(PLAIN));
    say_dispatch(s, t, v);
    if (!why) {
      const double bytes = lathe_workspace(v, t->dim);
      if (bytes > 0)
        say("workspace", "%s", units_bytes(bytes).text);
      say_kernels(v, on, t);
    }
  }
}

void explain_print(const char *program, const selection *s) {
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (s->variant[i])
      explain(program, s, &lathe_variants[i]);
}
