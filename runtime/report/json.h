/* json.h - a run as JSON, for those that make files of it. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <jansson.h>

#include "report.h"

/* The content of report_json's file: an object of `context` and `benchmarks`, to be released. */
json_t *report_as_json(const report *r);

/* Writes a run as --json does. */
void json_write_run(FILE *to, const json_t *run);

#endif
