/* list_json.c - the variants that --list-variants lists, with what each cost to build, as JSON. */
#include <stdlib.h>

#include "base/json_values.h"
#include "base/output.h"
#include "cost.h"
#include "list.h"

bool list_json(const char *path, const selection *s) {
  json_t *root = json_object(), *all = json_array();
  cost *costs = cost_all();
  output file = output_open(path);

  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    json_t *row = json_object();
    if (!s->variant[i]) {
      json_decref(row);
      continue;
    }
    json_object_set_new(row, "name", json_string(v->name));
    json_object_set_new(row, "op", json_string(v->op->name));
    json_object_set_new(row, "dtype", json_string(lathe_dtype_name(v->dtype)));
    json_object_set_new(row, "backend", json_string(v->backend->name));
    json_object_set_new(row, "params", json_text_or_null(v->params));
    json_object_set_new(row, "cannot_run", json_text_or_null(selection_why_not(s, v)));
    json_object_set_new(row, "compile_seconds", json_real_or_null(costs[i].seconds));
    json_object_set_new(row, "code_bytes", json_real_or_null(costs[i].bytes));
    json_object_set_new(row, "source", json_text_or_null(v->source));
    json_object_set_new(row, "template", json_text_or_null(v->template_file));
    json_array_append_new(all, row);
  }
  json_object_set_new(root, "variants", all);
  if (file.file) {
    json_dumpf(root, file.file, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    fputc('\n', file.file);
  }
  json_decref(root);
  free(costs);
  return output_commit(&file);
}
