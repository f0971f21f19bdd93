/* logical.c - a device with all that is enabled of it, and what calls on it share. */
#include "physical.h"

#ifdef HAVE_VULKAN
static void drop(vulkan_device *d) {
  lathe_close(d->code.library);
  vulkan_buffer_free(d, &d->staging);
  vulkan_buffer_free(d, &d->traffic);
  vk.DestroyQueryPool(d->made, d->clock, NULL);
  vk.DestroyFence(d->made, d->fence, NULL);
  vk.DestroyCommandPool(d->made, d->pool, NULL);
  vk.DestroyDevice(d->made, NULL);
  d->made = NULL;
  d->code.library = NULL;
  d->clock = VK_NULL_HANDLE;
  d->fence = VK_NULL_HANDLE;
  d->pool = VK_NULL_HANDLE;
  d->recorded_of = NULL;
}

/* Lends the device to the library, which knows nothing of the extensions that are enabled besides. */
static VkResult lend(vulkan_device *d, const VkPhysicalDeviceFeatures2 *enabled) {
  const lathe_vulkan mine = {vk.instance, d->physical, d->made, (void (*)(void))vk.get, enabled};
  lathe_vulkan_device *on;

  if (lathe_open_vulkan(&d->code.library, &mine))
    return VK_ERROR_INITIALIZATION_FAILED;
  on = lathe_vulkan_of(d->code.library);
  on->kind = d->code.kind;
  on->kind.limits = d->limits;
  d->code.layout = on->layout;
  return VK_SUCCESS;
}

static VkResult make(vulkan_device *d) {
  const float priority = 1;
  const bool matrices = d->limits.matrix[0] || d->vector;
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueFamilyIndex = d->family,
      .queueCount = 1,
      .pQueuePriorities = &priority,
  };
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT size = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT,
      .subgroupSizeControl = d->code.kind.size_varies,
      .computeFullSubgroups = d->code.kind.full,
  };
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
      .pNext = d->size_control ? &size : NULL,
      .cooperativeMatrix = VK_TRUE,
  };
  /* SPIR-V 1.6, which these come in, has sizes of workgroups that only maintenance4 allows. */
  VkPhysicalDeviceCooperativeMatrix2FeaturesNV workgroup_matrix = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV,
      .pNext = &matrix,
      .cooperativeMatrixWorkgroupScope = VK_TRUE,
      .cooperativeMatrixFlexibleDimensions = VK_TRUE,
      .cooperativeMatrixPerElementOperations = VK_TRUE,
      .cooperativeMatrixTensorAddressing = VK_TRUE,
  };
  VkPhysicalDeviceMaintenance4Features sizes = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
      .pNext = &workgroup_matrix,
      .maintenance4 = VK_TRUE,
  };
  VkPhysicalDeviceCooperativeVectorFeaturesNV vector = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_VECTOR_FEATURES_NV,
      .pNext = d->workgroup_matrix   ? (void *)&sizes
               : d->limits.matrix[0] ? &matrix
                                     : matrix.pNext,
      .cooperativeVector = VK_TRUE,
  };
  VkPhysicalDeviceVulkan12Features v12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
      .pNext = d->vector ? &vector : vector.pNext,
      .bufferDeviceAddress = VK_TRUE,
      .vulkanMemoryModel = matrices, /* whose kernels have barriers for the whole device, too */
      .vulkanMemoryModelDeviceScope = matrices,
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
  const char *extensions[4];
  uint32_t count = 0;
  if (d->size_control)
    extensions[count++] = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
  if (d->limits.matrix[0])
    extensions[count++] = VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME;
  if (d->workgroup_matrix)
    extensions[count++] = VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME;
  if (d->vector)
    extensions[count++] = VK_NV_COOPERATIVE_VECTOR_EXTENSION_NAME;
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
    error = lend(d, &features);
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

#endif
