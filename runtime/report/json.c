/* json.c - everything, in the form of Google Benchmark's JSON reporter, so that its
 * compare.py reads it; what that does not know of are further members. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_values.h"
#include "base/message.h"
#include "devices/devices.h"
#include "devices/peer/peers.h"
#include "library/cpu.h"
#include "measure/counters.h"
#include "made_of.h"
#include "measure/overhead.h"
#include "params.h"
#include "stored.h"

static json_t *caches(void) {
  cpu_cache cache[16];
  const int count = lathe_cpu_caches(cache, sizeof cache / sizeof *cache);
  json_t *all = json_array();

  for (int i = 0; i < count; i++)
    json_array_append_new(all, json_pack("{s:s, s:i, s:I, s:i}", "type", cache[i].type, "level",
                                         cache[i].level, "size", (json_int_t)cache[i].size,
                                         "num_sharing", cache[i].sharing));
  return all;
}

static json_t *load_average(void) {
  double loads[3];
  const int count = getloadavg(loads, 3);
  json_t *all = json_array();

  for (int i = 0; i < count; i++)
    json_array_append_new(all, json_real(loads[i]));
  return all;
}

static json_t *units(void) {
  json_t *all = json_object();

  for (size_t f = 0; f < row_field_count; f++)
    if (row_fields[f].unit)
      json_object_set_new(all, row_fields[f].name, json_string(row_fields[f].unit));
  return all;
}

/* By device; `own_ns` is what each of many in a row takes, `host_ns` one alone. */
static json_t *empty_launches(const report *r) {
  json_t *all = json_object();

  for (size_t i = 0; i < device_count() && !r->options->check_only; i++) {
    const device_time taken =
        r->selection->device[i] ? overhead_of_launch(device_at(i)) : (device_time){NAN, NAN};
    if (isfinite(taken.own))
      json_object_set_new(all, device_at(i)->id,
                          json_pack("{s:f, s:f}", "own_ns", taken.own, "host_ns", taken.host));
  }
  return all;
}

/* Those that rows could run on. */
static json_t *devices(const report *r) {
  json_t *all = json_array();

  for (size_t i = 0; i < device_count(); i++) {
    const device *on = device_at(i);
    if (r->selection->device[i])
      json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o}", "id", on->id, "kind",
                                           lathe_kind_name(on->kind), "name", on->name, "notes",
                                           json_text_or_null(on->notes)));
  }
  return all;
}

