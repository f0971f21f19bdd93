/* trust.c - what the process of somebody else's code may do. */
#include "trust.h"

#include <string.h>

bool trust_limit(const char *word, const char *path, const char **why) {
  (void)path, (void)why;
  return strcmp(word, "some") == 0;
}
