/* output.h - files that appear whole or not at all, and standard output that is not lost unnoticed. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct output {
  FILE *file; /* null where it could not be opened */
  const char *path;
  char *target, *temporary; /* null where the path is no plain file, and is written in place */
} output;

/* To be called first: however the program exits from here on, its status is EXIT_REQUEST, with a message,
 * where something of its standard output could not be written; but a signal that ended the run is what
 * it was (signals.h). */
void output_guard_standard(void);

/* Shows the output so far at once. */
void output_flush_standard(void);

/* From here on standard output is for the output "-" alone: what is printed goes to standard error. */
void output_divert_standard(void);

/* Ends the program with a message where a path cannot be written; leaves nothing behind. */
void output_check(const char *path);

/* Whether two paths are one file, by whatever names; a path may be "-". What a terminal or another
 * device takes is not lost by writing twice: those are never the same. */
bool output_same(const char *one, const char *other);

/* Opens a temporary file beside the path, one at a time, or for "-" standard output. Without a file,
 * and with a message printed, where that cannot be done. */
output output_open(const char *path);

/* Puts the file in its place. False, with a message printed, where it could not be written. */
bool output_commit(output *o);

/* Removes what was not committed. */
void output_discard(output *o);

/* Removes the temporary file, if there is one, when the program is about to die: may be called from a
 * signal's handler. */
void output_abandon(void);

#endif
