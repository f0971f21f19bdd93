/* table.h - results of 16 bits, looked up by the 16 bits of what they are the results of. */
#ifndef LATHE_TABLE_H
#define LATHE_TABLE_H

#include <fenv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  LATHE_TABLE_SIZE = 1 << 16,
  LATHE_TABLE_BLOCK = 1 << 8, /* how many are filled in at a time */
};

/* A table's state. */
enum { LATHE_TABLE_EMPTY, LATHE_TABLE_FILLING, LATHE_TABLE_FILLED };

/* Zero before its first use: a program that never calls the kernel does not touch this memory. */
typedef struct lathe_table {
  int state; /* by atomic accesses, which C++ has not by the names of C */
  uint16_t result[LATHE_TABLE_SIZE];
} lathe_table;

/* The results of `count` numbers by arithmetic. */
typedef void lathe_points(const uint16_t *from, uint16_t *to, size_t count);

/* Fills a table. The results are those of rounding to nearest and of gradual underflow, however the
 * thread that happens to come first has it, and nothing is left in its flags. */
static inline void lathe_table_fill(lathe_table *table, lathe_points *points) {
  uint16_t from[LATHE_TABLE_BLOCK];
  fenv_t environment;
  fegetenv(&environment);
  fesetenv(FE_DFL_ENV);
  for (size_t first = 0; first < LATHE_TABLE_SIZE; first += LATHE_TABLE_BLOCK) {
    for (size_t i = 0; i < LATHE_TABLE_BLOCK; i++)
      from[i] = (uint16_t)(first + i);
    points(from, table->result + first, LATHE_TABLE_BLOCK);
  }
  fesetenv(&environment);
}

/* Whether a table can be used. The first call fills it. Those that come meanwhile are told no, rather
 * than wait for a thread that may not be running: they get the same results by arithmetic. */
static inline bool lathe_table_ready(lathe_table *table, lathe_points *points) {
  int state = __atomic_load_n(&table->state, __ATOMIC_ACQUIRE);
  if (state == LATHE_TABLE_EMPTY &&
      __atomic_compare_exchange_n(&table->state, &state, LATHE_TABLE_FILLING, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    lathe_table_fill(table, points);
    state = LATHE_TABLE_FILLED;
    __atomic_store_n(&table->state, state, __ATOMIC_RELEASE);
  }
  return state == LATHE_TABLE_FILLED;
}

/* to[i] = table[from[i]]. Two loads for each, and a store for eight: more stores would cost more than
 * putting eight together does, and so do the gathers of AVX2 and AVX-512 (AMD EPYC, Zen 5). */
static inline void lathe_look_up(const uint16_t *table, const uint16_t *from, uint16_t *to,
                                 size_t count) {
  typedef uint16_t eight __attribute__((vector_size(16)));
  size_t i = 0;
  for (; count - i >= 8; i += 8) {
    const uint16_t *f = from + i;
    const eight results = {table[f[0]], table[f[1]], table[f[2]], table[f[3]],
                           table[f[4]], table[f[5]], table[f[6]], table[f[7]]};
    memcpy(to + i, &results, sizeof results);
  }
  for (; i < count; i++)
    to[i] = table[from[i]];
}

#endif
