/* selection.h - what the command line asks for, out of what the table holds. */
#ifndef SELECTION_H
#define SELECTION_H

#include "options.h"
#include "size.h"

/* One (op, type, size): its variants are compared with each other. */
typedef struct task {
  const lathe_op *op;
  lathe_dtype dtype;
  size_shape shape; /* as asked for, and as the op takes it: */
  size_t dim[LATHE_MAX_DIMS];
  char size[SIZE_TEXT]; /* what the spec calls the size, or its shape */
  size_t place;         /* among all that were asked for, before they are shared out */
} task;

typedef struct selection {
  task *tasks; /* by op, type, and then as the sizes were given */
  size_t count;
  bool *variant; /* by index in the table: asked for */
  bool *device;  /* by index: asked for */
  bool one_op;   /* all tasks are of one op */
  /* A hash of the tasks and variants, before they are shared out, which tells one request from another. */
  uint64_t asked;
  /* A processor that emulates a GPU, and whose variants are left out for that; null: none. */
  const device *unasked;
} selection;

/* Ends the program with a message where a name is unknown or nothing matches. */
selection selection_make(const options *o);
void selection_free(selection *s);

/* Whether a variant was asked for and belongs to the task. */
bool selection_has(const selection *s, const task *t, const lathe_variant *variant);

/* The device that was asked for and runs such a backend; null where there is none. */
device *selection_device(const selection *s, lathe_kind kind);

/* Null where a variant can run here; else the reason, static. */
const char *selection_why_not(const selection *s, const lathe_variant *variant);

/* By which option of configure nothing of an op was built; null where something was. */
const char *selection_left_out(const lathe_op *op);

#endif
