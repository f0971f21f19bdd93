/* cuda.c - code for CUDA devices that somebody else wrote. */
#include "cuda.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "description.h"
#include "devices/common/file.h"
#include "foreign.h"
#include "library/launch.h"

enum { FILES = 8, KNOWN = 512 };

/* A file of code, loaded; null where it is not for this GPU. */
typedef struct module {
  const foreign *of;
  char path[FOREIGN_PATH];
  CUmodule made;
  unsigned char *bytes;
} module;

/* The launches for some arguments, kept because finding them takes longer than launching them. */
typedef struct plan {
  bool made;
  lathe_args args;
  description_arguments arguments;
  int count;
  description_launch launch[LATHE_MAX_LAUNCHES];
  CUfunction function[LATHE_MAX_LAUNCHES];
} plan;

enum { PLANS = 4 }; /* of problems that take turns */

typedef struct call {
  const foreign *of;
  plan plan[PLANS];
  int next;
  lathe_limits limits;
  CUdeviceptr workspace; /* zero before each call: nothing stays there */
  size_t workspace_size;
  module *code[FILES];
  int files;
} call;

static module known[KNOWN];
static size_t known_count;

/* path: of a file that the description names, or empty for the one that was given. */
static module *load(const foreign *f, const char *path, const char **why) {
  static char text[256];
  module *m = known;
  size_t size;
  CUresult error;

  while (m < known + known_count && (m->of != f || strcmp(m->path, path) != 0))
    m++;
  if (m < known + known_count)
    return m;
  *why = "too many files of code";
  if (known_count == KNOWN)
    return NULL;
  m->bytes = path[0] ? file_read(path, &size) : f->code;
  if (!m->bytes) {
    snprintf(text, sizeof text, "%.180s: %s", path, strerror(errno));
    *why = text;
    return NULL;
  }
  m->of = f;
  snprintf(m->path, sizeof m->path, "%s", path);
  error = cuda.module_load(&m->made, m->bytes);
  if (error)
    m->made = NULL;
  if (error && error != CUDA_ERROR_NO_BINARY_FOR_GPU) {
    snprintf(text, sizeof text, "%.150s cannot be loaded: error %d", path[0] ? path : f->given,
             error);
    *why = text;
    return NULL;
  }
  known_count++;
  return m;
}

/* The code of the variant that a call takes: as its description names files, or else the file that was given. */
static bool load_all(call *c, const lathe_variant *v, const lathe_args *args, const char **why) {
  const foreign *f = c->of;
  char path[FOREIGN_PATH];
  const char *name;

  for (int i = 0;
       c->files < FILES && (name = description_code(f->description, v, args, &c->limits, i)); i++) {
    foreign_beside(f, name, path);
    c->code[c->files] = load(f, path, why);
    if (!c->code[c->files++])
      return false;
  }
  if (c->files == 0)
    c->code[c->files++] = f->code ? load(f, "", why) : NULL;
  if (!c->code[0] && !f->code)
    *why = "its description names no code";
  return c->code[0];
}

static bool find(const call *c, const description_launch *l, CUfunction *function) {
  for (int i = 0; i < c->files; i++)
    if (c->code[i]->made && !cuda.module_function(function, c->code[i]->made, l->kernel))
      return true;
  return false;
}

static void release(void *prepared, bool lost) {
  call *c = prepared;

  if (c->workspace && !lost)
    cuda.memory_free(c->workspace);
  free(c);
}

static void *refuse(call *c, const char **why, const char *what) {
  static char text[320];

  snprintf(text, sizeof text, "%s", what);
  *why = text;
  release(c, false);
  return NULL;
}

static void *prepare(const lathe_variant *variant, const lathe_args *args,
                     const lathe_limits *limits, CUstream stream, const char **why) {
  description_launch launches[LATHE_MAX_LAUNCHES];
  description_arguments arguments;
  call *c = calloc(1, sizeof *c);
  char text[160];
  double workspace;
  int count;

  (void)stream;
  *why = "not enough memory";
  if (!c)
    return NULL;
  c->of = foreign_of(variant);
  c->limits = *limits;
  count = description_launches(c->of->description, variant, args, limits, launches, why);
  if (count < 0 || !load_all(c, variant, args, why) ||
      !description_fill(c->of->description, variant, args, &arguments, why))
    return refuse(c, why, *why);
  for (int l = 0; l < count; l++) {
    CUfunction function;
    if (!find(c, &launches[l], &function)) {
      snprintf(text, sizeof text, "its code has no kernel %.80s for this GPU", launches[l].kernel);
      return refuse(c, why, text);
    }
    if (launches[l].shared &&
        cuda.function_set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          (int)launches[l].shared))
      return refuse(c, why, "its blocks have no room for the shared memory that they ask for");
  }
  workspace = description_workspace(c->of->description, variant, args, limits, why);
  if (workspace < 0)
    return refuse(c, why, *why);
  c->workspace_size = (size_t)workspace;
  if (workspace > 0 && (!cuda.fill_async || cuda.memory_allocate(&c->workspace, c->workspace_size)))
    return refuse(c, why, "not enough memory on the device for its workspace");
  return c;
}

static bool make_plan(const call *c, const lathe_args *args, plan *p) {
  const char *why;

  *p = (plan){.args = *args};
  p->count =
      description_launches(c->of->description, &c->of->variant, args, &c->limits, p->launch, &why);
  if (p->count < 0 ||
      !description_fill(c->of->description, &c->of->variant, args, &p->arguments, &why))
    return false;
  p->made = true;
  for (int l = 0; l < p->count && p->made; l++)
    p->made = find(c, &p->launch[l], &p->function[l]);
  return p->made;
}

static const plan *plan_of(call *c, const lathe_args *args) {
  plan *p = c->plan;

  while (p < c->plan + PLANS && !(p->made && memcmp(&p->args, args, sizeof *args) == 0))
    p++;
  if (p < c->plan + PLANS)
    return p;
  p = &c->plan[c->next++ % PLANS];
  return make_plan(c, args, p) ? p : NULL;
}

static CUresult enqueue(void *prepared, const lathe_args *given, CUstream stream) {
  call *c = prepared;
  lathe_args args = *given;
  description_arguments arguments;
  void *parameters[DESCRIPTION_FIELDS];
  const plan *p;
  CUresult error = 0;

  args.workspace = (void *)(uintptr_t)c->workspace; /* NOLINT */
  p = plan_of(c, &args);
  if (!p)
    return CUDA_ERROR_NOT_FOUND;
  arguments = p->arguments;
  /* One structure, or each argument by itself. */
  for (int i = 0; i < DESCRIPTION_FIELDS; i++)
    parameters[i] =
        arguments.bytes + (arguments.apart && i < arguments.fields ? arguments.at[i] : 0);
  if (c->workspace)
    error = cuda.fill_async(c->workspace, 0, c->workspace_size, stream);
  for (int l = 0; l < p->count && !error; l++) {
    const description_launch *k = &p->launch[l];
    error = cuda.launch(p->function[l], k->grid[0], k->grid[1], k->grid[2], k->block[0],
                        k->block[1], k->block[2], k->shared, stream, parameters, NULL);
  }
  return error;
}

const cuda_other foreign_cuda_calls = {.prepare = prepare, .enqueue = enqueue, .release = release};
