/* stored.h - runs that an earlier --json stored. */
#ifndef STORED_H
#define STORED_H

#include <jansson.h>

enum { STORED_SCHEMA = 1 /* the json_schema_version of what is written, and read */ };

/* The run of a file, to be released; its member `file` is the path. Ends the program with one line where the file
 * cannot be read, or holds no run: each member of a row that --json writes is of its type, or not there. */
json_t *stored_load(const char *path);

/* The same, but null with the reason where there is none. */
json_t *stored_read(const char *path, char *why, size_t size);

/* Text members of a row or a context; "" where there is none. And numbers: NaN. */
const char *stored_text(const json_t *of, const char *member);
double stored_number(const json_t *of, const char *member);

/* The device of a row: its name, which all of its kind have, or else its id. */
const char *stored_device(const json_t *run, const json_t *of);

#endif
