/* run_program.h - runs another program and keeps what it says. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include <stdio.h>

typedef struct run_result {
  int status;      /* exit status; 127 where it cannot be run; 128 + the signal that ended it */
  char *out, *err; /* all of standard output and standard error, each a string */
} run_result;

/* Runs arguments[0], found through PATH, in a folder (null: the current one), with standard input
 * empty. arguments ends with null; so does environment, NAME=VALUE each, which is added to this
 * process's own; null is the same as none. A program that runs longer than two minutes is ended
 * (status 128 + SIGALRM). Free the result with run_free. */
run_result run_program(const char *folder, const char *const *arguments,
                       const char *const *environment);
void run_free(run_result *result);

/* All that a file has, as a string; closes the file. */
char *run_contents(FILE *file);

/* run_program with the words as arguments: RUN(folder, "ninja", "-j1"). */
#define RUN(folder, ...) run_program(folder, (const char *const[]){__VA_ARGS__, NULL}, NULL)

/* The value of an environment variable that `ninja test` sets; fails the test where it is not. */
const char *test_variable(const char *name);

#endif
