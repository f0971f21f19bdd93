/* files.h - the files of a run: seen to be possible before it, written after it. */
#ifndef REPORT_FILES_H
#define REPORT_FILES_H

#include "report.h"

/* Ends the program with a message where a file that was asked for cannot be written, or two are one, or
 * it is one that the run reads: --compare's, --tuning's, or that of `tune`, which is null for other runs.
 * Where one is "-", what is printed goes to standard error from here on. */
void report_files_check(const options *o, const char *tune);

/* Writes them all, whatever becomes of one. False, with a message for each printed, where one could
 * not be written. */
bool report_files_write(const report *r);

#endif
