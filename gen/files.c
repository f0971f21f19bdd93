#define _POSIX_C_SOURCE 200809L
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(lua_State *L, const char *what, const char *path) {
  lua_pushnil(L);
  lua_pushfstring(L, "%s: cannot %s: %s", path, what, strerror(errno));
  return 2;
}

/* Pushes the whole file; false (nothing pushed, errno set) where it cannot be read. */
static bool push_file(lua_State *L, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    return false;
  }
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  size_t got;
  do {
    char *space = luaL_prepbuffer(&text);
    got = fread(space, 1, LUAL_BUFFERSIZE, file);
    luaL_addsize(&text, got);
  } while (got > 0);
  luaL_pushresult(&text);
  int error = ferror(file) ? EIO : 0;
  if (error) {
    struct stat info;
    error = stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? EISDIR : EIO;
    lua_pop(L, 1);
  }
  fclose(file);
  errno = error;
  return error == 0;
}

static int file_read(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  return push_file(L, path) ? 1 : failed(L, "read", path);
}

/* Makes the folders above a path. */
static bool make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) {
      return false;
    }
  }
  return true;
}

/* Whether a file, once links are followed, holds just that text; pushes what it holds. */
static bool holds(lua_State *L, const char *path, const char *text, size_t size) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || (size_t)info.st_size != size ||
      !push_file(L, path)) {
    return false; /* a device or a pipe has no end to read to */
  }
  size_t old_size;
  const char *old = lua_tolstring(L, -1, &old_size);
  return old_size == size && memcmp(old, text, size) == 0;
}

/* Writes a file, after making the folders above it; errno says why it fails. */
static bool write_file(char *path, const char *text, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file && errno == ENOENT && make_folders(path)) {
    file = fopen(path, "wb");
  }
  if (!file) {
    return false;
  }
  bool written = fwrite(text, 1, size, file) == size;
  return fclose(file) == 0 && written;
}

static int file_write(lua_State *L) {
  size_t size;
  const char *path = luaL_checkstring(L, 1);
  const char *text = luaL_checklstring(L, 2, &size);
  if (holds(L, path, text, size)) {
    lua_pushboolean(L, false);
    return 1;
  }
  /* What is no plain file stays what it is: a device, a pipe, a link to either or to a file. */
  struct stat info;
  bool replaced = lstat(path, &info) != 0 || S_ISREG(info.st_mode);
  char *to = lua_newuserdata(L, strlen(path) + 32);
  sprintf(to, replaced ? "%s.%ld.tmp" : "%s", path, (long)getpid());
  bool written = write_file(to, text, size) && (!replaced || rename(to, path) == 0);
  if (!written) {
    int error = errno;
    if (replaced) {
      unlink(to);
    }
    errno = error;
    return failed(L, "write", path);
  }
  lua_pushboolean(L, true);
  return 1;
}

static int compare(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int file_list(lua_State *L) {
  const char *path = luaL_checkstring(L, 1), *suffix = luaL_checkstring(L, 2);
  DIR *folder = opendir(path);
  if (!folder) {
    return failed(L, "list", path);
  }
  char **names = NULL;
  size_t count = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name), tail = strlen(suffix);
    if (entry->d_name[0] == '.' || length < tail ||
        strcmp(entry->d_name + length - tail, suffix) != 0) {
      continue;
    }
    char **more = realloc(names, (count + 1) * sizeof *names);
    char *copy = more ? strdup(entry->d_name) : NULL;
    names = more ? more : names;
    if (!copy) {
      break;
    }
    names[count++] = copy;
  }
  closedir(folder);
  if (count > 0) {
    qsort(names, count, sizeof *names, compare);
  }
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
    free(names[i]);
  }
  free(names);
  return 1;
}

static int file_remove(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  if (remove(path) != 0 && errno != ENOENT) {
    return failed(L, "remove", path);
  }
  lua_pushboolean(L, true);
  return 1;
}

void files_push(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"read", file_read},     {"write", file_write}, {"list", file_list},
      {"remove", file_remove}, {NULL, NULL},
  };
  luaL_newlib(L, functions);
}
