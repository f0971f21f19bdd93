/* wrap.h - text on lines that a terminal shows whole. */
#ifndef WRAP_H
#define WRAP_H

/* The columns of such a line: the terminal's, but no more than a text is read well in, and that many
 * where standard output is no terminal. */
int wrap_width(void);

/* Prints words, each with a space before it, and a newline; further lines are indented. column
 * is where the line stands already. */
void wrap_print(const char *text, int column, int indent);

#endif
