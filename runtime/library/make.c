/* make.c - plans: which variant a call runs, and whether it may be made. */
#include <string.h>

#include "dtype.h"
#include "plan.h"

unsigned lathe_version(void) {
  return LATHE_VERSION;
}

const lathe_device *lathe_cpu(void) {
  static const lathe_device cpu = {.kind = LATHE_CPU};

  return &cpu;
}

/* "softmax_f32: " */
static void say_table(lathe_line *line, const lathe_kernels *table) {
  lathe_say(line, table->op->name);
  lathe_say(line, "_");
  lathe_say(line, lathe_dtype_name(table->dtype));
  lathe_say(line, ": ");
}

static void say_dimensions(lathe_line *line, const lathe_op *op, const size_t *dim) {
  for (int d = 0; d < op->ndim; d++) {
    lathe_say(line, d ? ", " : "");
    lathe_say(line, op->dim[d]);
    if (dim) {
      lathe_say(line, " = ");
      lathe_say_number(line, dim[d]);
    }
  }
}

static lathe_status refuse_shape(lathe_line *line, const lathe_kernels *table, const size_t *dim) {
  say_table(line, table);
  lathe_say(line, dim ? "no memory has this size: " : "dim is null; expected the extents ");
  say_dimensions(line, table->op, dim);
  return LATHE_SHAPE;
}

/* Why there is no variant: what a device lacks for the last one, which wants the least. */
static lathe_status refuse_variant(lathe_line *line, const lathe_kernels *table, uint64_t features,
                                   const char *glob) {
  const char *why =
      table->count ? lathe_why_not(&table->variants[table->count - 1], features) : NULL;

  say_table(line, table);
  if (glob) {
    lathe_say(line, "no variant that runs on this device is called '");
    lathe_say(line, glob);
    lathe_say(line, "'; null takes the best of all");
  } else {
    lathe_say(line, "no variant runs on this device: ");
    lathe_say(line, why ? why : "none of those there are for it is for this size");
  }
  return LATHE_NO_VARIANT;
}

lathe_status lathe_make_variant(lathe_plan *plan, const lathe_variant *v,
                                const lathe_device *device, const size_t *dim,
                                const lathe_options *options) {
  lathe_made *made = (lathe_made *)plan->own;
  lathe_line line = lathe_begin_line(plan->why);
  lathe_status status = LATHE_OK;

  memset(made, 0, sizeof *made);
  memcpy(made->dim, dim, (size_t)v->op->ndim * sizeof *dim);
  made->noperands = v->op->noperands;
  made->nscalars = v->op->nscalars;
  made->variant = v;
  made->device = device;
  made->parts = 1;
  plan->arguments = 0;
  if (device->make) {
    status = device->make(device, plan, made, &line);
  } else {
    if (options && options->threads.run) {
      made->threads = options->threads;
      made->parts = lathe_parts(v, dim, options->threads.count);
    }
    made->kernel = v->run;
    made->run = made->parts > 1 ? lathe_run_by_threads : lathe_run_on_cpu;
    plan->workspace = (size_t)lathe_workspace_of_parts(v, dim, made->parts);
  }
  if (!status && options && options->row)
    status = lathe_set_apart(plan, options->row, &line);
  plan->digits = v->digits ? v->digits : v->narrowed;
  plan->variant = status ? NULL : v->name;
  plan->source = status ? NULL : v->source;
  return status;
}

void lathe_close(lathe_device *device) {
  if (device && device->choices)
    device->forget(device);
  if (device && device->close)
    device->close(device);
}

lathe_status lathe_make_of(lathe_plan *made, const lathe_kernels *table, const lathe_device *device,
                           const size_t *dim, const lathe_options *options) {
  const size_t first_size = offsetof(lathe_options, row); /* of the first version */
  lathe_options all = {.size = sizeof all};
  lathe_line line = lathe_begin_line(made->why);
  const lathe_variant *v;
  uint64_t features;
  double bytes;

  made->variant = made->source = NULL;
  if (!table) {
    lathe_say(&line,
              "lathe_make_of: table is null; op headers such as lathe/softmax.h declare theirs");
    return LATHE_NO_OP;
  }
  if (options && (options->size != first_size && options->size != sizeof all)) {
    say_table(&line, table);
    lathe_say(&line, "options.size: expected sizeof(lathe_options), ");
    lathe_say_number(&line, sizeof *options);
    lathe_say(&line, ", found ");
    lathe_say_number(&line, options->size);
    return LATHE_OPTIONS;
  }
  if (options)
    memcpy(&all, options, options->size);
  device = device ? device : lathe_cpu();
  if (device->kind != table->kind) {
    say_table(&line, table);
    lathe_say(&line, "these kernels are for ");
    lathe_say(&line, lathe_kind_name(table->kind));
    lathe_say(&line, ", the device is of the kind ");
    lathe_say(&line, lathe_kind_name(device->kind));
    return LATHE_NO_VARIANT;
  }
  features = device->make ? device->features : lathe_present_features();
  bytes = dim ? lathe_bytes(table->op, table->dtype, dim) : 0;
  if (!dim || lathe_are_beyond(table->op, dim, bytes))
    return refuse_shape(&line, table, dim);
  v = device->choices && !all.variant ? device->tuned(device, table, dim) : NULL;
  if (!v)
    v = lathe_choose(table->variants, table->count, dim, bytes, features, all.variant);
  if (!v)
    return refuse_variant(&line, table, features, all.variant);
  made->ulp = table->ulp;
  return lathe_make_variant(made, v, device, dim, &all);
}

