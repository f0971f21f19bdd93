/* foreign.c - kernels that somebody else wrote, to be judged. */
#include "foreign.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "cuda.h"
#include "description.h"
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
  bool on_gpu; /* functions of Python have tensors there */
} source;

static const char kinds[] =
    "expected a library (mine.so), a function of Python (mine.py:softmax), or device code with a "
    "description beside it (mine.cu, .cubin, .ptx, .spv; mine.json)";

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

/* The writable bytes of a library, where they are more than its first call may fill. */
static void tell_state(const elf *e, char text[], size_t size) {
  const char *section;
  const size_t bytes = elf_state(e, &section);

  if (bytes > GUEST_STATE)
    snprintf(text, size, "it has %zu bytes that it may keep results in (%s)", bytes, section);
}

static void add_object(const source *s) {
  elf e = {0};
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

/* The op of a name; for a file that has no other word for it. */
static const lathe_op *op_named(const source *s, const char *name) {
  for (size_t o = 0; name && o < lathe_op_count; o++)
    if (strcmp(lathe_ops[o].name, name) == 0)
      return &lathe_ops[o];
  message_refuse("--with %s: --op is to name the op that it computes, and no other", s->given);
}

static void add_python(const source *s) {
  const lathe_op *op = op_named(s, s->ops);

  if (s->on_gpu && strcmp(trust_word, "none") == 0)
    message_refuse("--with %s --trust none: what is shut in has no GPU; leave out --trust, or give "
                   "its device code (mine.cubin, mine.json)",
                   s->given);
  for (int b = 0; b < op->bench->nbounds; b++) {
    foreign *f = add(s, op, op->bench->bounds[b].dtype, LATHE_PEER, LATHE_ON_PEER);
    f->python = true;
    f->on_gpu = s->on_gpu;
    if (s->on_gpu)
      strncat(f->path, " on a GPU", FOREIGN_PATH - strlen(f->path) - 1);
  }
}

/* ---- device code -------------------------------------------------------------------------------- */

/* The variables that a GPU's code, in a file or as text (PTX), keeps in the device's memory from call to call. */
static void tell_device_state(const unsigned char *code, size_t size, char text[], size_t room) {
  const uint16_t gpu = 190; /* EM_CUDA */
  elf e = {.at = code, .size = size};
  const char *section, *line = (const char *)code;
  size_t bytes;

  if (elf_open(&e)) {
    bytes =
        ((const Elf64_Ehdr *)(const void *)code)->e_machine == gpu ? elf_state(&e, &section) : 0;
    if (bytes > 0)
      snprintf(text, room, "it has %zu bytes that it may keep results in (%s)", bytes, section);
    return;
  }
  if (!strstr(line, ".version") || !strstr(line, ".target"))
    return;
  for (; line && !text[0]; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    const char *at = line + strspn(line, " \t");
    static const char *const before[] = {".visible ", ".weak ", ".common ", ".extern "};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
      at += strncmp(at, before[i], strlen(before[i])) == 0 ? strlen(before[i]) : 0;
    if (strncmp(at, ".global", strlen(".global")) == 0)
      snprintf(text, room, "it has memory that it may keep results in (%.*s)",
               (int)strcspn(at, ";={\n"), at);
  }
}

/* Has nvcc compile a file, of which code is the place for the result; false where that fails, of which it has said
 * why. */
static bool compile(const char *path, char code[FOREIGN_PATH]) {
  enum { WORDS = 64 };
  const char *compiler = getenv("NVCC"), *flags = getenv("NVCCFLAGS"), *folder = getenv("TMPDIR");
  char options[FOREIGN_PATH], *words[WORDS] = {compiler ? (char *)(uintptr_t)compiler : "nvcc"};
  char *rest;
  int used = 1, file, status = -1;
  pid_t child;

  snprintf(code, FOREIGN_PATH, "%s/lathe-XXXXXX", folder ? folder : "/tmp");
  file = mkstemp(code);
  if (file < 0)
    return false;
  close(file);
  snprintf(options, sizeof options, "%s", flags ? flags : "-O3 -arch=native");
  for (char *word = strtok_r(options, " ", &rest); word && used + 6 < WORDS;
       word = strtok_r(NULL, " ", &rest))
    words[used++] = word;
  words[used++] = "-cubin";
  words[used++] = "-o";
  words[used++] = code;
  words[used++] = (char *)(uintptr_t)path;
  child = fork();
  if (child == 0) {
    execvp(words[0], words);
    message_warn("%s: %s", words[0], strerror(errno));
    _exit(127);
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static description *description_of(const source *s, const char *path) {
  const char *why;
  description *d = description_read(path, &why);

  if (d)
    return d;
  message_refuse("--with %s: what is launched is said in a file beside it: %s", s->given, why);
}

/* A kind of device code. calls: how CUDA's devices launch it; null where they do not. */
typedef struct code_kind {
  lathe_kind kind;
  uint64_t features;
  const cuda_other *calls;
} code_kind;

static const code_kind for_cuda = {LATHE_CUDA, LATHE_ON_CUDA, &foreign_cuda_calls};
static const code_kind for_vulkan = {LATHE_VULKAN, LATHE_ON_VULKAN, NULL};

/* Code beside its description, or a description that names its code. */
static void add_device_code(const source *s, const code_kind *of, bool is_source) {
  const bool alone = ends_with(s->path, ".json");
  const lathe_kind kind = of->kind;
  char beside[FOREIGN_PATH + 8], made[FOREIGN_PATH], state[sizeof all->state] = "";
  const char *path = s->path, *name;
  unsigned char *code = NULL;
  const lathe_op *op;
  description *d;
  size_t size = 0;
  bool any = false;

  snprintf(beside, sizeof beside, "%s", s->path);
  if (!alone)
    snprintf(strrchr(beside, '.'), 8, ".json");
  d = description_of(s, beside);
  op = op_named(s, description_op(d) ? description_op(d) : s->ops);
  if (is_source && !compile(s->path, made))
    message_refuse("--with %s: nvcc does not compile it (NVCC and NVCCFLAGS in the environment say "
                   "what is called)",
                   s->given);
  path = is_source ? made : path;
  code = alone ? NULL : file_read(path, &size);
  if (is_source)
    unlink(made);
  if (!alone && !code)
    message_refuse("--with %s: %s", s->given, strerror(errno));
  if (code && of->calls)
    tell_device_state(code, size, state, sizeof state);
  for (int b = 0; b < op->bench->nbounds; b++) {
    const lathe_dtype dtype = op->bench->bounds[b].dtype;
    foreign *f;
    if (!description_has(d, kind, dtype))
      continue;
    any = true;
    f = add(s, op, dtype, kind, of->features);
    f->description = d;
    f->code = code;
    f->code_size = size;
    memcpy(f->state, state, sizeof state);
    if (of->calls)
      cuda_other_put(&f->backend, of->calls);
    for (size_t i = 0; of->calls && (name = description_file(d, kind, i)); i++) {
      char other[FOREIGN_PATH];
      foreign_beside(f, name, other);
      unsigned char *bytes = file_read(other, &size);
      if (bytes && !f->state[0])
        tell_device_state(bytes, size, f->state, sizeof f->state);
      free(bytes);
    }
  }
  if (!any && !alone)
    message_refuse("--with %s: %s has no %s variants for it", s->given, beside,
                   lathe_kind_name(kind));
}

void foreign_beside(const foreign *f, const char *name, char path[FOREIGN_PATH]) {
  const char *slash = strrchr(f->path, '/');

  snprintf(path, FOREIGN_PATH, "%.*s%.200s", (int)(slash + 1 - f->path), f->path, name);
}

static void add_file(source *s) {
  char file[FOREIGN_PATH];
  const char *colon = strrchr(s->given, ':');
  const size_t length = colon ? (size_t)(colon - s->given) : strlen(s->given);
  char *resolved;

  snprintf(file, sizeof file, "%.*s", (int)length, s->given);
  resolved = realpath(file, NULL);
  snprintf(s->path, sizeof s->path, "%s%s", resolved ? resolved : file, colon ? colon : "");
  if (!resolved)
    message_refuse("--with %s: %s", s->given, strerror(errno));
  free(resolved);
  s->name = strrchr(s->path, '/') + 1;
  if (colon && ends_with(file, ".py") && colon[1])
    add_python(s);
  else if (!colon && (ends_with(file, ".so") || strstr(file, ".so.")))
    add_object(s);
  else if (!colon &&
           (ends_with(file, ".cubin") || ends_with(file, ".ptx") || ends_with(file, ".cu")))
    add_device_code(s, &for_cuda, ends_with(file, ".cu"));
  else if (!colon && ends_with(file, ".spv"))
    add_device_code(s, &for_vulkan, false);
  else if (!colon && ends_with(file, ".json")) {
    add_device_code(s, &for_cuda, false);
    add_device_code(s, &for_vulkan, false);
  } else
    message_refuse("--with %s: %s", s->given, kinds);
}

void foreign_make(const char *list, const char *ops, const char *trust, bool on_gpu) {
  static char *words; /* kept: variants point into it */
  char *rest;

  if (trust && trust_missing())
    message_refuse("%s", trust_missing());
  if (trust)
    trust_word = trust;
  if (!list)
    return;
  words = message_need(strdup(list));
  for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    source s = {.given = word, .ops = ops, .on_gpu = on_gpu};
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
