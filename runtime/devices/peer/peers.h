/* peers.h - other libraries that kernels are held against: a row for each and for the processor or GPU that it runs on,
 * and for each op and type a variant of it, which no dispatch knows of. */
#ifndef PEERS_H
#define PEERS_H

#include "library/dispatch.h"

enum { PEERS = 8 };

/* The library of a row, as --peers calls it. */
const char *peers_name(int number);

/* Makes the variants of the peers that are chosen, a flag for each, for all ops whose specs have an expression for
 * them. To be called before the process is forked in which they are run. */
void peers_make(const bool *chosen);
void peers_free(void);

/* Of libraries that run on both, leaves out those on processors, or on GPUs. */
void peers_narrow(bool processors, bool gpus);

/* The variants made and not left out, in the order of the table's ops; after them those of
 * devices/foreign/foreign.h. */
size_t peers_count(void);
const lathe_variant *peers_at(size_t index);

/* A number of a variant, below peers_made. */
size_t peers_index(const lathe_variant *variant);
size_t peers_made(void);

/* Whether a backend is a peer's; whether it is a peer's on a GPU; and what --peers calls its library. */
bool peers_has(const lathe_backend *backend);
bool peers_on_gpu(const lathe_backend *backend);
const char *peers_library(const lathe_backend *backend);

/* What the op's spec has for such a variant; and where that is for the op of which the variant's is the gradient, to be
 * derived by the library itself, that op, else null. */
const char *peers_expression(const lathe_variant *variant);
const lathe_op *peers_forward(const lathe_variant *variant);

/* Adds to what is wrong with a library's results, or what it refuses, what it was asked for: the text of a spec's peers
 * may be at fault. */
void peers_blame(const lathe_variant *variant, char *text, size_t size);

#endif
