/* test_select.c - the dispatch table: which variant is chosen, what an op takes; what this processor has. */
#include "tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "close.h"
#include "library/bench.h"
#include "library/cpu.h"
#include "library/dtype.h"
#include "rows/selection.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- the dispatch table ---------------------------------------------------------------------- */

/* One that the table has not. */
static const lathe_op other_op = {.name = "other", .ndim = 1, .dim = {"n"}};

static int bits_in(uint64_t bits) {
  return __builtin_popcountll(bits);
}

/* What is looked at to choose a variant: all of the op and type, and no other. */
static void test_spans(void **state) {
  size_t in_all = 0;

  (void)state;
  for (size_t o = 0; o < lathe_op_count; o++)
    for (int d = 0; d < LATHE_DTYPES; d++) {
      const lathe_span span = lathe_span_of(&lathe_ops[o], (lathe_dtype)d);
      for (size_t i = 0; i < span.count; i++) {
        assert_ptr_equal(lathe_variants[span.first + i].op, &lathe_ops[o]);
        assert_int_equal(lathe_variants[span.first + i].dtype, d);
      }
      in_all += span.count;
    }
  assert_int_equal(in_all, lathe_variant_count);
  for (size_t o = 0; o < lathe_op_count; o++)
    assert_ptr_equal(lathe_find(lathe_ops[o].name), &lathe_ops[o]);
  assert_null(lathe_find("no_such_op"));
  assert_int_equal(lathe_span_of(&other_op, LATHE_F32).count, 0);
  assert_int_equal(lathe_span_of(&lathe_ops[lathe_op_count], LATHE_F32).count, 0);
  assert_int_equal(lathe_span_of(lathe_ops, LATHE_DTYPES).count, 0);
}

/* Whatever a program passes comes to nothing, not to a crash; sizes that no memory has are sizes of no variant. */
static void test_hostile_arguments(void **state) {
  static const size_t extents[] = {0, 1, 65, (size_t)1 << 57, SIZE_MAX / 2, SIZE_MAX};
  const size_t none[LATHE_MAX_DIMS] = {0};
  const lathe_args args = {.dim = {0}};

  (void)state;
  assert_null(lathe_find(NULL));
  assert_null(lathe_find(""));
  assert_null(lathe_select(lathe_find("typo"), LATHE_F32, none, ~(uint64_t)0, NULL));
  assert_null(lathe_select(&other_op, LATHE_F32, none, ~(uint64_t)0, "*"));
  assert_null(lathe_select(lathe_find("add"), LATHE_F32, NULL, ~(uint64_t)0, NULL));
  assert_null(lathe_select(lathe_find("add"), (lathe_dtype)99, none, ~(uint64_t)0, NULL));
  assert_true(lathe_workspace(NULL, none) == 0 && lathe_workspace_of_parts(NULL, none, 3) == 0);
  assert_int_equal(lathe_parts(NULL, none, 3), 1);
  assert_int_equal(lathe_dtype_size((lathe_dtype)99), 0);
  lathe_run_parts(NULL, &args, 1, NULL);
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    /* How much of a workspace it wants a processor's kernel says itself, in instructions of its own set. */
    if (v->backend->kind == LATHE_CPU && lathe_why_not(v, lathe_cpu_features()))
      continue;
    assert_true(lathe_workspace(v, NULL) == 0 && lathe_workspace_of_parts(v, NULL, 3) == 0);
    assert_int_equal(lathe_parts(v, NULL, 3), 1);
    lathe_run_parts(v, NULL, 3, NULL);
    for (size_t e = 0; e < COUNT(extents) * COUNT(extents); e++) {
      size_t dim[LATHE_MAX_DIMS];
      for (int d = 0; d < LATHE_MAX_DIMS; d++)
        dim[d] = extents[d % 2 ? e % COUNT(extents) : e / COUNT(extents)];
      if (dim[0] > (size_t)1 << 56)
        assert_null(lathe_select(v->op, v->dtype, dim, ~(uint64_t)0, NULL));
      assert_false(signbit(lathe_workspace(v, dim)));
      assert_true(lathe_workspace_of_parts(v, dim, SIZE_MAX) >=
                  lathe_workspace_of_parts(v, dim, 0));
      assert_true(lathe_parts(v, dim, INT32_MAX) > 0 && lathe_parts(v, dim, INT32_MIN) == 1);
    }
  }
}

