/* on_vulkan.h - launching generated kernels by Vulkan: what the bench program shares with the files that `lathe-gen
 * export` writes. Functions are looked up elsewhere.
 */
#ifndef ON_VULKAN_H
#define ON_VULKAN_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vulkan_core.h>

#include "launch.h"
#include "spirv.h"

/* The members of it that describe devices. */
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

/* Vulkan itself does not say how many there are; the makers' extensions do. The number only decides how the work is
 * dealt out: where it is not known, a middling one does. */
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

/* Features that kernels may ask of a device. */
typedef struct lathe_vulkan_kind {
  lathe_limits limits;
  lathe_floats floats;
  uint32_t subgroup; /* invocations of one */
  bool size_varies;  /* subgroups may have other sizes, unless asked for this one */
  bool full;         /* whole subgroups can be asked for */
  const char *lacks; /* null, or what every kernel needs */
  bool nvidia;       /* its driver is NVIDIA's own */
} lathe_vulkan_kind;

/* Describes a device. size_control, full: whether sizes of subgroups, and whole ones, can be asked for. v11, v12: room
 * for what was found besides. */
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

/* A launch's pipeline. Constants are as templates/glsl/kernel.comp and contract_matrix.comp declare them, numbered from
 * 0; a module may lack some. */
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

/* ---- calls --------------------------------------------------------------------------------------- */

/* Above 0, beside what Vulkan's functions return. */
enum {
  LATHE_VULKAN_LACKS = 1, /* the device lacks, or has not enabled, what every kernel needs */
  LATHE_VULKAN_NO_MEMORY, /* of the host's */
  LATHE_VULKAN_NO_LAUNCH, /* for the size */
};

enum { LATHE_VULKAN_PUSHED = 128 }; /* bytes of push constants, which every device has */

/* An image's SPIR-V. loose: its f32 is rounded to 16 bits later, and need not be right to the last bit. */
typedef struct lathe_vulkan_code {
  const uint32_t *words;
  size_t count;
  bool loose;
} lathe_vulkan_code;

/* A pipeline: of one kernel of a code, with constants. */
typedef struct lathe_vulkan_kept {
  struct lathe_vulkan_kept *next;
  const lathe_vulkan_code *code;
  uint32_t block, constant[6];
  VkPipeline made;
} lathe_vulkan_kept;

/* A device of the caller's, and the pipelines that calls wanted. */
typedef struct lathe_vulkan_device {
  VkDevice device;
  VkPipelineCache cache;
  lathe_vulkan_kind kind;
  uint64_t features;
  PFN_vkCreateShaderModule make_module;
  PFN_vkDestroyShaderModule free_module;
  PFN_vkCreatePipelineLayout make_layout;
  PFN_vkDestroyPipelineLayout free_layout;
  PFN_vkCreateComputePipelines make_pipelines;
  PFN_vkDestroyPipeline free_pipeline;
  PFN_vkCmdBindPipeline bind;
  PFN_vkCmdPushConstants push;
  PFN_vkCmdDispatch dispatch;
  PFN_vkCmdPipelineBarrier wait;
  PFN_vkCmdUpdateBuffer update;
  VkPipelineLayout layout;
  pthread_mutex_t lock; /* of what follows, which grows at its beginning */
  lathe_vulkan_kept *pipelines;
} lathe_vulkan_device;

/* The enabled features of a device, of those that kernels use. */
typedef struct lathe_vulkan_enabled {
  bool addresses, int64, f64, f16, storage16, storage8, size_control, full;
} lathe_vulkan_enabled;

