/* peers.h - other libraries that kernels are held against: a row for each, and for each op and type a variant of it,
 * which no dispatch knows of. */
#ifndef PEERS_H
#define PEERS_H

#include "library/lathe.h"

enum { PEERS = 4 };

/* What --peers calls them. */
const char *peers_name(int number);

/* Makes the variants of the peers that are chosen, a flag for each, for all ops whose specs have an expression for
 * them; false where memory is short. To be called before the process is forked in which they are run. */
bool peers_make(const bool *chosen);
void peers_free(void);

/* The variants made, in the order of the table's ops. */
size_t peers_count(void);
const lathe_variant *peers_at(size_t index);
size_t peers_index(const lathe_variant *variant);

/* Whether a backend is a peer's. */
bool peers_has(const lathe_backend *backend);

/* What the op's spec has for such a variant. */
const char *peers_expression(const lathe_variant *variant);

#endif
