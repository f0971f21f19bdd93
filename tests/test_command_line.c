/* test_command_line.c - the bench program as its user meets it: good calls, bad calls, the files
 * it writes, and what it does without an instruction set. */
#include "tests.h"

#include <dirent.h>
#include <jansson.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lathe.h"
#include "run_program.h"
#include "tree.h"

enum { RIGHT = 0, BAD_REQUEST = 2, NOTHING = 3, INTERRUPTED = 130, WIDTH = 100 };

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BENCH(...) RUN(tree_root(), test_variable("LATHE_BENCH"), __VA_ARGS__)

static run_result bench_with(const char *variable, const char *const *options) {
  const char *arguments[16] = {test_variable("LATHE_BENCH")};
  const char *const environment[] = {variable, NULL};

  for (size_t i = 0; options[i]; i++) {
    assert_true(i + 2 < COUNT(arguments));
    arguments[i + 1] = options[i];
  }
  return run_program(tree_root(), arguments, environment);
}
#define BENCH_WITH(variable, ...) bench_with(variable, (const char *const[]){__VA_ARGS__, NULL})

static size_t lines_of(const char *text) {
  size_t count = 0;

  for (; *text; text++)
    count += *text == '\n';
  return count;
}

static void assert_narrow(const char *text) {
  while (*text) {
    const size_t length = strcspn(text, "\n");
    if (length > WIDTH)
      fail_msg("a line of %zu columns: %.*s", length, (int)length, text);
    text += length + (text[length] == '\n');
  }
}

static void assert_has(const char *text, const char *part) {
  if (!strstr(text, part))
    fail_msg("'%s' was not found in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part) {
  if (strstr(text, part))
    fail_msg("'%s' was found in:\n%s", part, text);
}

/* Ended well, said something that fits a terminal without colours, and complained of nothing. */
static void assert_good(const run_result *r) {
  if (r->status != RIGHT)
    fail_msg("status %d; %s%s", r->status, r->out, r->err);
  assert_string_equal(r->err, "");
  assert_true(r->out[0] && r->out[strlen(r->out) - 1] == '\n');
  assert_lacks(r->out, "\033");
  assert_narrow(r->out);
}

/* The bench's JSON; release with json_decref. */
static json_t *load(const char *path) {
  json_error_t error;
  json_t *root = json_load_file(tree_path(path), 0, &error);

  if (!root)
    fail_msg("%s:%d: %s", path, error.line, error.text);
  return root;
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));

  if (!text)
    fail_msg("%s is no text", key);
  return text;
}

static double number_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);

  if (!json_is_number(value))
    fail_msg("%s is no number", key);
  return json_number_value(value);
}

static bool flag_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);

  if (!json_is_boolean(value))
    fail_msg("%s is neither true nor false", key);
  return json_is_true(value);
}

/* ---- what there is --------------------------------------------------------------------------- */

static void test_help(void **state) {
  static const char *const options[] = {
      "--list-ops",  "--list-sizes", "--list-backends", "--list-devices", "--list-variants",
      "--op",        "--backend",    "--dtype",         "--size",         "--device",
      "--variant",   "--fast",       "--sweep",         "--warmup",       "--iterations",
      "--min-time",  "--max-noise",  "--seed",          "--check-only",   "--json",
      "--csv",       "--markdown",   "--help",          "--version",      "--timeout",
      "--in-process"};
  run_result r = BENCH("--help");

  (void)state;
  assert_good(&r);
  assert_int_equal(strncmp(r.out, "usage: ", 7), 0);
  for (size_t i = 0; i < COUNT(options); i++)
    assert_has(r.out, options[i]);
  run_free(&r);
}

static void test_version(void **state) {
  run_result r = BENCH("--version");
  int major, minor, end = 0;

  (void)state;
  assert_good(&r);
  assert_int_equal(sscanf(r.out, "lathe bench %d.%d%n", &major, &minor, &end), 2);
  assert_true(end > 0);
  assert_int_equal(lines_of(r.out), 1);
  run_free(&r);
}

static void test_lists(void **state) {
  run_result r = BENCH("--list-ops");

  (void)state;
  assert_good(&r);
  for (size_t i = 0; i < lathe_op_count; i++)
    assert_has(r.out, lathe_ops[i].name);
  run_free(&r);
  r = BENCH("--list-sizes");
  assert_good(&r);
  for (size_t i = 0; i < lathe_op_count; i++)
    for (int s = 0; s < lathe_ops[i].nsizes; s++)
      assert_has(r.out, lathe_ops[i].sizes[s].name);
  assert_has(r.out, "    large: 4096x4096\n");
  assert_has(
      r.out,
      "    sweep: 16,32,64,128 x 256,512,1024,2048 x 8,16,32,64,128,256,512,1024 (128 sizes)\n");
  run_free(&r);
  r = BENCH("--list-backends");
  assert_good(&r);
  for (size_t i = 0; i < lathe_backend_count; i++)
    assert_has(r.out, lathe_backends[i].name);
  run_free(&r);
  r = BENCH("--list-devices");
  assert_good(&r);
  assert_has(r.out, "cpu: ");
  assert_has(r.out, " GB/s");
  run_free(&r);
  r = BENCH("--list-variants", "--dtype", "all");
  assert_good(&r);
  for (size_t i = 0; i < lathe_variant_count; i++)
    assert_has(r.out, lathe_variants[i].name);
  assert_has(r.out, "dispatch chooses it at ");
  run_free(&r);
}

