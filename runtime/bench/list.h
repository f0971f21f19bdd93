/* list.h - the --list-... options. */
#ifndef LIST_H
#define LIST_H

#include "rows/selection.h"

/* Prints what the options ask to list, of what they select. */
void list_print(const options *o, const selection *s);

/* list_json.c: writes the variants that are selected, and what each cost to build (cost.h). False, with a
 * message printed, where the file could not be written. */
bool list_json(const char *path, const selection *s);

#endif
