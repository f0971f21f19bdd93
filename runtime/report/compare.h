/* compare.h - which rows of a run take longer than in an earlier one. */
#ifndef COMPARE_H
#define COMPARE_H

#include <jansson.h>
#include <stdbool.h>

/* Null where two runs may be compared; else why not: they are of different processors. Static. */
const char *compare_refusal(const json_t *base, const json_t *new_run);

/* Prints which rows are faster and slower, with 95 % intervals for all rows together, and how many are the same or
 * cannot be told; whether none is slower, and none that was right is not right now.
 *
 * Times are those of the best rounds, or medians where a file has no others. Both are uncertain by their own intervals,
 * and by what two runs of one program differ by. That is taken from the rows themselves: most are the same in both
 * runs, and how widely their ratios lie around the middle one tells. A row is told from the base where Holm's test of
 * all rows finds it at 5 %, and by more than 2 %; and its median by more than 1 % to the same side. Nothing that can be
 * compared is no comparison: false, too. */
bool compare_print(const json_t *base, const json_t *new_run);

#endif
