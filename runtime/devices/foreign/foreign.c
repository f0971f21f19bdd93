/* foreign.c - kernels that somebody else wrote, to be judged. */
#include "foreign.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "devices/common/elf.h"
#include "devices/common/file.h"
#include "guest.h"
#include "library/bench.h"
#include "library/dtype.h"
#include "object.h"
#include "problem/problem.h"
#include "trust.h"

enum { FILES = 128 };

static foreign all[FOREIGN_MOST];
static size_t count;
static const char *files[FILES]; /* as they were given */
static size_t file_count;
static const char *trust_word = "some";

/* A file of the list. */
typedef struct source {
  const char *given;
  char path[FOREIGN_PATH];
  const char *name; /* its last part */
  const char *ops;
} source;

static const char kinds[] =
    "expected a library (mine.so) or a function of Python (mine.py:softmax)";

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);

  return length > tail && strcmp(text + length - tail, end) == 0;
}

/* Where a variant of a file is, to be filled in. */
static foreign *add(const source *s, const lathe_op *op, lathe_dtype dtype, lathe_kind kind,
                    uint64_t features) {
  foreign *f = &all[count];

  if (count == FOREIGN_MOST)
    message_refuse("--with %s: more than %d kernels in all; leave some out", s->given,
                   FOREIGN_MOST);
  count++;
  f->given = s->given;
  snprintf(f->path, sizeof f->path, "%s", s->path);
  snprintf(f->name, sizeof f->name, "%s_%s__%.80s", op->name, lathe_dtype_name(dtype), s->name);
  f->backend = (lathe_backend){"foreign", kind, features, NULL};
  f->variant = (lathe_variant){
      .name = f->name,
      .op = op,
      .backend = &f->backend,
      .dtype = dtype,
      .disabled = problem_has_reference(op, dtype) ? NULL : lathe_span_of(op, dtype).left_out,
      .source = f->given};
  return f;
}

/* What a library has to write, where it is more than what its first call may find out. */
static void tell_state(const elf *e, char text[], size_t size) {
  const char *section;
  const size_t bytes = elf_state(e, &section);

  if (bytes > GUEST_STATE)
    snprintf(text, size, "it has %zu bytes that it may keep results in (%s)", bytes, section);
}

static void add_object(const source *s) {
  elf e;
  unsigned char *file = file_read(s->path, &e.size);
  char name[OBJECT_NAME], state[sizeof all->state] = "";

  if (!file)
    message_refuse("--with %s: %s", s->given, strerror(errno));
  e.at = file;
  if (!elf_open(&e))
    message_refuse("--with %s: it is no library (ELF of 64 bits, with section headers); %s",
                   s->given, kinds);
  tell_state(&e, state, sizeof state);
  for (size_t o = 0; o < lathe_op_count; o++)
    for (int b = 0; b < lathe_ops[o].bench->nbounds; b++) {
      const lathe_dtype dtype = lathe_ops[o].bench->bounds[b].dtype;
      object_symbol(&lathe_ops[o], dtype, name);
      if (elf_exports(&e, name)) {
        foreign *f = add(s, &lathe_ops[o], dtype, LATHE_PEER, LATHE_ON_PEER);
        memcpy(f->state, state, sizeof state);
      }
    }
  free(file);
}

/* A function of Python has no op's name: --op says which it is. */
static void add_python(const source *s) {
  const lathe_op *op = NULL;

  for (size_t o = 0; s->ops && o < lathe_op_count; o++)
    if (strcmp(lathe_ops[o].name, s->ops) == 0)
      op = &lathe_ops[o];
  if (!op)
    message_refuse("--with %s: --op is to name the op that the function computes, and no other",
                   s->given);
  for (int b = 0; b < op->bench->nbounds; b++)
    add(s, op, op->bench->bounds[b].dtype, LATHE_PEER, LATHE_ON_PEER)->python = true;
}

static void add_file(source *s) {
  char file[FOREIGN_PATH];
  const char *colon = strrchr(s->given, ':');
  const size_t length = colon ? (size_t)(colon - s->given) : strlen(s->given);
  char *resolved;

  snprintf(file, sizeof file, "%.*s", (int)length, s->given);
  resolved = realpath(file, NULL);
  if (!resolved)
    message_refuse("--with %s: %s", s->given, strerror(errno));
  snprintf(s->path, sizeof s->path, "%s%s", resolved, colon ? colon : "");
  free(resolved);
  s->name = strrchr(s->path, '/') + 1;
  if (colon && ends_with(file, ".py") && colon[1])
    add_python(s);
  else if (!colon && (ends_with(file, ".so") || strstr(file, ".so.")))
    add_object(s);
  else
    message_refuse("--with %s: %s", s->given, kinds);
}

void foreign_make(const char *list, const char *ops, const char *trust) {
  static char *words; /* kept: variants point into it */

  if (trust && trust_missing())
    message_refuse("%s", trust_missing());
  if (trust)
    trust_word = trust;
  if (!list)
    return;
  words = strdup(list);
  if (!words)
    message_refuse("out of memory");
  for (char *word = strtok(words, ","); word; word = strtok(NULL, ",")) {
    source s = {.given = word, .ops = ops};
    if (file_count == FILES)
      message_refuse("--with %s: more than %d files; leave some out", word, FILES);
    files[file_count++] = word;
    add_file(&s);
  }
}

void foreign_check(bool (*is_wanted)(const void *context, const lathe_op *op, lathe_dtype dtype),
                   const void *context, const lathe_op *op, lathe_dtype dtype) {
  char name[OBJECT_NAME], prototype[OBJECT_PROTOTYPE];

  for (size_t f = 0; f < file_count; f++) {
    bool any = false;
    for (size_t i = 0; i < count; i++)
      any = any || (all[i].given == files[f] &&
                    is_wanted(context, all[i].variant.op, all[i].variant.dtype));
    if (any)
      continue;
    object_symbol(op, dtype, name);
    object_prototype(op, dtype, prototype);
    message_refuse("--with %s: it has no %s; expected %s (`lathe-gen export %s` writes the header)",
                   files[f], name, prototype, op->name);
  }
}

size_t foreign_count(void) {
  return count;
}

const foreign *foreign_at(size_t index) {
  return &all[index];
}

const foreign *foreign_of(const lathe_variant *variant) {
  return foreign_of_backend(variant->backend);
}

const foreign *foreign_of_backend(const lathe_backend *backend) {
  for (size_t i = 0; i < count; i++)
    if (backend == &all[i].backend)
      return &all[i];
  return NULL;
}

const char *foreign_trust_word(void) {
  return trust_word;
}
