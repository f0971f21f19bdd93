/* shim.c - a Vulkan loader that lets one function of the real one fail. In the environment
 * LATHE_LOADER names the real library, LATHE_FAIL the function, LATHE_RESULT what it is to return (0
 * for one that returns nothing and does nothing; never: it does not), and LATHE_AFTER how many calls of
 * it go well before. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vulkan_core.h>

static PFN_vkGetInstanceProcAddr real(void) {
  PFN_vkGetInstanceProcAddr find;

  *(void **)&find = dlsym(dlopen(getenv("LATHE_LOADER"), RTLD_NOW), "vkGetInstanceProcAddr");
  return find;
}

/* Every function of the API takes few enough words for this to hand them on. */
typedef VkResult any(void *, void *, void *, void *, void *, void *);
static any *passed_on;

static VkResult fails(void *a, void *b, void *c, void *d, void *e, void *f) {
  static int calls;

  if (calls++ < atoi(getenv("LATHE_AFTER")))
    return passed_on(a, b, c, d, e, f);
  while (strcmp(getenv("LATHE_RESULT"), "never") == 0)
    pause();
  return (VkResult)atoi(getenv("LATHE_RESULT"));
}

static PFN_vkVoidFunction failing(const char *name, PFN_vkVoidFunction found) {
  if (strcmp(name, getenv("LATHE_FAIL")) != 0)
    return found;
  passed_on = (any *)found;
  return (PFN_vkVoidFunction)fails;
}

static PFN_vkGetDeviceProcAddr of_device;

static PFN_vkVoidFunction get_of_device(VkDevice device, const char *name) {
  return failing(name, of_device(device, name));
}

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name) {
  const PFN_vkVoidFunction found = real()(instance, name);

  if (strcmp(name, "vkGetDeviceProcAddr") != 0)
    return failing(name, found);
  of_device = (PFN_vkGetDeviceProcAddr)found;
  return (PFN_vkVoidFunction)get_of_device;
}
