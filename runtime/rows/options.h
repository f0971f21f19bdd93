/* options.h - the bench program's command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "devices/common/device.h"
#include "measure/measure.h"
#include "shard.h"

/* Lists in place of a run: a bit each. */
enum {
  LIST_OPS = 1u << 0,
  LIST_SIZES = 1u << 1,
  LIST_BACKENDS = 1u << 2,
  LIST_DEVICES = 1u << 3,
  LIST_VARIANTS = 1u << 4,
};

typedef struct options {
  unsigned list;
  /* Comma lists as given, null for what was not asked. */
  char *op, *backend, *dtype, *size, *device, *implementation, *variant, *peers, *with;
  const char *trust; /* null, or a word of --trust */
  size_t batch_size; /* 0: as the sizes have it */
  bool fast, sweep, check_only, mutants, no_probe, rows, profile;
  measure_limits limits;
  double timeout;  /* seconds that a launch may take */
  bool in_process; /* devices are used in this process */
  uint64_t seed;
  unsigned special; /* RANDOM_... */
  device_layout layout;
  const char *json, *csv, *markdown, *html;
  const char *explain;          /* a variant, to be told of in the place of a run */
  const char *compare, *tuning; /* files to write and to read, or null */
  const char *against;          /* another bench program, or null */
  shard shard;
  bool all_devices; /* a process for each GPU */
  /* The given options, as --name=value, without those for one process alone: its files, devices, shard and seed. */
  char **words;
  size_t word_count;
} options;

/* Ends the program after --help and --version, and with a message for a bad request. */
options options_parse(int argc, char **argv);
void options_free(options *o);

#endif
