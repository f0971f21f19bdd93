/* problem_dump - hands problems and results to a script that finds the results on its own. Without
 * options it says what ops there are, a line for each fact:
 *
 *   op NAME                            begins an op
 *   dim NAME                           its dimensions, slowest first
 *   input NAME KIND DIM...             KIND is float, integer or index; its dimensions by their position
 *   output NAME KIND DIM...
 *   scalar NAME
 *   numpy EXPRESSION                   what the spec gives as NumPy's way, where it does
 *   dtype NAME
 *   variant DTYPE NAME                 those that run on this processor
 *
 * and then answers lines of standard input:
 *
 *   OP DTYPE SEED SPECIAL VARIANT DIM...       SPECIAL: the bits of random.h; VARIANT: a name, or -
 *
 * each by a line "N" and N bytes: the scalars, as the reference takes them; then every operand in the
 * table's order, inputs as they are and outputs as the reference has them; then, where a variant was
 * named, the outputs as it leaves them. Numbers are float64 and integers int64, in this machine's order
 * of bytes. A line "! REASON" stands for an answer that cannot be given. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/common/device.h"
#include "devices/cpu/device.h"
#include "library/dtype.h"
#include "problem/problem.h"
#include "library/bench.h"

typedef struct request {
  char op[128], dtype[16], variant[256];
  uint64_t seed;
  unsigned special;
  size_t dim[LATHE_MAX_DIMS];
} request;

static void say_operand(const lathe_operand *operand) {
  const bool whole = !lathe_dtype_numeric(lathe_dtype_of_operand(operand, LATHE_F64));

  printf("%s %s %s", operand->output ? "output" : "input", operand->name,
         operand->index ? "index"
         : whole        ? "integer"
                        : "float");
  if (operand->index)
    printf(":%d", operand->index - 1);
  for (int d = 0; d < operand->ndim; d++)
    printf(" %d", operand->dim[d]);
  putchar('\n');
}

static void say_op(const lathe_op *op) {
  printf("op %s\n", op->name);
  for (int d = 0; d < op->ndim; d++)
    printf("dim %s\n", op->dim[d]);
  for (int o = 0; o < op->noperands; o++)
    say_operand(&op->operands[o]);
  for (int s = 0; s < op->nscalars; s++)
    printf("scalar %s\n", op->scalars[s].name);
  for (int i = 0; i < op->bench->npeers; i++)
    if (strcmp(op->bench->peers[i].name, "numpy") == 0)
      printf("numpy %s\n", op->bench->peers[i].expression);
  for (int b = 0; b < op->bench->nbounds; b++)
    if (problem_has_reference(op, op->bench->bounds[b].dtype))
      printf("dtype %s\n", lathe_dtype_name(op->bench->bounds[b].dtype));
  for (size_t v = 0; v < lathe_variant_count; v++)
    if (lathe_variants[v].op == op && lathe_variants[v].backend->kind == LATHE_CPU &&
        !lathe_why_not(&lathe_variants[v], device_cpu()->features))
      printf("variant %s %s\n", lathe_dtype_name(lathe_variants[v].dtype), lathe_variants[v].name);
}

static const lathe_op *op_called(const char *name) {
  for (size_t i = 0; i < lathe_op_count; i++)
    if (strcmp(lathe_ops[i].name, name) == 0)
      return &lathe_ops[i];
  return NULL;
}

static lathe_dtype dtype_called(const char *name) {
  for (lathe_dtype dtype = 0; dtype < LATHE_DTYPES; dtype++)
    if (strcmp(lathe_dtype_name(dtype), name) == 0)
      return dtype;
  return LATHE_DTYPES;
}

static const lathe_variant *variant_called(const char *name) {
  for (size_t v = 0; v < lathe_variant_count; v++)
    if (strcmp(lathe_variants[v].name, name) == 0)
      return &lathe_variants[v];
  return NULL;
}

/* Null where a line is a request, else what is wrong with it. */
static const char *read_request(const char *line, request *r) {
  int used = 0;

  memset(r, 0, sizeof *r);
  if (sscanf(line, "%127s %15s %" SCNu64 " %u %255s%n", r->op, r->dtype, &r->seed, &r->special,
             r->variant, &used) != 5)
    return "expected OP DTYPE SEED SPECIAL VARIANT DIM...";
  if (!op_called(r->op))
    return "there is no such op";
  if (dtype_called(r->dtype) == LATHE_DTYPES)
    return "there is no such dtype";
  for (int d = 0; d < op_called(r->op)->ndim; d++) {
    int more = 0;
    if (sscanf(line += used, "%zu%n", &r->dim[d], &more) != 1)
      return "expected an extent for each of the op's dimensions";
    used = more;
  }
  return NULL;
}