static void test_lists_are_narrowed(void **state) {
  run_result r = BENCH("--list-ops", "--list-variants", "--op", "add", "--backend", "scalar");

  (void)state;
  assert_good(&r);
  assert_has(r.out, "x + y");
  assert_has(r.out, "add_f32__scalar");
  assert_lacks(r.out, "avx");
  assert_lacks(r.out, "exp");
  run_free(&r);
}

/* Why a backend cannot run where LATHE_CPU_FEATURES leaves less of this processor; null where it can. */
static const char *why_not_with(const lathe_backend *backend, uint64_t left) {
  const lathe_variant probe = {.backend = backend};
  const char *why = lathe_why_not(&probe, lathe_cpu_features());

  if (why || !lathe_why_not(&probe, left))
    return why;
  return "LATHE_CPU_FEATURES leaves out ";
}

/* What cannot run here says why in the list, too. */
static void test_list_of_what_cannot_run(void **state) {
  run_result r = BENCH_WITH("LATHE_CPU_FEATURES=", "--list-backends");

  (void)state;
  assert_good(&r);
  for (size_t i = 0; i < lathe_backend_count; i++) {
    const bool here = lathe_backends[i].kind == LATHE_CPU;
    const char *why = here ? why_not_with(&lathe_backends[i], LATHE_ON_CPU) : NULL;
    if (why)
      assert_has(r.out, why);
  }
  run_free(&r);
}

/* ---- good calls ------------------------------------------------------------------------------ */

static void test_check_only(void **state) {
  run_result r = BENCH("--op", "add", "--size", "1000", "--check-only");

  (void)state;
  assert_good(&r);
  assert_has(r.out, "add_f32__");
  assert_has(r.out, " 0 wrong");
  assert_lacks(r.out, "f64");
  run_free(&r);
}

/* Where zero is all that can come out, it is right; that it shows little is said once for an op. */
static void test_rows_of_one_element(void **state) {
  run_result r =
      BENCH("--op", "cross_entropy,softmax,log_softmax", "--dtype", "all", "--size", "1000x1,40x1",
            "--backend", "scalar", "--check-only", "--json", "out.json", "--seed", "1");
  const char *note =
      strstr(r.out, "\nnote: every result is zero, and should be, which shows little: "
                    "cross_entropy f32 1000x1, log_softmax\n      f32 1000x1\n");
  json_t *root = load("out.json"), *all = json_object_get(root, "benchmarks");

  (void)state;
  assert_good(&r);
  assert_non_null(note);
  assert_null(strstr(note + 2, "note:"));
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *b = json_array_get(all, i);
    assert_string_equal(text_of(b, "status"), "right");
    if (strcmp(text_of(b, "op"), "softmax") == 0)
      assert_true(json_is_null(json_object_get(b, "note")));
    else
      assert_string_equal(text_of(b, "note"),
                          "every result is zero, and should be, which shows little");
  }
  json_decref(root);
  run_free(&r);
}

/* Every op in a grid, and every variant by rows: as wide as the table gets. */
static void test_tables_fit_the_terminal(void **state) {
  run_result r = BENCH("--check-only", "--size", "100,1K", "--dtype", "all", "--seed", "1");

  (void)state;
  assert_good(&r);
  run_free(&r);
  r = BENCH("--check-only", "--rows", "--size", "100", "--seed", "1");
  assert_good(&r);
  run_free(&r);
  r = BENCH("--op", "add,log_softmax", "--size", "100,2^20", "--iterations", "1", "--rows",
            "--seed", "1");
  assert_int_equal(r.status, RIGHT);
  assert_narrow(r.out);
  assert_narrow(r.err);
  run_free(&r);
  r = BENCH_WITH("LATHE_CPU_FEATURES=sse2", "--op", "log_softmax", "--size", "2^20", "--iterations",
                 "1", "--rows");
  assert_narrow(r.out);
  run_free(&r);
}

/* Noise that is not known is not called noise. */
static void test_few_samples(void **state) {
  run_result r = BENCH("--op", "add", "--variant", "*_f32__scalar_u1", "--size", "100,1K",
                       "--iterations", "1");

  (void)state;
  assert_int_equal(r.status, RIGHT);
  assert_has(r.out, "     ? ");
  assert_string_equal(r.err,
                      "bench: warning: 2 rows have too few samples to tell how much they vary "
                      "(--iterations, --min-time)\n");
  run_free(&r);
}

static void test_seed_is_printed_and_taken(void **state) {
  run_result r = BENCH("--op", "sum", "--size", "1000", "--check-only", "--seed", "12345");
  run_result same = BENCH("--op", "sum", "--size", "1000", "--check-only", "--seed", "12345");
  const char *table = strstr(r.out, "sum_f32"), *again = strstr(same.out, "sum_f32");

  (void)state;
  assert_good(&r);
  assert_has(r.out, "seed 12345");
  assert_non_null(table);
  assert_non_null(again);
  /* The errors are the same; the last line has the time. */
  assert_memory_equal(table, again, (size_t)(strstr(table, " rows: ") - table));
  run_free(&r);
  run_free(&same);
}

