/* object.c - a library whose functions are those that `lathe-gen export` declares. */
#define _GNU_SOURCE /* dlinfo */
#include "object.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/common/elf.h"
#include "devices/common/file.h"
#include "guest.h"
#include "library/dtype.h"

enum {
  WORDS = LATHE_MAX_OPERANDS + LATHE_MAX_DIMS + 1, /* that are no floating-point numbers */
  KEPT = 512,                                      /* bytes of what it has to write */
};

/* Function of words and numbers: where these go in a call does not depend on how they alternate, for processors have a
 * row of registers for each, and there are registers for all numbers. A function may have less of either. */
#define NUMBERS double, double, double, double, double, double, double, double
#define SIX size_t, size_t, size_t, size_t, size_t, size_t
typedef int few_fn(NUMBERS, SIX);
typedef int some_fn(NUMBERS, SIX, SIX);
#define FIVE size_t, size_t, size_t, size_t, size_t
typedef int many_fn(NUMBERS, SIX, SIX, SIX, SIX, SIX, SIX, FIVE);
typedef size_t cost_fn(SIX, FIVE, FIVE);
_Static_assert(LATHE_MAX_SCALARS == 8 && WORDS == 41, "a call has places for all arguments");

static void *handle;
static const lathe_op *op;
static void (*function)(void);
static cost_fn *workspace;
static int status, words;

/* Its writable bytes, as they were after its first call. */
static struct {
  unsigned char *file;
  elf elf;
  bool taken;
  unsigned char was[KEPT];
} state;

void object_symbol(const lathe_op *of, lathe_dtype dtype, char name[OBJECT_NAME]) {
  snprintf(name, OBJECT_NAME, "%s_%s", of->name, lathe_dtype_name(dtype));
}

void object_prototype(const lathe_op *of, lathe_dtype dtype, char text[OBJECT_PROTOTYPE]) {
  static const char *const types[LATHE_DTYPES] = {
      [LATHE_F64] = "double",    [LATHE_F32] = "float", [LATHE_F16] = "uint16_t",
      [LATHE_BF16] = "uint16_t", [LATHE_I8] = "int8_t", [LATHE_U8] = "uint8_t",
      [LATHE_I64] = "int64_t"};
  char name[OBJECT_NAME];
  const char *comma = "";
  int used;

  object_symbol(of, dtype, name);
  used = snprintf(text, OBJECT_PROTOTYPE, "int %s(", name);
  for (int o = 0; o < of->noperands && used < OBJECT_PROTOTYPE; o++, comma = ", ")
    used += snprintf(text + used, OBJECT_PROTOTYPE - (size_t)used, "%s%s%s *%s", comma,
                     of->operands[o].output ? "" : "const ",
                     types[lathe_dtype_of_operand(&of->operands[o], dtype)], of->operands[o].name);
  for (int s = 0; s < of->nscalars && used < OBJECT_PROTOTYPE; s++, comma = ", ")
    used += snprintf(text + used, OBJECT_PROTOTYPE - (size_t)used, "%sdouble %s", comma,
                     of->scalars[s].name);
  for (int d = 0; d < of->ndim && used < OBJECT_PROTOTYPE; d++, comma = ", ")
    used +=
        snprintf(text + used, OBJECT_PROTOTYPE - (size_t)used, "%ssize_t %s", comma, of->dim[d]);
  if (used < OBJECT_PROTOTYPE)
    snprintf(text + used, OBJECT_PROTOTYPE - (size_t)used, ")");
}

bool object_open(const char *path, const char **why) {
  static char text[256];

  handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    snprintf(text, sizeof text, "it cannot be loaded: %s", dlerror());
    *why = text;
    return false;
  }
  state.file = file_read(path, &state.elf.size);
  state.elf.at = state.file;
  if (!state.file || !elf_open(&state.elf)) {
    *why = "it cannot be read";
    return false;
  }
  return true;
}

static double cost_of(const size_t *dim) {
  size_t d[LATHE_MAX_DIMS] = {0};

  memcpy(d, dim, (size_t)op->ndim * sizeof *dim);
  return (double)workspace(d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10], d[11],
                           d[12], d[13], d[14], d[15]);
}

lathe_cost *object_workspace(void) {
  return workspace ? cost_of : NULL;
}

void object_run(const lathe_args *args) {
  const double *n = args->scalar;
  size_t w[WORDS] = {0};
  int count = 0, returned;

  for (int o = 0; o < op->noperands; o++)
    w[count++] = (size_t)(uintptr_t)args->buf[o];
  for (int d = 0; d < op->ndim; d++)
    w[count++] = args->dim[d];
  if (workspace)
    w[count++] = (size_t)(uintptr_t)args->workspace;
#define GIVEN_NUMBERS n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]
#define GIVEN_SIX(i) w[i], w[i + 1], w[i + 2], w[i + 3], w[i + 4], w[i + 5]
  if (words <= 6)
    returned = ((few_fn *)function)(GIVEN_NUMBERS, GIVEN_SIX(0));
  else if (words <= 12)
    returned = ((some_fn *)function)(GIVEN_NUMBERS, GIVEN_SIX(0), GIVEN_SIX(6));
  else
    returned = ((many_fn *)function)(GIVEN_NUMBERS, GIVEN_SIX(0), GIVEN_SIX(6), GIVEN_SIX(12),
                                     GIVEN_SIX(18), GIVEN_SIX(24), GIVEN_SIX(30), w[36], w[37],
                                     w[38], w[39], w[40]);
  if (returned && !status)
    status = returned;
}

int object_status(void) {
  const int first = status;

  status = 0;
  return first;
}

/* Copies what it has to write, or compares it; false where it is not as it was, with the section's name. */
static bool look_at_state(bool take, const char **where) {
  struct link_map *map = NULL;
  size_t used = 0;

  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
    return true;
  for (const Elf64_Shdr *s = NULL; (s = elf_state_after(&state.elf, s));) {
    const unsigned char *at = (const unsigned char *)(map->l_addr + s->sh_addr); /* NOLINT */
    if (s->sh_flags & SHF_TLS || s->sh_size > KEPT - used)
      continue; /* it is marked for that as it is */
    if (take)
      memcpy(state.was + used, at, s->sh_size);
    else if (memcmp(state.was + used, at, s->sh_size) != 0) {
      *where = elf_section_name(&state.elf, s);
      return false;
    }
    used += s->sh_size;
  }
  return true;
}

bool object_is_same(const char **where) {
  if (state.taken)
    return look_at_state(false, where);
  look_at_state(true, where);
  state.taken = true;
  return true;
}

bool object_choose(const lathe_op *of, lathe_dtype dtype, const char **why) {
  static char text[OBJECT_NAME + 64];
  char name[OBJECT_NAME], its_workspace[OBJECT_NAME + 16];

  object_symbol(of, dtype, name);
  snprintf(its_workspace, sizeof its_workspace, "%s_workspace", name);
  op = of;
  *(void **)&function = dlsym(handle, name);
  *(void **)&workspace = dlsym(handle, its_workspace);
  words = of->noperands + of->ndim + (workspace != NULL);
  if (function)
    return true;
  snprintf(text, sizeof text, "it has no %s", name);
  *why = text;
  return false;
}
