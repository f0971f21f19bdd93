/* tune.h - what a run measured, as a file of choices for dispatch (library/tuning.h). */
#ifndef TUNE_H
#define TUNE_H

#include "report.h"

/* Ends the program with a message where the file that is there cannot be added to: it is none of choices, or of another
 * device of a kind that the run has. */
void tune_check(const char *path, const report *r);

/* Writes the choices of a run, and of the file that is there those for other calls; prints what they come to. False,
 * with a message printed, where it cannot be written, or no call was measured with all of its variants. */
bool tune_write(const char *path, const report *r);

#endif