/* Parts more than there are points, none, and no threads for them: the same results. */
static void test_any_number_of_parts(void **state) {
  static const size_t parts[] = {0, 1, 3, 1000, SIZE_MAX};
  enum { N = 300 };
  const lathe_op *op = lathe_find("add");
  const size_t n = N;
  const lathe_variant *v = lathe_select(op, LATHE_F32, &n, lathe_cpu_features(), NULL);
  float x[N], y[N], out[N];

  (void)state;
  assert_non_null(v);
  for (size_t p = 0; p < COUNT(parts); p++)
    for (size_t some = 0; some <= N; some += N) {
      const lathe_args args = {.buf = {x, y, out}, .dim = {some}};
      for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1;
        out[i] = -1;
      }
      lathe_run_parts(v, &args, parts[p], NULL);
      for (size_t i = 0; i < N; i++)
        assert_true(out[i] == (i < some ? (float)i + 1 : -1));
    }
}

/* For every op, type, size and backend's features: the variant chosen can run; it prefers the
 * size unless none that can run does; and none of those asks for more of the processor. */
static void test_select_takes_the_widest(void **state) {
  (void)state;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_op *op = lathe_variants[i].op;
    const lathe_dtype dtype = lathe_variants[i].dtype;
    if (i > 0 && op == lathe_variants[i - 1].op && dtype == lathe_variants[i - 1].dtype)
      continue;
    for (size_t b = 0; b < lathe_backend_count; b++)
      for (int power = 0; power <= 30; power += 5) {
        const uint64_t features = lathe_backends[b].features;
        size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};
        const lathe_variant *chosen;
        double bytes;
        bool fits;
        dim[op->ndim - 1] = (size_t)1 << power;
        bytes = lathe_bytes(op, dtype, dim);
        chosen = lathe_select(op, dtype, dim, features, NULL);
        if (!chosen)
          continue; /* it must be that none can run: seen below */
        assert_ptr_equal(chosen->op, op);
        assert_int_equal(chosen->dtype, dtype);
        assert_null(lathe_why_not(chosen, features));
        fits = lathe_prefers(chosen->prefer, dim, bytes);
        for (size_t j = 0; j < lathe_variant_count; j++) {
          const lathe_variant *v = &lathe_variants[j];
          const bool other_fits = lathe_prefers(v->prefer, dim, bytes);
          if (v->op != op || v->dtype != dtype || lathe_why_not(v, features) || !other_fits)
            continue;
          assert_true(fits);
          assert_true(bits_in(chosen->backend->features) >= bits_in(v->backend->features));
        }
      }
  }
}

static void test_select_forced(void **state) {
  const lathe_variant *last = &lathe_variants[lathe_variant_count - 1];
  const uint64_t all = ~0ull;
  size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};

  (void)state;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    if (v->disabled || v->backend->disabled)
      continue;
    /* Whatever size it prefers. */
    assert_ptr_equal(lathe_select(v->op, v->dtype, dim, all, v->name), v);
    assert_null(lathe_select(v->op, v->dtype, dim, all, "no_such_*"));
  }
  /* A name of another op, and one that the processor cannot run. */
  if (last->op != lathe_variants[0].op)
    assert_null(lathe_select(last->op, last->dtype, dim, all, lathe_variants[0].name));
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (lathe_variants[i].backend->features != 0)
      assert_null(lathe_select(lathe_variants[i].op, lathe_variants[i].dtype, dim, 0,
                               lathe_variants[i].name));
}

/* What rounds products is chosen where its op allows as much, or by its name. */
static void test_rounding_is_chosen_where_allowed(void **state) {
  int allowed = 0, by_name = 0;

  (void)state;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};
    const lathe_variant *v = &lathe_variants[i];
    const lathe_variant *chosen = lathe_select(v->op, v->dtype, dim, ~0ull, NULL);
    assert_true(!chosen || !chosen->by_name);
    assert_true(!v->by_name || v->digits > 0 || v->narrowed > 0);
    by_name += v->by_name && !strcmp(v->op->name, "matmul");
    allowed += !v->by_name && v->narrowed == 8 && v->dtype == LATHE_BF16 &&
               !strcmp(v->op->name, "attention");
  }
  assert_true(by_name > 0 && allowed > 0);
}

static void test_select_of_nothing(void **state) {
  const lathe_variant *v = &lathe_variants[0];
  size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};

  (void)state;
  assert_null(lathe_select(v->op, LATHE_I64, dim, ~0ull, NULL));
  assert_null(lathe_select(&other_op, LATHE_F32, dim, ~0ull, NULL));
}

