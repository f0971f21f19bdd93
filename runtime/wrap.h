/* wrap.h - text on lines that a terminal shows whole. */
#ifndef WRAP_H
#define WRAP_H

enum { WRAP_WIDTH = 100 };

/* Prints words, each with a space before it, and a newline; further lines are indented. column
 * is where the line stands already. */
void wrap_print(const char *text, int column, int indent);

#endif
