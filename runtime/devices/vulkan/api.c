/* api.c - Vulkan's loader, opened at run time. */
#include "vulkan.h"

#ifdef HAVE_VULKAN
#include <dlfcn.h>
#include <stdio.h>

#include "devices/common/shared_object.h"

vulkan_api vk;

VkInstance vulkan_open(char *why, size_t size) {
  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
      .pApplicationName = "lathe",
      .apiVersion = VK_API_VERSION_1_3,
  };
  const VkInstanceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pApplicationInfo = &application,
  };
  shared_object loader = {.file = "libvulkan.so.1", .what = "Vulkan's loader"};
  PFN_vkGetInstanceProcAddr find = NULL;
  VkInstance instance = NULL;
  VkResult error;

  if (!shared_object_open(&loader, why, size))
    return NULL;
  *(void **)&find = dlsym(loader.handle, "vkGetInstanceProcAddr");
  if (!find) {
    shared_object_lacks(&loader, "vkGetInstanceProcAddr", true, why, size);
    return NULL;
  }
#define FIND(name)                                                                                 \
  vk.name = (PFN_vk##name)find(instance, "vk" #name);                                              \
  if (!vk.name) {                                                                                  \
    shared_object_lacks(&loader, "vk" #name, false, why, size);                                    \
    return NULL;                                                                                   \
  }
  VULKAN_GLOBAL_FUNCTIONS(FIND)
  error = vk.CreateInstance(&info, NULL, &instance);
  if (error) {
    snprintf(why, size, "Vulkan could not be started: %s%s", vulkan_error(error),
             error == VK_ERROR_INCOMPATIBLE_DRIVER ? ", which means that no driver is installed"
                                                   : "");
    return NULL;
  }
  vk.instance = instance;
  vk.get = find;
  vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR =
      (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)find(
          instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
  vk.GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV =
      (PFN_vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV)find(
          instance, "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV");
  vk.GetPhysicalDeviceCooperativeVectorPropertiesNV =
      (PFN_vkGetPhysicalDeviceCooperativeVectorPropertiesNV)find(
          instance, "vkGetPhysicalDeviceCooperativeVectorPropertiesNV");
  VULKAN_FUNCTIONS(FIND)
#undef FIND
  return instance;
}

const char *vulkan_error(VkResult error) {
  switch (error) {
#define NAME(name)                                                                                 \
  case name: return #name;
    NAME(VK_SUCCESS)
    NAME(VK_NOT_READY)
    NAME(VK_TIMEOUT)
    NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    NAME(VK_ERROR_INITIALIZATION_FAILED)
    NAME(VK_ERROR_DEVICE_LOST)
    NAME(VK_ERROR_MEMORY_MAP_FAILED)
    NAME(VK_ERROR_LAYER_NOT_PRESENT)
    NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    NAME(VK_ERROR_TOO_MANY_OBJECTS)
    NAME(VK_ERROR_FRAGMENTED_POOL)
    NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    NAME(VK_ERROR_FRAGMENTATION)
    NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
    NAME(VK_ERROR_INVALID_SHADER_NV)
#undef NAME
  default: return "an error that Vulkan 1.2 does not know";
  }
}
#endif