static void test_ways_to_check(void **state) {
  run_result r =
      BENCH("--op", "add,exp", "--size", "77", "--in-place", "--special", "nan,inf,zero,denormal");

  (void)state;
  assert_good(&r);
  run_free(&r);
  r = BENCH("--op", "add,sum", "--size", "77", "--check-only", "--offset", "4");
  assert_good(&r);
  run_free(&r);
  r = BENCH("--op", "add,sum", "--size", "77", "--check-only", "--page-end");
  assert_good(&r);
  run_free(&r);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The context that Google Benchmark writes. */
static void check_context(const json_t *root) {
  const json_t *context = json_object_get(root, "context");
  const json_t *caches = json_object_get(context, "caches");

  assert_true(json_is_object(context));
  assert_true(strlen(text_of(context, "date")) >= strlen("2000-01-01T00:00:00+00:00") - 1);
  text_of(context, "host_name");
  text_of(context, "executable");
  text_of(context, "library_build_type");
  assert_true(number_of(context, "num_cpus") >= 1);
  number_of(context, "mhz_per_cpu");
  assert_true(number_of(context, "json_schema_version") == 1);
  flag_of(context, "cpu_scaling_enabled");
  assert_true(json_is_array(json_object_get(context, "load_avg")));
  assert_true(json_is_array(caches));
  for (size_t i = 0; i < json_array_size(caches); i++) {
    const json_t *cache = json_array_get(caches, i);
    text_of(cache, "type");
    assert_true(number_of(cache, "level") >= 1);
    assert_true(number_of(cache, "size") > 0);
    assert_true(number_of(cache, "num_sharing") >= 1);
  }
}

/* The fields that Google Benchmark's compare.py looks at. */
static void check_benchmark(const json_t *b) {
  text_of(b, "name");
  assert_string_equal(text_of(b, "run_name"), text_of(b, "name"));
  assert_string_equal(text_of(b, "run_type"), "iteration");
  assert_string_equal(text_of(b, "time_unit"), "ns");
  assert_true(number_of(b, "family_index") >= 0);
  assert_true(number_of(b, "per_family_instance_index") >= 0);
  assert_true(number_of(b, "repetitions") == 1);
  assert_true(number_of(b, "repetition_index") == 0);
  assert_true(number_of(b, "threads") == 1);
  assert_true(number_of(b, "iterations") >= 0);
  assert_true(number_of(b, "real_time") >= 0);
  assert_true(number_of(b, "cpu_time") >= 0);
}

static void check_measured(const json_t *b) {
  const json_t *samples = json_object_get(b, "samples");
  const double low = number_of(b, "min"), high = number_of(b, "max");

  assert_string_equal(text_of(b, "status"), "right");
  assert_null(json_object_get(b, "error_occurred"));
  assert_true(low > 0 && low <= number_of(b, "q1"));
  assert_true(number_of(b, "q1") <= number_of(b, "real_time"));
  assert_true(number_of(b, "real_time") <= number_of(b, "q3"));
  assert_true(number_of(b, "q3") <= high);
  assert_true(number_of(b, "ulp") <= number_of(b, "ulp_bound"));
  assert_true(number_of(b, "sample_count") == (double)json_array_size(samples));
  assert_true(number_of(b, "iterations") ==
              number_of(b, "sample_count") * number_of(b, "calls_per_sample"));
  for (size_t i = 0; i < json_array_size(samples); i++) {
    const double sample = json_number_value(json_array_get(samples, i));
    /* Ten digits are written. */
    assert_true(sample >= low * (1 - 1e-9) && sample <= high * (1 + 1e-9));
  }
  assert_true(number_of(b, "bytes_per_second") > 0);
  assert_int_equal(flag_of(b, "above_ceiling"), number_of(b, "ceiling_share") > 1.05);
  /* A processor's operands are never put out of its caches. */
  assert_true(json_is_null(json_object_get(b, "cold_time")));
  assert_int_equal(json_array_size(json_object_get(b, "cold_samples")), 0);
  assert_true(number_of(b, "time_ms") > 0);
}

/* Rows of JSON that belong together: how many, how many the fastest, how many dispatched. */
static void check_marks(const json_t *all) {
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *a = json_array_get(all, i);
    const json_t *device = json_object_get(a, "device"); /* null where there is none */
    size_t fastest = 0, dispatched = 0;
    bool able = false; /* a device's backend may have been left out */
    for (size_t j = 0; j < json_array_size(all); j++) {
      const json_t *b = json_array_get(all, j);
      if (strcmp(text_of(a, "op"), text_of(b, "op")) != 0 ||
          strcmp(text_of(a, "dtype"), text_of(b, "dtype")) != 0 ||
          strcmp(text_of(a, "size"), text_of(b, "size")) != 0)
        continue;
      fastest += flag_of(b, "fastest");
      if (!json_equal(device, json_object_get(b, "device")))
        continue;
      dispatched += flag_of(b, "dispatched");
      able = able || strcmp(text_of(b, "status"), "skipped") != 0;
    }
    assert_int_equal(fastest, 1);
    assert_int_equal(dispatched, able ? 1 : 0);
  }
}

