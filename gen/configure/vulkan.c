#include <dlfcn.h>
#include <string.h>
#include <vulkan/vulkan_core.h>
int main(int argc, char **argv) {
  void *library = dlopen("libvulkan.so.1", RTLD_NOW);
  PFN_vkCreateInstance create;
  PFN_vkEnumeratePhysicalDevices devices;
  PFN_vkEnumerateInstanceLayerProperties layers;
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  VkLayerProperties layer[64];
  VkInstance instance;
  uint32_t count = 64;
  if (!library)
    return 1;
  *(void **)&create = dlsym(library, "vkCreateInstance");
  *(void **)&devices = dlsym(library, "vkEnumeratePhysicalDevices");
  *(void **)&layers = dlsym(library, "vkEnumerateInstanceLayerProperties");
  if (argc < 2)
    return create(&info, 0, &instance) || devices(instance, &count, 0) || count == 0;
  if (layers(&count, layer) < 0)
    return 1;
  while (count > 0)
    if (strcmp(layer[--count].layerName, argv[1]) == 0)
      return 0;
  return 1;
}
