/* bounds.c - bounds of specs that do not fit what was found. */
#include "bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/terminal.h"
#include "base/wrap.h"
#include "library/dtype.h"
#include "library/bench.h"

/* A row's error in units of the type computed in, as a spec's `ulp` counts it. */
static double declared_units(const row *r, double shown) {
  const lathe_dtype dtype = r->task->dtype;
  const int narrower = lathe_dtype_computed(dtype)->digits - lathe_dtype_format_of(dtype)->digits;

  return lathe_dtype_is_narrow(dtype) ? fmax(ldexp(shown - 0.5, narrower), 0) : shown;
}

static bool exceeds(const row *r) {
  const double far = 64; /* times the bound: more than a wrong guess at it */
  const double off = declared_units(r, r->ulp), bound = declared_units(r, r->ulp_bound);

  return r->state == ROW_WRONG && r->ulp > r->ulp_bound && off <= far * fmax(bound, 0.5);
}

bool report_exceeds_alike(row *const *rows, size_t count) {
  const char *backend = NULL;
  unsigned checked = 0, exceeding = 0; /* a bit for each type */
  bool several = false;
  double worst = 0, bound = 0;
  const lathe_op *op = count > 0 ? rows[0]->task->op : NULL;
  char text[400], advice[120] = "";

  for (size_t i = 0; i < count; i++) {
    const row *r = rows[i];
    if (r->state == ROW_SKIPPED || r->peer)
      continue;
    checked |= 1u << r->task->dtype;
    if (r->state == ROW_RIGHT)
      continue;
    if (!exceeds(r))
      return false;
    exceeding |= 1u << r->task->dtype;
    several = several || (backend && strcmp(backend, r->backend) != 0);
    backend = r->backend;
    if (declared_units(r, r->ulp) > worst) {
      worst = declared_units(r, r->ulp);
      bound = declared_units(r, r->ulp_bound);
    }
  }
  if (!exceeding || exceeding != checked || !several)
    return false;
  if (op->bench->roughest_ulp > bound)
    snprintf(advice, sizeof advice, " %s alone may be off by %g.", op->bench->roughest,
             op->bench->roughest_ulp);
  snprintf(text, sizeof text,
           "all backends and types are off alike, by up to %.3g ulp where %s allows %g: that is "
           "the rounding of what the spec says, and no kernel's fault.%s Expected ulp = %g or more",
           worst, op->source, bound, advice, fmax(ceil(1.25 * worst), op->bench->roughest_ulp));
  printf("    %sWRONG%s %s:", terminal_paint(BAD), terminal_paint(PLAIN), op->name);
  wrap_print(text, (int)strlen(op->name) + 11, 6);
  return true;
}

/* Whether row i is the first of its op and type. */
static bool is_first(const report *r, size_t i) {
  const task *t = r->rows[i]->task;

  for (size_t before = i; before-- > 0 && r->rows[before]->task->op == t->op;)
    if (r->rows[before]->task->dtype == t->dtype)
      return false;
  return true;
}

/* Whether the rows of an op and type, of which row i is the first, show that their bound is far too wide. */
static bool is_wide(const report *r, size_t i) {
  /* enough: where none of so many points was off by more, that is no chance. */
  const double little = 1e-3, enough = 1000;
  const task *t = r->rows[i]->task;
  double points = 0;

  for (; i < r->count && r->rows[i]->task->op == t->op; i++) {
    const row *line = r->rows[i];
    if (line->task->dtype != t->dtype || line->state == ROW_SKIPPED || line->peer)
      continue;
    if (line->state != ROW_RIGHT || line->note || line->ulp >= little * line->ulp_bound)
      return false;
    points += (double)line->points;
  }
  return points >= enough;
}

void report_wide_bounds(const report *r) {
  char *text = NULL;
  size_t length, found = 0;
  FILE *to = message_need(open_memstream(&text, &length));

  fputs(
      "the largest error is below a thousandth of the bound, so that a wrong kernel might not show "
      "(a smaller ulp would do):",
      to);
  for (size_t i = 0; i < r->count; i++)
    if (is_first(r, i) && is_wide(r, i))
      fprintf(to, "%s %s %s", found++ ? "," : "", r->rows[i]->op, r->rows[i]->dtype);
  fclose(to);
  if (found)
    wrap_print(text, printf("note:"), 6);
  free(text);
}
