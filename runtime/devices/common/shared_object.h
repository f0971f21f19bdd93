/* shared_object.h - libraries that are opened when the program runs. */
#ifndef SHARED_OBJECT_H
#define SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct shared_object {
  const char *file; /* libcuda.so.1 */
  const char *what; /* "NVIDIA's driver" */
  void *handle;
} shared_object;

/* Opens it; false with one line in why: that it is not installed, where there is no such file, or else
 * what is wrong with the one that there is. */
bool shared_object_open(shared_object *l, char *why, size_t size);

/* A symbol's name, of a row of a library's functions: its name here, its name there, and its parameters. */
#define SHARED_OBJECT_SYMBOL(name, symbol, parameters) symbol,

/* Looks functions of an open one up, and puts them into as many pointers, in their order; false with one line in why
 * where one is not there. */
bool shared_object_find(const shared_object *l, const char *const *symbols, size_t count, void *to,
                        char *why, size_t size);

/* Says in why that an open one has no such symbol. first: the one looked for first, without which the
 * file is something else than its name says; without another it is too old. */
void shared_object_lacks(const shared_object *l, const char *symbol, bool first, char *why,
                         size_t size);

#endif
