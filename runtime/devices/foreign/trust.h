/* trust.h - what the process of somebody else's code may do. */
#ifndef FOREIGN_TRUST_H
#define FOREIGN_TRUST_H

#include <stdbool.h>

/* Limits this process for good, as a word says: "some" leaves it as it is; "none" lets it compute, read what programs
 * consist of and the folder that path is in, and speak on lines that it has. others: more folders that it may read, a
 * list that null ends, of a process that is to become another program; null: it becomes none, and ends where it tries
 * what it may not. False with the reason in why (static). */
bool trust_limit(const char *word, const char *path, const char *const *others, const char **why);

/* Why "none" cannot be had on this machine, static; null where it can. */
const char *trust_missing(void);

/* The bench program's arguments for becoming a Python with such limits: shut WORD PATH PYTHON [ARGUMENT]... It may
 * read what it finds its modules in. */
extern const char trust_command[];
int trust_become(int argc, char **argv);

#endif
