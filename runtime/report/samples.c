/* samples.c - networks by their samples: for each size which implementation or library is fastest, and by how much. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/wrap.h"
#include "devices/common/kind.h"
#include "findings.h"
#include "library/dispatch.h"
#include "library/dtype.h"

static int batch_of(const lathe_op *op) {
  for (int d = 0; d < op->ndim; d++)
    if (strcmp(op->dim[d], "batch") == 0)
      return d;
  return -1;
}

/* The elements of a network's inputs that all samples share. */
static double parameters_of(const task *t) {
  const lathe_op *op = t->op->gradient_of ? t->op->gradient_of : t->op;
  const int batch = batch_of(op);
  double count = 0;

  for (int o = 0; o < op->noperands; o++) {
    bool shared = !op->operands[o].output;
    for (int d = 0; d < op->operands[o].ndim; d++)
      shared = shared && op->operands[o].dim[d] != batch;
    count += shared ? (double)lathe_elements(op, o, t->dim) : 0;
  }
  return count;
}

/* Whether two rows are of one way to compute: an implementation, or another library. */
static bool is_same_way(const row *a, const row *b) {
  return a->peer || b->peer ? a->of == b->of
                            : strcmp(lathe_implementation(a->of), lathe_implementation(b->of)) == 0;
}

/* Whether a row's products keep as many digits as its type has. One that rounds them further, as tf32 does numbers of
 * f32, is compared with none that does not. */
static bool keeps_digits(const row *r) {
  return !r->rounds_factors || r->of->digits >= lathe_dtype_format_of(r->task->dtype)->digits;
}

/* The fastest of some right rows, of other libraries too; other: of those by another way than that one's. */
static const row *fastest_of(row *const *rows, size_t count, const row *other) {
  const row *fastest = NULL;

  for (size_t i = 0; i < count; i++)
    if (rows[i]->sample_count > 0 && keeps_digits(rows[i]) &&
        (!other || !is_same_way(rows[i], other)) &&
        (!fastest || rows[i]->real_time < fastest->real_time))
      fastest = rows[i];
  return fastest;
}

/* The time of a call on both clocks, where it runs on a GPU; else nothing. */
static void tell_clocks(const row *r, char *text, size_t size) {
  text[0] = 0;
  if (!device_kind_of(r->of->backend->kind)->on_host && isfinite(r->cpu_time))
    snprintf(text, size, "; %s on the device, %s on the host: %s of launches and waiting",
             units_time(r->real_time).text, units_time(r->cpu_time).text,
             units_time(fmax(0, r->cpu_time - r->real_time)).text);
}

void report_samples(const report *r) {
  size_t lines = 0;

  for (size_t i = 0, count; i < r->count; i += count) {
    const task *t = r->rows[i]->task;
    const int batch = batch_of(t->op);
    count = report_task_rows(r, i);
    const row *first = fastest_of(&r->rows[i], count, NULL);
    if (batch < 0 || !first || !(parameters_of(t) > 0) ||
        !(lathe_contracted_flops(t->op, t->dim) > 0))
      continue;
    const row *second = fastest_of(&r->rows[i], count, first);
    if (lines++ == 0)
      puts("\nSamples:");
    char line[500] = "", than[120] = "", clocks[160];
    tell_clocks(first, clocks, sizeof clocks);
    if (second)
      snprintf(than, sizeof than, ", %.2f times as fast as %s",
               second->real_time / first->real_time, second->variant);
    snprintf(line, sizeof line, "%s %s: %.3g M/s, by %s%s%s; %.0f parameters, %sFLOP a call",
             t->op->name, t->size, (double)t->dim[batch] * 1e3 / first->real_time, first->variant,
             than, clocks, parameters_of(t), units_count(lathe_flops(t->op, t->dim)).text);
    putchar(' ');
    wrap_print(line, 1, 6);
  }
}
