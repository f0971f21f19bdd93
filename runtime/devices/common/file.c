/* file.c - a file's bytes. */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

unsigned char *file_read(const char *path, size_t *size) {
  enum { BLOCK = 1 << 16 };
  FILE *f = fopen(path, "rb");
  unsigned char *all = NULL;
  size_t used = 0, got = BLOCK;

  while (f && got == BLOCK) {
    unsigned char *more = realloc(all, used + BLOCK + 1);
    if (!more) {
      errno = ENOMEM;
      break;
    }
    all = more;
    got = fread(all + used, 1, BLOCK, f);
    used += got;
  }
  if (!f || got == BLOCK || ferror(f)) {
    free(all);
    all = NULL;
  }
  if (f)
    fclose(f);
  if (all)
    all[used] = 0;
  *size = used;
  return all;
}
