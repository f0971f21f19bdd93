/* peers.c - other libraries that kernels are held against. */
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "blas.h"
#include "cublas.h"
#include "cudnn.h"
#include "devices/cuda/others.h"
#include "devices/foreign/foreign.h"
#include "library/dtype.h"
#include "library/bench.h"
#include "problem/problem.h"

/* A library at a place. */
typedef struct peer {
  lathe_backend backend; /* its kind: whose devices run it */
  const char *library;
  const char *expression; /* which of those that a spec has for its peers */
  bool gpu;               /* it runs on a GPU, */
  bool other;             /* and has a row for the other place as well */
  bool derives;           /* it derives the gradient's expression of an op's itself */
  /* Of a library that is called in this program: its function for an op and type, or null with the reason in why,
   * static. */
  lathe_fn *(*function)(const lathe_op *op, lathe_dtype dtype, const char **why);
  const cuda_other *cuda; /* of one whose calls this program puts on a CUDA device's stream */
} peer;

#define PYTHON(name, ...)                                                                          \
  { {name, LATHE_PEER, LATHE_ON_PEER, NULL}, __VA_ARGS__ }
static const peer all[PEERS] = {
    PYTHON("numpy", .library = "numpy", .expression = "numpy"),
    PYTHON("torch", .library = "torch", .expression = "torch", .other = true, .derives = true),
    PYTHON("torch_cuda", .library = "torch", .expression = "torch", .gpu = true, .other = true,
           .derives = true),
    PYTHON("torch.compile", .library = "torch.compile", .expression = "torch", .other = true,
           .derives = true),
    PYTHON("torch.compile_cuda", .library = "torch.compile", .expression = "torch", .gpu = true,
           .other = true, .derives = true),
    {{"openblas", LATHE_CPU, LATHE_ON_CPU, NULL},
     .library = "openblas",
     .expression = "blas",
     .function = blas_function},
    {{"cublas", LATHE_CUDA, LATHE_ON_CUDA, NULL},
     .library = "cublas",
     .expression = "blas",
     .gpu = true,
     .cuda = &cublas_calls},
    {{"cudnn", LATHE_CUDA, LATHE_ON_CUDA, NULL},
     .library = "cudnn",
     .expression = "cudnn",
     .gpu = true,
     .cuda = &cudnn_calls},
};

/* A variant with its name. */
typedef struct made {
  lathe_variant variant;
  char name[96];
} made;

static made *variants;
static size_t count;
static size_t *order, wanted; /* the indexes of those that are not left out */

const char *peers_name(int number) {
  return all[number].library;
}

static const peer *peer_of(const lathe_backend *backend) {
  for (int i = 0; i < PEERS; i++)
    if (backend == &all[i].backend)
      return &all[i];
  return NULL;
}

static const char *named(const lathe_op *op, const char *name) {
  for (int i = 0; i < op->bench->npeers; i++)
    if (strcmp(op->bench->peers[i].name, name) == 0)
      return op->bench->peers[i].expression;
  return NULL;
}

/* forward: the op that the expression is of, where that is another one. */
static const char *expression_of(const lathe_op *op, const peer *p, const lathe_op **forward) {
  const char *own = named(op, p->expression);

  *forward = !own && p->derives ? op->gradient_of : NULL;
  return *forward ? named(*forward, p->expression) : own;
}

/* Why nothing of an op can be judged, as our own variants of it say; null where it can. */
static const char *left_out(const lathe_op *op, lathe_dtype dtype) {
  for (size_t i = 0; i < lathe_variant_count && !problem_has_reference(op, dtype); i++)
    if (lathe_variants[i].op == op && lathe_variants[i].dtype == dtype &&
        lathe_variants[i].disabled)
      return lathe_variants[i].disabled;
  return NULL;
}

/* Why a library cannot have the results of the op that its gradient reads; null where it can. */
static const char *unsaid(const lathe_op *op, const peer *p) {
  const lathe_op *forward;

  expression_of(op, p, &forward);
  return forward && op->bench->saved && !op->bench->said
             ? "the gradient reads a result of operands that it does not have"
             : NULL;
}

