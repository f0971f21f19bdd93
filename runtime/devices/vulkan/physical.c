/* physical.c - see physical.h; what is asked of a device, and what is then enabled. */
#include "physical.h"

#ifdef HAVE_VULKAN
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- memory ------------------------------------------------------------------------------------- */

/* A type of memory that has all the properties; of several the one with `better` too. -1 for none. */
static int memory_type(const vulkan_device *d, uint32_t allowed, VkMemoryPropertyFlags needed,
                       VkMemoryPropertyFlags better) {
  VkPhysicalDeviceMemoryProperties2 memory = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  const VkPhysicalDeviceMemoryProperties *p = &memory.memoryProperties;
  int found = -1;

  vk.GetPhysicalDeviceMemoryProperties2(d->physical, &memory);
  for (uint32_t i = p->memoryTypeCount; i-- > 0;) {
    const VkMemoryPropertyFlags has = p->memoryTypes[i].propertyFlags;
    if (allowed & 1u << i && (has & needed) == needed &&
        (found < 0 || (has & better) == better ||
         (p->memoryTypes[found].propertyFlags & better) != better))
      found = (int)i;
  }
  return found;
}

void vulkan_buffer_free(vulkan_device *d, vulkan_buffer *b) {
  vk.DestroyBuffer(d->made, b->buffer, NULL);
  vk.FreeMemory(d->made, b->memory, NULL);
  *b = (vulkan_buffer){0};
}

VkResult vulkan_buffer_make(vulkan_device *d, vulkan_buffer *b, size_t length,
                            VkMemoryPropertyFlags needed, VkMemoryPropertyFlags better) {
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = length,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
  };
  const VkMemoryAllocateFlagsInfo flags = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
      .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
  };
  VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = &flags};
  VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  VkMemoryRequirements wanted;
  VkResult error;
  int type;

  *b = (vulkan_buffer){.length = length};
  if ((double)length > d->most_allocated)
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  error = vk.CreateBuffer(d->made, &info, NULL, &b->buffer);
  if (error)
    return error;
  vk.GetBufferMemoryRequirements(d->made, b->buffer, &wanted);
  type = memory_type(d, wanted.memoryTypeBits, needed, better);
  allocation.allocationSize = wanted.size;
  allocation.memoryTypeIndex = (uint32_t)type;
  error = type < 0 ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                   : vk.AllocateMemory(d->made, &allocation, NULL, &b->memory);
  if (!error)
    error = vk.BindBufferMemory(d->made, b->buffer, b->memory, 0);
  if (error) {
    vulkan_buffer_free(d, b);
    return error;
  }
  address.buffer = b->buffer;
  b->address = vk.GetBufferDeviceAddress(d->made, &address);
  return VK_SUCCESS;
}

double vulkan_device_memory(const vulkan_device *d) {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 all = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
      .pNext = d->budget ? &budget : NULL};
  const int type = memory_type(d, ~0u, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  uint32_t heap;

  if (type < 0)
    return -1;
  vk.GetPhysicalDeviceMemoryProperties2(d->physical, &all);
  heap = all.memoryProperties.memoryTypes[type].heapIndex;
  if (d->budget)
    return fmax(0, (double)budget.heapBudget[heap] - (double)budget.heapUsage[heap]);
  return (double)all.memoryProperties.memoryHeaps[heap].size;
}

/* ---- the logical device ------------------------------------------------------------------------- */

static void drop(vulkan_device *d) {
  vulkan_code_drop(&d->code);
  vulkan_buffer_free(d, &d->staging);
  vk.DestroyPipelineLayout(d->made, d->code.layout, NULL);
  vk.DestroyQueryPool(d->made, d->clock, NULL);
  vk.DestroyFence(d->made, d->fence, NULL);
  vk.DestroyCommandPool(d->made, d->pool, NULL);
  vk.DestroyDevice(d->made, NULL);
  d->made = NULL;
  d->code.layout = VK_NULL_HANDLE;
  d->clock = VK_NULL_HANDLE;
  d->fence = VK_NULL_HANDLE;
  d->pool = VK_NULL_HANDLE;
  d->recorded_of = NULL;
}

