/* html.c - a run as a page. */
#include "json.h"
#include "page.h"
#include "report.h"

void report_html(FILE *to, const report *r) {
  json_t *runs = json_array();

  json_array_append_new(runs, report_as_json(r));
  page_write(to, runs);
  json_decref(runs);
}
