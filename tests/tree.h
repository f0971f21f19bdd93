/* tree.h - a temporary folder for the test that runs: a setup makes it, tree_teardown removes it.
 * Paths are relative to it. What fails here fails the test. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>

/* Fixtures for cmocka; *state stays as it is. */
int tree_setup(void **state);
int tree_setup_small(void **state); /* with a copy of tests/small/, for lathe-gen */
int tree_teardown(void **state);

const char *tree_root(void);

/* A path in the tree as an absolute one. The string stays good until the next 8 calls. */
const char *tree_path(const char *path);

/* Writes a file and makes the folders above it. */
void tree_write(const char *path, const char *text);

/* Copies a file or a folder with all below it, from the source folder or an absolute path. */
void tree_copy(const char *from, const char *to);

/* All of a file; free it. */
char *tree_read(const char *path);

bool tree_has(const char *path);
void tree_remove(const char *path);

#endif
