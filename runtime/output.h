/* output.h - files that appear whole or not at all. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdio.h>

typedef struct output {
  FILE *file; /* null where no file was asked for */
  const char *path;
  char *target, *temporary; /* null where the path is no plain file, and is written in place */
} output;

/* Opens a temporary file beside the path; ends the program with a message where that cannot be
 * done. A null path gives an output without a file. */
output output_open(const char *path);

/* Puts the file in its place. False, with a message printed, where it could not be written. */
int output_commit(output *o);

/* Removes what was not committed. */
void output_discard(output *o);

#endif
