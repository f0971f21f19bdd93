/* library.h - libraries that are opened when the program runs. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct library {
  const char *file; /* libcuda.so.1 */
  const char *what; /* "NVIDIA's driver" */
  void *handle;
} library;

/* Opens it; false with one line in why: that it is not installed, where there is no such file, or else
 * what is wrong with the one that there is. */
bool library_open(library *l, char *why, size_t size);

/* Says in why that an open one has no such symbol. first: the one looked for first, without which the
 * file is something else than its name says; without another it is too old. */
void library_lacks(const library *l, const char *symbol, bool first, char *why, size_t size);

#endif
