/* file.h - a file's bytes. */
#ifndef DEVICES_FILE_H
#define DEVICES_FILE_H

#include <stddef.h>

/* All of a file, with a zero after it that size does not count; to be released by free. Null with errno. */
unsigned char *file_read(const char *path, size_t *size);

#endif
