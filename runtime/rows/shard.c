/* shard.c - a run's rows shared out to several runs. */
#include "shard.h"

#include <stdio.h>

bool shard_parse(const char *text, shard *s) {
  int length = 0;

  if (*text < '0' || *text > '9' || sscanf(text, "%9d/%n", &s->nth, &length) != 1 || !length ||
      text[length] < '0' || text[length] > '9')
    return false;
  text += length;
  length = 0;
  return sscanf(text, "%9d%n", &s->of, &length) == 1 && !text[length] && s->nth >= 1 &&
         s->nth <= s->of && s->of <= SHARDS_MOST;
}

shard shard_part(shard whole, int nth, int of) {
  if (!whole.of)
    return (shard){nth, of};
  return (shard){(whole.nth - 1) * of + nth, whole.of * of};
}

/* FNV-1a, of Fowler, Noll and Vo; the end of a text counts. */
uint64_t shard_hash(uint64_t hash, const char *text) {
  do
    hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
  while (*text++);
  return hash;
}

/* FNV's high bits say little of short texts: they are mixed as in splitmix64 (Steele, Lea and Flood 2014). The place of
 * 32 of them among shares that follow each other is which one it is. */
bool shard_has(shard s, uint64_t hash) {
  if (!s.of)
    return true;
  hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
  hash ^= hash >> 31;
  return (int)((hash >> 32) * (uint64_t)s.of >> 32) == s.nth - 1;
}
