/* trust.h - what the process of somebody else's code may do. */
#ifndef FOREIGN_TRUST_H
#define FOREIGN_TRUST_H

#include <stdbool.h>

/* Limits this process for good, as a word says: "some" leaves it as it is. path: the code, which it may read. False with
 * the reason in why (static). */
bool trust_limit(const char *word, const char *path, const char **why);

#endif
