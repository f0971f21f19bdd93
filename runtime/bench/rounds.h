/* rounds.h - all rows of a run, checked once and timed in rounds.
 *
 * In each round all rows have their turn, in an order that the seed draws: tasks one after the other, and the variants
 * of each together, so that a machine that changes its speed changes it for all of them. */
#ifndef ROUNDS_H
#define ROUNDS_H

#include "report/report.h"

/* Fills in the report, and prints its table: where nothing is timed each task when it is finished, else all of them
 * after the last round. An interrupt leaves out the rows that had no turn yet. */
void rounds_run(report *r);

/* In the program that --against names: rows have their turns when the other one says so (turns.h). */
void rounds_in_turns(report *r);

#endif
