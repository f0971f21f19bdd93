/* stored.h - runs that an earlier --json stored. */
#ifndef STORED_H
#define STORED_H

#include <jansson.h>

/* The run of a file, to be released; its member `file` is the path. Ends the program with one line where the file
 * cannot be read, or holds no run. */
json_t *stored_load(const char *path);

/* Text members of a row or a context; "" where there is none. And numbers: NaN. */
const char *stored_text(const json_t *of, const char *member);
double stored_number(const json_t *of, const char *member);

#endif