static void test_json(void **state) {
  run_result r = BENCH("--fast", "--op", "add,argmax", "--dtype", "f32,f64", "--size", "100,1000",
                       "--json", "out.json");
  json_t *root = load("out.json");
  const json_t *all = json_object_get(root, "benchmarks");
  size_t expected = 0;

  (void)state;
  assert_int_equal(r.status, RIGHT);
  assert_has(r.out, "add"); /* the table as well */
  check_context(root);
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    if (v->dtype == LATHE_F32 || v->dtype == LATHE_F64)
      expected += strcmp(v->op->name, "add") == 0 || strcmp(v->op->name, "argmax") == 0;
  }
  assert_int_equal(json_array_size(all), 2 * expected);
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *b = json_array_get(all, i);
    check_benchmark(b);
    if (strcmp(text_of(b, "status"), "skipped") != 0)
      check_measured(b);
  }
  check_marks(all);
  json_decref(root);
  run_free(&r);
}

static void test_filters(void **state) {
  run_result r = BENCH("--fast", "--op", "norm_*,add", "--backend", "scalar,sse2", "--dtype", "f64",
                       "--variant", "*_a8,add*u4", "--size", "100,n=37", "--json", "j");
  json_t *root = load("j");
  const json_t *all = json_object_get(root, "benchmarks");
  size_t adds = 0, norms = 0;

  (void)state;
  assert_int_equal(r.status, RIGHT);
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *b = json_array_get(all, i);
    const char *variant = text_of(b, "variant"), *backend = text_of(b, "backend");
    const char *size = text_of(b, "size");
    const size_t length = strlen(variant);
    assert_string_equal(text_of(b, "dtype"), "f64");
    assert_true(strcmp(backend, "scalar") == 0 || strcmp(backend, "sse2") == 0);
    assert_true(strcmp(size, "100") == 0 || strcmp(size, "37") == 0);
    if (strcmp(text_of(b, "op"), "add") == 0) {
      assert_string_equal(variant + length - 3, "_u4");
      adds++;
    } else {
      assert_memory_equal(text_of(b, "op"), "norm_", 5);
      assert_string_equal(variant + length - 3, "_a8");
      norms++;
    }
  }
  assert_int_equal(adds, 2 * 2);      /* sizes and backends */
  assert_int_equal(norms, 3 * 2 * 2); /* and ops */
  json_decref(root);
  run_free(&r);
}

/* The rows of a run that was asked for its JSON in the file j. */
static const json_t *rows_of(const run_result *r, json_t **root) {
  if (r->status != RIGHT)
    fail_msg("status %d; %s%s", r->status, r->out, r->err);
  *root = load("j");
  return json_object_get(*root, "benchmarks");
}

/* The sizes of a set, by its name alone, and whatever an op's dimensions are. */
static void test_sets(void **state) {
  run_result r = BENCH("--op", "add,softmax", "--variant", "*_f32__scalar_*", "--size",
                       "small,batched", "--check-only", "--json", "j");
  static const char *const sizes[] = {"1024x1024", "32x128x768", "16x512x1024"};
  static const double shapes[][3] = {{1024, 1, 1024}, {32, 128, 768}, {16, 512, 1024}};
  json_t *root;
  const json_t *all = rows_of(&r, &root);

  (void)state;
  assert_int_equal(json_array_size(all), 3 * 2 + 3 * 1); /* add has two such variants */
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *b = json_array_get(all, i), *dims = json_object_get(b, "sizes");
    size_t at = 0;
    while (at < COUNT(sizes) && strcmp(text_of(b, "size"), sizes[at]) != 0)
      at++;
    assert_true(at < COUNT(sizes));
    assert_true(number_of(b, "batch_size") == shapes[at][0]);
    assert_true(number_of(b, "sequence_length") == shapes[at][1]);
    assert_true(number_of(b, "tensor_dimension") == shapes[at][2]);
    if (strcmp(text_of(b, "op"), "add") == 0) {
      assert_true(number_of(dims, "n") == shapes[at][0] * shapes[at][1] * shapes[at][2]);
    } else {
      assert_true(number_of(dims, "rows") == shapes[at][0] * shapes[at][1]);
      assert_true(number_of(dims, "cols") == shapes[at][2]);
    }
  }
  json_decref(root);
  run_free(&r);
}

/* An op's own sweep, narrowed; others have powers of two. */
static void test_sweep(void **state) {
  run_result r = BENCH("--op", "gelu,softmax", "--variant", "*_f32__scalar_*u1", "--sweep",
                       "--size", "batch=16xsequence=256xwidth=8:32,batch=32xsequence=512xwidth=64",
                       "--check-only", "--json", "j");
  json_t *root;
  const json_t *all = rows_of(&r, &root);

  (void)state;
  assert_int_equal(json_array_size(all), 2 * 4);
  for (size_t i = 0; i < json_array_size(all); i++) {
    static const char *const sizes[] = {"16x256x8", "16x256x16", "16x256x32", "32x512x64"};
    assert_string_equal(text_of(json_array_get(all, i), "size"), sizes[i % COUNT(sizes)]);
  }
  json_decref(root);
  run_free(&r);
  r = BENCH("--op", "add", "--variant", "*_f32__scalar_u1", "--sweep", "--size", "2^3:2^6",
            "--check-only", "--json", "j");
  all = rows_of(&r, &root);
  assert_int_equal(json_array_size(all), 3); /* from 2^4 on */
  assert_string_equal(text_of(json_array_get(all, 0), "size"), "16");
  json_decref(root);
  run_free(&r);
}