static inline lathe_vulkan_enabled
lathe_vulkan_read_enabled(const VkPhysicalDeviceFeatures2 *features) {
  lathe_vulkan_enabled e;

  memset(&e, 0, sizeof e);
  for (const VkBaseInStructure *s = (const VkBaseInStructure *)features; s; s = s->pNext) {
    const void *at = s;
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
      e.int64 |= ((const VkPhysicalDeviceFeatures2 *)at)->features.shaderInt64;
      e.f64 |= ((const VkPhysicalDeviceFeatures2 *)at)->features.shaderFloat64;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
      e.storage16 |= ((const VkPhysicalDeviceVulkan11Features *)at)->storageBuffer16BitAccess;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES) {
      e.storage16 |= ((const VkPhysicalDevice16BitStorageFeatures *)at)->storageBuffer16BitAccess;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      e.addresses |= ((const VkPhysicalDeviceVulkan12Features *)at)->bufferDeviceAddress;
      e.f16 |= ((const VkPhysicalDeviceVulkan12Features *)at)->shaderFloat16;
      e.storage8 |= ((const VkPhysicalDeviceVulkan12Features *)at)->storageBuffer8BitAccess;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES) {
      e.addresses |= ((const VkPhysicalDeviceBufferDeviceAddressFeatures *)at)->bufferDeviceAddress;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES) {
      e.f16 |= ((const VkPhysicalDeviceShaderFloat16Int8Features *)at)->shaderFloat16;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES) {
      e.storage8 |= ((const VkPhysicalDevice8BitStorageFeatures *)at)->storageBuffer8BitAccess;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT) {
      e.size_control |=
          ((const VkPhysicalDeviceSubgroupSizeControlFeaturesEXT *)at)->subgroupSizeControl;
      e.full |= ((const VkPhysicalDeviceSubgroupSizeControlFeaturesEXT *)at)->computeFullSubgroups;
#ifdef VK_VERSION_1_3
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
      e.size_control |= ((const VkPhysicalDeviceVulkan13Features *)at)->subgroupSizeControl;
      e.full |= ((const VkPhysicalDeviceVulkan13Features *)at)->computeFullSubgroups;
#endif
    }
  }
  return e;
}

/* Looks functions up; false where one is lacking. */
static inline bool lathe_vulkan_look(lathe_vulkan_device *made, VkInstance instance,
                                     PFN_vkGetInstanceProcAddr from, lathe_vulkan_found *by) {
  const PFN_vkGetDeviceProcAddr get =
      (PFN_vkGetDeviceProcAddr)from(instance, "vkGetDeviceProcAddr");
  const VkDevice of = made->device;

  by->properties =
      (PFN_vkGetPhysicalDeviceProperties2)from(instance, "vkGetPhysicalDeviceProperties2");
  by->extensions = (PFN_vkEnumerateDeviceExtensionProperties)from(
      instance, "vkEnumerateDeviceExtensionProperties");
  if (!get || !by->properties || !by->extensions)
    return false;
  made->make_module = (PFN_vkCreateShaderModule)get(of, "vkCreateShaderModule");
  made->free_module = (PFN_vkDestroyShaderModule)get(of, "vkDestroyShaderModule");
  made->make_layout = (PFN_vkCreatePipelineLayout)get(of, "vkCreatePipelineLayout");
  made->free_layout = (PFN_vkDestroyPipelineLayout)get(of, "vkDestroyPipelineLayout");
  made->make_pipelines = (PFN_vkCreateComputePipelines)get(of, "vkCreateComputePipelines");
  made->free_pipeline = (PFN_vkDestroyPipeline)get(of, "vkDestroyPipeline");
  made->bind = (PFN_vkCmdBindPipeline)get(of, "vkCmdBindPipeline");
  made->push = (PFN_vkCmdPushConstants)get(of, "vkCmdPushConstants");
  made->dispatch = (PFN_vkCmdDispatch)get(of, "vkCmdDispatch");
  made->wait = (PFN_vkCmdPipelineBarrier)get(of, "vkCmdPipelineBarrier");
  made->update = (PFN_vkCmdUpdateBuffer)get(of, "vkCmdUpdateBuffer");
  return made->update && made->make_module && made->free_module && made->make_layout &&
         made->free_layout && made->make_pipelines && made->free_pipeline && made->bind &&
         made->push && made->dispatch && made->wait;
}

