/* on_vulkan.h - launching generated kernels by Vulkan: what the bench program shares with the files that `lathe-gen export`
 * writes. Functions are looked up elsewhere.
 */
#ifndef ON_VULKAN_H
#define ON_VULKAN_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vulkan_core.h>

#include "launch.h"
#include "spirv.h"

/* What of it devices are described by. */
typedef struct lathe_vulkan_found {
  PFN_vkGetPhysicalDeviceProperties2 properties;
  PFN_vkEnumerateDeviceExtensionProperties extensions;
} lathe_vulkan_found;

static inline bool lathe_vulkan_has(const lathe_vulkan_found *by, VkPhysicalDevice physical,
                                    const char *name) {
  VkExtensionProperties *all;
  uint32_t found = 0;
  bool has = false;

  if (by->extensions(physical, NULL, &found, NULL))
    return false;
  all = (VkExtensionProperties *)calloc(found ? found : 1, sizeof *all);
  if (all && !by->extensions(physical, NULL, &found, all))
    for (uint32_t i = 0; i < found; i++)
      has = has || strcmp(all[i].extensionName, name) == 0;
  free(all);
  return has;
}

/* Vulkan itself does not say how many there are; the makers' extensions do. The number only decides how the work is dealt
 * out: where it is not known, a middling one does. */
static inline uint32_t lathe_vulkan_multiprocessors(const lathe_vulkan_found *by,
                                                    VkPhysicalDevice physical,
                                                    VkPhysicalDeviceType type) {
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
  VkPhysicalDeviceShaderCorePropertiesAMD amd = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
  VkPhysicalDeviceProperties2 properties = {.sType =
                                                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);

  if (type == VK_PHYSICAL_DEVICE_TYPE_CPU)
    return processors > 0 ? (uint32_t)processors : 1;
  if (lathe_vulkan_has(by, physical, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
    properties.pNext = &nv;
    by->properties(physical, &properties);
    return nv.shaderSMCount;
  }
  if (lathe_vulkan_has(by, physical, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
    properties.pNext = &amd;
    by->properties(physical, &properties);
    return amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
  }
  return 32;
}

/* What kernels may ask of a device. */
typedef struct lathe_vulkan_kind {
  lathe_limits limits;
  lathe_floats floats;
  uint32_t subgroup; /* invocations of one */
  bool size_varies;  /* subgroups may have other sizes, unless asked for this one */
  bool full;         /* whole subgroups can be asked for */
  const char *lacks; /* null, or what every kernel needs */
  bool nvidia;       /* its driver is NVIDIA's own */
} lathe_vulkan_kind;

/* Describes a device. size_control, full: whether sizes of subgroups, and whole ones, can be asked for. v11, v12: room for
 * what was found besides. */
static inline void lathe_vulkan_describe(const lathe_vulkan_found *by, VkPhysicalDevice physical,
                                         bool size_control, bool full, lathe_vulkan_kind *kind,
                                         VkPhysicalDeviceVulkan11Properties *v11,
                                         VkPhysicalDeviceVulkan12Properties *v12) {
  const VkSubgroupFeatureFlags needed = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                        VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
                                        VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
  VkPhysicalDeviceSubgroupSizeControlPropertiesEXT size = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                            .pNext = v11};
  const VkPhysicalDeviceLimits *limits = &properties.properties.limits;

  memset(kind, 0, sizeof *kind);
  memset(v11, 0, sizeof *v11);
  memset(v12, 0, sizeof *v12);
  v11->sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  v11->pNext = v12;
  v12->sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  v12->pNext = size_control ? &size : NULL;
  by->properties(physical, &properties);
  kind->nvidia = v12->driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
  kind->limits.multiprocessors =
      lathe_vulkan_multiprocessors(by, physical, properties.properties.deviceType);
  kind->limits.subgroup = v11->subgroupSize;
  kind->limits.group = limits->maxComputeWorkGroupInvocations < limits->maxComputeWorkGroupSize[0]
                           ? limits->maxComputeWorkGroupInvocations
                           : limits->maxComputeWorkGroupSize[0];
  kind->limits.grid = limits->maxComputeWorkGroupCount[0];
  kind->limits.shared = limits->maxComputeSharedMemorySize;
  kind->subgroup = v11->subgroupSize;
  kind->full = full;
  kind->size_varies = size_control && size.minSubgroupSize != size.maxSubgroupSize &&
                      size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT;
  if (kind->size_varies &&
      size.maxComputeWorkgroupSubgroups * v11->subgroupSize < kind->limits.group)
    kind->limits.group = size.maxComputeWorkgroupSubgroups * v11->subgroupSize;
  kind->floats.specials[0] = v12->shaderSignedZeroInfNanPreserveFloat16;
  kind->floats.specials[1] = v12->shaderSignedZeroInfNanPreserveFloat32;
  kind->floats.specials[2] = v12->shaderSignedZeroInfNanPreserveFloat64;
  kind->floats.denormals[0] = v12->shaderDenormPreserveFloat16;
  kind->floats.denormals[1] = v12->shaderDenormPreserveFloat32;
  kind->floats.denormals[2] = v12->shaderDenormPreserveFloat64;
  kind->floats.nearest[0] = v12->shaderRoundingModeRTEFloat16;
  kind->floats.nearest[1] = v12->shaderRoundingModeRTEFloat32;
  kind->floats.nearest[2] = v12->shaderRoundingModeRTEFloat64;
  kind->floats.denormals_apart = (int)v12->denormBehaviorIndependence;
  kind->floats.rounding_apart = (int)v12->roundingModeIndependence;
  kind->floats.keeps_f16 = kind->nvidia;
  kind->lacks = (v11->subgroupSupportedOperations & needed) == needed &&
                        v11->subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT
                    ? NULL
                    : "subgroup shuffles and arithmetic in compute shaders";
}

/* A launch's pipeline. Constants are as templates/glsl/kernel.comp and contract_matrix.comp declare them, numbered from 0;
 * a module may lack some. */
static inline VkResult lathe_vulkan_pipeline(PFN_vkCreateComputePipelines create, VkDevice on,
                                             VkPipelineCache cache, VkPipelineLayout layout,
                                             VkShaderModule module, const lathe_vulkan_kind *kind,
                                             uint32_t block, const uint32_t constant[6],
                                             VkPipeline *made) {
  const uint32_t constants[] = {block,       kind->subgroup, constant[0], constant[1],
                                constant[2], constant[3],    constant[4], constant[5]};
  enum { CONSTANTS = sizeof constants / sizeof *constants };
  VkSpecializationMapEntry entries[CONSTANTS];
  const VkSpecializationInfo specialization = {
      .mapEntryCount = CONSTANTS,
      .pMapEntries = entries,
      .dataSize = sizeof constants,
      .pData = constants,
  };
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT size = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT,
      .requiredSubgroupSize = kind->subgroup,
  };
  const bool full = kind->full && block % kind->subgroup == 0;
  const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage =
          {
              .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
              .pNext = kind->size_varies ? &size : NULL,
              .flags = full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT : 0,
              .stage = VK_SHADER_STAGE_COMPUTE_BIT,
              .module = module,
              .pName = "main",
              .pSpecializationInfo = &specialization,
          },
      .layout = layout,
  };

  for (uint32_t i = 0; i < CONSTANTS; i++)
    entries[i] = (VkSpecializationMapEntry){.constantID = i, .offset = 4 * i, .size = 4};
  return create(on, cache, 1, &info, NULL, made);
}

#endif
