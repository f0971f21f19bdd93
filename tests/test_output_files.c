/* test_output_files.c - the files that the bench program writes. */
#include "tests.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/dispatch.h"
#include "made_up_report.h"
#include "run_bench.h"

/* The context that Google Benchmark writes. */
static void check_context(const json_t *root) {
  const json_t *context = json_object_get(root, "context");
  const json_t *caches = json_object_get(context, "caches");

  assert_true(json_is_object(context));
  assert_true(strlen(text_of(context, "date")) >= strlen("2000-01-01T00:00:00+00:00") - 1);
  text_of(context, "host_name");
  text_of(context, "executable");
  text_of(context, "library_build_type");
  text_of(context, "kernel_flags");
  assert_int_equal(strlen(text_of(context, "specs_hash")), 16);
  assert_int_equal(strlen(text_of(context, "templates_hash")), 16);
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

static void check_measured(const json_t *b) {
  const json_t *samples = json_object_get(b, "samples");
  const double low = number_of(b, "min"), high = number_of(b, "max");

  assert_string_equal(text_of(b, "status"), "right");
  assert_null(json_object_get(b, "error_occurred"));
  assert_true(low > 0 && low <= number_of(b, "q1"));
  assert_true(number_of(b, "q1") <= number_of(b, "q3"));
  assert_true(number_of(b, "q3") <= high);
  assert_true(low <= number_of(b, "best") && number_of(b, "best") <= number_of(b, "low"));
  assert_true(number_of(b, "low") <= number_of(b, "real_time"));
  assert_true(number_of(b, "real_time") <= number_of(b, "high") && number_of(b, "high") <= high);
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
  assert_true(number_of(b, "ceiling_share") > 1 || !flag_of(b, "above_ceiling"));
  assert_true(number_of(b, "rounds") ==
              (double)json_array_size(json_object_get(b, "round_samples")));
  /* A processor's operands are never put out of its caches. */
  assert_true(json_is_null(json_object_get(b, "cold_time")));
  assert_int_equal(json_array_size(json_object_get(b, "cold_samples")), 0);
  assert_true(number_of(b, "time_ms") > 0);
}

/* Rows of JSON that belong together: how many, how many the fastest, how many dispatched. */
static void check_marks(const json_t *all) {
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *a = json_array_get(all, i);
    const json_t *runs_on = json_object_get(a, "device"); /* null where there is none */
    size_t fastest = 0, dispatched = 0;
    bool able = false; /* a device's backend may have been left out */
    for (size_t j = 0; j < json_array_size(all); j++) {
      const json_t *b = json_array_get(all, j);
      if (strcmp(text_of(a, "op"), text_of(b, "op")) != 0 ||
          strcmp(text_of(a, "dtype"), text_of(b, "dtype")) != 0 ||
          strcmp(text_of(a, "size"), text_of(b, "size")) != 0)
        continue;
      fastest += flag_of(b, "fastest");
      if (!json_equal(runs_on, json_object_get(b, "device")))
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
                       "--backend", "cpu,cuda,vulkan", "--json", "out.json");
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

/* A field of a CSV text, by its line (0: the heads) and its column's name, without quotes; in static
 * memory. Fails the test where there is no such column. */
static const char *csv_value(const char *text, size_t line, const char *column) {
  static char value[128];
  size_t number = 0, wanted = SIZE_MAX;

  for (size_t at = 0; *text; at++) {
    const size_t length = strcspn(text, "\n");
    const char *end = text + length;
    number = 0;
    for (const char *field = text; field <= end && (at == 0 || at == line); number++) {
      const char *next = csv_field(field);
      const bool quoted = *field == '"';
      assert_non_null(next);
      snprintf(value, sizeof value, "%.*s", (int)(next - field) - 2 * quoted, field + quoted);
      if (at == 0 && strcmp(value, column) == 0)
        wanted = number;
      if (at == line && number == wanted)
        return value;
      field = next + 1;
    }
    text = *end ? end + 1 : end;
  }
  fail_msg("line %zu has no column %s", line, column);
  return NULL;
}

/* What a row is about can be sorted, filtered and summed: its points, dimensions and parameters. */
static void test_fields_of_a_row(void **state) {
  run_result r =
      BENCH("--op", "add,softmax", "--variant", "add_f32__scalar_u4,softmax_f32__scalar*", "--size",
            "100,1K", "--check-only", "--json", "j", "--csv", "c");
  static const struct {
    const char *n, *rows, *cols, *points, *unroll, *accumulators;
  } expected[] = {{"100", "", "", "100", "4", ""},
                  {"1000", "", "", "1000", "4", ""},
                  {"", "1", "100", "100", "1", "4"},
                  {"", "1", "1000", "1000", "1", "4"}};
  json_t *root;
  const json_t *all = rows_of(&r, &root);
  char *csv = tree_read("c");

  (void)state;
  assert_int_equal(json_array_size(all), COUNT(expected));
  assert_lacks(csv, ",params,");
  for (size_t i = 0; i < COUNT(expected); i++) {
    const json_t *b = json_array_get(all, i), *params = json_object_get(b, "params");
    assert_string_equal(csv_value(csv, i + 1, "dim_n"), expected[i].n);
    assert_string_equal(csv_value(csv, i + 1, "dim_rows"), expected[i].rows);
    assert_string_equal(csv_value(csv, i + 1, "dim_cols"), expected[i].cols);
    assert_string_equal(csv_value(csv, i + 1, "points"), expected[i].points);
    assert_string_equal(csv_value(csv, i + 1, "param_unroll"), expected[i].unroll);
    assert_string_equal(csv_value(csv, i + 1, "param_accumulators"), expected[i].accumulators);
    assert_string_equal(csv_value(csv, i + 1, "real_time"), "");
    assert_true(number_of(b, "points") == atof(expected[i].points));
    assert_true(number_of(params, "unroll") == atof(expected[i].unroll));
    check_benchmark(b);
  }
  assert_string_equal(text_of(json_object_get(json_array_get(all, 0), "params"), "values"),
                      "computed");
  json_decref(root);
  free(csv);
  run_free(&r);
}

/* Figures say what they are counted in, above all the one that sounds like bits. */
static void test_units_of_figures(void **state) {
  run_result r = BENCH("--op", "add", "--variant", "*_f32__scalar_u1", "--size", "1000",
                       "--iterations", "9", "--json", "j");
  json_t *root;
  const json_t *b = json_array_get(rows_of(&r, &root), 0);
  const json_t *units = json_object_get(json_object_get(root, "context"), "units");
  const double rate = 12000 / number_of(b, "real_time");

  (void)state;
  assert_string_equal(text_of(units, "real_time"), "ns");
  assert_has(text_of(units, "throughput_gbps"), "10^9 bytes a second, not bits");
  assert_in_range(1e6 * number_of(b, "gigabytes_per_second") / rate, 999999, 1000001);
  assert_true(number_of(b, "gigabytes_per_second") == number_of(b, "throughput_gbps"));
  json_decref(root);
  run_free(&r);
}

static void test_csv(void **state) {
  run_result r = BENCH("--op", "add", "--size", "100", "--backend", "cpu,cuda,vulkan",
                       "--check-only", "--csv", "out.csv");
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

static void show_markdown(const report *r) {
  report_markdown(stdout, r);
}

static void fill_one_wrong(row *const *rows, size_t count) {
  static char reason[] = "y[3] is 1, expected 2 | 3", repro[] = "bench --op add";
  row *fast = made_up_other(rows, count), *wrong = rows[0] == fast ? rows[1] : rows[0];

  fast->real_time = 500;
  fast->fastest = true;
  wrong->state = ROW_WRONG;
  wrong->status = "wrong";
  wrong->sample_count = 0;
  wrong->reason = reason;
  wrong->repro = repro;
  for (size_t i = 0; i < count; i++)
    rows[i]->dispatched = i == count - 1;
}

/* What a reader wants first comes first: what was wrong, what is fastest, what dispatch chooses. */
static void fill_hostile(row *const *rows, size_t count) {
  row *r = made_up_other(rows, count);

  r->state = ROW_WRONG;
  r->status = "wrong";
  r->reason = "=1+1 <script>alert(1)</script> [a](b) `c`";
  r->repro = "bench | `a``b`";
}

static void show_csv(const report *r) {
  report_csv(stdout, r);
}

/* What is quoted is text, whatever a spreadsheet or a page would make of it. */
static void test_hostile_texts(void **state) {
  char *markdown = made_up_report(fill_hostile, show_markdown);
  char *csv = made_up_report(fill_hostile, show_csv);

  (void)state;
  assert_has(markdown,
             "=1+1 \\<script>alert(1)\\</script> [a]\\(b) \\`c\\` | ``` bench \\| `a``b` ``` |\n");
  assert_lacks(markdown, " <script>");
  assert_has(csv, ",\"'=1+1 <script>");
  free(markdown);
  free(csv);
}

static void test_markdown_summary(void **state) {
  char *text = made_up_report(fill_one_wrong, show_markdown);
  const char *wrong = strstr(text, "\n## What was not right\n"),
             *all = strstr(text, "\n# All rows\n");
  const char *fastest = strstr(text, "\n## The fastest\n");

  (void)state;
  assert_non_null(wrong);
  assert_non_null(fastest);
  assert_non_null(all);
  assert_true(wrong < fastest && fastest < all);
  assert_has(wrong, " | 100 | wrong | y[3] is 1, expected 2 \\| 3 | `bench --op add` |\n");
  assert_has(fastest, "| add | f32 | 100 | add_f32__");
  assert_has(fastest, " | 500 ns | ");
  assert_has(fastest, " | +100 % |\n");
  assert_has(all, "| > add_f32__");
  free(text);
}

static void fill_one_killed(row *const *rows, size_t count) {
  static char reason[] = "its process was killed", repro[] = "bench --op add";
  row *line = made_up_other(rows, count);

  line->state = ROW_KILLED;
  line->status = "killed";
  line->sample_count = 0;
  line->reason = reason;
  line->repro = repro;
}

static void fill_one_above(row *const *rows, size_t count) {
  static char read[] = "read";
  row *line = made_up_other(rows, count);

  line->ceiling = read;
  line->ceiling_share = 1.08;
  line->above_ceiling = true;
}

/* Which makes the run fail. */
static void test_markdown_of_a_row_above_its_ceiling(void **state) {
  char *text = made_up_report(fill_one_above, show_markdown);

  (void)state;
  assert_has(text, "\n## What was not right\n");
  assert_has(text, " | 100 | above its ceiling | 108.0 % of read: ");
  free(text);
}

static void test_markdown_of_a_killed_row(void **state) {
  char *text = made_up_report(fill_one_killed, show_markdown);

  (void)state;
  assert_has(text, "\n## What was not right\n");
  assert_has(text, " | 100 | killed | its process was killed | `bench --op add` |\n");
  free(text);
}

/* How many tables a text in Markdown has, all lines of which have as many cells as its head. */
static size_t tables_of(const char *text) {
  size_t columns = 0, tables = 0;

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
  return tables;
}

static void test_markdown(void **state) {
  run_result r = BENCH("--fast", "--op", "abs,add", "--size", "100", "--markdown", "out.md");
  char *text = tree_read("out.md");

  (void)state;
  assert_int_equal(r.status, RIGHT);
  assert_int_equal(text[0], '#');
  assert_has(text, "## add f32");
  assert_int_equal(tables_of(text), 4 + (strstr(text, "\n## What was skipped\n") != NULL));
  assert_lacks(text, "threads");
  free(text);
  run_free(&r);
  r = BENCH_WITH("LATHE_CPU_FEATURES=", "--fast", "--op", "add", "--size", "100,2^20", "--backend",
                 "scalar,sse2", "--threads", "2", "--profile", "--markdown", "out.md");
  text = tree_read("out.md");
  assert_int_equal(r.status, RIGHT);
  assert_int_equal(tables_of(text), 4 + (strstr(text, "\n## What was skipped\n") != NULL));
  assert_has(text, "\n| threads | up to 2 |\n");
  assert_has(text, "\n## Where the time of a call goes\n");
  assert_has(text, "\n| size | variant | threads | time | ");
  assert_has(text, " | 1 | "); /* the small size */
  assert_has(text, " | 2 | ");
  free(text);
  run_free(&r);
}

/* ---- which files ------------------------------------------------------------------------------ */

/* Standard output is the file's alone, and the table goes to standard error. */
static void test_file_on_standard_output(void **state) {
  static const struct {
    const char *option, *begins;
  } files[] = {{"--json", "{\n"}, {"--csv", "name,op,"}, {"--markdown", "# "}};

  (void)state;
  for (size_t i = 0; i < COUNT(files); i++) {
    run_result r = BENCH("--op", "add", "--backend", "scalar", "--size", "100", "--fast",
                         files[i].option, "-");
    assert_int_equal(r.status, RIGHT);
    assert_int_equal(strncmp(r.out, files[i].begins, strlen(files[i].begins)), 0);
    assert_lacks(r.out, "2 rows: 2 right");
    assert_has(r.err, "* add_f32__scalar_u");
    assert_has(r.err, "\n2 rows: 2 right");
    if (i == 0) {
      json_t *root = json_loads(r.out, 0, NULL);
      assert_non_null(root);
      json_decref(root);
    }
    run_free(&r);
  }
  assert_int_equal(files_in(tree_root()), 0);
}

/* What would be lost is refused before anything runs, whatever it is called. */
static void test_one_file_for_two(void **state) {
  static const struct {
    const char *files, *message;
  } cases[] = {
      {"--json f --csv f", "--json f and --csv f are the same file"},
      {"--csv f --json ./f", "--json ./f and --csv f are the same file"},
      {"--json f --markdown folder/../f", "--json f and --markdown folder/../f are the same file"},
      {"--csv folder/f --markdown link/f",
       "--csv folder/f and --markdown link/f are the same file"},
      {"--json there --csv also", "--json there and --csv also are the same file"},
      {"--json - --csv -", "--json - and --csv - are the same file"},
      {"--csv f >f",
       "--csv f: standard output goes there already (--csv - is for this alone on it)"},
      {"--json /dev/stdout | cat",
       "--json /dev/stdout: standard output goes there already (--json - is for this alone on it)"},
      {"--json -", NULL},
      {"--json /dev/null --csv /dev/null", NULL},
      {"--json f --csv folder/f", NULL},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    char command[300], message[160];
    run_result r;
    snprintf(command, sizeof command,
             "rm -rf *; mkdir folder; ln -s folder link; echo old >there; ln -s there also; "
             "\"$LATHE_BENCH\" --op add --variant '*_f32__scalar_u1' --size 100 --check-only %s",
             cases[i].files);
    snprintf(message, sizeof message, "bench: %s\n", cases[i].message ? cases[i].message : "");
    r = RUN(tree_root(), "sh", "-c", command);
    if (cases[i].message)
      assert_string_equal(r.err, message);
    else
      assert_int_equal(r.status, RIGHT);
    run_free(&r);
  }
}

/* A file that cannot be written when the run is over costs no other. */
static void test_folder_that_goes_away(void **state) {
  run_result r = RUN(tree_root(), "sh", "-c",
                     "mkdir gone; (sleep 0.3; rmdir gone) & exec \"$LATHE_BENCH\" --op add "
                     "--variant '*_f32__scalar_u1' --size 100 --min-time 1 --json gone/j --csv c");

  (void)state;
  assert_int_equal(r.status, BAD_REQUEST);
  assert_has(r.err, "bench: warning: cannot write gone/j: No such file or directory\n");
  assert_has(r.out, "1 rows: 1 right");
  assert_true(tree_has("c"));
  run_free(&r);
}

/* Found out before anything runs; and what else was asked for is not left half made. */
static void test_unwritable_files(void **state) {
  static const char *const files[] = {"--json", "--csv", "--markdown"};

  (void)state;
  for (size_t i = 0; i < COUNT(files); i++) {
    run_result r = BENCH("--op", "add", "--size", "100", "--html", "good", files[i], "no/file");
    assert_refused(&r, "bench: cannot write no/file: No such file or directory\n");
    run_free(&r);
    r = BENCH("--op", "add", "--size", "100", files[i], ".");
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

const struct CMUnitTest output_files_tests[] = {
    TEST(test_json),
    TEST(test_sweep_fields),
    TEST(test_csv),
    TEST(test_fields_of_a_row),
    TEST(test_units_of_figures),
    TEST(test_markdown_summary),
    TEST(test_hostile_texts),
    TEST(test_markdown_of_a_row_above_its_ceiling),
    TEST(test_markdown_of_a_killed_row),
    TEST(test_markdown),
    TEST(test_file_on_standard_output),
    TEST(test_one_file_for_two),
    TEST(test_folder_that_goes_away),
    TEST(test_unwritable_files),
    TEST(test_unwritable_standard_output),
};
const size_t output_files_test_count = COUNT(output_files_tests);
