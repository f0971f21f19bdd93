/* message.c - what the bench program says of bad requests and of trouble. */
#include "message.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 }; /* names longer than this are not compared */

static void say(const char *prefix, const char *format, va_list list) {
  fprintf(stderr, "bench: %s", prefix);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
}

_Noreturn void message_refuse(const char *format, ...) {
  va_list list;

  va_start(list, format);
  say("", format, list);
  va_end(list);
  exit(EXIT_REQUEST);
}

void message_warn(const char *format, ...) {
  va_list list;

  va_start(list, format);
  say("warning: ", format, list);
  va_end(list);
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Edits (of one letter, or of two neighbours swapped) between two words, whatever their case. */
static size_t distance(const char *a, const char *b) {
  const size_t na = strlen(a), nb = strlen(b);
  size_t row[3][LONGEST + 1];

  if (na > LONGEST || nb > LONGEST)
    return LONGEST;
  for (size_t j = 0; j <= nb; j++)
    row[0][j] = j;
  for (size_t i = 1; i <= na; i++) {
    size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      const int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
      now[j] = least(last[j - 1] + (x != y), least(last[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
          y == tolower((unsigned char)a[i - 2]))
        now[j] = least(now[j], before[j - 2] + 1);
    }
  }
  return row[na % 3][nb];
}

_Noreturn void message_unknown(const char *kind, const char *word, const char *const *names,
                               size_t count, const char *where) {
  const char *nearest = NULL;
  size_t best = strlen(word) / 2 + 1; /* further off than that is no likely slip */

  for (size_t i = 0; i < count; i++) {
    const size_t d = distance(word, names[i]);
    if (d < best) {
      best = d;
      nearest = names[i];
    }
  }
  if (nearest)
    message_refuse("unknown %s '%s'; did you mean '%s'? (%s)", kind, word, nearest, where);
  message_refuse("unknown %s '%s' (%s)", kind, word, where);
}
