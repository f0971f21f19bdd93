/* test_command_line.c - the bench program as its user meets it: good calls and bad calls. */
#include "library/cpu.h"
#include "tests.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/bench.h"
#include "run_bench.h"

/* ---- what there is --------------------------------------------------------------------------- */

static void test_help(void **state) {
  static const char *const options[] = {
      "--list-ops",   "--list-sizes", "--list-backends", "--list-devices", "--list-variants",
      "--op",         "--backend",    "--dtype",         "--size",         "--device",
      "--variant",    "--fast",       "--sweep",         "--warmup",       "--iterations",
      "--min-time",   "--max-noise",  "--seed",          "--check-only",   "--json",
      "--csv",        "--markdown",   "--help",          "--version",      "--timeout",
      "--in-process", "--rows",       "--special",       "--in-place",     "--offset",
      "--page-end",   "--shard",      "--devices"};
  run_result r = BENCH("--help");

  (void)state;
  assert_good(&r);
  assert_narrow(r.out, 80);
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
    for (int s = 0; s < lathe_ops[i].bench->nsizes; s++)
      assert_has(r.out, lathe_ops[i].bench->sizes[s].name);
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
  r = BENCH("--list-devices", "--device", "cpu");
  assert_good(&r);
  assert_has(r.out, "cpu: ");
  assert_has(r.out, " GB/s");
  run_free(&r);
  r = BENCH("--list-devices", "--backend", "scalar");
  assert_good(&r);
  assert_has(r.out, "cpu: ");
  assert_lacks(r.out, "cuda: ");
  assert_lacks(r.out, "vulkan");
  run_free(&r);
  r = BENCH("--list-variants", "--dtype", "all");
  assert_good(&r);
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (!lathe_span_of(lathe_variants[i].op, lathe_variants[i].dtype).left_out)
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
  assert_lacks(r.out, "exp_f32");
  run_free(&r);
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
  run_result r = BENCH("--op", "cross_entropy,softmax,log_softmax", "--dtype", "all", "--size",
                       "1000x1,40x1", "--backend", "scalar", "--check-only", "--no-probe", "--json",
                       "out.json", "--seed", "1");
  const char *note =
      strstr(r.out, "\nnote: every result is zero, and should be, which shows little: "
                    "cross_entropy f32 1000x1, log_softmax\n      f32 1000x1\n");
  json_t *root = load("out.json"), *all = json_object_get(root, "benchmarks");

  (void)state;
  assert_good(&r);
  assert_non_null(note);
  assert_null(strstr(note + 2, "note: every"));
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

/* Sizes that overlap, and those that only their batches told apart, are run once. */
static void test_sizes_are_run_once(void **state) {
  static const char *const sizes[] = {"1K", "512", "1024", "2048"};
  run_result r = BENCH("--op", "add", "--variant", "add_f32__scalar_u1", "--size",
                       "1K,1000,1K,2^9:2^10,1x1024,1024:2048", "--check-only", "--json", "j");
  json_t *root;
  const json_t *all = rows_of(&r, &root);

  (void)state;
  assert_int_equal(json_array_size(all), COUNT(sizes));
  for (size_t i = 0; i < COUNT(sizes); i++)
    assert_string_equal(text_of(json_array_get(all, i), "size"), sizes[i]);
  json_decref(root);
  run_free(&r);
  r = BENCH("--op", "softmax", "--variant", "softmax_f32__scalar_*", "--size", "4x64,1x4x64,2x2x64",
            "--check-only", "--json", "j");
  all = rows_of(&r, &root);
  assert_int_equal(json_array_size(all), 2); /* as many rows in another shape have other words */
  json_decref(root);
  run_free(&r);
  r = BENCH("--op", "mlp", "--variant", "*_f32__scalar_simd*", "--size", "2x8x8x8,4x8x8x8",
            "--batch-size", "3", "--check-only", "--json", "j");
  all = rows_of(&r, &root);
  assert_int_equal(json_array_size(all), 1);
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
  r = BENCH("--op", "mlp", "--variant", "*_f32__scalar_simd*", "--sweep", "--size", "medium,small",
            "--batch-size", "3", "--check-only", "--json", "j");
  all = rows_of(&r, &root);
  assert_int_equal(json_array_size(all), 2); /* as the sweep has them */
  assert_string_equal(text_of(json_array_get(all, 0), "size"), "3x16x64x64");
  assert_string_equal(text_of(json_array_get(all, 1), "size"), "3x32x128x128");
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

/* A name that other options leave out of the run is no silence. */
static void test_names_that_are_left_out(void **state) {
  static const struct {
    const char *options[7], *message;
  } cases[] = {
      {{"--op=add,gelu", "--size=100", "--backend=scalar", "--check-only"}, ""},
      {{"--op=add,gelu", "--size=100", "--variant=add_f32__scalar_*", "--check-only"},
       "bench: warning: no rows of op 'gelu': --variant add_f32__scalar_* leaves it out\n"},
      {{"--op=add,weighted_sum", "--size=7x3", "--implementation=unfused", "--backend=scalar",
        "--check-only"},
       "bench: warning: no rows of op 'add': --implementation unfused leaves it out\n"},
      {{"--op=add", "--size=100", "--backend=scalar", "--dtype=f32,i64", "--check-only"},
       "bench: warning: no rows of dtype 'i64': no op of this program has it\n"},
      {{"--op=gelu,cross_entropy", "--size=n=100", "--backend=scalar", "--check-only"},
       "bench: warning: no rows of op 'cross_entropy': --size n=100 leaves it out\n"},
      {{"--op=mlp,gelu", "--size=small", "--sweep", "--backend=scalar", "--list-variants"},
       "bench: warning: no rows of op 'gelu': --size small leaves it out\n"},
      {{"--op=add,exp", "--size=100", "--backend=scalar,sse2", "--variant=*_scalar_*",
        "--check-only"},
       "bench: warning: no rows of backend 'sse2': --variant *_scalar_* leaves it out\n"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    run_result r = bench_with(NULL, cases[i].options);
    assert_int_equal(r.status, RIGHT);
    assert_string_equal(r.err, cases[i].message);
    run_free(&r);
  }
}

/* ---- bad calls ------------------------------------------------------------------------------- */

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
       "--size rows=8xrows=9: a dimension of batch_norm is given twice (--list-ops shows each "
       "op's)"},
      {{"--op=softmax", "--sweep", "--size", "batch=8xbatch=9"},
       "--size batch=8xbatch=9: a dimension of softmax is given twice (--list-ops shows each "
       "op's)"},
      {{"--op", "softmax", "--size", "cols=8xwidth=9"},
       "--size cols=8xwidth=9: a dimension of softmax is given twice (--list-ops shows each op's)"},
      {{"--op", "softmax", "--size", "rows=4"},
       "--size rows=4: cols of softmax is missing, as in rows=4xcols=64 (--list-ops shows each "
       "op's)"},
      {{"--op", "softmax", "--size", "sequence=4"},
       "--size sequence=4: cols of softmax is missing, as in sequence=4xcols=64 (--list-ops shows "
       "each op's)"},
      {{"--op", "add", "--size", "batch=4"},
       "--size batch=4: n of add is missing, as in batch=4xn=64 (--list-ops shows each op's)"},
      {{"--size", ""}, "--size needs a name, and was given nothing"},
      {{"--op", "add", "--size", "huge"}, "unknown size 'huge' (--list-sizes lists them)"},
      {{"--op", "add", "--size", "depth=4"},
       "unknown dimension 'depth' (--list-ops shows each op's)"},
      {{"--op", "add", "--size", "larg"},
       "unknown size 'larg'; did you mean 'large'? (--list-sizes lists them)"},
      {{"--op", "add", "--size", "widht=4"},
       "unknown dimension 'widht'; did you mean 'width'? (--list-ops shows each op's)"},
      {{"--op=gelu", "--sweep", "--size", "large"},
       "--size large: no sweep of the ops asked for has such a size (--list-sizes shows them)"},
      {{"--op=gelu", "--sweep", "--size", "larg"},
       "unknown size 'larg'; did you mean 'large'? (--list-sizes lists them)"},
      {{"--sweep", "--size", "100"},
       "--size 100: no sweep of the ops asked for has such a size (--list-sizes shows them)"},
      {{"--op", "add", "--variant", "exp_*"},
       "no variant matches all of what was asked for (--list-variants lists them)"},
      {{"--op", "add", "--dtype", "i64"},
       "no variant matches all of what was asked for (--list-variants lists them)"},
      {{"--backend", "vulkan", "--variant", "*avx*"},
       "no variant matches all of what was asked for (--list-variants lists them)"},
      {{"--iterations", "0"},
       "--iterations takes a whole number from 1 to 1000000000, and was given '0'"},
      {{"--warmup", "-1"},
       "--warmup takes a whole number from 0 to 1000000000, and was given '-1'"},
      {{"--seed", "x"},
       "--seed takes a whole number from 0 to 9223372036854775807, and was given 'x'"},
      {{"--min-time", "0"}, "--min-time takes a number above 0 and up to 3600, and was given '0'"},
      {{"--min-time", "nan"},
       "--min-time takes a number above 0 and up to 3600, and was given 'nan'"},
      {{"--max-noise", "200"},
       "--max-noise takes a number above 0 and up to 100, and was given '200'"},
      {{"--timeout", "0"}, "--timeout takes a number above 0 and up to 3600, and was given '0'"},
      {{"--special", ""}, "--special needs a name, and was given nothing"},
      {{"--json", ""}, "--json needs a name, and was given nothing"},
      {{"--list-ops", "--json", "f"},
       "--list-ops with --json: of these only --list-variants writes a file; leave one of them "
       "out"},
      {{"--explain", "add_f32__scalar_u1", "--csv", "f"},
       "--explain with --csv: nothing is run; leave one of them out"},
      {{"--list-sizes", "--rounds", "5"},
       "--list-sizes with --rounds: nothing is run; leave one of them out"},
      {{"--explain", "add_f32__scalar_u1", "--list-ops"},
       "--list-ops with --explain: each shows something else; leave one of them out"},
      {{"--check-only", "--compare", "f"},
       "--check-only with --compare: what is only checked is not measured; leave one of them out"},
      {{"--rounds", "5", "--check-only"},
       "--check-only with --rounds: what is only checked is not measured; leave one of them out"},
      {{"--special", "nan", "--iterations", "5"},
       "--special with --iterations: what is only checked is not measured; leave one of them out"},
      {{"--min-time", "1", "--iterations", "5"},
       "--iterations with --min-time: so many samples are taken whatever their time and noise; "
       "leave one of them out"},
      {{"--rounds", "6", "--iterations", "5"},
       "--iterations 5 with --rounds 6: each round takes a sample at least; ask for as many "
       "samples, or for fewer rounds"},
      {{"--json", "x", "--json", "y"},
       "--json is given twice, as 'x' and 'y'; leave one of them out"},
      {{"--seed", "1", "--seed=2"}, "--seed is given twice, as '1' and '2'; leave one of them out"},
      {{"--fast=1"}, "--fast takes no value (--help tells more)"},
      {{"--csv="}, "--csv needs a name, and was given nothing"},
      {{"--markdown", ""}, "--markdown needs a name, and was given nothing"},
      {{"--special", "odd"},
       "unknown special value 'odd' (nan, inf, zero, denormal, beyond, alone, ties, narrow, "
       "scalars, small, negative, equal, ends, far, poked, nulls, same, peak, rising, "
       "falling)"},
      {{"--offset", "3"}, "--offset 3: elements of f32 lie at multiples of 4 bytes"},
      {{"--op=add", "--dtype", "f16,f64", "--offset=1"},
       "--offset 1: elements of f16 lie at multiples of 2 bytes"},
      {{"--op=add", "--dtype", "f64", "--offset=4"},
       "--offset 4: elements of f64 lie at multiples of 8 bytes"},
      {{"--offset", "4", "--page-end"},
       "--offset with --page-end: buffers cannot be placed by both ends; leave one of them out"},
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

const struct CMUnitTest command_line_tests[] = {
    TEST(test_help),
    TEST(test_version),
    TEST(test_lists),
    TEST(test_lists_are_narrowed),
    TEST(test_list_of_what_cannot_run),
    TEST(test_check_only),
    TEST(test_rows_of_one_element),
    TEST(test_seed_is_printed_and_taken),
    TEST(test_ways_to_check),
    TEST(test_filters),
    TEST(test_sets),
    TEST(test_sweep),
    TEST(test_sizes_are_run_once),
    TEST(test_names_that_are_left_out),
    TEST(test_bad_calls),
};
const size_t command_line_test_count = COUNT(command_line_tests);
