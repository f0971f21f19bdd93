/* output.h - files that appear whole or not at all, and standard output that is not lost unnoticed. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdio.h>

typedef struct output {
  FILE *file; /* null where no file was asked for */
  const char *path;
  char *target, *temporary; /* null where the path is no plain file, and is written in place */
} output;

/* To be called first: however the program exits from here on, its status is EXIT_REQUEST, with a message,
 * where something of its standard output could not be written. */
void output_guard_standard(void);

/* What was printed so far is to be seen now. */
void output_flush_standard(void);

/* Opens a temporary file beside the path; ends the program with a message where that cannot be
 * done. A null path gives an output without a file. */
output output_open(const char *path);

/* Puts the file in its place. False, with a message printed, where it could not be written. */
int output_commit(output *o);

/* Removes what was not committed. */
void output_discard(output *o);

#endif
