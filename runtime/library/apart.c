/* apart.c - calls on a processor whose operands have rows that lie apart. Kernels take rows that lie together: where a
 * call can be cut into rows, each is a call of the kernel; else what lies apart is copied to and from the workspace. */
#include "dtype.h"
#include "plan.h"

/* In whole lines of a cache. */
static size_t in_lines(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static size_t element_of(const lathe_made *made, int operand) {
  const lathe_variant *v = made->variant;

  return lathe_dtype_size(lathe_dtype_of_operand(&v->op->operands[operand], v->dtype));
}

size_t lathe_row_of(const lathe_made *made, int operand) {
  const lathe_operand *o = &made->variant->op->operands[operand];

  return o->ndim > 0 ? made->dim[o->dim[o->ndim - 1]] : 1;
}

static size_t rows_of(const lathe_made *made, int operand) {
  const size_t row = lathe_row_of(made, operand);

  return row ? lathe_elements(made->variant->op, operand, made->dim) / row : 0;
}

size_t lathe_reach_of(const lathe_made *made, int operand) {
  const size_t rows = rows_of(made, operand), row = lathe_row_of(made, operand);

  return rows ? (rows - 1) * (made->row[operand] ? made->row[operand] : row) + row : 0;
}

/* ---- a call for each row ----------------------------------------------------------------------- */

/* Whether an operand has the axis that calls are cut along, which is its first then. */
static bool is_cut(const lathe_op *op, int operand) {
  const lathe_operand *o = &op->operands[operand];

  return o->ndim > 0 && o->dim[0] == op->cut - 1;
}

/* Whether calls for single rows are what that takes: matrices that all rows are multiplied by are read once a call. */
static bool goes_by_rows(const lathe_made *made) {
  const lathe_op *op = made->variant->op;
  const bool multiplies = lathe_contracted_flops(op, made->dim) > 0;
  bool can = op->cut > 0;

  for (int o = 0; o < op->noperands && can; o++)
    can = is_cut(op, o) ? !made->row[o] || op->operands[o].ndim == 2
                        : !made->row[o] && !(multiplies && op->operands[o].ndim > 0);
  return can;
}

typedef struct rows_call {
  const lathe_made *made;
  const lathe_args *args;
  size_t rows, parts, workspace; /* bytes of it that a part has */
} rows_call;

static void run_rows(void *context, size_t nth) {
  const rows_call *call = context;
  const lathe_made *made = call->made;
  const lathe_op *op = made->variant->op;
  const size_t each = call->rows / call->parts, more = call->rows % call->parts;
  const size_t first = each * nth + (nth < more ? nth : more);
  lathe_args args = *call->args;
  size_t step[LATHE_MAX_OPERANDS] = {0};

  for (int o = 0; o < op->noperands; o++) {
    const size_t row = made->row[o] ? made->row[o] : lathe_elements(op, o, made->dim) / call->rows;
    step[o] = is_cut(op, o) ? row * element_of(made, o) : 0;
    args.buf[o] = (char *)args.buf[o] + first * step[o];
  }
  args.dim[op->cut - 1] = 1;
  if (args.workspace)
    args.workspace = (char *)args.workspace + nth * call->workspace;
  for (size_t left = each + (nth < more ? 1 : 0); left > 0; left--) {
    made->kernel(&args);
    for (int o = 0; o < op->noperands; o++)
      args.buf[o] = (char *)args.buf[o] + step[o];
  }
}

/* Bytes of workspace that a row's call wants. */
static size_t workspace_of_row(const lathe_made *made) {
  size_t dim[LATHE_MAX_DIMS];

  memcpy(dim, made->dim, sizeof dim);
  dim[made->variant->op->cut - 1] = 1;
  return in_lines((size_t)lathe_workspace(made->variant, dim));
}

static int run_by_rows(const lathe_made *made, void *const *operand, const double *scalar,
                       void *workspace, void *stream) {
  const size_t rows = made->dim[made->variant->op->cut - 1];
  lathe_args args;
  rows_call call = {made, &args, rows, made->parts, 0};

  (void)stream;
  if (rows == 0)
    return LATHE_OK;
  lathe_fill_args(&args, made, operand, scalar, workspace);
  if (call.parts > 1) {
    call.workspace = workspace ? workspace_of_row(made) : 0;
    made->threads.run(made->threads.pool, run_rows, &call, call.parts);
  } else {
    run_rows(&call, 0);
  }
  return LATHE_OK;
}

/* ---- copies ------------------------------------------------------------------------------------ */

/* Copies an operand's rows, which lie so many elements apart at both places. */
static void copy(const lathe_made *made, int operand, void *to, size_t to_row, const void *from,
                 size_t from_row) {
  const size_t element = element_of(made, operand), bytes = lathe_row_of(made, operand) * element;

  for (size_t left = rows_of(made, operand); left > 0; left--) {
    memcpy(to, from, bytes);
    to = (char *)to + to_row * element;
    from = (const char *)from + from_row * element;
  }
}

static size_t bytes_of_copy(const lathe_made *made, int operand) {
  const size_t elements = lathe_elements(made->variant->op, operand, made->dim);

  return made->row[operand] ? in_lines(elements * element_of(made, operand)) : 0;
}

static int run_copied(const lathe_made *made, void *const *operand, const double *scalar,
                      void *workspace, void *stream) {
  const lathe_op *op = made->variant->op;
  char *at = workspace;
  void *given[LATHE_MAX_OPERANDS];

  for (int o = 0; o < op->noperands; o++) {
    const size_t bytes = bytes_of_copy(made, o);
    given[o] = bytes ? at : operand[o];
    at += bytes;
    if (bytes && !op->operands[o].output)
      copy(made, o, given[o], lathe_row_of(made, o), operand[o], made->row[o]);
  }
  (made->parts > 1 ? lathe_run_by_threads : lathe_run_on_cpu)(made, given, scalar, at, stream);
  for (int o = 0; o < op->noperands; o++)
    if (given[o] != operand[o] && op->operands[o].output)
      copy(made, o, operand[o], made->row[o], given[o], lathe_row_of(made, o));
  return LATHE_OK;
}

/* ---- plans ------------------------------------------------------------------------------------- */

static lathe_status refuse(lathe_line *line, const lathe_made *made, int operand, size_t row) {
  const lathe_op *op = made->variant->op;
  const size_t elements = lathe_row_of(made, operand);

  lathe_say(line, op->name);
  lathe_say(line, ": ");
  lathe_say(line, op->operands[operand].name);
  if (op->operands[operand].ndim < 2) {
    lathe_say(line, " is a single row; options.row is to be 0 for it");
    return LATHE_STRIDE;
  }
  lathe_say(line, " has rows of ");
  lathe_say_number(line, elements);
  lathe_say(line, " elements that lie ");
  lathe_say_number(line, row);
  lathe_say(line, row < elements       ? " apart, one over the other; expected that many at least"
                  : made->device->make ? " apart; kernels of this device want them together"
                                       : " apart; no memory has so many of these");
  return LATHE_STRIDE;
}

lathe_status lathe_set_apart(lathe_plan *plan, const size_t *row, lathe_line *line) {
  const double largest = 0x1p56;
  lathe_made *made = (lathe_made *)plan->own;
  const lathe_op *op = made->variant->op;
  bool any = false;

  for (int o = 0; o < op->noperands; o++) {
    const size_t elements = lathe_row_of(made, o);
    if (row[o] == 0 || (row[o] == elements && op->operands[o].ndim > 1))
      continue;
    if (op->operands[o].ndim < 2 || row[o] < elements || made->device->make ||
        (double)rows_of(made, o) * (double)row[o] > largest)
      return refuse(line, made, o, row[o]);
    made->row[o] = row[o];
    any = true;
  }
  if (!any)
    return LATHE_OK;
  made->by_rows = goes_by_rows(made);
  if (made->by_rows) {
    const size_t rows = made->dim[op->cut - 1];
    made->parts = made->parts > rows && rows > 0 ? rows : made->parts;
    made->run = run_by_rows;
    plan->workspace = workspace_of_row(made) * made->parts;
  } else {
    made->run = run_copied;
    for (int o = 0; o < op->noperands; o++)
      plan->workspace += bytes_of_copy(made, o);
  }
  return LATHE_OK;
}
