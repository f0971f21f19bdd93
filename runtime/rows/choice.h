/* choice.h - names that the command line chooses among: ops, backends, variants. */
#ifndef CHOICE_H
#define CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* A comma list cut into words, which share one block of memory. */
typedef struct words {
  char *text, **word;
  size_t count;
} words;

/* Ends the program with a message where the list has no word. */
words words_split(const char *list);
void words_free(words *w);

/* Names to choose among, and the choice. */
typedef struct choice {
  const char *kind, *where; /* "op", and where all are listed */
  size_t count;
  const char **name;
  bool *left_out; /* by configure's options */
  bool *marked;
  bool *insisted; /* by its own name, or by a glob for nothing but what was left out */
} choice;

/* One whose names are to be filled in, and what of them was left out. */
choice choice_of(const char *kind, const char *where, size_t count);
void choice_free(choice *c);

/* Marks the names that a list names, or matches with globs; with no list, all of them. Ends the program with
 * a message where a word marks nothing. */
void choice_mark(choice *c, const char *list);

#endif
