/* turns.h - --against: another build of this program has its turn with each row, in the same rounds.
 *
 * It is started as `bench turns OPTION...`, with the same options and seed. It is told a row's name and device in a
 * line, and how many calls a sample has here; it answers with the row's status, the median of its round and how many
 * calls a sample has there. Both have as many, since a sample's first calls take longer. A line without a name renews
 * its process for devices. All is text: the programs are of other commits. */
#ifndef TURNS_H
#define TURNS_H

#include "rows/row.h"

enum { TURNS_NAME = 320 };
extern const char turns_command[];

/* Starts the program that --against names, and waits until it is ready; ends this program with a message where it
 * cannot be. program: how this one was called. */
void turns_start(const options *o, const char *program);

/* Whether one was started. */
bool turns_are_taken(void);

/* The row's result there; its status is null where it has no such row, or has ended. */
typedef struct base_turn {
  const char *status;
  double median; /* of the round, ns; NaN where it was not timed */
  uint64_t calls;
} base_turn;
base_turn turns_ask(const row *line, const device *on);
void turns_renew(void);

/* The commit of that program; null where it is not known. */
const char *turns_commit(void);

/* Ends it. False where it had ended before, of which a warning tells. */
bool turns_end(void);

/* In that program: says that it is ready; takes the next row, whose name is empty for a new process, false at the end;
 * and answers. */
typedef struct turns_row {
  char name[TURNS_NAME], on[TURNS_NAME];
  unsigned long long calls; /* 0: not known */
} turns_row;
void turns_begin(void);
bool turns_next(turns_row *next);
void turns_answer(const char *status, double median, uint64_t calls);

#endif
