/* cublaslt.c - cuBLASLt, opened at run time. */
#include "cublaslt.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "devices/common/shared_object.h"

enum { PATH = 4096 };

cublaslt_library cublaslt;

static bool open_at(shared_object *l, const char *file, char *why, size_t size) {
  l->file = file;
  return shared_object_open(l, why, size);
}

/* Where pip puts it with PyTorch that `./configure --install-deps=peers` installs beside this program: out/peers. */
static bool open_of_python(shared_object *l, const char *name, char *why, size_t size) {
  static char pattern[PATH];
  char own[PATH - 128];
  const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  glob_t found = {0};
  bool ok = false;
  char *slash;

  own[length > 0 ? length : 0] = 0;
  slash = strrchr(own, '/');
  if (!slash)
    return false;
  *slash = 0;
  snprintf(pattern, sizeof pattern, "%s/peers/lib/python3*/site-packages/nvidia/*/lib/%s", own,
           name);
  if (glob(pattern, 0, NULL, &found) == 0) {
    snprintf(pattern, sizeof pattern, "%s", found.gl_pathv[0]);
    ok = open_at(l, pattern, why, size);
  }
  globfree(&found);
  return ok;
}

bool cublaslt_open(char *why, size_t size) {
  static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
  static const char *const toolkit[] = {"/usr/local/cuda/lib64/libcublasLt.so.13",
                                        "/usr/local/cuda/lib64/libcublasLt.so.12"};
  enum { NAMES = sizeof names / sizeof *names };
  static shared_object library = {.what = "cuBLASLt"};
  bool first = true, ok = library.handle;
  char ignored[256];

  for (int i = 0; i < NAMES && !ok; i++)
    ok = open_at(&library, names[i], i == 0 ? why : ignored, i == 0 ? size : sizeof ignored) ||
         open_of_python(&library, names[i], ignored, sizeof ignored) ||
         open_at(&library, toolkit[i], ignored, sizeof ignored);
  if (!ok) {
    const size_t length = strlen(why);
    snprintf(
        why + length, size - length,
        "; CUDA's toolkit has it, ./configure --install-deps=peers installs it with PyTorch, and "
        "LD_LIBRARY_PATH says where it is");
    return false;
  }
#define FIND(name, symbol, parameters)                                                             \
  *(void **)&cublaslt.name = dlsym(library.handle, symbol);                                        \
  if (!cublaslt.name) {                                                                            \
    shared_object_lacks(&library, symbol, first, why, size);                                       \
    return false;                                                                                  \
  }                                                                                                \
  first = false;
  CUBLASLT_FUNCTIONS(FIND)
#undef FIND
  return true;
}
