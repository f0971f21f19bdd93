/* wrap.c - text on lines that a terminal shows whole. */
#include "wrap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "terminal.h"

enum { NARROWEST = 40, WIDEST = 100 };

int wrap_width(void) {
  const int width = terminal_width(STDOUT_FILENO, WIDEST);

  return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
}

void wrap_print(const char *text, int column, int indent) {
  const int width = wrap_width();

  while (*text) {
    const int word = (int)strcspn(text, " ");
    if (column + word + 1 > width && column > indent)
      column = printf("\n%*s", indent - 1, "") - 1;
    column += printf(" %.*s", word, text);
    text += word;
    text += strspn(text, " ");
  }
  putchar('\n');
}
