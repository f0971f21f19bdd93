/* test_tuning.c - choices that were measured, read from files, are what dispatch takes for their sizes. */
#include "tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library/cpu.h"
#include "library/tuning.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char machine[] = "a made-up processor, 3 GHz";

/* Two variants for one call, of which the table chooses the first. */
typedef struct pair {
  const lathe_variant *chosen, *other;
  size_t dim[LATHE_MAX_DIMS];
} pair;

static pair find_pair(void) {
  pair p = {0};

  for (int i = 0; i < LATHE_MAX_DIMS; i++)
    p.dim[i] = 64;
  for (size_t i = 0; i < lathe_variant_count && !p.other; i++) {
    const lathe_variant *v = &lathe_variants[i];
    p.chosen = lathe_select(v->op, v->dtype, p.dim, lathe_cpu_features(), NULL);
    if (p.chosen && p.chosen != v && !lathe_why_not(v, lathe_cpu_features()))
      p.other = v;
  }
  assert_non_null(p.other);
  return p;
}

/* A file of three lines, in a folder of its own; formats take the pair's op, type, size, variant and mark. */
static const char *file_of(const pair *p, const char *head, const char *device, const char *format,
                           uint32_t mark) {
  static char path[] = "/tmp/lathe-tuning-XXXXXX";
  char size[LATHE_TUNING_NAME];
  FILE *to;

  strcpy(path + strlen(path) - 6, "XXXXXX");
  to = fdopen(mkstemp(path), "w");
  assert_non_null(to);
  lathe_tuning_size(p->other->op, p->dim, size);
  fprintf(to, "%s\n%s\n", head, device);
  fprintf(to, format, p->other->op->name, lathe_dtype_name(p->other->dtype), size, p->other->name,
          (unsigned)mark);
  fclose(to);
  return path;
}

static const lathe_variant *select_at(const pair *p, size_t factor) {
  size_t dim[LATHE_MAX_DIMS];

  memcpy(dim, p->dim, sizeof dim);
  dim[0] *= factor;
  return lathe_select(p->other->op, p->other->dtype, dim, lathe_cpu_features(), NULL);
}

static void test_tuned_sizes(void **state) {
  const pair p = find_pair();
  const uint32_t mark = lathe_tuning_mark(p.other->op, p.other->dtype);
  const char *path = file_of(&p, lathe_tuning_head, "device cpu a made-up processor, 3 GHz",
                             "%s %s cpu %s %s 1.5 %x\n", mark);
  const lathe_variant *far = select_at(&p, 16);
  char error[LATHE_TUNING_ERROR];
  long stale;

  (void)state;
  assert_ptr_equal(select_at(&p, 1), p.chosen);
  assert_int_equal(lathe_tuning_load(path, LATHE_CPU, machine, &stale, error), 1);
  assert_int_equal(stale, 0);
  assert_ptr_equal(select_at(&p, 1), p.other);
  assert_ptr_equal(select_at(&p, 4), p.other);
  assert_ptr_equal(select_at(&p, 16), far); /* too far from what was measured */
  assert_null(lathe_tuned(p.other->op, p.other->dtype, p.dim, 0)); /* it cannot run there */
  assert_int_equal(lathe_tuning_load(path, LATHE_CUDA, "any", &stale, error), 0);
  assert_ptr_equal(select_at(&p, 1), p.other); /* a kind's choices are its own */
  lathe_tuning_clear();
  assert_ptr_equal(select_at(&p, 1), p.chosen);
  unlink(path);
}

/* What does not fit leaves dispatch as it was, and says why. */
static void test_tuning_that_does_not_fit(void **state) {
  static const struct {
    const char *head, *device, *format, *message; /* null: it is stale */
  } cases[] = {
      {"lathe-tuning 2", "device cpu a made-up processor, 3 GHz", "%s %s cpu %s %s 1 %x\n",
       ":1: expected 'lathe-tuning 1', found 'lathe-tuning 2'"},
      {"lathe-tuning 1", "device cpu another one", "%s %s cpu %s %s 1 %x\n",
       ":2: expected device 'a made-up processor, 3 GHz', found 'another one'"},
      {"lathe-tuning 1", "", "%s %s cpu %s %s 1 %x\n", ":3: expected a line 'device cpu NAME'"},
      {"lathe-tuning 1", "device cpu a made-up processor, 3 GHz", "%s %s cpu %s %s x %x\n",
       ":3: expected an op, type, kind of device, size, variant, ratio and mark, found '"},
      {"lathe-tuning 1", "device cpu a made-up processor, 3 GHz", "no_%s %s cpu %s %s 1 %x\n",
       NULL},
      {"lathe-tuning 1", "device cpu a made-up processor, 3 GHz", "%s %s cpu %sx3 %s 1 %x\n", NULL},
      {"lathe-tuning 1", "device cpu a made-up processor, 3 GHz", "%s %s cpu %s %s_ 1 %x\n", NULL},
      {"lathe-tuning 1", "device cpu a made-up processor, 3 GHz", "%s %s cpu %s %s 1 1%x\n", NULL},
  };
  const pair p = find_pair();
  const uint32_t mark = lathe_tuning_mark(p.other->op, p.other->dtype) & 0xfffffff;
  char error[LATHE_TUNING_ERROR];
  long stale;

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const char *path = file_of(&p, cases[i].head, cases[i].device, cases[i].format, mark);
    error[0] = '\0';
    assert_int_equal(lathe_tuning_load(path, LATHE_CPU, machine, &stale, error),
                     cases[i].message ? -1 : 0);
    if (cases[i].message && !strstr(error, cases[i].message))
      fail_msg("%s", error);
    assert_int_equal(stale, cases[i].message ? 0 : 1);
    assert_ptr_equal(select_at(&p, 1), p.chosen);
    unlink(path);
  }
  assert_int_equal(lathe_tuning_load("/no/such/file", LATHE_CPU, machine, &stale, error), -1);
  assert_non_null(strstr(error, "/no/such/file: No such file"));
}

const struct CMUnitTest tuning_tests[] = {
    cmocka_unit_test(test_tuned_sizes),
    cmocka_unit_test(test_tuning_that_does_not_fit),
};
const size_t tuning_test_count = COUNT(tuning_tests);