static VkResult make(vulkan_device *d) {
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueFamilyIndex = d->family,
      .queueCount = 1,
      .pQueuePriorities = &priority,
  };
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT size = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT,
      .subgroupSizeControl = d->code.size_varies,
      .computeFullSubgroups = d->code.full,
  };
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
      .pNext = d->size_control ? &size : NULL,
      .cooperativeMatrix = VK_TRUE,
  };
  VkPhysicalDeviceVulkan12Features v12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
      .pNext = d->limits.matrix[0] ? &matrix : matrix.pNext,
      .bufferDeviceAddress = VK_TRUE,
      .shaderFloat16 = d->f16,
      .storageBuffer8BitAccess = d->storage8,
  };
  VkPhysicalDeviceVulkan11Features v11 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
      .pNext = &v12,
      .storageBuffer16BitAccess = d->storage16,
  };
  const VkPhysicalDeviceFeatures2 features = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
      .pNext = &v11,
      .features = {.shaderInt64 = VK_TRUE, .shaderFloat64 = d->f64},
  };
  const char *extensions[2];
  uint32_t count = 0;
  if (d->size_control)
    extensions[count++] = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
  if (d->limits.matrix[0])
    extensions[count++] = VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME;
  const VkDeviceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = &features,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue,
      .enabledExtensionCount = count,
      .ppEnabledExtensionNames = extensions,
  };
  const VkCommandPoolCreateInfo pool = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
      .queueFamilyIndex = d->family,
  };
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  const VkQueryPoolCreateInfo clock = {
      .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
      .queryType = VK_QUERY_TYPE_TIMESTAMP,
      .queryCount = 2,
  };
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, VULKAN_PUSHED};
  const VkPipelineLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .pushConstantRangeCount = 1,
      .pPushConstantRanges = &range,
  };
  VkCommandBufferAllocateInfo buffers = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1,
  };
  VkResult error = vk.CreateDevice(d->physical, &info, NULL, &d->made);

  if (error) {
    d->made = NULL;
    return error;
  }
  if (d->nvidia)
    gpu_clocks_hold(d->uuid);
  d->code.device = d->made;
  vk.GetDeviceQueue(d->made, d->family, 0, &d->queue);
  error = vk.CreateCommandPool(d->made, &pool, NULL, &d->pool);
  buffers.commandPool = d->pool;
  if (!error)
    error = vk.AllocateCommandBuffers(d->made, &buffers, &d->transfer);
  if (!error)
    error = vk.AllocateCommandBuffers(d->made, &buffers, &d->batch);
  if (!error)
    error = vk.CreateFence(d->made, &fence, NULL, &d->fence);
  if (!error)
    error = vk.CreateQueryPool(d->made, &clock, NULL, &d->clock);
  if (!error)
    error = vk.CreatePipelineLayout(d->made, &layout, NULL, &d->code.layout);
  if (!error)
    error = vulkan_buffer_make(d, &d->staging, VULKAN_STAGING,
                               VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                   VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                               VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  if (!error)
    error = vk.MapMemory(d->made, d->staging.memory, 0, VK_WHOLE_SIZE, 0, &d->mapped);
  if (error)
    drop(d);
  return error;
}

VkResult vulkan_device_open(vulkan_device *d) {
  return d->made ? VK_SUCCESS : make(d);
}

/* ---- finding devices ---------------------------------------------------------------------------- */

static bool has_extension(VkPhysicalDevice physical, const char *name) {
  VkExtensionProperties *all;
  uint32_t found = 0;
  bool has = false;

  if (vk.EnumerateDeviceExtensionProperties(physical, NULL, &found, NULL))
    return false;
  all = calloc(found ? found : 1, sizeof *all);
  if (all && !vk.EnumerateDeviceExtensionProperties(physical, NULL, &found, all))
    for (uint32_t i = 0; i < found; i++)
      has = has || strcmp(all[i].extensionName, name) == 0;
  free(all);
  return has;
}

