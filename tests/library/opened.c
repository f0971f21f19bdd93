/* opened.c - the shared library of the first argument, opened at run time. */
#include <dlfcn.h>
#include <stdio.h>

#include <lathe.h>

int main(int count, char **argument) {
  void *library = dlopen(argument[count - 1], RTLD_NOW | RTLD_LOCAL);
  unsigned (*version)(void) = library ? (unsigned (*)(void))dlsym(library, "lathe_version") : NULL;
  lathe_status (*make)(lathe_plan *, const lathe_device *, const char *, lathe_dtype,
                       const size_t *, const lathe_options *) =
      library ? (lathe_status(*)(lathe_plan *, const lathe_device *, const char *, lathe_dtype,
                                 const size_t *, const lathe_options *))dlsym(library, "lathe_make")
              : NULL;
  int (*run)(const lathe_plan *, void *const *, const double *, void *, void *) =
      library ? (int (*)(const lathe_plan *, void *const *, const double *, void *, void *))dlsym(
                    library, "lathe_run")
              : NULL;
  const size_t dim[] = {1, 4};
  float x[4] = {0}, y[4];
  void *const operand[] = {x, y};
  lathe_plan plan;

  if (!version || !make || !run || version() / 100 != LATHE_VERSION / 100)
    return puts(library ? "a function is missing" : dlerror());
  return make(&plan, NULL, "softmax", LATHE_F32, dim, NULL) ||
         run(&plan, operand, NULL, NULL, NULL) || y[3] != 0.25f;
}
