/* pool.h - memory in small blocks. Lua takes and gives back some ten million of them in a run; with malloc that was
 * a fifth of the generator's time. */
#ifndef LATHE_POOL_H
#define LATHE_POOL_H

#include <stddef.h>

enum {
  POOL_GRAIN = 16,
  POOL_CLASSES = 32
}; /* blocks of up to 512 bytes; larger ones are malloc's */

typedef struct pool {
  void *free[POOL_CLASSES]; /* lists of blocks given back, of one size each */
  void *chunks;             /* all that was taken from malloc, as a list */
  char *at, *end;           /* what is left of the last chunk */
} pool;

/* As realloc, but that the old size is told. Null where there is no memory, or the size is 0: the block is given back
 * then. A pool of zeros is empty. */
void *pool_resize(pool *p, void *old, size_t old_size, size_t size);

/* Gives all small blocks back. */
void pool_free(pool *p);

#endif
