/* planes.c - the bytes of words of 4 bytes in another order, in which they pack into half the room: the first of each
 * word, then the second of each, and so on; what is left of a word at the end comes last.
 *   planes FILE   prints them; image_unpack_words of runtime/devices/common/image.c undoes it */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  enum { WORD = 4 };
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  unsigned char *bytes = NULL;
  size_t count = 0, room = 0, got = 1;

  if (!file) {
    fprintf(stderr, "planes: expected one FILE that can be read\n");
    return 2;
  }
  while (got > 0) {
    unsigned char *more = room > count ? bytes : realloc(bytes, room = 2 * room + 65536);
    if (!more) {
      fprintf(stderr, "planes: %s: out of memory\n", argv[1]);
      return 2;
    }
    bytes = more;
    got = fread(bytes + count, 1, room - count, file);
    count += got;
  }
  for (size_t plane = 0; plane < WORD; plane++)
    for (size_t word = 0; word < count / WORD; word++)
      putchar(bytes[word * WORD + plane]);
  fwrite(bytes + count / WORD * WORD, 1, count % WORD, stdout);
  if (ferror(file) || fflush(stdout) != 0) {
    fprintf(stderr, "planes: %s: it could not be read or written\n", argv[1]);
    return 2;
  }
  free(bytes);
  fclose(file);
  return 0;
}
