/* contract.h - how products of matrices are cut, by the sizes of the caches. */
#ifndef LATHE_CONTRACT_H
#define LATHE_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "turn.h"

/* Bytes of the data caches, first to third level, where the system does not tell. */
#define LATHE_CACHES                                                                               \
  { 32 << 10, 512 << 10, 4 << 20 }

/* Bytes of a level (1 to 3) of the data cache. They are asked for once: it takes the time of a small product. */
static inline size_t lathe_cache(int level) {
  static const size_t usual[] = LATHE_CACHES;
  static size_t known[3];
  size_t bytes = __atomic_load_n(&known[level - 1], __ATOMIC_RELAXED);
  if (bytes == 0) {
    long told = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    told = sysconf(names[level - 1]);
#endif
    bytes = told > 0 ? (size_t)told : usual[level - 1];
    __atomic_store_n(&known[level - 1], bytes, __ATOMIC_RELAXED);
  }
  return bytes;
}

/* Sums of more terms carry along what rounding takes from them; each block has no more than LATHE_TERMS. */
enum { LATHE_DEPTH = 4096, LATHE_TERMS = 1024 };

static inline int lathe_is_long(size_t terms) {
  return terms > LATHE_DEPTH;
}

/* How many blocks of kc terms are added up before that. */
static inline size_t lathe_depth(size_t kc) {
  return kc < LATHE_DEPTH ? LATHE_DEPTH / kc : 1;
}

/* The most terms of a block, whose rows of `bytes` for each term half the first cache is to hold; the most rows of
 * `bytes` that half the second is to hold; and the most columns, for a quarter of the third. */
static inline size_t lathe_terms(size_t bytes) {
  const size_t terms = lathe_cache(1) / bytes;
  return terms < LATHE_TERMS ? terms : (size_t)LATHE_TERMS;
}

static inline size_t lathe_rows(size_t bytes) {
  return lathe_cache(2) / 2 / bytes;
}

static inline size_t lathe_columns(size_t bytes) {
  const size_t third = lathe_cache(3), most = 32 << 20; /* which many processors may share */
  return (third < most ? third : most) / 4 / bytes;
}

/* Cuts `all` into blocks of at most `most`, all of much the same size, which is made of whole `each`. */
static inline void lathe_cut(size_t *size, size_t all, size_t most, size_t each) {
  const size_t whole = most < each ? each : most / each * each;
  const size_t blocks = all > whole ? (all + whole - 1) / whole : 1;
  const size_t even = (all + blocks - 1) / blocks;
  *size = even < each ? each : (even + each - 1) / each * each;
}

/* How parts of a call share matrices: each is of so many units, of rows or of columns; so many units in all. */
typedef struct lathe_shares {
  size_t units, each, points;
  bool by_rows;
} lathe_shares;

/* Of rows or columns, of which there are more; units are of some 64 of these, and whole tiles. */
static inline lathe_shares lathe_shares_of(size_t matrices, size_t rows, size_t columns, size_t mr,
                                           size_t nr) {
  lathe_shares s = {.by_rows = rows >= columns};
  const size_t tile = s.by_rows ? mr : nr, points = s.by_rows ? rows : columns;

  s.points = tile < 64 ? 64 / tile * tile : tile;
  s.each = points > s.points ? (points + s.points - 1) / s.points : 1;
  s.units = matrices * s.each;
  return s;
}

/* Of a matrix's rows or columns, which are `*last` at first, those of some units. */
static inline void lathe_share(const lathe_shares *s, size_t unit, size_t end, size_t *first,
                               size_t *last) {
  *first = unit * s->points;
  if (end < s->each)
    *last = end * s->points;
}

/* Whether a product of few columns for many rows, or the other way round, had better be dot products: of vectors of
 * `lanes` of which those of few would be mostly empty. */
static inline int lathe_is_dots(size_t many, size_t few, size_t terms, size_t most_few,
                                size_t lanes) {
  return few == 1 || (few <= most_few && many >= few && terms >= 4 * lanes);
}

/* Whether a product's factors had better be read where they are: few rows or columns pass by a packed panel too few
 * times, and small factors stay in the first caches anyway, up to a product of `most` cubed. */
static inline int lathe_is_direct(size_t rows, size_t columns, size_t terms, size_t high,
                                  size_t wide, double most) {
  return rows <= high || columns <= wide ||
         (double)rows * (double)columns * (double)terms <= most * most * most;
}

#endif
