/* planted.h - kernels that are wrong on purpose, run as the bench program runs them. */
#ifndef PLANTED_H
#define PLANTED_H

#include "tests.h"

#include "library/dispatch.h"

extern const lathe_backend planted_backend;

/* A variant whose kernel is the function OP_HOW. Static, as the table's are: the worker finds it where it is here. */
#define PLANT(of, how)                                                                             \
  {                                                                                                \
    .name = #of "_" #how, .op = &(of), .backend = &planted_backend, .dtype = LATHE_F32,            \
    .run = of##_##how                                                                              \
  }

typedef struct planted {
  lathe_variant variant;
  size_t dim[3];
  const char *checking; /* what a check alone says, or begins with; null: nothing */
  const char *timing;   /* what is said where calls are timed as well */
} planted;

/* Checks each, and times it. */
void planted_expect(const planted *plants, size_t count);

#define PROBE "in the probe before its sizes: "

#endif
