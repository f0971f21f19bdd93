/* child.h - this program again, or another one, as a process beside this one. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Words of a command line, which ends with a null; each is a copy. */
typedef struct child_words {
  char **at;
  int count;
} child_words;

void child_word(child_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void child_words_free(child_words *words);

/* Starts a program, whose standard input and output are descriptors; null: this program. What it says on standard error
 * goes to where this one's does, or to a descriptor. It ends with this process. 0 with errno where that cannot be
 * done. */
pid_t child_start(const char *program, const child_words *words, int in, int out, int err);

/* Waits for its end, and passes on a signal that asks this process to end. Its exit status, 128 and the number of the
 * signal that ended it, or 127 where the program could not be started. */
int child_wait(pid_t child);

/* This program once more, in the place of this process, with its code where it is linked to be and not at a place
 * drawn: where branches lie can make a short loop some per cent slower, and two programs are to differ by what they
 * are. The processes that it starts are like it. Does nothing where it is so already, or cannot be had. */
void child_settle(char **argv);

#endif
