/* implementations.c - below the table: the implementations of an op and its gradient that its spec compares. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "base/wrap.h"
#include "findings.h"
#include "library/bench.h"

/* How far results may be from the first implementation's, as a share of their 2-norm. */
static const double agreed = 1e-4;

enum { FORWARD, BACKWARD, BOTH, COLUMNS };

/* The times of a way to compute an op at a size on a backend, in ns; NaN where there is none. */
typedef struct figures {
  double time[COLUMNS];
  double off; /* from exact results, as a share of the 2-norm */
} figures;

/* Where to look for rows: an op's gradient has sizes of its own. */
typedef struct place {
  const report *r;
  const task *task;
  const lathe_backend *backend;
} place;

/* The fastest right row of one implementation, or any where none was timed; null where there is none. */
static const row *row_of(const place *at, bool gradient, const char *implementation) {
  const lathe_op *op = at->task->op;
  const row *found = NULL;

  for (size_t i = 0; i < at->r->count; i++) {
    const row *line = at->r->rows[i];
    const task *t = line->task;
    if (line->state != ROW_RIGHT || line->of->backend != at->backend ||
        (gradient ? t->op->gradient_of != op : t->op != op) || t->dtype != at->task->dtype ||
        t->op->ndim != op->ndim ||
        memcmp(t->dim, at->task->dim, (size_t)op->ndim * sizeof *t->dim) != 0 || line->peer ||
        strcmp(lathe_implementation(line->of), implementation) != 0)
      continue;
    if (!found || (line->sample_count > 0 && line->real_time < found->real_time))
      found = line;
  }
  return found;
}

/* False where there is no row of it. */
static bool figures_of(const place *at, const lathe_compared *c, figures *f) {
  const row *forward = row_of(at, false, c->forward);
  const row *backward = c->backward ? row_of(at, true, c->backward) : NULL;

  *f = (figures){{NAN, NAN, NAN}, 0};
  if (forward) {
    f->time[FORWARD] = forward->sample_count > 0 ? forward->real_time : NAN;
    f->off = forward->norm_error;
  }
  if (backward) {
    f->time[BACKWARD] = backward->sample_count > 0 ? backward->real_time : NAN;
    f->off = backward->norm_error > f->off ? backward->norm_error : f->off;
  }
  f->time[BOTH] = f->time[FORWARD] + f->time[BACKWARD];
  return forward;
}

static void cells(const figures *f, const figures *first, bool gradient) {
  for (int c = 0; c < (gradient ? COLUMNS : BACKWARD); c++) {
    const double speedup = first->time[c] / f->time[c];
    char text[24] = "-";
    if (isfinite(speedup))
      snprintf(text, sizeof text, "%.2fx", speedup);
    printf(" %9s %7s", isfinite(f->time[c]) ? units_time(f->time[c]).text : "-", text);
  }
  printf("  %.1e%s\n", f->off + first->off, f->off + first->off > agreed ? " !" : "");
}

/* The head of a table, of so wide a first column, with or without the gradient. */
static void head(const place *at, int width, bool gradient, bool first) {
  if (first) {
    putchar('\n');
    wrap_print("off: at most so much of the 2-norm of the results of the first; !: more than 1e-4",
               printf("Implementations, each beside the first;"), 2);
  }
  printf("%s  %s %s %s on %s%s\n", terminal_paint(STRONG), at->task->op->name,
         lathe_dtype_name(at->task->dtype), at->task->size, at->backend->name,
         terminal_paint(PLAIN));
  printf("    %-*s %9s speedup", width, "", "forward");
  if (gradient)
    printf(" %9s speedup %9s speedup", "backward", "both");
  puts("  off");
}

/* The implementations at one size on one backend, where there are several; whether there are. first: whether nothing
 * stands above. */
static bool compare(const place *at, bool first) {
  const lathe_op *op = at->task->op;
  figures beside, f;
  bool gradient = false;
  int count = 0, width = 0;

  for (int i = 0; i < op->bench->ncompared; i++) {
    const int length = (int)strlen(op->bench->compared[i].name);
    count += figures_of(at, &op->bench->compared[i], &f);
    gradient = gradient || isfinite(f.time[BACKWARD]);
    width = length > width ? length : width;
  }
  if (count < 2 || !figures_of(at, &op->bench->compared[0], &beside))
    return false;
  head(at, width, gradient, first);
  for (int i = 0; i < op->bench->ncompared; i++)
    if (figures_of(at, &op->bench->compared[i], &f)) {
      printf("    %-*s", width, op->bench->compared[i].name);
      cells(&f, &beside, gradient);
    }
  return true;
}

void report_implementations(const report *r) {
  bool any = false;

  for (size_t i = 0; i < r->selection->count; i++)
    for (size_t b = 0; b < lathe_backend_count; b++) {
      const place at = {r, &r->selection->tasks[i], &lathe_backends[b]};
      any = compare(&at, !any) || any;
    }
}