/* Vulkan itself does not say how many there are; the makers' extensions do. The number only decides
 * how the work is dealt out: where it is not known, a middling one does. */
static uint32_t multiprocessors(const vulkan_device *d) {
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
  VkPhysicalDeviceShaderCorePropertiesAMD amd = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
  VkPhysicalDeviceProperties2 properties = {.sType =
                                                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);

  if (d->type == VK_PHYSICAL_DEVICE_TYPE_CPU)
    return processors > 0 ? (uint32_t)processors : 1;
  if (has_extension(d->physical, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
    properties.pNext = &nv;
    vk.GetPhysicalDeviceProperties2(d->physical, &properties);
    return nv.shaderSMCount;
  }
  if (has_extension(d->physical, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
    properties.pNext = &amd;
    vk.GetPhysicalDeviceProperties2(d->physical, &properties);
    return amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
  }
  return 32;
}

/* The first queue family for compute; false for none. */
static bool find_queue(vulkan_device *d) {
  VkQueueFamilyProperties families[32] = {0};
  uint32_t found = sizeof families / sizeof *families;

  vk.GetPhysicalDeviceQueueFamilyProperties(d->physical, &found, families);
  for (uint32_t i = 0; i < found; i++)
    if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
      const uint32_t bits = families[i].timestampValidBits;
      d->family = i;
      d->clock_mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
      return true;
    }
  return false;
}

/* Fills in what the device can do; null, or what it lacks that every kernel needs. */
static const char *find_features(vulkan_device *d) {
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT size = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT};
  VkPhysicalDeviceVulkan12Features v12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceVulkan11Features v11 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &v12};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                        .pNext = &v11};

  d->size_control = has_extension(d->physical, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  v12.pNext = d->size_control ? &size : NULL;
  vk.GetPhysicalDeviceFeatures2(d->physical, &features);
  d->budget = has_extension(d->physical, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  d->f64 = features.features.shaderFloat64;
  d->f16 = v12.shaderFloat16;
  d->storage16 = v11.storageBuffer16BitAccess;
  d->storage8 = v12.storageBuffer8BitAccess;
  d->code.size_varies = size.subgroupSizeControl;
  d->code.full = size.computeFullSubgroups;
  return !v12.bufferDeviceAddress         ? "bufferDeviceAddress"
         : !features.features.shaderInt64 ? "shaderInt64"
                                          : NULL;
}

/* The same for limits and arithmetic. */
static const char *find_properties(vulkan_device *d, VkPhysicalDeviceVulkan12Properties *v12) {
  const VkSubgroupFeatureFlags needed = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                        VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
                                        VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
  VkPhysicalDeviceSubgroupSizeControlPropertiesEXT size = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT};
  VkPhysicalDeviceVulkan11Properties v11 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, .pNext = v12};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                            .pNext = &v11};
  const VkPhysicalDeviceLimits *limits = &properties.properties.limits;

  v12->pNext = d->size_control ? &size : NULL;
  vk.GetPhysicalDeviceProperties2(d->physical, &properties);
  d->most_allocated = (double)v11.maxMemoryAllocationSize;
  d->nvidia = v12->driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
  memcpy(d->uuid, v11.deviceUUID, sizeof d->uuid);
  d->clock_ns = limits->timestampPeriod;
  d->limits = (lathe_limits){
      .multiprocessors = multiprocessors(d),
      .subgroup = v11.subgroupSize,
      .group = limits->maxComputeWorkGroupInvocations < limits->maxComputeWorkGroupSize[0]
                   ? limits->maxComputeWorkGroupInvocations
                   : limits->maxComputeWorkGroupSize[0],
      .grid = limits->maxComputeWorkGroupCount[0],
      .shared = limits->maxComputeSharedMemorySize,
  };
  d->code.subgroup = v11.subgroupSize;
  d->code.size_varies = d->code.size_varies && size.minSubgroupSize != size.maxSubgroupSize &&
                        size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT;
  if (d->code.size_varies && size.maxComputeWorkgroupSubgroups * v11.subgroupSize < d->limits.group)
    d->limits.group = size.maxComputeWorkgroupSubgroups * v11.subgroupSize;
  d->code.floats = (vulkan_floats){
      .specials = {v12->shaderSignedZeroInfNanPreserveFloat16,
                   v12->shaderSignedZeroInfNanPreserveFloat32,
                   v12->shaderSignedZeroInfNanPreserveFloat64},
      .denormals = {v12->shaderDenormPreserveFloat16, v12->shaderDenormPreserveFloat32,
                    v12->shaderDenormPreserveFloat64},
      .nearest = {v12->shaderRoundingModeRTEFloat16, v12->shaderRoundingModeRTEFloat32,
                  v12->shaderRoundingModeRTEFloat64},
      .denormals_apart = v12->denormBehaviorIndependence,
      .rounding_apart = v12->roundingModeIndependence,
      .keeps_f16 = d->nvidia,
  };
  if ((v11.subgroupSupportedOperations & needed) != needed ||
      !(v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT))
    return "subgroup shuffles and arithmetic in compute shaders";
  return NULL;
}

