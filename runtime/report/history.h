/* history.h - runs of many commits in a folder, and what they say of each op, type, size and kind of device. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>

/* Puts a copy of a stored run into a folder, which is made where there is none; its samples are left out. Its file is
 * named by the commit and its date. True, with the name printed; false, with a message, where it cannot be written.
 * Ends the program where the file is no run, tells of no commit, or is there already. */
bool history_add(const char *folder, const char *path);

/* Prints a line for each op, type, size and kind of device, with the steps of its times. What in the folder is no run
 * is left out with a warning. page: an HTML file for the same, or null. False, with a message, where that cannot be
 * written. */
bool history_report(const char *folder, const char *page);

#endif
