/* report_csv.c - one line for each row, one column for each field (RFC 4180). */
#include <inttypes.h>
#include <math.h>

#include "report.h"

static void put_text(FILE *to, const char *text) {
  fputc('"', to);
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

void report_csv(FILE *to, const report *r) {
  for (size_t f = 0; f < row_field_count; f++)
    fprintf(to, "%s%s", f ? "," : "", row_fields[f].name);
  fputc('\n', to);
  for (size_t i = 0; i < r->count; i++) {
    for (size_t f = 0; f < row_field_count; f++) {
      if (f)
        fputc(',', to);
      put_field(to, r->rows[i], &row_fields[f]);
    }
    fputc('\n', to);
  }
}