/* Borrows a device: 0, or why not. enabled: what vkCreateDevice was given, with all that follows it. */
static inline int lathe_vulkan_open(lathe_vulkan_device *made, VkInstance instance,
                                    PFN_vkGetInstanceProcAddr get, VkPhysicalDevice physical,
                                    VkDevice of, const VkPhysicalDeviceFeatures2 *enabled,
                                    VkPipelineCache cache) {
  const lathe_vulkan_enabled e = lathe_vulkan_read_enabled(enabled);
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, LATHE_VULKAN_PUSHED};
  const VkPipelineLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .pushConstantRangeCount = 1,
      .pPushConstantRanges = &range,
  };
  VkPhysicalDeviceVulkan11Properties v11;
  VkPhysicalDeviceVulkan12Properties v12;
  lathe_vulkan_found by;
  VkResult error;

  memset(made, 0, sizeof *made);
  made->device = of;
  made->cache = cache;
  if (!e.addresses || !e.int64 || !lathe_vulkan_look(made, instance, get, &by))
    return LATHE_VULKAN_LACKS;
  lathe_vulkan_describe(&by, physical, e.size_control, e.full, &made->kind, &v11, &v12);
  made->features = LATHE_ON_VULKAN | (e.f64 ? LATHE_VULKAN_F64 : 0) |
                   (e.f16 && made->kind.floats.nearest[0] ? LATHE_VULKAN_F16 : 0) |
                   (e.storage16 ? LATHE_VULKAN_STORAGE16 : 0) |
                   (e.storage8 ? LATHE_VULKAN_STORAGE8 : 0);
  if (made->kind.lacks)
    return LATHE_VULKAN_LACKS;
  error = made->make_layout(of, &layout, NULL, &made->layout);
  if (!error)
    pthread_mutex_init(&made->lock, NULL);
  return error;
}

/* Gives back what was made on it. */
static inline void lathe_vulkan_close(lathe_vulkan_device *on) {
  while (on->pipelines) {
    lathe_vulkan_kept *next = on->pipelines->next;
    on->free_pipeline(on->device, on->pipelines->made, NULL);
    free(on->pipelines);
    on->pipelines = next;
  }
  on->free_layout(on->device, on->layout, NULL);
  pthread_mutex_destroy(&on->lock);
}

/* Makes a pipeline of the SPIR-V of one kernel. */
static inline int lathe_vulkan_make_of(const lathe_vulkan_device *on, const uint32_t *kernel,
                                       size_t count, bool loose, uint32_t block,
                                       const uint32_t constant[6], VkPipeline *made) {
  VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  VkShaderModule module = VK_NULL_HANDLE;
  size_t asked = 0;
  uint32_t *words = lathe_spirv_ask(kernel, count, loose, &on->kind.floats, &asked);
  VkResult error;

  if (!words)
    return LATHE_VULKAN_NO_MEMORY;
  info.codeSize = 4 * asked;
  info.pCode = words;
  error = on->make_module(on->device, &info, NULL, &module);
  free(words);
  if (error)
    return error;
  error = lathe_vulkan_pipeline(on->make_pipelines, on->device, on->cache, on->layout, module,
                                &on->kind, block, constant, made);
  on->free_module(on->device, module, NULL);
  return error;
}

/* Makes the pipeline of a launch. */
static inline int lathe_vulkan_make(const lathe_vulkan_device *on, lathe_vulkan_kept *p) {
  size_t count = 0;
  uint32_t *kernel = lathe_spirv_kernel(p->code->words, p->code->count, p->constant[0], &count);
  const int error = kernel ? lathe_vulkan_make_of(on, kernel, count, p->code->loose, p->block,
                                                  p->constant, &p->made)
                           : LATHE_VULKAN_NO_MEMORY;

  free(kernel);
  return error;
}

