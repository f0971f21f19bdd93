/* samples.c - networks by their samples: for each size which implementation is fastest, and by how much. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/wrap.h"
#include "findings.h"
#include "library/dispatch.h"

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

/* The fastest of some rows; other: of those by another implementation than that one's. */
static const row *fastest_of(row *const *rows, size_t count, const row *other) {
  const row *fastest = NULL;

  for (size_t i = 0; i < count; i++) {
    const bool fits =
        rows[i]->sample_count > 0 && !rows[i]->peer &&
        (!other || strcmp(lathe_implementation(rows[i]->of), lathe_implementation(other->of)) != 0);
    if (fits && (!fastest || rows[i]->real_time < fastest->real_time))
      fastest = rows[i];
  }
  return fastest;
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
    char line[400] = "", than[120] = "";
    if (second)
      snprintf(than, sizeof than, ", %.2f times as fast as %s",
               second->real_time / first->real_time, second->variant);
    snprintf(line, sizeof line, "%s %s: %.3g M/s, by %s%s; %.0f parameters, %.3g MFLOP a call",
             t->op->name, t->size, (double)t->dim[batch] * 1e3 / first->real_time, first->variant,
             than, parameters_of(t), lathe_flops(t->op, t->dim) / 1e6);
    putchar(' ');
    wrap_print(line, 1, 6);
  }
}
