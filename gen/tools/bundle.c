/* bundle.c - the images of device code that a program carries together, one after the other, to be packed.
 *   bundle FILE...          prints how many files there are, the size of each, and their bytes
 *   bundle --words FILE...  prints the bytes of each file in another order: the first of each word of 4, then the
 *                           second of each, and so on, then what is left of a word. SPIR-V packs into half the room so.
 * Numbers have 8 bytes, the lowest first. runtime/library/image.c undoes all of it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct file {
  unsigned char *bytes;
  size_t count;
} file;

/* All of a file; false where it can't be had, which has been said. */
static int read_file(const char *name, file *to) {
  FILE *from = fopen(name, "rb");
  size_t room = 0, got = 1;

  *to = (file){0};
  while (from && got > 0) {
    unsigned char *more =
        room > to->count ? to->bytes : realloc(to->bytes, room = 2 * room + 65536);
    if (!more) {
      fprintf(stderr, "bundle: %s: out of memory\n", name);
      fclose(from);
      return 0;
    }
    to->bytes = more;
    got = fread(to->bytes + to->count, 1, room - to->count, from);
    to->count += got;
  }
  if (!from || ferror(from)) {
    fprintf(stderr, "bundle: %s: expected a file that can be read\n", name);
    if (from)
      fclose(from);
    return 0;
  }
  fclose(from);
  return 1;
}

static void put_number(uint64_t number) {
  for (int byte = 0; byte < 8; byte++)
    putchar((int)(number >> 8 * byte & 0xff));
}

static void put_planes(const file *f) {
  enum { WORD = 4 };
  const size_t words = f->count / WORD;

  for (size_t plane = 0; plane < WORD; plane++)
    for (size_t word = 0; word < words; word++)
      putchar(f->bytes[word * WORD + plane]);
  fwrite(f->bytes + words * WORD, 1, f->count % WORD, stdout);
}

int main(int argc, char **argv) {
  const int words = argc > 1 && strcmp(argv[1], "--words") == 0;
  const int first = 1 + words, count = argc - first;
  file *files = calloc(argc > 0 ? (size_t)argc : 1, sizeof *files);
  int read = 0;

  if (count < 1) {
    fprintf(stderr, "bundle: expected [--words] FILE...\n");
    free(files);
    return 2;
  }
  if (!files)
    fprintf(stderr, "bundle: out of memory\n");
  while (files && read < count && read_file(argv[first + read], &files[read]))
    read++;
  if (read == count) {
    put_number((uint64_t)count);
    for (int f = 0; f < count; f++)
      put_number(files[f].count);
    for (int f = 0; f < count; f++) {
      if (words)
        put_planes(&files[f]);
      else
        fwrite(files[f].bytes, 1, files[f].count, stdout);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
      fprintf(stderr, "bundle: the output could not be written\n");
      read = 0;
    }
  }
  for (int f = 0; files && f < count; f++)
    free(files[f].bytes);
  free(files);
  return read == count ? 0 : 2;
}
