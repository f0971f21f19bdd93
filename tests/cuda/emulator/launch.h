/* launch.h - a launch, which device.c is asked for and emulator.c runs. */
#ifndef EMULATOR_LAUNCH_H
#define EMULATOR_LAUNCH_H

#include <stdbool.h>

#include "bulk_copies.h"
#include "emulator.h"
#include "library/launch.h"

enum {
  WARP = 32,
  MOST_THREADS = 1024, /* of a block */
  MOST_CLUSTER = 8,    /* blocks */
  CLUSTERS = 4,        /* that run at a time */
};

/* Those that have fewer maps do not look for the others. */
typedef void kernel_fn(lathe_args args, emulator_map, emulator_map, emulator_map, emulator_map,
                       emulator_map, emulator_map);
_Static_assert(LATHE_MAX_MAPS == 6, "a kernel is given as many");

typedef struct launch {
  kernel_fn *kernel;
  void *(*anchor)(void);
  lathe_args args;
  emulator_map maps[LATHE_MAX_MAPS];
  emulator_place blocks, threads;
  unsigned cluster, clusters, shared;
  bool early;
} launch;

/* Runs all blocks. */
void run_launch(const launch *l);

#endif
