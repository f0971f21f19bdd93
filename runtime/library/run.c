/* run.c - calls: of plans, and at once. */
#include "launch.h"
#include "plan.h"

int lathe_run(const lathe_plan *plan, void *const *operand, const double *scalar, void *workspace,
              void *stream) {
  const lathe_made *made = lathe_made_of(plan);

  return made->run(made, operand, scalar, workspace, stream);
}

int lathe_run_on_cpu(const lathe_made *made, void *const *operand, const double *scalar,
                     void *workspace, void *stream) {
  lathe_args args;

  (void)stream;
  lathe_fill_args(&args, made, operand, scalar, workspace);
  made->kernel(&args);
  return LATHE_OK;
}

int lathe_run_by_threads(const lathe_made *made, void *const *operand, const double *scalar,
                         void *workspace, void *stream) {
  lathe_args args;

  (void)stream;
  lathe_fill_args(&args, made, operand, scalar, workspace);
  lathe_run_parts(made->variant, &args, made->parts, &made->threads);
  return LATHE_OK;
}

/* The variant of a call on this processor; null with the reason in *status. */
static const lathe_variant *choose_now(const lathe_kernels *table, const size_t *dim, int *status) {
  const double bytes = lathe_bytes(table->op, table->dtype, dim);
  const lathe_variant *v = NULL;

  if (lathe_are_beyond(table->op, dim, bytes)) {
    *status = LATHE_SHAPE;
  } else {
    v = lathe_choose(table->variants, table->count, dim, bytes, lathe_present_features(), NULL);
    *status = v ? LATHE_OK : LATHE_NO_VARIANT;
  }
  return v;
}

int lathe_call_now(const lathe_kernels *table, void *const *operand, const double *scalar,
                   const size_t *dim, void *workspace) {
  const lathe_op *op = table->op;
  int status;
  const lathe_variant *v = choose_now(table, dim, &status);
  lathe_made made;
  lathe_args args;

  if (!v)
    return status;
  for (int o = 0; o < op->noperands; o++)
    if (!operand[o] && lathe_elements(op, o, dim) > 0)
      return LATHE_NULL;
  if (v->workspace && ((uintptr_t)workspace % 64 != 0 || (!workspace && v->workspace(dim) > 0)))
    return LATHE_WORKSPACE;
  made.noperands = op->noperands;
  made.nscalars = op->nscalars;
  memset(made.dim, 0, sizeof made.dim);
  memcpy(made.dim, dim, (size_t)op->ndim * sizeof *dim);
  lathe_fill_args(&args, &made, operand, scalar, workspace);
  v->run(&args);
  return LATHE_OK;
}

size_t lathe_workspace_now(const lathe_kernels *table, const size_t *dim) {
  int status;
  const lathe_variant *v = choose_now(table, dim, &status);

  return v && v->workspace ? (size_t)v->workspace(dim) : 0;
}
