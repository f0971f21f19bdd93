/* fleet.h - --devices all: a process for each GPU, all at once, and then one for the processor alone.
 *
 * GPUs with the same name share the rows. GPUs of another name have all rows once more. Each process is this
 * program with --device, --shard and --json. Their tables are printed one after the other, and their rows become one
 * run. */
#ifndef FLEET_H
#define FLEET_H

#include "rows/selection.h"

/* Runs all, and writes the files that were asked for; the exit status. program: how this one was called. */
int fleet_run(const options *o, const selection *s, const char *program);

#endif
