/* shard.h - a run's rows shared out to several runs, as on several machines.
 *
 * Which share rows fall to is a matter of their op, type and dimensions alone, so that the variants of a size stay with
 * each other and with their peers. The shares of every count are disjoint and whole, and share i of n is shares
 * (i-1)m+1 to im of nm. */
#ifndef SHARD_H
#define SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHARDS_MOST = 10000 /* that can be asked for; parts of a share are more */ };

typedef struct shard {
  int nth, of; /* the nth, from 1 on; of 0: not shared out */
} shard;

/* "3/8"; false where it is not such, or out of range. */
bool shard_parse(const char *text, shard *s);

/* A part of a share: the nth of some. */
shard shard_part(shard whole, int nth, int of);

/* Text after text into a hash, which begins as SHARD_SEED. */
#define SHARD_SEED UINT64_C(14695981039346656037)
uint64_t shard_hash(uint64_t hash, const char *text);

/* Whether what has a hash falls to a share. */
bool shard_has(shard s, uint64_t hash);

#endif
