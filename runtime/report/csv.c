/* csv.c - one line for each row, one column for each field, dimension and parameter (RFC 4180). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "params.h"
#include "report.h"

/* A text that a spreadsheet would take for a formula begins with an apostrophe, which makes it a text. */
static void put_text(FILE *to, const char *text) {
  fputs(*text && strchr("=+-@\t\r", *text) ? "\"'" : "\"", to);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', to);
    fputc(*text, to);
  }
  fputc('"', to);
}

static void put_field(FILE *to, const row *r, const row_field *f) {
  const char *at = (const char *)r + f->offset;
  const char *text;
  double real;

  switch (f->type) {
  case ROW_TEXT:
    text = *(const char *const *)at;
    if (text)
      put_text(to, text);
    break;
  case ROW_REAL:
    real = *(const double *)at;
    if (isfinite(real))
      fprintf(to, "%.10g", real);
    break;
  case ROW_COUNT: fprintf(to, "%" PRIu64, *(const uint64_t *)at); break;
  case ROW_FLAG: fputs(*(const bool *)at ? "true" : "false", to); break;
  }
}

/* The names that some rows have something for: the dimensions of their ops, or the parameters of their
 * variants. */
typedef struct names {
  char (*name)[32];
  size_t count;
} names;

static int compare(const void *a, const void *b) {
  return strcmp(a, b);
}

static void add(names *n, const char *name) {
  if (n->count && bsearch(name, n->name, n->count, sizeof *n->name, compare))
    return;
  n->name = message_need(realloc(n->name, (n->count + 1) * sizeof *n->name));
  snprintf(n->name[n->count++], sizeof *n->name, "%s", name);
  qsort(n->name, n->count, sizeof *n->name, compare);
}

static names dimensions(const report *r) {
  names n = {0};

  for (size_t i = 0; i < r->count; i++)
    for (int d = 0; d < r->rows[i]->task->op->ndim; d++)
      add(&n, r->rows[i]->task->op->dim[d]);
  return n;
}

static names parameters(const report *r) {
  names n = {0};
  param p;

  for (size_t i = 0; i < r->count; i++)
    for (const char *at = r->rows[i]->params ? r->rows[i]->params : ""; params_next(&at, &p);)
      add(&n, p.name);
  return n;
}

static void put_dimension(FILE *to, const row *r, const char *name) {
  for (int d = 0; d < r->task->op->ndim; d++)
    if (strcmp(r->task->op->dim[d], name) == 0)
      fprintf(to, "%zu", r->task->dim[d]);
}

static void put_parameter(FILE *to, const row *r, const char *name) {
  param p;

  for (const char *at = r->params ? r->params : ""; params_next(&at, &p);)
    if (strcmp(p.name, name) == 0 && params_number(&p))
      fputs(p.value, to);
    else if (strcmp(p.name, name) == 0)
      put_text(to, p.value);
}

void report_csv(FILE *to, const report *r) {
  const names dims = dimensions(r), params = parameters(r);

  for (size_t f = 0; f < row_field_count; f++)
    fprintf(to, "%s%s", f ? "," : "", row_fields[f].name);
  for (size_t d = 0; d < dims.count; d++)
    fprintf(to, ",dim_%s", dims.name[d]);
  for (size_t p = 0; p < params.count; p++)
    fprintf(to, ",param_%s", params.name[p]);
  fputc('\n', to);
  for (size_t i = 0; i < r->count; i++) {
    for (size_t f = 0; f < row_field_count; f++) {
      if (f)
        fputc(',', to);
      put_field(to, r->rows[i], &row_fields[f]);
    }
    for (size_t d = 0; d < dims.count; d++) {
      fputc(',', to);
      put_dimension(to, r->rows[i], dims.name[d]);
    }
    for (size_t p = 0; p < params.count; p++) {
      fputc(',', to);
      put_parameter(to, r->rows[i], params.name[p]);
    }
    fputc('\n', to);
  }
  free(dims.name);
  free(params.name);
}
