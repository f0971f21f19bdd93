#define _POSIX_C_SOURCE 200809L
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed_for(lua_State *L, const char *what, const char *path, const char *why) {
  lua_pushnil(L);
  lua_pushfstring(L, "%s: cannot %s: %s", path, what, why);
  return 2;
}

static int failed(lua_State *L, const char *what, const char *path) {
  return failed_for(L, what, path, strerror(errno));
}

/* Pushes the whole file, a regular one of at most so many bytes: a device or a pipe may have no end to
 * read to. Null, or (nothing pushed) why it cannot be read. */
static const char *push_file(lua_State *L, const char *path, size_t most) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe has no writer to wait for */
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) {
    return strerror(errno);
  }
  if (!S_ISREG(info.st_mode)) {
    close(fd);
    return S_ISDIR(info.st_mode) ? strerror(EISDIR) : "it is no regular file";
  }
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  size_t size = 0;
  ssize_t got;
  do {
    got = read(fd, luaL_prepbuffer(&text), LUAL_BUFFERSIZE);
    luaL_addsize(&text, got > 0 ? (size_t)got : 0);
    size += got > 0 ? (size_t)got : 0;
  } while (size <= most && (got > 0 || (got < 0 && errno == EINTR)));
  const char *why = got < 0 ? strerror(errno) : size > most ? "it is too large" : NULL;
  close(fd);
  luaL_pushresult(&text);
  if (why) {
    lua_pop(L, 1);
  }
  return why;
}

static int file_read(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  lua_Integer most = luaL_optinteger(L, 2, LUA_MAXINTEGER);
  const char *why = push_file(L, path, (size_t)most);
  return why ? failed_for(L, "read", path, why) : 1;
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
      push_file(L, path, size)) {
    return false;
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

/* Whether a name in a folder is one of those asked for: files that end so, or folders for "/". */
static bool is_wanted(const char *folder, const char *name, const char *suffix) {
  size_t length = strlen(name), tail = strlen(suffix);
  if (name[0] == '.' || strcmp(suffix, "/") != 0) {
    return name[0] != '.' && length >= tail && strcmp(name + length - tail, suffix) == 0;
  }
  char path[PATH_MAX];
  struct stat info;
  return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
         stat(path, &info) == 0 && S_ISDIR(info.st_mode);
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
    if (!is_wanted(path, entry->d_name, suffix)) {
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
  if (remove(path) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST) {
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
