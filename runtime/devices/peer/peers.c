/* peers.c - other libraries that kernels are held against. */
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "library/dtype.h"

/* A library: where it runs, and which of the expressions that a spec has for its peers. */
typedef struct peer {
  lathe_backend backend;
  const char *expression;
  /* Of a library that is called in this program: its function for an op and type, or null with the reason in why,
   * static. */
  lathe_fn *(*function)(const lathe_op *op, lathe_dtype dtype, const char **why);
} peer;

static const peer all[PEERS] = {
    {{"numpy", LATHE_PEER, LATHE_ON_PEER, NULL}, "numpy", NULL},
    {{"torch", LATHE_PEER, LATHE_ON_PEER, NULL}, "torch", NULL},
    {{"torch.compile", LATHE_PEER, LATHE_ON_PEER, NULL}, "torch", NULL},
    {{"openblas", LATHE_CPU, LATHE_ON_CPU, NULL}, "blas", blas_function},
};

/* A variant with its name. */
typedef struct made {
  lathe_variant variant;
  char name[96];
} made;

static made *variants;
static size_t count;

const char *peers_name(int number) {
  return all[number].backend.name;
}

static const peer *peer_of(const lathe_backend *backend) {
  for (int i = 0; i < PEERS; i++)
    if (backend == &all[i].backend)
      return &all[i];
  return NULL;
}

static const char *expression_of(const lathe_op *op, const peer *p) {
  for (int i = 0; i < op->npeers; i++)
    if (strcmp(op->peers[i].name, p->expression) == 0)
      return op->peers[i].expression;
  return NULL;
}

static void make(const lathe_op *op, lathe_dtype dtype, const peer *p) {
  const char *why = NULL;
  lathe_fn *function = p->function ? p->function(op, dtype, &why) : NULL;
  made *m = &variants[count++];

  snprintf(m->name, sizeof m->name, "%s_%s__%s", op->name, lathe_dtype_name(dtype),
           p->backend.name);
  m->variant = (lathe_variant){.name = m->name,
                               .op = op,
                               .backend = &p->backend,
                               .dtype = dtype,
                               .run = function,
                               .disabled = why,
                               .source = op->source};
}

bool peers_make(const bool *chosen) {
  size_t most = 1;

  for (size_t o = 0; o < lathe_op_count; o++)
    most += (size_t)lathe_ops[o].nbounds * PEERS;
  variants = calloc(most, sizeof *variants);
  if (!variants)
    return false;
  for (size_t o = 0; o < lathe_op_count; o++)
    for (int b = 0; b < lathe_ops[o].nbounds; b++)
      for (int i = 0; i < PEERS; i++)
        if (chosen[i] && expression_of(&lathe_ops[o], &all[i]))
          make(&lathe_ops[o], lathe_ops[o].bounds[b].dtype, &all[i]);
  return true;
}

void peers_free(void) {
  free(variants);
  variants = NULL;
  count = 0;
}

size_t peers_count(void) {
  return count;
}

const lathe_variant *peers_at(size_t index) {
  return &variants[index].variant;
}

size_t peers_index(const lathe_variant *variant) {
  return (size_t)((const made *)variant - variants);
}

bool peers_has(const lathe_backend *backend) {
  return peer_of(backend) != NULL;
}

const char *peers_expression(const lathe_variant *variant) {
  return expression_of(variant->op, peer_of(variant->backend));
}