/* Every row has the fields that the row-wise sweep asks for, measured or not. */
static void test_sweep_fields(void **state) {
  run_result r = BENCH("--op", "add", "--variant", "*_f32__scalar_u1", "--size", "4x8x16,2^50",
                       "--iterations", "3", "--json", "j", "--csv", "c");
  static const char *const texts[] = {"operation", "implementation"};
  static const char *const counts[] = {"batch_size", "sequence_length", "tensor_dimension"};
  static const char *const figures[] = {"time_ms", "inference_speed", "throughput_gbps"};
  json_t *root;
  const json_t *all = rows_of(&r, &root);
  char *csv = tree_read("c");

  (void)state;
  assert_int_equal(json_array_size(all), 2);
  for (size_t i = 0; i < 2; i++) {
    const json_t *b = json_array_get(all, i);
    const bool measured = i == 0;
    assert_string_equal(text_of(b, "operation"), "add");
    assert_string_equal(text_of(b, "implementation"), "add_f32__scalar_u1");
    for (size_t f = 0; f < COUNT(counts); f++)
      assert_true(number_of(b, counts[f]) >= 1);
    for (size_t f = 0; f < COUNT(figures); f++)
      assert_true(json_is_number(json_object_get(b, figures[f])) == measured);
    assert_true(number_of(b, "memory_mb") > 0);
    assert_true(json_is_null(json_object_get(b, "gpu_efficiency"))); /* of a processor */
  }
  for (size_t f = 0; f < COUNT(texts); f++)
    assert_has(csv, texts[f]);
  for (size_t f = 0; f < COUNT(counts); f++)
    assert_has(csv, counts[f]);
  for (size_t f = 0; f < COUNT(figures); f++)
    assert_has(csv, figures[f]);
  assert_has(csv, "memory_mb,inference_speed,gpu_efficiency");
  free(csv);
  json_decref(root);
  run_free(&r);
}

/* The next field of a CSV line by RFC 4180; its end, or null where it is malformed. */
static const char *csv_field(const char *at) {
  if (*at != '"')
    return at + strcspn(at, ",\n\"");
  for (at++; *at; at++)
    if (*at == '"' && *++at != '"')
      return at;
  return NULL;
}

static void test_csv(void **state) {
  run_result r = BENCH("--op", "add", "--size", "100", "--check-only", "--csv", "out.csv");
  char *text = tree_read("out.csv");
  size_t columns = 0, rows = 0;

  (void)state;
  assert_good(&r);
  assert_int_equal(strncmp(text, "name,op,dtype,", 14), 0);
  for (const char *at = text; *at; at++) {
    size_t fields = 0;
    do {
      at = csv_field(at);
      assert_non_null(at);
      fields++;
    } while (*at == ',' && at++);
    assert_int_equal(*at, '\n');
    if (rows++ == 0)
      columns = fields;
    assert_int_equal(fields, columns);
  }
  assert_true(columns > 20);
  for (size_t i = 0; i < lathe_variant_count; i++)
    rows -= strcmp(lathe_variants[i].op->name, "add") == 0 && lathe_variants[i].dtype == LATHE_F32;
  assert_int_equal(rows, 1); /* the head */
  free(text);
  run_free(&r);
}

static size_t bars_of(const char *line) {
  size_t count = 0;

  for (const char *at = line; *at && *at != '\n'; at++)
    count += *at == '|' && (at == line || at[-1] != '\\');
  return count;
}

/* In a Markdown table all lines have as many cells as its head. */
static void test_markdown(void **state) {
  run_result r = BENCH("--fast", "--op", "abs,add", "--size", "100", "--markdown", "out.md");
  char *text = tree_read("out.md");
  size_t columns = 0, tables = 0;

  (void)state;
  assert_int_equal(r.status, RIGHT);
  assert_int_equal(text[0], '#');
  assert_has(text, "## add f32");
  for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
    if (strncmp(line, "| ", 2) != 0) {
      columns = 0;
      continue;
    }
    if (columns == 0) {
      columns = bars_of(line);
      tables++;
    }
    if (bars_of(line) != columns)
      fail_msg("%zu bars, expected %zu: %.*s", bars_of(line), columns, (int)strcspn(line, "\n"),
               line);
  }
  assert_int_equal(tables, 3); /* the machine and two ops */
  free(text);
  run_free(&r);
}

/* ---- bad calls ------------------------------------------------------------------------------- */

static void assert_refused(const run_result *r, const char *message) {
  if (r->status != BAD_REQUEST || strcmp(r->err, message) != 0)
    fail_msg("status %d, said: %s\nexpected: %s", r->status, r->err, message);
  assert_string_equal(r->out, ""); /* nothing was run, or said to those who read results */
}

