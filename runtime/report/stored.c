/* stored.c - runs that an earlier --json stored. */
#include "stored.h"

#include <math.h>
#include <string.h>

#include "base/message.h"

static const char expected[] = "expected what out/bench --json writes";

const char *stored_text(const json_t *of, const char *member) {
  const char *text = json_string_value(json_object_get(of, member));

  return text ? text : "";
}

double stored_number(const json_t *of, const char *member) {
  const json_t *value = json_object_get(of, member);

  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* What of a file shows that it is no run; null where nothing does. */
static const char *wrong_in(const json_t *root) {
  const json_t *rows = json_object_get(root, "benchmarks");
  static char text[96];

  if (!json_is_object(json_object_get(root, "context")))
    return "it has no object 'context'";
  if (!json_is_array(rows))
    return "it has no list 'benchmarks'";
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i);
    if (*stored_text(row, "name") && *stored_text(row, "status"))
      continue;
    snprintf(text, sizeof text, "row %zu of 'benchmarks' has no 'name' and 'status'", i + 1);
    return text;
  }
  return NULL;
}

json_t *stored_load(const char *path) {
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  const char *wrong;

  if (!root && error.line < 0)
    message_refuse("%s", error.text);
  if (!root)
    message_refuse("%s:%d: %s: no JSON; %s", path, error.line, error.text, expected);
  wrong = wrong_in(root);
  if (wrong)
    message_refuse("%s: %s; %s", path, wrong, expected);
  json_object_set_new(root, "file", json_string(path));
  return root;
}
