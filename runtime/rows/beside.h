/* beside.h - rows of other libraries beside ours: which there are, and how they compare. */
#ifndef BESIDE_H
#define BESIDE_H

#include "row.h"

/* Makes the variants of a comma list of peers (devices/peer/peers.h); null: of none. Ends the program with a message
 * where there is no such peer. */
void beside_choose(const char *list);

/* Leaves libraries that run on processors and on GPUs at the places for which rows of ours are asked. */
void beside_place(const selection *s);

/* The device that a peer's variant runs on, and why it does not, static, or null. On a GPU a peer is where our CUDA
 * rows are; with none but Vulkan's asked for, on the first GPU that CUDA finds. */
device *beside_device(const selection *s, const lathe_variant *variant);
const char *beside_why_not(const selection *s, const lathe_variant *variant);

/* Fills in what the peers among a task's rows take in units of ours: of what dispatch chooses on the same device, or at
 * least at the same place, processor or GPU; or else of the fastest row. */
void beside_compare(row *const *rows, size_t count);

/* Whether options name backends or devices, and GPUs alone: functions of Python compute there. */
bool beside_on_gpus(const options *o);

/* Whether a variant has a row. What is to be judged has one where kernels of ours for such devices are asked for. Of
 * these, beside kernels that are to be judged there is only what dispatch chooses on such a device, unless others are
 * named. */
bool beside_shows(const options *o, const selection *s, const task *t,
                  const lathe_variant *variant);

/* A command line that makes a peer's row again. */
void beside_repro(const row *peer, const char *program, char *to, size_t size);

#endif