/* The largest products of matrices of f16 that subgroups compute and add up in f32; none: all 0. */
static void find_matrix(vulkan_device *d) {
  VkCooperativeMatrixPropertiesKHR found[64];
  uint32_t count = sizeof found / sizeof *found;
  uint64_t largest = 0;

  if (!vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR || !d->f16 ||
      !has_extension(d->physical, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME))
    return;
  for (uint32_t i = 0; i < count; i++)
    found[i] = (VkCooperativeMatrixPropertiesKHR){
        .sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR};
  if (vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR(d->physical, &count, found) < 0)
    return;
  for (const VkCooperativeMatrixPropertiesKHR *m = found; m < found + count; m++) {
    const uint64_t products = (uint64_t)m->MSize * m->NSize * m->KSize;
    if (m->AType == VK_COMPONENT_TYPE_FLOAT16_KHR && m->BType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
        m->CType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
        m->ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR && m->scope == VK_SCOPE_SUBGROUP_KHR &&
        products > largest) {
      largest = products;
      d->limits.matrix[0] = m->MSize;
      d->limits.matrix[1] = m->NSize;
      d->limits.matrix[2] = m->KSize;
    }
  }
}

/* What it keeps of something, "f16 f32". */
static const char *widths(const VkBool32 *kept, char *text) {
  static const char *const names[VULKAN_WIDTHS] = {"f16", "f32", "f64"};

  text[0] = 0;
  for (int w = 0; w < VULKAN_WIDTHS; w++)
    if (kept[w])
      strcat(strcat(text, text[0] ? " " : ""), names[w]);
  return text[0] ? text : "no type";
}

static void describe(vulkan_device *d, const VkPhysicalDeviceVulkan12Properties *v12,
                     const VkPhysicalDeviceProperties *p) {
  const vulkan_floats *floats = &d->code.floats;
  char specials[16], denormals[16], nearest[16];

  snprintf(d->name, sizeof d->name, "%s, %s %s", p->deviceName, v12->driverName, v12->driverInfo);
  snprintf(
      d->notes, sizeof d->notes,
      "Vulkan %u.%u, subgroups of %u, %u multiprocessors; is sure to keep NaN, infinities and "
      "signed zeros in %s, numbers below the normal range in %s, and to round to nearest in %s%s",
      VK_API_VERSION_MAJOR(p->apiVersion), VK_API_VERSION_MINOR(p->apiVersion), d->limits.subgroup,
      d->limits.multiprocessors, widths(floats->specials, specials),
      widths(floats->denormals, denormals), widths(floats->nearest, nearest),
      d->clock_mask ? "" : "; it has no clock: times are the host's");
  /* The compute type's, and for f16 also that of the conversion. */
  for (int dtype = 0; dtype < LATHE_DTYPES; dtype++)
    if (!floats->denormals[dtype == LATHE_F64 ? 2 : 1] ||
        (dtype == LATHE_F16 && !floats->denormals[0]))
      d->head.may_flush |= 1u << dtype;
}