/* One operand, from an array of its own type or of the reference's. */
static void put(const problem *p, int o, const void *from, bool reference) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  const size_t size = lathe_dtype_size(type);

  for (size_t i = 0; i < p->elements[o]; i++) {
    double number = 0;
    if (!lathe_dtype_numeric(type)) {
      fwrite((const char *)from + i * size, size, 1, stdout); /* integers are i64 */
      continue;
    }
    if (reference)
      number = (double)problem_number(p, from, i);
    if (reference && lathe_dtype_format_of(type)->integer) { /* as it would be written */
      char whole[sizeof number];
      lathe_dtype_narrow(type, &number, 1, whole);
      lathe_dtype_widen(type, whole, 1, &number);
    }
    if (!reference)
      lathe_dtype_widen(type, (const char *)from + i * size, 1, &number);
    fwrite(&number, sizeof number, 1, stdout);
  }
}

/* Runs the variant and puts out what it leaves; the reason where it could not. The head of the
 * answer goes first, for which all must be well by then. */
static const char *answer(const problem *p, const lathe_variant *variant, size_t bytes) {
  const lathe_args args = problem_args(p);
  device_call *call = NULL;
  const char *why = NULL;

  if (variant) {
    call = device_prepare(device_cpu(), variant, p, (device_layout){0}, &why);
    if (!call)
      return why;
    call->on->reset(call);
    if (!device_run(call) || !call->on->intact(call)) {
      static char error[sizeof call->error];
      memcpy(error, call->error, sizeof error);
      call->on->release(call);
      return error;
    }
  }
  printf("%zu\n", bytes);
  fwrite(args.scalar, sizeof *args.scalar, (size_t)p->op->nscalars, stdout);
  for (int o = 0; o < p->op->noperands; o++)
    put(p, o, p->input[o] ? p->input[o] : p->expected[o], !p->input[o]);
  for (int o = 0; call && o < p->op->noperands; o++)
    if (!p->input[o])
      put(p, o, call->on->output(call, o), false);
  if (call)
    call->on->release(call);
  return NULL;
}

static const char *respond(const char *line) {
  const lathe_variant *variant = NULL;
  const char *wrong;
  problem *p;
  request r;
  size_t numbers = 0;

  wrong = read_request(line, &r);
  if (wrong)
    return wrong;
  if (strcmp(r.variant, "-") != 0) {
    variant = variant_called(r.variant);
    if (!variant || variant->op != op_called(r.op) || variant->dtype != dtype_called(r.dtype))
      return "there is no such variant of the op and type";
    if (lathe_why_not(variant, device_cpu()->features))
      return lathe_why_not(variant, device_cpu()->features);
  }
  p = problem_make(op_called(r.op), dtype_called(r.dtype), r.dim, r.seed, r.special, &wrong);
  if (!p)
    return wrong;
  for (int o = 0; o < p->op->noperands; o++)
    numbers += p->elements[o] * (variant && !p->input[o] ? 2 : 1);
  wrong = answer(p, variant, (numbers + (size_t)p->op->nscalars) * sizeof(double));
  problem_free(p);
  return wrong;
}

int main(void) {
  char line[1024];

  for (size_t i = 0; i < lathe_op_count; i++)
    say_op(&lathe_ops[i]);
  puts("end");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    const char *wrong = respond(line);
    if (wrong)
      printf("! %s\n", wrong);
    fflush(stdout);
  }
  return ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
