#include "run_bench.h"

#include "library/cpu.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests.h"

run_result bench_with(const char *variable, const char *const *options) {
  const char *arguments[16] = {test_variable("LATHE_BENCH")};
  const char *const environment[] = {variable, NULL};

  for (size_t i = 0; options[i]; i++) {
    assert_true(i + 2 < COUNT(arguments));
    arguments[i + 1] = options[i];
  }
  return run_program(tree_root(), arguments, environment);
}

size_t lines_of(const char *text) {
  size_t count = 0;

  for (; *text; text++)
    count += *text == '\n';
  return count;
}

void assert_narrow(const char *text, size_t width) {
  while (*text) {
    const size_t length = strcspn(text, "\n");
    if (length > width)
      fail_msg("a line of %zu columns: %.*s", length, (int)length, text);
    text += length + (text[length] == '\n');
  }
}

void assert_has(const char *text, const char *part) {
  if (!strstr(text, part))
    fail_msg("'%s' was not found in:\n%s", part, text);
}

void assert_lacks(const char *text, const char *part) {
  if (strstr(text, part))
    fail_msg("'%s' was found in:\n%s", part, text);
}

void assert_good(const run_result *r) {
  if (r->status != RIGHT)
    fail_msg("status %d; %s%s", r->status, r->out, r->err);
  assert_string_equal(r->err, "");
  assert_true(r->out[0] && r->out[strlen(r->out) - 1] == '\n');
  assert_lacks(r->out, "\033");
  assert_narrow(r->out, 100);
}

json_t *load(const char *path) {
  json_error_t error;
  json_t *root = json_load_file(tree_path(path), 0, &error);

  if (!root)
    fail_msg("%s:%d: %s", path, error.line, error.text);
  return root;
}

const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));

  if (!text)
    fail_msg("%s is no text", key);
  return text;
}

double number_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);

  if (!json_is_number(value))
    fail_msg("%s is no number", key);
  return json_number_value(value);
}

bool flag_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);

  if (!json_is_boolean(value))
    fail_msg("%s is neither true nor false", key);
  return json_is_true(value);
}

const json_t *rows_of(const run_result *r, json_t **root) {
  if (r->status != RIGHT)
    fail_msg("status %d; %s%s", r->status, r->out, r->err);
  *root = load("j");
  return json_object_get(*root, "benchmarks");
}

void check_benchmark(const json_t *b) {
  const bool timed = number_of(b, "sample_count") > 0;

  text_of(b, "name");
  assert_string_equal(text_of(b, "run_name"), text_of(b, "name"));
  assert_true(number_of(b, "family_index") >= 0);
  assert_true(number_of(b, "per_family_instance_index") >= 0);
  assert_true(number_of(b, "repetitions") == 1);
  assert_true(number_of(b, "repetition_index") == 0);
  assert_true(number_of(b, "threads") == 1);
  assert_true(number_of(b, "iterations") >= 0);
  /* It compares rows of the same unit alone, and takes the mean of all times but those of aggregates. */
  assert_string_equal(text_of(b, "run_type"), timed ? "iteration" : "aggregate");
  if (timed) {
    assert_string_equal(text_of(b, "time_unit"), "ns");
    assert_true(number_of(b, "real_time") > 0);
    assert_true(number_of(b, "cpu_time") >= 0);
  } else {
    assert_true(json_is_null(json_object_get(b, "time_unit")));
    assert_true(json_is_null(json_object_get(b, "real_time")));
    assert_true(json_is_null(json_object_get(b, "cpu_time")));
  }
}

void assert_refused(const run_result *r, const char *message) {
  if (r->status != BAD_REQUEST || strcmp(r->err, message) != 0)
    fail_msg("status %d, said: %s\nexpected: %s", r->status, r->err, message);
  assert_string_equal(r->out, ""); /* nothing was run, or said to those who read results */
}

size_t files_in(const char *path) {
  DIR *folder = opendir(path);
  size_t count = 0;

  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

const char *why_not_with(const lathe_backend *backend, uint64_t left) {
  const lathe_variant probe = {.backend = backend};
  const char *why = lathe_why_not(&probe, lathe_cpu_features());

  if (why || !lathe_why_not(&probe, left))
    return why;
  return "LATHE_CPU_FEATURES leaves out ";
}
