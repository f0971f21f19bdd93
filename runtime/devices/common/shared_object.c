/* shared_object.c - libraries that are opened when the program runs. */
#define _GNU_SOURCE /* dlinfo */
#include "shared_object.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#if defined __linux__
#include <link.h>
#endif

bool shared_object_open(shared_object *l, char *why, size_t size) {
  const char *error;

  l->handle = dlopen(l->file, RTLD_NOW);
  if (l->handle)
    return true;
  error = dlerror();
  /* Of a library that this one needs and that is not there, the loader says the same by its name. */
  if (!error || (strstr(error, l->file) && strstr(error, "No such file or directory")))
    snprintf(why, size, "%s is not installed (no %s)", l->what, l->file);
  else
    snprintf(why, size, "%s is there and cannot be loaded: %s", l->file, error);
  return false;
}

/* The file that was opened. */
static const char *path(const shared_object *l) {
#if defined __linux__
  struct link_map *map;

  if (dlinfo(l->handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0])
    return map->l_name;
#endif
  return l->file;
}

void shared_object_lacks(const shared_object *l, const char *symbol, bool first, char *why,
                         size_t size) {
  if (first)
    snprintf(why, size, "%s is not %s: it has no %s", path(l), l->what, symbol);
  else
    snprintf(why, size, "%s (%s) is too old: it has no %s", l->what, path(l), symbol);
}

bool shared_object_find(const shared_object *l, const char *const *symbols, size_t count, void *to,
                        char *why, size_t size) {
  for (size_t i = 0; i < count; i++) {
    const void *found = dlsym(l->handle, symbols[i]);
    if (!found) {
      shared_object_lacks(l, symbols[i], i == 0, why, size);
      return false;
    }
    memcpy((char *)to + i * sizeof found, &found, sizeof found);
  }
  return true;
}
