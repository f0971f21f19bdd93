/* plan.h - what plans, devices and texts are made of: for the files of the library. */
#ifndef PLAN_H
#define PLAN_H

#include <string.h>

#include "dispatch.h"

typedef struct lathe_made lathe_made;
typedef struct lathe_line lathe_line;
typedef struct lathe_choices lathe_choices;
typedef struct lathe_tuning lathe_tuning;

/* A device that was opened has more below that. `make` fills in how a plan of a variant is run there: `run`, `loaded`
 * and the plan's workspace. */
struct lathe_device {
  lathe_kind kind;
  uint64_t features;
  lathe_status (*make)(const lathe_device *device, lathe_plan *plan, lathe_made *made,
                       lathe_line *line);
  void (*close)(lathe_device *device);
  char name[256];
  /* What was measured there (tune.c); null for nothing. `tuned` finds the variant of a size among it, or null. */
  lathe_choices *choices;
  const lathe_variant *(*tuned)(const lathe_device *device, const lathe_kernels *table,
                                const size_t *dim);
  void (*forget)(lathe_device *device);
  /* Takes the time of some calls of a plan; null: the host's clock does. */
  int (*time)(lathe_device *device, const lathe_plan *plan, const lathe_tuning *with, size_t calls,
              double *seconds);
  bool needs_queue; /* for that */
};

/* The private part of a plan. */
struct lathe_made {
  int (*run)(const lathe_made *made, void *const *operand, const double *scalar, void *workspace,
             void *stream);
  lathe_fn *kernel; /* on a processor */
  int noperands, nscalars;
  size_t dim[LATHE_MAX_DIMS];
  const lathe_variant *variant;
  const lathe_device *device;
  lathe_threads threads;
  size_t parts; /* that these share a call in */
  bool by_rows; /* where rows lie apart: a call of the kernel for each; else they are copied */
  size_t row[LATHE_MAX_OPERANDS]; /* elements from one to the next; 0: they lie together */
  const void *loaded;             /* a variant's kernels, on a device that was opened */
  uint32_t cut;                   /* of a product on CUDA: see lathe_limits */
} __attribute__((may_alias));

_Static_assert(sizeof(lathe_made) <= sizeof((lathe_plan *)0)->own, "lathe_plan::own has no room");

static inline const lathe_made *lathe_made_of(const lathe_plan *plan) {
  return (const lathe_made *)plan->own;
}

/* Fills in what a kernel is called with. The loops are kept from becoming calls of memcpy, which take longer than the
 * few numbers there are. */
static inline void lathe_fill_args(lathe_args *args, const lathe_made *made, void *const *operand,
                                   const double *scalar, void *workspace) {
  for (int o = 0; o < made->noperands; o++) {
    args->buf[o] = operand[o];
    __asm__("" : "+r"(o));
  }
  for (int s = 0; s < made->nscalars; s++) {
    args->scalar[s] = scalar[s];
    __asm__("" : "+r"(s));
  }
  memcpy(args->dim, made->dim, sizeof args->dim);
  args->workspace = workspace;
  args->phase = 0;
  args->part = args->parts = args->apart = 0;
}

/* A line that is put together of texts and numbers, as long as there is room. */
struct lathe_line {
  char *at, *end; /* null: nobody wants it */
};

lathe_line lathe_begin_line(char why[160]);
void lathe_say(lathe_line *line, const char *text);
void lathe_say_number(lathe_line *line, uint64_t number);

/* lathe_made::run on a processor. */
int lathe_run_on_cpu(const lathe_made *made, void *const *operand, const double *scalar,
                     void *workspace, void *stream);
int lathe_run_by_threads(const lathe_made *made, void *const *operand, const double *scalar,
                         void *workspace, void *stream);

/* A plan of that variant: what lathe_make_of does when it has chosen. */
lathe_status lathe_make_variant(lathe_plan *plan, const lathe_variant *variant,
                                const lathe_device *device, const size_t *dim,
                                const lathe_options *options);

/* Takes rows that lie apart (lathe_options.row) into a plan that is made but for these. */
lathe_status lathe_set_apart(lathe_plan *plan, const size_t *row, lathe_line *line);

/* Elements of an operand's rows, and from its first element to past its last. */
size_t lathe_row_of(const lathe_made *made, int operand);
size_t lathe_reach_of(const lathe_made *made, int operand);

/* All that there are, by op, kind and type; what the generator writes (out/gen/tables.c). */
extern const lathe_kernels *const lathe_all_kernels[];
extern const size_t lathe_all_kernels_count;

/* A call on this processor without a plan that is kept. */
int lathe_call_now(const lathe_kernels *table, void *const *operand, const double *scalar,
                   const size_t *dim, void *workspace);

/* Bytes of workspace that such a call is lent. */
size_t lathe_workspace_now(const lathe_kernels *table, const size_t *dim);

#endif
