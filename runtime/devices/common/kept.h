/* kept.h - a program in a process of its own, which ends with this one, and a line to it. */
#ifndef KEPT_H
#define KEPT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct kept {
  pid_t pid; /* 0: none */
  FILE *line;
} kept;

/* Starts a program, a list of words that null ends, in a process without a terminal, to compute by one thread. Its last
 * argument is one more: the number of its end of the line. Of files that are open it has that and `file` alone, if that
 * is not negative. False with errno where there is no process for it. */
bool kept_start(kept *k, const char *const *program, int file);

/* An answer's line without its newline; false where the process has ended. */
bool kept_answer(kept *k, char *answer, size_t size);

/* How a process came to its end: which kept_stop waits for. */
typedef struct kept_end {
  int signal, status; /* a signal's number, or 0 and the status */
  bool missing;       /* there was no such program */
} kept_end;
kept_end kept_stop(kept *k);

/* The same in words: "ended with signal 9, Killed". */
void kept_tell(const kept_end *end, char *text, size_t size);

/* The bench program's arguments for keeping a program: keep PARENT PROGRAM [ARGUMENT]... LINE. Runs the program in
 * a group of processes of its own, which end with it as all do that it begins, and when the parent is no more or ends
 * this; ends as it did. */
extern const char kept_command[];
int kept_keep(int argc, char **argv);

#endif