/* Calls by either of two: narrow ones, and many bytes in rows of multiples of 8; of the second and third dimension. */
static void test_prefers_either(void **state) {
  static const lathe_prefer two[LATHE_PREFERS] = {{0, HUGE_VAL, 6, 192, 1},
                                                  {1 << 23, HUGE_VAL, 6, 0, 8}};
  static const lathe_prefer one[LATHE_PREFERS] = {{16, 32, 0, 0, 1}, {0, 0, 0, 0, 1}};
  static const struct {
    size_t dim[3];
    double bytes;
    bool prefers;
  } calls[] = {
      {{999, 192, 1}, 0, true},
      {{1, 193, 8}, 0, false},
      {{1, 200, 8}, (1 << 23) - 1, false},
      {{1, 200, 8}, 1 << 23, true},
      {{1, 200, 9}, 1 << 23, false},
      {{9, 191, 9}, 1e12, true},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(calls); i++)
    assert_int_equal(lathe_prefers(two, calls[i].dim, calls[i].bytes), calls[i].prefers);
  assert_false(lathe_prefers(one, calls->dim, 0));
  assert_false(lathe_prefers(one, calls->dim, 15));
  assert_true(lathe_prefers(one, calls->dim, 16));
  assert_false(lathe_prefers(one, calls->dim, 32));
}

/* Below the sizes that it prefers a variant is not chosen; from there on it is, or one before it
 * that prefers them as well. */
static void test_select_respects_ranges(void **state) {
  size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};
  size_t tried = 0;

  (void)state;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i], *chosen;
    const uint64_t features = v->backend->features | v->features;
    const int last = v->op->ndim - 1;
    double bytes;
    if (v->prefer->from <= 0 || v->backend->disabled || lathe_span_of(v->op, v->dtype).left_out)
      continue;
    dim[last] = 1;
    while (lathe_bytes(v->op, v->dtype, dim) < v->prefer->from)
      dim[last] *= 2;
    while (lathe_bytes(v->op, v->dtype, dim) >= v->prefer->from)
      dim[last]--;
    chosen = lathe_select(v->op, v->dtype, dim, features, NULL);
    if (!chosen || chosen == v)
      fail_msg("of sizes too small for %s %s is chosen", v->name, chosen ? "it" : "nothing");
    dim[last]++;
    bytes = lathe_bytes(v->op, v->dtype, dim);
    chosen = lathe_select(v->op, v->dtype, dim, features, NULL);
    assert_non_null(chosen);
    assert_true(chosen <= v);
    assert_true(lathe_prefers(chosen->prefer, dim, bytes));
    tried++;
  }
  if (tried == 0)
    skip(); /* no variant of this table has such a range */
}

static void test_why_not(void **state) {
  const lathe_backend wide = {.name = "wide", .features = LATHE_AVX2 | LATHE_FMA};
  const lathe_backend off = {.name = "off", .disabled = "was not asked for"};
  lathe_variant v = {.backend = &wide};

  (void)state;
  assert_null(lathe_why_not(&v, LATHE_SSE2 | LATHE_AVX2 | LATHE_FMA));
  assert_string_equal(lathe_why_not(&v, LATHE_SSE2), "this processor has no AVX2");
  assert_string_equal(lathe_why_not(&v, LATHE_AVX2), "this processor has no FMA");
  v.backend = &off;
  assert_string_equal(lathe_why_not(&v, ~0ull), "was not asked for");
}

/* What else depends on: sorted ops, whole rows. */
static void test_table(void **state) {
  (void)state;
  assert_true(lathe_op_count > 0);
  for (size_t i = 0; i < lathe_op_count; i++) {
    const lathe_op *op = &lathe_ops[i];
    if (i > 0)
      assert_true(strcmp(lathe_ops[i - 1].name, op->name) < 0);
    assert_true(op->noperands >= 2 && op->ndim >= 1 && op->bench->nsizes > 0);
    assert_true(!op->bench->reference_f64 == !!selection_left_out(op));
    const lathe_span wide = lathe_span_of(op, LATHE_F64);
    const bool finds = strcmp(op->name, "row_argmax") == 0 || strcmp(op->name, "column_max") == 0;
    if (finds || strcmp(op->name, "sum") == 0)
      assert_int_equal(op->bench->extremes, finds ? 2 : 0);
    for (int o = 0; o < op->noperands; o++)
      assert_true(op->operands[o].output || !(op->bench->extremes & 1u << o));
    assert_true(!op->bench->reference_wide == (wide.count == 0 || wide.left_out));
  }
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    const bool on_cpu = v->backend->kind == LATHE_CPU;
    const bool off = v->disabled || v->backend->disabled || lathe_span_of(v->op, v->dtype).left_out;
    assert_true(!v->run == (off || !on_cpu));
    assert_true(!v->image == (off || on_cpu));
    assert_true(!v->schedule == !v->image);
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal(lathe_variants[j].name, v->name);
  }
}

