/* recording.h - a Vulkan device that prints what is recorded for it: the kernel's module in words, its constants, the
 * grid. Included by what raw_launches.py writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

/* A pipeline is this, as bytes of memory that is never released. */
typedef struct recorded {
  uint32_t constant[8];
  size_t words;
} recorded;

static const recorded *bound;

static void get_properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *to) {
  VkPhysicalDeviceLimits *limits = &to->properties.limits;

  (void)physical;
  to->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  limits->maxComputeWorkGroupInvocations = limits->maxComputeWorkGroupSize[0] = 1024;
  limits->maxComputeWorkGroupCount[0] = 65535;
  limits->maxComputeSharedMemorySize = 49152;
  for (VkBaseOutStructure *s = to->pNext; s; s = s->pNext)
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
      VkPhysicalDeviceVulkan11Properties *v11 = (void *)s;
      v11->subgroupSize = 32;
      v11->subgroupSupportedStages = v11->subgroupSupportedOperations = ~0u;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES) {
      ((VkPhysicalDeviceVulkan12Properties *)(void *)s)->shaderRoundingModeRTEFloat16 = VK_TRUE;
    }
}

static VkResult get_extensions(VkPhysicalDevice physical, const char *layer, uint32_t *count,
                               VkExtensionProperties *to) {
  (void)physical, (void)layer, (void)to;
  *count = 0;
  return VK_SUCCESS;
}

static VkResult make_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                            const VkAllocationCallbacks *calls, VkShaderModule *made) {
  (void)device, (void)calls;
  *made = (VkShaderModule)(uintptr_t)(info->codeSize / 4);
  return VK_SUCCESS;
}

static VkResult make_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                               const VkComputePipelineCreateInfo *info,
                               const VkAllocationCallbacks *calls, VkPipeline *made) {
  recorded *r = calloc(1, sizeof *r);

  (void)device, (void)cache, (void)count, (void)calls;
  memcpy(r->constant, info->stage.pSpecializationInfo->pData, sizeof r->constant);
  r->words = (size_t)(uintptr_t)info->stage.module;
  *made = (VkPipeline)r;
  return VK_SUCCESS;
}

static VkResult make_layout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                            const VkAllocationCallbacks *calls, VkPipelineLayout *made) {
  (void)device, (void)info, (void)calls;
  *made = VK_NULL_HANDLE;
  return VK_SUCCESS;
}

static void bind(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline) {
  (void)commands, (void)point;
  bound = (const recorded *)pipeline;
}

static void dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  const uint32_t *c = bound->constant;

  (void)commands;
  printf("%zu %u %u %u %u %u %u %u %u\n", bound->words, x, y, z, c[0], c[1], c[2], c[3], c[4]);
}

static void nothing(void) {
}

static PFN_vkVoidFunction of_device(VkDevice device, const char *name) {
  (void)device;
  return strcmp(name, "vkCreateShaderModule") == 0       ? (PFN_vkVoidFunction)make_module
         : strcmp(name, "vkCreateComputePipelines") == 0 ? (PFN_vkVoidFunction)make_pipelines
         : strcmp(name, "vkCreatePipelineLayout") == 0   ? (PFN_vkVoidFunction)make_layout
         : strcmp(name, "vkCmdBindPipeline") == 0        ? (PFN_vkVoidFunction)bind
         : strcmp(name, "vkCmdDispatch") == 0            ? (PFN_vkVoidFunction)dispatch
                                                         : nothing;
}

static PFN_vkVoidFunction of_instance(VkInstance instance, const char *name) {
  (void)instance;
  return strcmp(name, "vkGetDeviceProcAddr") == 0              ? (PFN_vkVoidFunction)of_device
         : strcmp(name, "vkGetPhysicalDeviceProperties2") == 0 ? (PFN_vkVoidFunction)get_properties
         : strcmp(name, "vkEnumerateDeviceExtensionProperties") == 0
             ? (PFN_vkVoidFunction)get_extensions
             : NULL;
}
