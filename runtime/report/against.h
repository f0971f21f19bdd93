/* against.h - what rows take in units of what they take in another build of this program, which had its turn in the
 * same rounds.
 *
 * Both found the machine alike, so that a round's ratio tells of the program. A row is told from the base where Holm's
 * test of all rows finds it at 1 % by the signed ranks of its rounds' ratios, and by more than 1.5 % and 2 ns. */
#ifndef AGAINST_H
#define AGAINST_H

#include "report.h"

/* Whether more rounds may tell whether a row is the same or not. */
bool against_is_open(const row *line);

/* Fills in the fields of rows. */
void against_judge(const report *r);

/* Prints which rows are slower, faster or no longer right, and counts the others. False where some are slower or no
 * longer right, or nothing was compared. */
bool against_print(const report *r);

/* The same as a part of a report in Markdown; nothing without --against. */
void against_markdown(FILE *to, const report *r);

#endif
