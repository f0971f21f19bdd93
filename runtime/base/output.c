/* output.c - files that appear whole or not at all: written under a temporary name in the same
 * folder, and then renamed. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "signals.h"

/* The temporary file that exists now, or null. */
static char *volatile existing;

void output_abandon(void) {
  if (existing)
    unlink(existing);
}

/* ---- standard output ---------------------------------------------------------------------------- */

/* Why standard output could not be written, the first time; 0 where it could. */
static int standard_error;

void output_flush_standard(void) {
  if (fflush(stdout) != 0 && !standard_error)
    standard_error = errno;
}

/* At the program's end. */
static void check_standard(void) {
  output_flush_standard();
  if (!standard_error && ferror(stdout))
    standard_error = EIO; /* when a buffer was full, of which the reason is gone */
  if (fclose(stdout) != 0 && !standard_error)
    standard_error = errno;
  if (!standard_error || signals_interrupted())
    return;
  message_warn("cannot write standard output: %s", strerror(standard_error));
  _exit(EXIT_REQUEST);
}

void output_guard_standard(void) {
  atexit(check_standard);
}

/* Where standard output went before it was diverted; -1: it was not. */
static int diverted = -1;

void output_divert_standard(void) {
  if (diverted >= 0)
    return;
  output_flush_standard();
  diverted = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (diverted < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    message_refuse("cannot write standard output: %s", strerror(errno));
}

static bool is_standard(const char *path) {
  return strcmp(path, "-") == 0;
}

static const char *name_of(const char *path) {
  return is_standard(path) ? "standard output" : path;
}

/* ---- paths -------------------------------------------------------------------------------------- */

static bool look_at(const char *path, struct stat *about) {
  if (is_standard(path))
    return fstat(diverted >= 0 ? diverted : STDOUT_FILENO, about) == 0;
  return stat(path, about) == 0;
}

static bool same_inode(const struct stat *one, const struct stat *other) {
  return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Whether two files that do not exist would be one. */
static bool same_place(const char *one, const char *other) {
  char *base[2] = {message_copy(one), message_copy(other)},
       *above[2] = {message_copy(one), message_copy(other)};
  struct stat folder[2];
  const bool same = strcmp(basename(base[0]), basename(base[1])) == 0 &&
                    stat(dirname(above[0]), &folder[0]) == 0 &&
                    stat(dirname(above[1]), &folder[1]) == 0 && same_inode(&folder[0], &folder[1]);

  for (int i = 0; i < 2; i++) {
    free(base[i]);
    free(above[i]);
  }
  return same;
}

bool output_same(const char *one, const char *other) {
  struct stat first, second;
  const bool there = look_at(one, &first);

  if (is_standard(one) && is_standard(other))
    return true;
  if (there != look_at(other, &second))
    return false;
  if (there)
    return same_inode(&first, &second) && !S_ISCHR(first.st_mode);
  return !is_standard(one) && !is_standard(other) && same_place(one, other);
}

/* Makes a temporary file for o->path, and o->target, the file that it will be; its descriptor, or -1 with
 * the reason in errno. */
static int make_temporary(output *o) {
  size_t size;
  int fd;

  o->target = realpath(o->path, NULL); /* so that a link stays one */
  if (!o->target)
    o->target = message_copy(o->path);
  size = strlen(o->target) + sizeof ".XXXXXX";
  o->temporary = message_need(malloc(size));
  snprintf(o->temporary, size, "%s.XXXXXX", o->target);
  fd = mkstemp(o->temporary);
  if (fd >= 0)
    existing = o->temporary;
  return fd;
}

/* Whether a path is to be written in place: a device or a pipe, over which renaming would be wrong. */
static bool in_place(const char *path) {
  struct stat about;

  return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

void output_check(const char *path) {
  output o = {.path = path};
  struct stat about;
  int fd;

  if (!*path)
    message_refuse("a file to write needs a name, and was given nothing");
  if (is_standard(path))
    return;
  if (in_place(path)) {
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
      message_refuse("cannot write %s: %s", path, strerror(EISDIR));
    if (access(path, W_OK) != 0)
      message_refuse("cannot write %s: %s", path, strerror(errno));
    return;
  }
  fd = make_temporary(&o);
  if (fd < 0)
    message_refuse("cannot write %s: %s", path, strerror(errno));
  close(fd);
  output_discard(&o);
}

output output_open(const char *path) {
  output o = {.path = path};
  mode_t mask;
  int fd;

  if (is_standard(path)) {
    fd = fcntl(diverted >= 0 ? diverted : STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  } else if (in_place(path)) {
    fd = open(path, O_WRONLY | O_CLOEXEC);
  } else {
    fd = make_temporary(&o);
    mask = umask(0);
    umask(mask);
    if (fd >= 0)
      fchmod(fd, 0666 & ~mask);
  }
  o.file = fd < 0 ? NULL : fdopen(fd, "w");
  if (o.file)
    return o;
  message_warn("cannot write %s: %s", name_of(path), strerror(errno));
  if (fd >= 0)
    close(fd);
  output_discard(&o);
  return o;
}

bool output_commit(output *o) {
  bool ok;

  if (!o->file)
    return false;
  ok = !ferror(o->file);
  errno = EIO; /* where closing brings no reason of its own */
  ok = fclose(o->file) == 0 && ok;
  o->file = NULL;
  if (ok && o->temporary)
    ok = rename(o->temporary, o->target) == 0;
  if (!ok)
    message_warn("cannot write %s: %s", name_of(o->path), strerror(errno));
  output_discard(o);
  return ok;
}

void output_discard(output *o) {
  if (o->file)
    fclose(o->file);
  o->file = NULL;
  if (o->temporary) {
    unlink(o->temporary); /* gone already where it was renamed */
    existing = NULL;
  }
  free(o->temporary);
  free(o->target);
  o->temporary = o->target = NULL;
}
