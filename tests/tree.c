#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_program.h"
#include "tests.h"

static char root[64];

int tree_setup(void **state) {
  (void)state;
  strcpy(root, "/tmp/lathe-test-XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

int tree_teardown(void **state) {
  (void)state;
  run_result result = RUN(NULL, "rm", "-rf", root);
  int status = result.status;
  run_free(&result);
  return status;
}

int tree_setup_small(void **state) {
  int failed = tree_setup(state);
  if (!failed) {
    tree_copy("tests/small/.", "");
  }
  return failed;
}

const char *tree_root(void) {
  return root;
}

const char *tree_path(const char *path) {
  static char slots[8][512];
  static size_t next;
  char *slot = slots[next++ % 8];
  assert_true(snprintf(slot, sizeof slots[0], "%s/%s", root, path) < (int)sizeof slots[0]);
  return slot;
}

static void make_folders(const char *path) {
  char folder[512];
  snprintf(folder, sizeof folder, "%s", path);
  for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    assert_true(mkdir(folder, 0777) == 0 || errno == EEXIST);
    *slash = '/';
  }
}

void tree_write(const char *path, const char *text) {
  const char *full = tree_path(path);
  make_folders(full);
  FILE *file = fopen(full, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

void tree_copy(const char *from, const char *to) {
  char source[512];
  const char *full = tree_path(to);
  make_folders(full);
  snprintf(source, sizeof source, "%s%s%s", from[0] == '/' ? "" : test_variable("LATHE_SRC"),
           from[0] == '/' ? "" : "/", from);
  run_result result = RUN(NULL, "cp", "-R", source, full);
  assert_string_equal(result.err, "");
  assert_int_equal(result.status, 0);
  run_free(&result);
}

char *tree_read(const char *path) {
  FILE *file = fopen(tree_path(path), "rb");
  if (!file) {
    fail_msg("%s: %s", path, strerror(errno));
  }
  return file ? run_contents(file) : NULL;
}

bool tree_has(const char *path) {
  return access(tree_path(path), F_OK) == 0;
}

void tree_remove(const char *path) {
  run_result result = RUN(NULL, "rm", "-r", tree_path(path));
  assert_string_equal(result.err, "");
  run_free(&result);
}
