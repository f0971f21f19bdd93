/* json_values.h - values of which JSON has none are null. */
#ifndef JSON_VALUES_H
#define JSON_VALUES_H

#include <jansson.h>
#include <math.h>

static inline json_t *json_real_or_null(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static inline json_t *json_text_or_null(const char *text) {
  /* A text that is no UTF-8 has no JSON. */
  json_t *value = text ? json_string(text) : NULL;

  return value ? value : json_null();
}

#endif
