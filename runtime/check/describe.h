/* describe.h - what a check says of a call: one line, which ends with the size, the seed and the layout, or a command.
 * Texts are cut at the end of the buffer. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "devices/common/device.h"
#include "judge.h"
#include "problem/sampling.h"

/* Results of an output that are judged together: all of them, or a layer's. */
typedef struct view {
  const device_call *call;
  const problem *p;            /* whose results they are */
  const sampling_layer *layer; /* null: of all */
  int output;
  lathe_dtype type;
  const void *got;
} view;

view describe_view(const device_call *call, const sampling_layer *layer, int output,
                   const void *got);

/* The faults of such results; for a call that failed, its error. */
void describe_results(const view *v, const judgement *j, char *to, size_t size);
void describe_misdeed(const device_call *call, char *to, size_t size);

/* As the call's error: an element of an output that is another from one run to the next. */
void describe_change(device_call *call, int output, size_t element, const void *before,
                     const void *now);

/* Adds the size, the seed and the layout to a text. */
void describe_setting(const device_call *call, char *to, size_t size);

/* A command line that makes the same check again. */
void describe_repro(const device_call *call, const char *program, char *to, size_t size);

#endif
