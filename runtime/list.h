/* list.h - the --list-... options. */
#ifndef LIST_H
#define LIST_H

#include "selection.h"

/* Prints what the options ask to list, of what they select. */
void list_print(const options *o, const selection *s);

#endif