/* Fills in the nth device where the kernels can run on this one; else false, and says why not. */
static bool add(vulkan_device *d, size_t nth, VkPhysicalDevice physical, char *why, size_t size) {
  VkPhysicalDeviceVulkan12Properties v12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {.sType =
                                                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  const VkPhysicalDeviceProperties *p = &properties.properties;
  const char *lacks = NULL;

  *d = (vulkan_device){.physical = physical};
  vk.GetPhysicalDeviceProperties2(physical, &properties);
  d->type = p->deviceType;
  if (p->apiVersion < VK_API_VERSION_1_2)
    lacks = "Vulkan 1.2";
  else if (!find_queue(d))
    lacks = "a queue for compute shaders";
  if (!lacks)
    lacks = find_features(d);
  if (!lacks)
    lacks = find_properties(d, &v12);
  if (lacks) {
    snprintf(why, size, "%s lacks %s", p->deviceName, lacks);
    return false;
  }
  find_matrix(d);
  snprintf(d->id, sizeof d->id, "vulkan%zu", nth);
  d->head = (device){
      .id = d->id,
      .name = d->name,
      .notes = d->notes,
      .kind = LATHE_VULKAN,
      .features = LATHE_ON_VULKAN | (d->f64 ? LATHE_VULKAN_F64 : 0) |
                  (d->f16 && d->code.floats.nearest[0] ? LATHE_VULKAN_F16 : 0) |
                  (d->storage16 ? LATHE_VULKAN_STORAGE16 : 0) |
                  (d->storage8 ? LATHE_VULKAN_STORAGE8 : 0) |
                  (d->limits.matrix[0] ? LATHE_VULKAN_MATRIX : 0),
      .is_processor = d->type == VK_PHYSICAL_DEVICE_TYPE_CPU,
      .cools = d->type != VK_PHYSICAL_DEVICE_TYPE_CPU,
  };
  describe(d, &v12, p);
  return true;
}

static VkPhysicalDeviceType type_of(VkPhysicalDevice physical) {
  VkPhysicalDeviceProperties2 properties = {.sType =
                                                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};

  vk.GetPhysicalDeviceProperties2(physical, &properties);
  return properties.properties.deviceType;
}

/* GPUs with memory of their own come first, processors that emulate a GPU last. */
size_t vulkan_device_find(vulkan_device found[VULKAN_DEVICES], char *why, size_t size) {
  static const VkPhysicalDeviceType order[] = {
      VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
      VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_PHYSICAL_DEVICE_TYPE_OTHER,
      VK_PHYSICAL_DEVICE_TYPE_CPU};
  const VkInstance instance = vulkan_open(why, size);
  VkPhysicalDevice physical[VULKAN_DEVICES];
  uint32_t all = VULKAN_DEVICES;
  size_t count = 0;
  VkResult error;

  if (!instance)
    return 0;
  error = vk.EnumeratePhysicalDevices(instance, &all, physical);
  if (error < 0 || all == 0) {
    snprintf(why, size, "Vulkan's loader finds no device%s%s", error < 0 ? ": " : "",
             error < 0 ? vulkan_error(error) : "");
    return 0;
  }
  for (size_t o = 0; o < sizeof order / sizeof *order; o++)
    for (uint32_t i = 0; i < all; i++)
      if (type_of(physical[i]) == order[o] && add(&found[count], count, physical[i], why, size))
        count++;
  return count;
}

#endif
