#include "pool.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 18, LARGEST = POOL_GRAIN * POOL_CLASSES };

static size_t class_of(size_t size) {
  return (size - 1) / POOL_GRAIN;
}

static void *take(pool *p, size_t size) {
  if (size > LARGEST) {
    return malloc(size);
  }
  void **first = &p->free[class_of(size)];
  if (*first) {
    void *block = *first;
    memcpy(first, block, sizeof *first);
    return block;
  }
  size_t rounded = (class_of(size) + 1) * POOL_GRAIN;
  if ((size_t)(p->end - p->at) < rounded) {
    char *chunk = malloc(CHUNK);
    if (!chunk) {
      return NULL;
    }
    memcpy(chunk, &p->chunks, sizeof p->chunks);
    p->chunks = chunk;
    p->at = chunk + POOL_GRAIN;
    p->end = chunk + CHUNK;
  }
  p->at += rounded;
  return p->at - rounded;
}

static void give(pool *p, void *block, size_t size) {
  if (size > LARGEST) {
    free(block);
  } else if (block) {
    void **first = &p->free[class_of(size)];
    memcpy(block, first, sizeof *first);
    *first = block;
  }
}

void *pool_resize(pool *p, void *old, size_t old_size, size_t size) {
  if (size == 0) {
    give(p, old, old_size);
    return NULL;
  } else if (old && old_size > LARGEST && size > LARGEST) {
    return realloc(old, size);
  } else if (old && old_size <= LARGEST && size <= LARGEST &&
             class_of(old_size) == class_of(size)) {
    return old;
  }
  void *block = take(p, size);
  if (!block) {
    return size <= old_size ? old : NULL; /* Lua counts on that a block can shrink */
  } else if (old) {
    memcpy(block, old, old_size < size ? old_size : size);
    give(p, old, old_size);
  }
  return block;
}

void pool_free(pool *p) {
  while (p->chunks) {
    void *next;
    memcpy(&next, p->chunks, sizeof next);
    free(p->chunks);
    p->chunks = next;
  }
  *p = (pool){0};
}
