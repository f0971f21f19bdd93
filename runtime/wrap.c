/* wrap.c - text on lines that a terminal shows whole. */
#include "wrap.h"

#include <stdio.h>
#include <string.h>

void wrap_print(const char *text, int column, int indent) {
  while (*text) {
    const int word = (int)strcspn(text, " ");
    if (column + word + 1 > WRAP_WIDTH && column > indent)
      column = printf("\n%*s", indent - 1, "") - 1;
    column += printf(" %.*s", word, text);
    text += word;
    text += strspn(text, " ");
  }
  putchar('\n');
}
