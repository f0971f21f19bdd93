/* memory.h - large pieces of memory, worked on by all processors. Small ones are by the caller alone. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory at a multiple of 64 bytes, for free(); null where there is none. Whoever writes it first has it near. */
void *memory_make(size_t bytes);

/* From here on memory that is freed is kept for the next, and not given back to the system, which clears it anew: that
 * took a third of a check's time where operands are large. memory_kept is how many bytes these are at most, and
 * memory_release gives them back. */
void memory_keep(void);
double memory_kept(void);
void memory_release(void);

void memory_copy(void *to, const void *from, size_t bytes);
void memory_fill(void *to, unsigned char byte, size_t bytes);

/* The first byte in which two pieces differ; bytes where they are the same. */
size_t memory_differs(const void *a, const void *b, size_t bytes);

/* A number that pieces with other bytes, or another `start`, are not likely to share. */
uint64_t memory_sum(const void *p, size_t bytes, uint64_t start);

#endif
