/* output.c - files that appear whole or not at all: written under a temporary name in the same
 * folder, and then renamed. */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

enum { MOST = 8 };

/* Temporary files that exist now, for the program to leave none behind when it is refused. */
static char *existing[MOST];

static void remove_existing(void) {
  for (int i = 0; i < MOST; i++)
    if (existing[i])
      unlink(existing[i]);
}

static void remember(char *path) {
  static int used;

  if (used == 0)
    atexit(remove_existing);
  if (used == MOST)
    message_refuse("too many files to write");
  existing[used++] = path;
}

static void forget(const char *path) {
  for (int i = 0; i < MOST; i++)
    if (existing[i] == path)
      existing[i] = NULL;
}

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
  if (!standard_error)
    return;
  message_warn("cannot write standard output: %s", strerror(standard_error));
  _exit(EXIT_REQUEST);
}

void output_guard_standard(void) {
  atexit(check_standard);
}

output output_open(const char *path) {
  output o = {.path = path};
  struct stat about;
  size_t size;
  mode_t mask;
  int fd;

  if (!path)
    return o;
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
    /* A device or a pipe: renaming over it would be wrong. */
    o.file = fopen(path, "w");
    if (!o.file)
      message_refuse("cannot write %s: %s", path, strerror(errno));
    return o;
  }
  o.target = realpath(path, NULL); /* so that a link stays one */
  if (!o.target)
    o.target = strdup(path);
  size = o.target ? strlen(o.target) + sizeof ".XXXXXX" : 0;
  o.temporary = malloc(size);
  if (!o.target || !o.temporary)
    message_refuse("out of memory");
  snprintf(o.temporary, size, "%s.XXXXXX", o.target);
  fd = mkstemp(o.temporary);
  if (fd < 0 || !(o.file = fdopen(fd, "w")))
    message_refuse("cannot write %s: %s", path, strerror(errno));
  remember(o.temporary);
  mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  return o;
}

int output_commit(output *o) {
  int ok;

  if (!o->file)
    return 1;
  ok = !ferror(o->file);
  ok = fclose(o->file) == 0 && ok;
  o->file = NULL;
  if (ok && o->temporary)
    ok = rename(o->temporary, o->target) == 0;
  if (!ok)
    message_warn("cannot write %s: %s", o->path, strerror(errno));
  output_discard(o);
  return ok;
}

void output_discard(output *o) {
  if (o->file)
    fclose(o->file);
  o->file = NULL;
  if (o->temporary) {
    unlink(o->temporary); /* gone already where it was renamed */
    forget(o->temporary);
  }
  free(o->temporary);
  free(o->target);
  o->temporary = o->target = NULL;
}