static void test_bad_calls(void **state) {
  static const struct {
    const char *options[5], *message;
  } cases[] = {
      {{"--frobnicate"}, "unknown option 'frobnicate' (--help lists them)"},
      {{"--bakend", "avx2"},
       "unknown option 'bakend'; did you mean 'backend'? (--help lists them)"},
      {{"-q"}, "unknown option 'q' (--help lists them)"},
      {{"add"}, "'add' is not an option (--help lists them)"},
      {{"--op"}, "--op needs a value (--help tells more)"},
      {{"--op", ""}, "--op needs a name, and was given nothing"},
      {{"--op", ","}, "a list of names was expected, and ',' has none"},
      {{"--op", "sofmax"}, "unknown op 'sofmax'; did you mean 'softmax'? (--list-ops lists them)"},
      {{"--op", "qqqqqqqq"}, "unknown op 'qqqqqqqq' (--list-ops lists them)"},
      {{"--op", "add,qqqqqqqq"}, "unknown op 'qqqqqqqq' (--list-ops lists them)"},
      {{"--backend", "avx22"},
       "unknown backend 'avx22'; did you mean 'avx2'? (--list-backends lists them)"},
      {{"--backend", "neon"}, "unknown backend 'neon' (--list-backends lists them)"},
      {{"--dtype", "float"}, "unknown dtype 'float' (f64, f32, f16, bf16, all)"},
      {{"--dtype", "f33"}, "unknown dtype 'f33'; did you mean 'f32'? (f64, f32, f16, bf16, all)"},
      {{"--device", "cpu7"},
       "unknown device 'cpu7'; did you mean 'cpu'? (--list-devices lists them)"},
      {{"--variant", "nope*"}, "unknown variant 'nope*' (--list-variants lists them)"},
      {{"--size", "0"}, "--size 0: a size must not be zero (--help shows how sizes are given)"},
      {{"--size", "-5"}, "--size -5: a size must be positive (--help shows how sizes are given)"},
      {{"--size", "1.5"},
       "--size 1.5: a size must be a whole number (--help shows how sizes are given)"},
      {{"--size", "1e3"},
       "--size 1e3: a size must be a whole number (--help shows how sizes are given)"},
      {{"--size", "18446744073709551616"},
       "--size 18446744073709551616: the number is too large (--help shows how sizes are given)"},
      {{"--op", "add", "--size", "2^40x2^40"},
       "--size 1099511627776x1099511627776: add would need more memory than can be addressed"},
      {{"--size", "10:5"},
       "--size 10:5: the range ends before it begins (--help shows how sizes are given)"},
      {{"--size", "rows=8xrows=9"},
       "--size rows=8xrows=9: a dimension of column_max is given twice (--list-ops shows each "
       "op's)"},
      {{"--op=softmax", "--sweep", "--size", "batch=8xbatch=9"},
       "--size batch=8xbatch=9: a dimension of softmax is given twice (--list-ops shows each "
       "op's)"},
      {{"--op", "softmax", "--size", "cols=8xwidth=9"},
       "--size cols=8xwidth=9: a dimension of softmax is given twice (--list-ops shows each op's)"},
      {{"--size", ""}, "--size needs a name, and was given nothing"},
      {{"--op", "add", "--size", "huge"}, "unknown size 'huge' (--list-sizes lists them)"},
      {{"--op", "add", "--size", "depth=4"},
       "unknown dimension 'depth' (--list-ops shows each op's)"},
      {{"--op", "add", "--size", "larg"},
       "unknown size 'larg'; did you mean 'large'? (--list-sizes lists them)"},
      {{"--op", "add", "--size", "widht=4"},
       "unknown dimension 'widht'; did you mean 'width'? (--list-ops shows each op's)"},
      {{"--sweep", "--size", "large"},
       "--sweep is narrowed by numbers such as --size width=64, and was given 'large'"},
      {{"--sweep", "--size", "100"},
       "--size 100: no sweep of the ops asked for has such a size (--list-sizes shows them)"},
      {{"--op", "add", "--variant", "exp_*"},
       "no variant matches all of what was asked for (--list-variants lists them)"},
      {{"--op", "add", "--dtype", "i32"},
       "no variant matches all of what was asked for (--list-variants lists them)"},
      {{"--backend", "vulkan", "--variant", "*avx*"},
       "no variant matches all of what was asked for (--list-variants lists them)"},
      {{"--iterations", "0"},
       "--iterations takes a whole number from 1 to 1000000000, and was given '0'"},
      {{"--warmup", "-1"},
       "--warmup takes a whole number from 0 to 1000000000, and was given '-1'"},
      {{"--seed", "x"},
       "--seed takes a whole number from 0 to 18446744073709551615, and was given 'x'"},
      {{"--min-time", "0"}, "--min-time takes a number above 0 and up to 3600, and was given '0'"},
      {{"--min-time", "nan"},
       "--min-time takes a number above 0 and up to 3600, and was given 'nan'"},
      {{"--max-noise", "200"},
       "--max-noise takes a number above 0 and up to 100, and was given '200'"},
      {{"--timeout", "0"}, "--timeout takes a number above 0 and up to 3600, and was given '0'"},
      {{"--special", "odd"}, "unknown special value 'odd' (nan, inf, zero, denormal)"},
      {{"--offset", "5000"}, "--offset takes a whole number from 0 to 4096, and was given '5000'"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    run_result r = bench_with(NULL, cases[i].options);
    char message[256];
    snprintf(message, sizeof message, "bench: %s\n", cases[i].message);
    assert_refused(&r, message);
    run_free(&r);
  }
}

static size_t files_in(const char *path) {
  DIR *folder = opendir(path);
  size_t count = 0;

  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

/* Found out before anything runs; and what else was asked for is not left half made. */
static void test_unwritable_files(void **state) {
  static const char *const options[] = {"--json", "--csv", "--markdown"};

  (void)state;
  for (size_t i = 0; i < COUNT(options); i++) {
    run_result r = BENCH("--op", "add", "--size", "100", "--json", "good", options[i], "no/file");
    assert_refused(&r, "bench: cannot write no/file: No such file or directory\n");
    run_free(&r);
    r = BENCH("--op", "add", "--size", "100", options[i], ".");
    assert_refused(&r, "bench: cannot write .: Is a directory\n");
    run_free(&r);
  }
  assert_int_equal(files_in(tree_root()), 0);
}

/* Standard output counts as well, whatever goes there; but a bad request is what it was. */
static void test_unwritable_standard_output(void **state) {
  static const struct {
    const char *command, *message;
  } cases[] = {
      {"--help >/dev/full", "warning: cannot write standard output: No space left on device"},
      {"--version >/dev/full", "warning: cannot write standard output: No space left on device"},
      {"--version >&-", "warning: cannot write standard output: Bad file descriptor"},
      {"--list-variants --dtype all >/dev/full", "warning: cannot write standard output: "},
      {"--op sum --size 1K --check-only >/dev/full",
       "warning: cannot write standard output: No space left on device"},
      {"--op sum --size 1K --check-only --json /dev/full",
       "warning: cannot write /dev/full: No space left on device"},
      {"--op nope >/dev/full", "unknown op 'nope' (--list-ops lists them)"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    char command[160], message[160];
    run_result r;
    snprintf(command, sizeof command, "exec \"$LATHE_BENCH\" %s", cases[i].command);
    snprintf(message, sizeof message, "bench: %s", cases[i].message);
    r = RUN(tree_root(), "sh", "-c", command);
    if (r.status != BAD_REQUEST || strncmp(r.err, message, strlen(message)) != 0 ||
        lines_of(r.err) != 1)
      fail_msg("%s: status %d, said: %s\nexpected: %s", command, r.status, r.err, message);
    run_free(&r);
  }
}

/* ---- instruction sets ------------------------------------------------------------------------ */

/* The first backend that a processor with only SSE2 cannot run and that was built; or null. */
static const lathe_backend *beyond_sse2(void) {
  for (size_t i = 0; i < lathe_backend_count; i++)
    if (lathe_backends[i].kind == LATHE_CPU && lathe_backends[i].features & ~(uint64_t)LATHE_SSE2)
      return &lathe_backends[i];
  return NULL;
}

static void test_missing_instruction_set(void **state) {
  const lathe_backend *backend = beyond_sse2();
  const json_t *all;
  const char *why;
  run_result r;
  json_t *root;

  (void)state;
  if (!backend)
    skip(); /* this table has no such backend */
  why = why_not_with(backend, LATHE_ON_CPU | LATHE_SSE2);
  r = BENCH_WITH("LATHE_CPU_FEATURES=sse2", "--op", "add,sum,softmax", "--size", "100", "--backend",
                 backend->name, "--json", "out.json");
  assert_int_equal(r.status, NOTHING);
  assert_string_equal(r.err, "");
  assert_has(r.out, why);
  assert_has(r.out, " 0 right, 0 wrong, ");
  root = load("out.json");
  all = json_object_get(root, "benchmarks");
  assert_true(json_array_size(all) > 0);
  assert_false(flag_of(json_object_get(root, "context"), "interrupted"));
  assert_true(number_of(json_object_get(root, "context"), "rows_not_run") == 0);
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *b = json_array_get(all, i);
    check_benchmark(b);
    assert_string_equal(text_of(b, "status"), "skipped");
    assert_memory_equal(text_of(b, "reason"), why, strlen(why));
    assert_true(flag_of(b, "error_occurred"));
    assert_string_equal(text_of(b, "error_message"), text_of(b, "reason"));
    assert_false(flag_of(b, "fastest"));
    assert_false(flag_of(b, "dispatched"));
  }
  json_decref(root);
  run_free(&r);
}

/* Something could run: that it was right is what counts. */
static void test_less_of_a_processor(void **state) {
  static const char *const features[] = {"LATHE_CPU_FEATURES=", "LATHE_CPU_FEATURES=sse2",
                                         "LATHE_CPU_FEATURES=sse2,avx2",
                                         "LATHE_CPU_FEATURES=sse2,avx2,fma"};

  (void)state;
  for (size_t i = 0; i < COUNT(features); i++) {
    run_result r = BENCH_WITH(features[i], "--size", "100", "--check-only");
    assert_good(&r);
    assert_has(r.out, " 0 wrong, ");
    if (beyond_sse2())
      assert_has(r.out, why_not_with(beyond_sse2(), LATHE_ON_CPU | LATHE_SSE2));
    run_free(&r);
  }
}

/* A slip would hide what it was to leave. */
static void test_unknown_feature(void **state) {
  run_result r = BENCH_WITH("LATHE_CPU_FEATURES=sse2,avx3", "--op", "add");

  (void)state;
  assert_refused(
      &r, "bench: unknown processor feature 'avx3'; did you mean 'avx2'? (LATHE_CPU_FEATURES "
          "takes sse2, avx2, fma, f16c, avx512f, avx512bw, avx512dq, avx512vl)\n");
  run_free(&r);
  r = BENCH_WITH("LATHE_CPU_FEATURES=foo", "--help");
  assert_good(&r);
  run_free(&r);
}

static void test_too_large_for_memory(void **state) {
  run_result r =
      BENCH("--op", "add", "--backend", "scalar", "--size", "2^50,2^62,100", "--check-only");

  (void)state;
  assert_good(&r); /* the other size was right */
  assert_has(r.out, "skipped: needs ");
  assert_has(r.out, "skipped: needs 48.0 EiB, more than can be addressed");
  assert_has(r.out, "2 right, 0 wrong, 4 skipped");
  run_free(&r);
  r = BENCH("--op", "add", "--backend", "scalar", "--size", "2^50", "--check-only");
  assert_int_equal(r.status, NOTHING);
  run_free(&r);
}

/* ---- terminals and interrupts ---------------------------------------------------------------- */

/* All that the bench says on a terminal of its own. */
static void run_on_terminal(const char *variable, char *text, size_t size) {
  const char *const program = test_variable("LATHE_BENCH");
  size_t used = 0;
  ssize_t got;
  int terminal, status;
  pid_t child;

  fflush(NULL);
  child = forkpty(&terminal, NULL, NULL, NULL);
  assert_true(child >= 0);
  if (child == 0) {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    if (variable)
      putenv((char *)variable);
    execl(program, program, "--op", "add", "--size", "100", "--check-only", (char *)NULL);
    _exit(127);
  }
  /* Reading fails when the other side has closed. */
  while (used < size - 1 && (got = read(terminal, text + used, size - 1 - used)) > 0)
    used += (size_t)got;
  text[used] = 0;
  close(terminal);
  assert_true(waitpid(child, &status, 0) == child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == RIGHT);
}

static void test_colours(void **state) {
  char text[1 << 14];

  (void)state;
  run_on_terminal(NULL, text, sizeof text);
  assert_has(text, "\033[1;32m");
  run_on_terminal("NO_COLOR=1", text, sizeof text);
  assert_lacks(text, "\033[1");
  run_on_terminal("TERM=dumb", text, sizeof text);
  assert_lacks(text, "\033[1");
}

/* What was finished is written, and the status tells. */
static void test_interrupt(void **state) {
  run_result r =
      RUN(tree_root(), "timeout", "--foreground", "--preserve-status", "-s", "INT", "0.7",
          test_variable("LATHE_BENCH"), "--op", "add", "--backend", "scalar", "--size", "2^4:2^12",
          "--min-time", "0.15", "--json", "out.json", "--markdown", "out.md");
  const json_t *all, *context;
  char said[80], *markdown;
  json_t *root;
  size_t rows;

  (void)state;
  assert_int_equal(r.status, INTERRUPTED);
  root = load("out.json");
  context = json_object_get(root, "context");
  all = json_object_get(root, "benchmarks");
  for (size_t i = 0; i < json_array_size(all); i++)
    check_benchmark(json_array_get(all, i));
  rows = json_array_size(all);
  assert_in_range(rows, 1, 17); /* of 9 sizes, two variants each */
  assert_true(flag_of(context, "interrupted"));
  assert_true(number_of(context, "rows_not_run") == (double)(18 - rows));
  snprintf(said, sizeof said, "\n%zu of 18 rows: %zu right, 0 wrong, 0 skipped, in ", rows, rows);
  assert_has(r.out, said);
  snprintf(said, sizeof said, "bench: warning: interrupted: %zu rows not run\n", 18 - rows);
  assert_has(r.err, said);
  markdown = tree_read("out.md");
  snprintf(said, sizeof said, "\n| interrupted | %zu rows not run |\n", 18 - rows);
  assert_has(markdown, said);
  free(markdown);
  json_decref(root);
  run_free(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

const struct CMUnitTest command_line_tests[] = {
    TEST(test_help),
    TEST(test_version),
    TEST(test_lists),
    TEST(test_lists_are_narrowed),
    TEST(test_list_of_what_cannot_run),
    TEST(test_check_only),
    TEST(test_rows_of_one_element),
    TEST(test_tables_fit_the_terminal),
    TEST(test_few_samples),
    TEST(test_seed_is_printed_and_taken),
    TEST(test_ways_to_check),
    TEST(test_json),
    TEST(test_filters),
    TEST(test_sets),
    TEST(test_sweep),
    TEST(test_sweep_fields),
    TEST(test_csv),
    TEST(test_markdown),
    TEST(test_bad_calls),
    TEST(test_unwritable_files),
    TEST(test_unwritable_standard_output),
    TEST(test_missing_instruction_set),
    TEST(test_less_of_a_processor),
    TEST(test_unknown_feature),
    TEST(test_too_large_for_memory),
    TEST(test_colours),
    TEST(test_interrupt),
};
const size_t command_line_test_count = COUNT(command_line_tests);