static inline const lathe_vulkan_kept *lathe_vulkan_among(const lathe_vulkan_kept *p,
                                                          const lathe_vulkan_code *code,
                                                          const lathe_launch *launch) {
  while (p && (p->code != code || p->block != launch->block[0] ||
               memcmp(p->constant, launch->constant, sizeof p->constant) != 0))
    p = p->next;
  return p;
}

/* The pipeline of a launch, which is made where it is not there: by any number of threads at once. Where two make the
 * same, one of them is let go. */
static inline int lathe_vulkan_pipeline_of(lathe_vulkan_device *on, const lathe_vulkan_code *code,
                                           const lathe_launch *launch, VkPipeline *pipeline) {
  const lathe_vulkan_kept *known =
      lathe_vulkan_among(__atomic_load_n(&on->pipelines, __ATOMIC_ACQUIRE), code, launch);
  lathe_vulkan_kept *p;
  int error;

  *pipeline = known ? known->made : VK_NULL_HANDLE;
  if (known)
    return 0;
  p = (lathe_vulkan_kept *)calloc(1, sizeof *p);
  if (!p)
    return LATHE_VULKAN_NO_MEMORY;
  p->code = code;
  p->block = launch->block[0];
  memcpy(p->constant, launch->constant, sizeof p->constant);
  error = lathe_vulkan_make(on, p);
  if (error) {
    free(p);
    return error;
  }
  pthread_mutex_lock(&on->lock);
  known = lathe_vulkan_among(on->pipelines, code, launch);
  if (!known) {
    p->next = on->pipelines;
    __atomic_store_n(&on->pipelines, p, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&on->lock);
  *pipeline = known ? known->made : p->made;
  if (known) {
    on->free_pipeline(on->device, p->made, NULL);
    free(p);
  }
  return 0;
}

/* The launches of a call, how many, and their pipelines. codes: of a variant's images, side by side. */
static inline int lathe_vulkan_launches(lathe_vulkan_device *on, const lathe_schedule *schedule,
                                        const lathe_vulkan_code *codes, const lathe_args *args,
                                        lathe_launch *launches, VkPipeline *pipeline, int *count) {
  int error = 0;

  *count = schedule->launches(schedule, args, &on->kind.limits, launches);
  for (int l = 0; l < *count && !error; l++)
    error = lathe_vulkan_pipeline_of(on, &codes[launches[l].image], &launches[l], &pipeline[l]);
  return error || *count > 0 ? error : LATHE_VULKAN_NO_LAUNCH;
}

/* Puts what kernels are given into a buffer of the caller's, whose address they are pushed then. */
static inline void lathe_vulkan_give(const lathe_vulkan_device *on, VkCommandBuffer commands,
                                     VkBuffer to, VkDeviceSize at, const void *given,
                                     uint32_t size) {
  const VkMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
  };

  on->update(commands, to, at, size, given);
  on->wait(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
           &barrier, 0, NULL, 0, NULL);
}

/* Records the kernels of a call, each after the one before. pushed: what they are given, of so many bytes. */
static inline int lathe_vulkan_record(lathe_vulkan_device *on, VkCommandBuffer commands,
                                      const lathe_schedule *schedule,
                                      const lathe_vulkan_code *codes, const lathe_args *args,
                                      const void *pushed, uint32_t size) {
  lathe_launch launches[LATHE_MAX_LAUNCHES];
  VkPipeline pipeline[LATHE_MAX_LAUNCHES];
  const VkMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
  };
  int count, error = lathe_vulkan_launches(on, schedule, codes, args, launches, pipeline, &count);

  if (error)
    return error;
  on->push(commands, on->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size, pushed);
  for (int l = 0; l < count; l++) {
    const uint32_t *grid = launches[l].grid;
    if (l > 0)
      on->wait(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
               0, 1, &barrier, 0, NULL, 0, NULL);
    on->bind(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline[l]);
    on->dispatch(commands, grid[0], grid[1], grid[2]);
  }
  return 0;
}

#endif