static void test_elements_and_bytes(void **state) {
  static const lathe_operand operands[] = {
      {"x", LATHE_VARIANT_DTYPE, false, 2, {0, 1}, 0, 1, false},
      {"w", LATHE_F64, false, 1, {1}, 0, 1, false},
      {"at", LATHE_I64, true, 0, {0}, 0, 0, false},
  };
  const lathe_op op = {.ndim = 2, .noperands = 3, .operands = operands};
  const size_t dim[] = {3, 5}, huge[] = {(size_t)1 << 40, (size_t)1 << 40};

  (void)state;
  assert_int_equal(lathe_elements(&op, 0, dim), 15);
  assert_int_equal(lathe_elements(&op, 1, dim), 5);
  assert_int_equal(lathe_elements(&op, 2, dim), 1);
  assert_close(lathe_bytes(&op, LATHE_F16, dim), 15 * 2 + 5 * 8 + 8);
  assert_close(lathe_bytes(&op, LATHE_F16, huge), 0x1p80 * 2 + 0x1p40 * 8 + 8);
}

static void test_flops(void **state) {
  static const struct {
    const char *op;
    size_t dim[LATHE_MAX_DIMS];
    double flops, contracted;
  } cases[] = {
      {"add", {7}, 7, 0},
      {"sum", {7}, 7, 0},
      {"weighted_sum", {3, 5}, 2 * 15, 0},
      {"matmul", {3, 5, 7}, 2 * 105, 2 * 105},
      {"matmul_batched", {2, 3, 5, 7}, 2 * 210, 2 * 210},
      {"linear", {3, 5, 7}, 2 * 105 + 15, 2 * 105}, /* a bias once for each result, not each term */
  };

  (void)state;
  for (size_t c = 0; c < COUNT(cases); c++)
    for (size_t i = 0; i < lathe_op_count; i++)
      if (strcmp(lathe_ops[i].name, cases[c].op) == 0) {
        if (lathe_flops(&lathe_ops[i], cases[c].dim) != cases[c].flops ||
            lathe_contracted_flops(&lathe_ops[i], cases[c].dim) != cases[c].contracted)
          fail_msg("%s has %g flops, %g of them contracted, expected %g and %g", cases[c].op,
                   lathe_flops(&lathe_ops[i], cases[c].dim),
                   lathe_contracted_flops(&lathe_ops[i], cases[c].dim), cases[c].flops,
                   cases[c].contracted);
      }
}

/* ---- this processor -------------------------------------------------------------------------- */

/* Features are looked at once, by whichever thread comes first: a change of the environment comes late. */
static void test_cpu_features(void **state) {
  const uint64_t all = lathe_cpu_features();

  (void)state;
#if defined __x86_64__
  assert_true(all & LATHE_SSE2);
  assert_true(!!(all & LATHE_AVX2) == !!__builtin_cpu_supports("avx2"));
  assert_true(!!(all & LATHE_FMA) == !!__builtin_cpu_supports("fma"));
  assert_true(!!(all & LATHE_AVX512F) == !!__builtin_cpu_supports("avx512f"));
  assert_true(!!(all & LATHE_AVX512VL) == !!__builtin_cpu_supports("avx512vl"));
#endif
  setenv("LATHE_CPU_FEATURES", "sse2", 1);
  assert_int_equal(lathe_cpu_features(), all);
  assert_int_equal(lathe_cpu_hidden_features(), 0);
  unsetenv("LATHE_CPU_FEATURES");
  assert_int_equal(lathe_cpu_features_named(NULL) & all, all);
  assert_int_equal(lathe_cpu_features_named("sse2"), LATHE_SSE2);
  assert_int_equal(lathe_cpu_features_named("sse2,avx2, fma nonsense"),
                   LATHE_SSE2 | LATHE_AVX2 | LATHE_FMA);
  assert_int_equal(lathe_cpu_features_named(""), 0);
  assert_int_equal(lathe_cpu_features_named("avx"), 0); /* no part of avx2 */
  assert_string_equal(lathe_cpu_feature_names(LATHE_SSE2 | LATHE_FMA), "sse2 fma");
  assert_true(*lathe_cpu_name() != 0);
}

const struct CMUnitTest select_tests[] = {
    cmocka_unit_test(test_spans),
    cmocka_unit_test(test_hostile_arguments),
    cmocka_unit_test(test_any_number_of_parts),
    cmocka_unit_test(test_select_takes_the_widest),
    cmocka_unit_test(test_select_forced),
    cmocka_unit_test(test_rounding_is_chosen_where_allowed),
    cmocka_unit_test(test_select_of_nothing),
    cmocka_unit_test(test_prefers_either),
    cmocka_unit_test(test_select_respects_ranges),
    cmocka_unit_test(test_why_not),
    cmocka_unit_test(test_table),
    cmocka_unit_test(test_elements_and_bytes),
    cmocka_unit_test(test_flops),
    cmocka_unit_test(test_cpu_features),
};
const size_t select_test_count = COUNT(select_tests);
