/* small_spec.h - tests that change the spec of a small tree (small/) and look at the one line that
 * lathe-gen says of it. */
#ifndef SMALL_SPEC_H
#define SMALL_SPEC_H

#include "tree.h"

#define SMALL_SPEC "specs/t.lua"

typedef struct spec_change {
  int line; /* of the small spec, which `text` takes the place of; 0: of all lines */
  const char *text, *message;
} spec_change;

/* Puts text in place of a line of the spec, counted from 1; null takes the line away. */
void small_spec_replace(int line, const char *text);

/* Fails unless `lathe-gen index` says just that, with status 1, and writes nothing. */
void small_spec_expect(const char *message);

/* Tests; *state is a spec_change. */
void small_spec_is_refused(void **state);
void small_spec_is_accepted(void **state);

#define SMALL_REFUSES(name, line, text, message)                                                   \
  {                                                                                                \
    name, small_spec_is_refused, tree_setup_small, tree_teardown, &(spec_change) {                 \
      line, text, message "\n"                                                                     \
    }                                                                                              \
  }
#define SMALL_ACCEPTS(name, line, text)                                                            \
  {                                                                                                \
    name, small_spec_is_accepted, tree_setup_small, tree_teardown, &(spec_change) {                \
      line, text, NULL                                                                             \
    }                                                                                              \
  }

#endif
