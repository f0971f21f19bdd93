/* choice.c - names that the command line chooses among. */
#include "choice.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

static void *allocate(size_t count, size_t size) {
  return message_need(calloc(count ? count : 1, size));
}

words words_split(const char *list) {
  words w = {.text = message_copy(list)};
  char *rest = w.text, *word;

  w.word = allocate(strlen(list) + 1, sizeof *w.word);
  while ((word = strsep(&rest, ",")))
    if (*word)
      w.word[w.count++] = word;
  if (w.count == 0)
    message_refuse("a list of names was expected, and '%s' has none", list);
  return w;
}

void words_free(words *w) {
  free(w->text);
  free(w->word);
}

choice choice_of(const char *kind, const char *where, size_t count) {
  choice c = {.kind = kind, .where = where, .count = count};

  c.name = allocate(count, sizeof *c.name);
  c.left_out = allocate(count, sizeof *c.left_out);
  c.marked = allocate(count, sizeof *c.marked);
  c.insisted = allocate(count, sizeof *c.insisted);
  return c;
}

void choice_free(choice *c) {
  free(c->name);
  free(c->left_out);
  free(c->marked);
  free(c->insisted);
}

/* Marks what a word names, or matches as a glob: of both kinds, built and left out. */
static void mark_word(choice *c, const char *word) {
  const bool literal = !strpbrk(word, "*?[");
  bool found = false, built = false;

  for (size_t n = 0; n < c->count; n++)
    if (fnmatch(word, c->name[n], 0) == 0) {
      c->marked[n] = found = true;
      built = built || !c->left_out[n];
    }
  if (!found)
    message_unknown(c->kind, word, c->name, c->count, c->where);
  for (size_t n = 0; n < c->count; n++)
    if ((literal || !built) && fnmatch(word, c->name[n], 0) == 0)
      c->insisted[n] = true;
}

void choice_mark(choice *c, const char *list) {
  words w;

  if (!list) {
    memset(c->marked, true, c->count * sizeof *c->marked);
    return;
  }
  w = words_split(list);
  for (size_t i = 0; i < w.count; i++)
    mark_word(c, w.word[i]);
  words_free(&w);
}
