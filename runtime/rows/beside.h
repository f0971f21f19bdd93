/* beside.h - rows of other libraries beside ours: which there are, and how they compare. */
#ifndef BESIDE_H
#define BESIDE_H

#include "row.h"

/* Makes the variants of a comma list of peers (devices/peer/peers.h); null: of none. Ends the program with a message
 * where there is no such peer. */
void beside_choose(const char *list);

/* Fills in what the peers among a task's rows take in units of ours: of what dispatch chooses on the processor, or
 * else of the fastest row. */
void beside_compare(row *const *rows, size_t count);

/* A command line that makes a peer's row again. */
void beside_repro(const row *peer, const char *program, char *to, size_t size);

#endif
