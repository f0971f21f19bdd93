/* stored.c - runs that an earlier --json stored. */
#include "stored.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "rows/row.h"

const char *stored_text(const json_t *of, const char *member) {
  const char *text = json_string_value(json_object_get(of, member));

  return text ? text : "";
}

double stored_number(const json_t *of, const char *member) {
  const json_t *value = json_object_get(of, member);

  return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *stored_device(const json_t *run, const json_t *of) {
  const json_t *devices = json_object_get(json_object_get(run, "context"), "devices");
  const char *id = stored_text(of, "device");

  for (size_t i = 0; i < json_array_size(devices); i++) {
    const json_t *one = json_array_get(devices, i);
    if (strcmp(stored_text(one, "id"), id) == 0 && *stored_text(one, "name"))
      return stored_text(one, "name");
  }
  return id;
}

/* Whether a value is one that a row's field of a type may have. */
static bool fits(const json_t *value, row_type type) {
  switch (type) {
  case ROW_TEXT: return json_is_null(value) || json_is_string(value);
  case ROW_REAL:
    return json_is_null(value) || (json_is_number(value) && json_number_value(value) >= 0);
  case ROW_COUNT: return json_is_integer(value) && json_integer_value(value) >= 0;
  case ROW_FLAG: return json_is_boolean(value);
  }
  return false;
}

static const char *const fitting[] = {
    [ROW_TEXT] = "a text or null",
    [ROW_REAL] = "a number of 0 or more, or null",
    [ROW_COUNT] = "a whole number of 0 or more",
    [ROW_FLAG] = "true or false",
};

/* Where in a file something is wrong, and what. */
static char wrong[320];

static const char *unfit(const char *where, const char *member, const json_t *value,
                         const char *fitting_is) {
  char *found = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

  snprintf(wrong, sizeof wrong, "%.100s: '%s' is %.60s, expected %s", where, member,
           found ? found : "?", fitting_is);
  free(found);
  return wrong;
}

/* The first of a list's items that does not fit; null where all do, or there is no list. */
static const char *wrong_in_list(const char *where, const json_t *of, const char *member,
                                 row_type type) {
  const json_t *list = json_object_get(of, member);
  char item[64];

  if (list && !json_is_array(list))
    return unfit(where, member, list, "a list");
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!fits(json_array_get(list, i), type)) {
      snprintf(item, sizeof item, "%s[%zu]", member, i);
      return unfit(where, item, json_array_get(list, i), fitting[type]);
    }
  return NULL;
}

static const char *wrong_in_row(const json_t *of, size_t index) {
  static const struct {
    const char *name;
    row_type type;
  } lists[] = {{"samples", ROW_REAL}, {"round_samples", ROW_COUNT}, {"cold_samples", ROW_REAL}};
  static const char *const objects[] = {"sizes", "params"};
  const char *found = NULL;
  char where[128];

  snprintf(where, sizeof where, "row %zu of 'benchmarks'", index + 1);
  if (!*stored_text(of, "name") || !*stored_text(of, "status")) {
    snprintf(wrong, sizeof wrong, "%s has no 'name' and 'status'", where);
    return wrong;
  }
  snprintf(where + strlen(where), sizeof where - strlen(where), ", %.80s", stored_text(of, "name"));
  for (size_t f = 0; f < row_field_count; f++) {
    const json_t *value = json_object_get(of, row_fields[f].name);
    if (value && !fits(value, row_fields[f].type))
      return unfit(where, row_fields[f].name, value, fitting[row_fields[f].type]);
  }
  for (size_t i = 0; i < sizeof lists / sizeof *lists && !found; i++)
    found = wrong_in_list(where, of, lists[i].name, lists[i].type);
  for (size_t i = 0; i < sizeof objects / sizeof *objects && !found; i++) {
    const json_t *value = json_object_get(of, objects[i]);
    if (value && !json_is_object(value))
      found = unfit(where, objects[i], value, "an object");
  }
  return found;
}

/* The reason why a file is no run; null where it is one. */
static const char *wrong_in(const json_t *root) {
  const json_t *rows = json_object_get(root, "benchmarks");
  const json_t *context = json_object_get(root, "context");
  const json_t *version = json_object_get(context, "json_schema_version");
  const char *found = NULL;
  char known[64];

  if (!json_is_object(context))
    return "it has no object 'context'";
  if (!json_is_array(rows))
    return "it has no list 'benchmarks'";
  snprintf(known, sizeof known, "%d, which this program knows", STORED_SCHEMA);
  if (version && json_integer_value(version) != STORED_SCHEMA)
    return unfit("'context'", "json_schema_version", version, known);
  for (size_t i = 0; i < json_array_size(rows) && !found; i++)
    found = wrong_in_row(json_array_get(rows, i), i);
  return found;
}

static json_t *json_plain(const char *text) {
  char *plain = message_plain(text);
  json_t *value = json_string(plain);

  free(plain);
  return value;
}

/* A value of which all texts are plain: a terminal gets them, and other files. */
static json_t *plain_of(const json_t *value) {
  json_t *copy = json_is_object(value) ? json_object() : json_is_array(value) ? json_array() : NULL;

  if (json_is_string(value))
    return json_plain(json_string_value(value));
  if (!copy)
    return json_deep_copy(value);
  for (size_t i = 0; i < json_array_size(value); i++)
    json_array_append_new(copy, plain_of(json_array_get(value, i)));
  for (void *at = json_object_iter((json_t *)value); at;
       at = json_object_iter_next((json_t *)value, at))
    json_object_set_new(copy, json_object_iter_key(at), plain_of(json_object_iter_value(at)));
  return copy;
}

json_t *stored_read(const char *path, char *why, size_t size) {
  json_error_t error;
  json_t *read = json_load_file(path, 0, &error), *root = plain_of(read);
  const char *found = root ? wrong_in(root) : NULL;

  json_decref(read);
  if (!root && error.line < 0)
    snprintf(why, size, "%s", error.text);
  else if (!root)
    snprintf(why, size, "%s:%d: %s: no JSON; expected what out/bench --json writes", path,
             error.line, error.text);
  else if (found)
    snprintf(why, size, "%s: %s (a stored run is what out/bench --json writes)", path, found);
  else
    json_object_set_new(root, "file", json_plain(path));
  if (found)
    json_decref(root);
  return found ? NULL : root;
}

json_t *stored_load(const char *path) {
  char why[800];
  json_t *root = stored_read(path, why, sizeof why);

  if (!root)
    message_refuse("%s", why);
  return root;
}
