/* terminal.h - what a terminal shows: how wide it is, and colours where they are wanted. */
#ifndef TERMINAL_H
#define TERMINAL_H

/* The columns of the terminal behind a descriptor; otherwise, where there is none. */
int terminal_width(int descriptor, int otherwise);

typedef enum colour { PLAIN, GOOD, BAD, FAINT, STRONG } colour;

/* The text that begins a colour on standard output; empty where that is no terminal, or wants none (NO_COLOR,
 * TERM=dumb). */
const char *terminal_paint(colour c);

#endif