static json_t *context(const report *r) {
  json_t *c = json_object();
  char asked[24];

  json_object_set_new(c, "date", json_string(r->date));
  json_object_set_new(c, "host_name", json_text_or_null(r->host));
  json_object_set_new(c, "executable", json_text_or_null(r->program));
  json_object_set_new(c, "num_cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
  json_object_set_new(c, "mhz_per_cpu", json_integer(lround(lathe_cpu_mhz())));
  json_object_set_new(c, "cpu_scaling_enabled", json_boolean(lathe_cpu_scaling()));
  json_object_set_new(c, "caches", caches());
  json_object_set_new(c, "load_avg", load_average());
  json_object_set_new(c, "library_build_type", json_string("release"));
  json_object_set_new(c, "json_schema_version", json_integer(STORED_SCHEMA));
  /* Ours. */
  json_object_set_new(c, "command", json_text_or_null(r->command));
  json_object_set_new(c, "cpu_name", json_text_or_null(lathe_cpu_name()));
  json_object_set_new(c, "cpu_features",
                      json_string(lathe_cpu_feature_names(lathe_cpu_features())));
  json_object_set_new(c, "devices", devices(r));
  json_object_set_new(c, "compiler", json_string(__VERSION__)); /* of this program */
  json_object_set_new(c, "commit", json_text_or_null(made_of_commit));
  json_object_set_new(c, "commit_date", json_text_or_null(made_of_commit_date));
  json_object_set_new(c, "kernel_flags", json_text_or_null(made_of_kernel_flags));
  json_object_set_new(c, "nvcc_flags", json_text_or_null(made_of_nvcc_flags));
  json_object_set_new(c, "specs_hash", json_text_or_null(made_of_specs));
  json_object_set_new(c, "templates_hash", json_text_or_null(made_of_templates));
  snprintf(asked, sizeof asked, "%016llx", (unsigned long long)r->selection->asked);
  json_object_set_new(c, "asked", json_string(asked));
  if (r->options->shard.of)
    json_object_set_new(c, "shard",
                        json_sprintf("%d/%d", r->options->shard.nth, r->options->shard.of));
  if (r->options->against)
    json_object_set_new(c, "against",
                        json_pack("{s:s, s:o}", "program", r->options->against, "commit",
                                  json_text_or_null(r->base_commit)));
  json_object_set_new(c, "seed", json_integer((json_int_t)r->options->seed));
  json_object_set_new(c, "timer_overhead_ns", json_real(overhead_of_clock_ns()));
  json_object_set_new(c, "empty_launches", empty_launches(r));
  json_object_set_new(c, "counters_missing", json_text_or_null(counters_missing()));
  json_object_set_new(c, "seconds", json_real(r->seconds));
  json_object_set_new(c, "interrupted", json_boolean(r->interrupted));
  json_object_set_new(c, "rows_not_run", json_integer((json_int_t)(r->total - r->count)));
  json_object_set_new(c, "units", units());
  return c;
}

static json_t *field_value(const row *r, const row_field *f) {
  const char *at = (const char *)r + f->offset;

  switch (f->type) {
  case ROW_TEXT: return json_text_or_null(*(const char *const *)at);
  case ROW_REAL: return json_real_or_null(*(const double *)at);
  case ROW_COUNT: return json_integer((json_int_t) * (const uint64_t *)at);
  case ROW_FLAG: return json_boolean(*(const bool *)at);
  }
  return json_null();
}

static json_t *sizes(const row *r) {
  json_t *all = json_object();

  for (int d = 0; d < r->task->op->ndim; d++)
    json_object_set_new(all, r->task->op->dim[d], json_integer((json_int_t)r->task->dim[d]));
  return all;
}

/* Numbers where they are such. */
static json_t *params(const row *r) {
  json_t *all = json_object();
  param p;

  for (const char *at = r->params ? r->params : ""; params_next(&at, &p);)
    json_object_set_new(all, p.name,
                        params_number(&p) ? json_integer(atoll(p.value)) : json_string(p.value));
  return all;
}

static json_t *samples(const timing *t) {
  json_t *all = json_array();

  for (size_t i = 0; i < t->count; i++)
    json_array_append_new(all, json_real(t->samples[i]));
  return all;
}

/* How many of the samples are of each round. */
static json_t *rounds(const timing *t) {
  json_t *all = json_array();

  for (size_t i = 0; i < t->rounds; i++)
    json_array_append_new(all, json_integer((json_int_t)t->round[i].samples));
  return all;
}

/* family: the variant's number; instance: the size's, among the variant's sizes. */
static json_t *benchmark(const row *r, size_t family, size_t instance) {
  const bool timed = r->sample_count > 0;
  json_t *b = json_object();

  json_object_set_new(b, "name", json_string(r->name));
  json_object_set_new(b, "family_index", json_integer((json_int_t)family));
  json_object_set_new(b, "per_family_instance_index", json_integer((json_int_t)instance));
  json_object_set_new(b, "place", json_integer((json_int_t)r->task->place));
  json_object_set_new(b, "run_name", json_string(r->name));
  /* compare.py does arithmetic with the times of all but aggregates, and compares times of one unit. */
  json_object_set_new(b, "run_type", json_string(timed ? "iteration" : "aggregate"));
  json_object_set_new(b, "repetitions", json_integer(1));
  json_object_set_new(b, "repetition_index", json_integer(0));
  json_object_set_new(b, "time_unit", timed ? json_string("ns") : json_null());
  for (size_t f = 0; f < row_field_count; f++)
    json_object_set_new(b, row_fields[f].name, field_value(r, &row_fields[f]));
  if (r->state != ROW_RIGHT) {
    json_object_set_new(b, "error_occurred", json_true());
    json_object_set_new(b, "error_message", json_text_or_null(r->reason));
  }
  json_object_set_new(b, "sizes", sizes(r));
  json_object_set_new(b, "params", params(r));
  json_object_set_new(b, "samples", samples(&r->warm));
  json_object_set_new(b, "round_samples", rounds(&r->warm));
  json_object_set_new(b, "cold_samples", samples(&r->cold));
  return b;
}

json_t *report_as_json(const report *r) {
  json_t *root = json_object(), *all = json_array();
  /* How many rows each variant has had. */
  size_t *instances =
      message_need(calloc(lathe_variant_count + peers_made() + 1, sizeof *instances));

  for (size_t i = 0; i < r->count; i++) {
    const size_t family = r->rows[i]->peer ? lathe_variant_count + peers_index(r->rows[i]->of)
                                           : (size_t)(r->rows[i]->of - lathe_variants);
    json_array_append_new(all, benchmark(r->rows[i], family, instances[family]++));
  }
  free(instances);
  json_object_set_new(root, "context", context(r));
  json_object_set_new(root, "benchmarks", all);
  return root;
}

void json_write_run(FILE *to, const json_t *run) {
  json_dumpf(run, to, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
  fputc('\n', to);
}

void report_json(FILE *to, const report *r) {
  json_t *root = report_as_json(r);

  json_write_run(to, root);
  json_decref(root);
}
