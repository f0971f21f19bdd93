/* nvidia.c - libraries for NVIDIA's GPUs. */
#include "nvidia.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096 };

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

static bool open_of_toolkit(shared_object *l, const char *name, char *why, size_t size) {
  static char file[PATH];

  snprintf(file, sizeof file, "/usr/local/cuda/lib64/%s", name);
  return open_at(l, file, why, size);
}

bool nvidia_open(shared_object *l, const char *const *files, char *why, size_t size) {
  bool ok = l->handle;
  char ignored[256];
  size_t length;

  for (int i = 0; files[i] && !ok; i++)
    ok = open_at(l, files[i], i == 0 ? why : ignored, i == 0 ? size : sizeof ignored) ||
         open_of_python(l, files[i], ignored, sizeof ignored) ||
         open_of_toolkit(l, files[i], ignored, sizeof ignored);
  if (ok)
    return true;
  length = strlen(why);
  snprintf(why + length, size - length,
           "; ./configure --install-deps=peers installs it with PyTorch, and LD_LIBRARY_PATH says "
           "where it is");
  return false;
}