static void make(const lathe_op *op, lathe_dtype dtype, const peer *p) {
  const char *left = left_out(op, dtype), *why = left ? left : unsaid(op, p);
  lathe_fn *function = p->function && !why ? p->function(op, dtype, &why) : NULL;
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

void peers_make(const bool *chosen) {
  const lathe_op *forward;
  size_t most = 1;

  for (size_t o = 0; o < lathe_op_count; o++)
    most += (size_t)lathe_ops[o].bench->nbounds * PEERS;
  variants = message_need(calloc(most, sizeof *variants));
  order = message_need(calloc(most, sizeof *order));
  for (int i = 0; i < PEERS; i++)
    if (all[i].cuda)
      cuda_other_put(&all[i].backend, all[i].cuda);
  for (size_t o = 0; o < lathe_op_count; o++)
    for (int b = 0; b < lathe_ops[o].bench->nbounds; b++)
      for (int i = 0; i < PEERS; i++)
        if (chosen[i] && expression_of(&lathe_ops[o], &all[i], &forward))
          make(&lathe_ops[o], lathe_ops[o].bench->bounds[b].dtype, &all[i]);
  peers_narrow(true, true);
}

void peers_free(void) {
  free(variants);
  free(order);
  variants = NULL;
  order = NULL;
  count = wanted = 0;
}

static bool is_wanted(const peer *p, bool processors, bool gpus) {
  return !p->other || (p->gpu ? gpus : processors);
}

void peers_narrow(bool processors, bool gpus) {
  wanted = 0;
  for (size_t i = 0; i < count; i++)
    if (is_wanted(peer_of(variants[i].variant.backend), processors, gpus))
      order[wanted++] = i;
}

size_t peers_count(void) {
  return wanted + foreign_count();
}

const lathe_variant *peers_at(size_t index) {
  return index < wanted ? &variants[order[index]].variant : &foreign_at(index - wanted)->variant;
}

size_t peers_index(const lathe_variant *variant) {
  const foreign *f = foreign_of(variant);

  return f ? count + (size_t)(f - foreign_at(0)) : (size_t)((const made *)variant - variants);
}

size_t peers_made(void) {
  return count + foreign_count();
}

bool peers_has(const lathe_backend *backend) {
  return peer_of(backend) || foreign_of_backend(backend);
}

bool peers_on_gpu(const lathe_backend *backend) {
  const foreign *f = foreign_of_backend(backend);

  return f ? f->on_gpu || backend->kind != LATHE_PEER : peer_of(backend)->gpu;
}

const char *peers_library(const lathe_backend *backend) {
  const foreign *f = foreign_of_backend(backend);

  return f ? f->path : peer_of(backend)->library;
}

/* The arguments of a function of Python that somebody wrote. */
static const char *foreign_expression(const lathe_op *op) {
  static char text[LATHE_MAX_OPERANDS * 64];
  int used = snprintf(text, sizeof text, "_foreign(");

  for (int o = 0; o < op->noperands && used < (int)sizeof text; o++)
    if (!op->operands[o].output)
      used += snprintf(text + used, sizeof text - (size_t)used, "%s, ", op->operands[o].name);
  for (int s = 0; s < op->nscalars && used < (int)sizeof text; s++)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s, ", op->scalars[s].name);
  if (used < (int)sizeof text)
    snprintf(text + used, sizeof text - (size_t)used, ")");
  return text;
}

const char *peers_expression(const lathe_variant *variant) {
  const lathe_op *forward;

  if (foreign_of(variant))
    return foreign_expression(variant->op);
  return expression_of(variant->op, peer_of(variant->backend), &forward);
}

void peers_blame(const lathe_variant *variant, char *text, size_t size) {
  const size_t most = 120, length = strlen(text),
               kept = length < size - most - 1 ? length : size - most - 1;

  if (!foreign_of(variant))
    snprintf(text + kept, size - kept, "; peers of %.60s says '%.40s'", variant->op->source,
             peers_expression(variant));
}

const lathe_op *peers_forward(const lathe_variant *variant) {
  const lathe_op *forward;

  if (foreign_of(variant))
    return NULL;
  expression_of(variant->op, peer_of(variant->backend), &forward);
  return forward;
}
