/* message.c - what the bench program says of bad requests and of trouble. */
#define _GNU_SOURCE /* vasprintf */
#include "message.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 }; /* names longer than this are not compared */

/* Bytes of the character that a text begins with, in UTF-8; 0 where that is none, or shows as nothing, or turns what
 * is beside it: controls, line ends and marks of direction. */
static int shown(const unsigned char *s) {
  static const struct {
    unsigned from, to;
  } unseen[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200f},
                {0x2028, 0x202e}, {0x2060, 0x206f}, {0xd800, 0xdfff}, {0xfeff, 0xfeff}};
  static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  const int bytes = *s < 0x80   ? 1
                    : *s < 0xc0 ? 0
                    : *s < 0xe0 ? 2
                    : *s < 0xf0 ? 3
                    : *s < 0xf8 ? 4
                                : 0;
  unsigned code = bytes > 1 ? *s & (0x7fu >> bytes) : *s;

  for (int i = 1; i < bytes; i++) {
    if ((s[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (s[i] & 0x3f);
  }
  for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
    if (code >= unseen[i].from && code <= unseen[i].to)
      return 0;
  return code >= least[bytes] && code < 0x110000 ? bytes : 0;
}

char *message_plain(const char *text) {
  char *plain = malloc(4 * strlen(text) + 1), *to = plain;

  while (plain && *text) {
    const int bytes = shown((const unsigned char *)text);
    to += bytes ? sprintf(to, "%.*s", bytes, text) : sprintf(to, "\\x%02x", (unsigned char)*text);
    text += bytes ? bytes : 1;
  }
  if (plain)
    *to = '\0';
  return plain;
}

/* Quoted text may be foreign: of a file, or a library. */
static void say(const char *prefix, const char *format, va_list list) {
  char *text = NULL, *plain = vasprintf(&text, format, list) < 0 ? NULL : message_plain(text);

  fprintf(stderr, "bench: %s%s\n", prefix, plain ? plain : "out of memory");
  free(plain);
  free(text);
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

void *message_need(void *memory) {
  if (!memory)
    message_refuse("out of memory");
  return memory;
}

char *message_copy(const char *text) {
  return message_need(strdup(text));
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