/* ---- is a call as it may be? ------------------------------------------------------------------- */

static size_t bytes_of(const lathe_made *made, int operand, size_t elements) {
  const lathe_variant *v = made->variant;

  return elements * lathe_dtype_size(lathe_dtype_of_operand(&v->op->operands[operand], v->dtype));
}

/* Whether rows that lie as far apart as another operand's are all between that one's: columns of one matrix. */
static bool are_between(const lathe_made *made, uintptr_t a, int output, uintptr_t b, int other) {
  const size_t apart = bytes_of(made, output, made->row[output]);
  const size_t past = apart ? (a < b ? b - a : apart - (a - b) % apart) % apart : 0;

  return apart > 0 && apart == bytes_of(made, other, made->row[other]) &&
         past >= bytes_of(made, output, lathe_row_of(made, output)) &&
         past + bytes_of(made, other, lathe_row_of(made, other)) <= apart;
}

/* Whether an output may not lie where another operand does. */
static bool overlaps(const lathe_made *made, void *const *at, int output, int other) {
  const uintptr_t a = (uintptr_t)at[output], b = (uintptr_t)at[other];
  const size_t bytes = bytes_of(made, output, lathe_reach_of(made, output));
  const size_t others = bytes_of(made, other, lathe_reach_of(made, other));
  const lathe_op *op = made->variant->op;
  const bool first =
      !op->operands[output].output || output == 0 || !op->operands[output - 1].output;

  if (bytes == 0 || others == 0 || a >= b + others || b >= a + bytes ||
      are_between(made, a, output, b, other))
    return false;
  return !(op->in_place && first && other == 0 && a == b && made->row[0] == made->row[output]);
}

lathe_status lathe_check(const lathe_plan *plan, void *const *operand, const void *workspace,
                         char why[160]) {
  const lathe_made *made = lathe_made_of(plan);
  const lathe_op *op = made->variant->op;
  lathe_line line = lathe_begin_line(why);

  lathe_say(&line, op->name);
  lathe_say(&line, ": ");
  for (int o = 0; o < op->noperands; o++) {
    const lathe_operand *row = &op->operands[o];
    const size_t size = lathe_dtype_size(lathe_dtype_of_operand(row, made->variant->dtype));
    lathe_status status = LATHE_OK;
    int other = 0;
    if (!operand[o] && lathe_reach_of(made, o) > 0)
      status = LATHE_NULL;
    else if ((uintptr_t)operand[o] % size != 0)
      status = LATHE_ALIGNMENT;
    for (; row->output && !status && other < op->noperands; other++)
      if (other != o && overlaps(made, operand, o, other))
        status = LATHE_OVERLAP;
    if (!status)
      continue;
    lathe_say(&line, row->name);
    if (status == LATHE_NULL) {
      lathe_say(&line, " is null; expected memory for its elements");
    } else if (status == LATHE_ALIGNMENT) {
      lathe_say(&line, " lies between elements; its address is to be a multiple of ");
      lathe_say_number(&line, size);
    } else {
      lathe_say(&line, " shares memory with ");
      lathe_say(&line, op->operands[other - 1].name);
      lathe_say(&line, "; give it memory of its own");
    }
    return status;
  }
  if ((!workspace && plan->workspace > 0) || (uintptr_t)workspace % 64 != 0) {
    lathe_say(&line,
              workspace ? "the workspace lies at no multiple of 64; " : "the workspace is null; ");
    lathe_say(&line, "lend the call plan.workspace bytes, ");
    lathe_say_number(&line, plan->workspace);
    return LATHE_WORKSPACE;
  }
  lathe_begin_line(why);
  return LATHE_OK;
}
