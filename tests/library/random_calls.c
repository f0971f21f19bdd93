/* random_calls.c - random calls of all kernels that the library has: none crashes, and those that are made leave the
 * bits that a call of one thread does. Operands are as large as they have to be, for a sanitizer to see around them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/dtype.h"
#include "library/plan.h"

static uint64_t state;

static uint32_t draw(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static void run_in_turn(void *pool, lathe_part_fn *work, void *context, size_t parts) {
  (void)pool;
  while (parts-- > 0)
    work(context, parts);
}

/* Zeros are numbers of every type; places along an axis, and halves, are fit for any. */
static void *memory_of(size_t bytes) {
  const size_t all = (bytes + 63) / 64 * 64;
  char *memory = aligned_alloc(64, all ? all : 64);

  memset(memory, 0, all ? all : 64);
  return memory;
}

static size_t bytes_of(const lathe_made *made, int operand, size_t elements) {
  const lathe_variant *v = made->variant;

  return elements * lathe_dtype_size(lathe_dtype_of_operand(&v->op->operands[operand], v->dtype));
}

static size_t bytes_packed(const lathe_made *made, int operand) {
  return bytes_of(made, operand, lathe_elements(made->variant->op, operand, made->dim));
}

/* Copies rows of an operand that may lie apart to others that lie together. */
static void pack(const lathe_made *made, int operand, char *to, const char *from) {
  const size_t row = bytes_of(made, operand, lathe_row_of(made, operand));
  const size_t apart = made->row[operand] ? bytes_of(made, operand, made->row[operand]) : row;

  for (size_t left = bytes_packed(made, operand); left > 0; left -= row) {
    memcpy(to, from, row);
    to += row;
    from += apart;
  }
}

/* Runs a plan on zeros: the results, one after the other; their bytes in *size. */
static char *results_of(const lathe_plan *plan, size_t *size) {
  const lathe_made *made = lathe_made_of(plan);
  const lathe_op *op = made->variant->op;
  double scalar[LATHE_MAX_SCALARS];
  void *operand[LATHE_MAX_OPERANDS], *workspace = memory_of(plan->workspace);
  char why[160], *results;
  size_t all = 0;

  for (int s = 0; s < op->nscalars; s++)
    scalar[s] = op->scalars[s].value;
  for (int o = 0; o < op->noperands; o++) {
    operand[o] = memory_of(bytes_of(made, o, lathe_reach_of(made, o)));
    all += bytes_packed(made, o);
  }
  if (lathe_check(plan, operand, workspace, why) != LATHE_OK ||
      lathe_run(plan, operand, scalar, workspace, NULL) != LATHE_OK) {
    printf("%s: %s\n", plan->variant, why);
    exit(1);
  }
  results = malloc(all + 1);
  *size = 0;
  for (int o = 0; o < op->noperands; o++) {
    if (op->operands[o].output) {
      pack(made, o, results + *size, operand[o]);
      *size += bytes_packed(made, o);
    }
    free(operand[o]);
  }
  free(workspace);
  return results;
}

/* Rows of nothing are gone over too. */
static int is_small(const lathe_made *made) {
  const lathe_op *op = made->variant->op;

  for (int d = 0; d < op->ndim; d++)
    if (made->dim[d] > 1000)
      return 0;
  return lathe_bytes(op, LATHE_F64, made->dim) < 1e6 && lathe_flops(op, made->dim) < 1e7;
}

static int run_both(const lathe_plan *one, const lathe_plan *other) {
  size_t size, others;
  char *a = results_of(one, &size), *b = results_of(other, &others);
  const int same = size == others && (size == 0 || memcmp(a, b, size) == 0);

  if (!same)
    printf("%s: threads change results\n", one->variant);
  free(a);
  free(b);
  return same;
}

int main(int count, char **argument) {
  const int calls = count > 1 ? atoi(argument[1]) : 10000;
  int made_ready = 0, refused = 0;

  state = count > 2 ? strtoull(argument[2], NULL, 10) : 1;
  for (int i = 0; i < calls; i++) {
    static const char *const globs[] = {
        NULL,
        NULL,
        NULL,
        "*",
        "*scalar*",
        "*sse2*",
        "",
        "[",
        "a name that is longer than there is room for in a line, so that the line has to end "
        "before it "
        "does, whatever the rest of it says, and so on, until it is longer than 160 characters are",
        "*?*"};
    const lathe_kernels *k = lathe_all_kernels[draw((uint32_t)lathe_all_kernels_count)];
    const uint32_t below = 1 + draw(24);
    lathe_options options = {.size = draw(20) ? sizeof options : draw(100)};
    size_t dim[LATHE_MAX_DIMS], row[LATHE_MAX_OPERANDS];
    lathe_plan plan, alone;
    lathe_status status;
    for (int d = 0; d < LATHE_MAX_DIMS; d++)
      dim[d] = draw(50) ? draw(below) : draw(8) ? draw(300) : SIZE_MAX >> draw(64);
    for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
      const lathe_operand *of = &k->op->operands[o < k->op->noperands ? o : 0];
      row[o] = of->ndim < 2 ? !draw(100)
               : draw(3)    ? dim[of->dim[of->ndim - 1]] + draw(9)
                            : draw(30);
    }
    options.row = draw(3) ? NULL : row;
    options.variant = globs[draw(sizeof globs / sizeof *globs)];
    options.threads =
        (lathe_threads){.run = draw(2) ? run_in_turn : NULL, .count = (int)draw(20) - 2};
    memset(&plan, (int)draw(256), sizeof plan);
    status = draw(2)
                 ? lathe_make_of(&plan, draw(50) ? k : NULL, NULL, draw(50) ? dim : NULL, &options)
                 : lathe_make(&plan, draw(2) ? lathe_cpu() : NULL, draw(50) ? k->op->name : "no",
                              draw(20) ? k->dtype : (lathe_dtype)draw(20), draw(50) ? dim : NULL,
                              draw(4) ? &options : NULL);
    if (memchr(plan.why, 0, sizeof plan.why) == NULL || !status != !plan.why[0] ||
        !status != (plan.variant != NULL)) {
      printf("status %d: '%.160s'\n", status, plan.why);
      return 1;
    }
    refused += status != LATHE_OK;
    if (status || !is_small(lathe_made_of(&plan)))
      continue;
    made_ready++;
    options.threads.run = NULL;
    options.row = NULL;
    options.variant = plan.variant;
    options.size = sizeof options;
    if (lathe_make(&alone, NULL, lathe_made_of(&plan)->variant->op->name,
                   lathe_made_of(&plan)->variant->dtype, lathe_made_of(&plan)->dim, &options) ||
        !run_both(&plan, &alone))
      return 1;
  }
  printf("%d calls, %d refused, %d run\n", calls, refused, made_ready);
  return refused == 0 || made_ready == 0;
}
