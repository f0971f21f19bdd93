/* progress.h - one line on the terminal that says how far we are; nothing where standard error
 * is no terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

void progress_show(size_t done, size_t total, const char *now);

/* Wipes the line, so that something else can be printed. */
void progress_clear(void);

#endif
