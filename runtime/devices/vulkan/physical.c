/* physical.c - which devices there are, and what each can do. */
#include "physical.h"

#ifdef HAVE_VULKAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_extension(VkPhysicalDevice physical, const char *name) {
  const lathe_vulkan_found by = {vk.GetPhysicalDeviceProperties2,
                                 vk.EnumerateDeviceExtensionProperties};

  return lathe_vulkan_has(&by, physical, name);
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
  d->memory_model = v12.vulkanMemoryModel && v12.vulkanMemoryModelDeviceScope;
  d->storage16 = v11.storageBuffer16BitAccess;
  d->storage8 = v12.storageBuffer8BitAccess;
  d->code.kind.size_varies = size.subgroupSizeControl;
  d->code.kind.full = size.computeFullSubgroups;
  return !v12.bufferDeviceAddress         ? "bufferDeviceAddress"
         : !features.features.shaderInt64 ? "shaderInt64"
                                          : NULL;
}

/* The same for limits and arithmetic. */
static const char *find_properties(vulkan_device *d, VkPhysicalDeviceVulkan12Properties *v12) {
  const lathe_vulkan_found by = {vk.GetPhysicalDeviceProperties2,
                                 vk.EnumerateDeviceExtensionProperties};
  const bool full = d->code.kind.full, varies = d->code.kind.size_varies;
  VkPhysicalDeviceVulkan11Properties v11;
  VkPhysicalDeviceProperties2 properties = {.sType =
                                                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};

  vk.GetPhysicalDeviceProperties2(d->physical, &properties);
  lathe_vulkan_describe(&by, d->physical, varies, full, &d->code.kind, &v11, v12);
  d->limits = d->code.kind.limits;
  d->most_allocated = (double)v11.maxMemoryAllocationSize;
  d->nvidia = d->code.kind.nvidia;
  memcpy(d->uuid, v11.deviceUUID, sizeof d->uuid);
  d->clock_ns = properties.properties.limits.timestampPeriod;
  return d->code.kind.lacks;
}

/* The largest products of matrices of f16 that subgroups compute and add up in f32; none: all 0. */
static void find_matrix(vulkan_device *d) {
  VkCooperativeMatrixPropertiesKHR found[64];
  uint32_t count = sizeof found / sizeof *found;
  uint64_t largest = 0;

  if (!vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR || !d->f16 || !d->memory_model ||
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

/* Whether workgroups of 256 compute products of matrices of f16, of multiples of 64 rows and columns and 16 terms, and
 * add them up in f32 and in f16. */
static bool has_workgroup_matrix(const vulkan_device *d, uint32_t version) {
  VkPhysicalDeviceCooperativeMatrix2FeaturesNV matrix = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV};
  VkPhysicalDeviceMaintenance4Features sizes = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES, .pNext = &matrix};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                        .pNext = &sizes};
  VkCooperativeMatrixFlexibleDimensionsPropertiesNV found[64];
  uint32_t count = sizeof found / sizeof *found;
  bool f32 = false, f16 = false;

  if (!vk.GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV ||
      d->limits.matrix[0] == 0 || version < VK_API_VERSION_1_3 ||
      !has_extension(d->physical, VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME))
    return false;
  vk.GetPhysicalDeviceFeatures2(d->physical, &features);
  for (uint32_t i = 0; i < count; i++)
    found[i] = (VkCooperativeMatrixFlexibleDimensionsPropertiesNV){
        .sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS_PROPERTIES_NV};
  if (vk.GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV(d->physical, &count,
                                                                          found) < 0)
    return false;
  for (const VkCooperativeMatrixFlexibleDimensionsPropertiesNV *m = found; m < found + count; m++)
    if (m->AType == VK_COMPONENT_TYPE_FLOAT16_KHR && m->BType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
        m->CType == m->ResultType && m->scope == VK_SCOPE_WORKGROUP_KHR &&
        m->workgroupInvocations == 256 && 64 % m->MGranularity == 0 && 64 % m->NGranularity == 0 &&
        16 % m->KGranularity == 0) {
      f32 = f32 || m->CType == VK_COMPONENT_TYPE_FLOAT32_KHR;
      f16 = f16 || m->CType == VK_COMPONENT_TYPE_FLOAT16_KHR;
    }
  return f32 && f16 && sizes.maintenance4 && matrix.cooperativeMatrixWorkgroupScope &&
         matrix.cooperativeMatrixFlexibleDimensions &&
         matrix.cooperativeMatrixPerElementOperations && matrix.cooperativeMatrixTensorAddressing;
}

/* Whether it multiplies a matrix with an invocation's vector, all of f16. */
static bool has_vector(const vulkan_device *d) {
  VkPhysicalDeviceCooperativeVectorFeaturesNV vector = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_VECTOR_FEATURES_NV};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                        .pNext = &vector};
  VkCooperativeVectorPropertiesNV found[64];
  uint32_t count = sizeof found / sizeof *found;

  if (!vk.GetPhysicalDeviceCooperativeVectorPropertiesNV || !d->f16 || !d->memory_model ||
      !has_extension(d->physical, VK_NV_COOPERATIVE_VECTOR_EXTENSION_NAME))
    return false;
  vk.GetPhysicalDeviceFeatures2(d->physical, &features);
  for (uint32_t i = 0; i < count; i++)
    found[i] = (VkCooperativeVectorPropertiesNV){
        .sType = VK_STRUCTURE_TYPE_COOPERATIVE_VECTOR_PROPERTIES_NV};
  if (!vector.cooperativeVector ||
      vk.GetPhysicalDeviceCooperativeVectorPropertiesNV(d->physical, &count, found) < 0)
    return false;
  for (const VkCooperativeVectorPropertiesNV *p = found; p < found + count; p++)
    if (p->inputType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
        p->inputInterpretation == VK_COMPONENT_TYPE_FLOAT16_KHR &&
        p->matrixInterpretation == VK_COMPONENT_TYPE_FLOAT16_KHR &&
        p->resultType == VK_COMPONENT_TYPE_FLOAT16_KHR)
      return true;
  return false;
}

/* The types in which a device keeps something, "f16 f32". */
static const char *widths(const VkBool32 *kept, char *text) {
  static const char *const names[LATHE_WIDTHS] = {"f16", "f32", "f64"};

  text[0] = 0;
  for (int w = 0; w < LATHE_WIDTHS; w++)
    if (kept[w])
      strcat(strcat(text, text[0] ? " " : ""), names[w]);
  return text[0] ? text : "no type";
}

/* By what it keeps, and what kernels ask of that (spirv.c): of f32 nothing beside f16. Functions and quotients of f32
 * may flush their results on any device. */
static void say_flushed(vulkan_device *d) {
  const lathe_floats *floats = &d->code.kind.floats;
  const bool alike = floats->denormals_apart == LATHE_APART_NONE;
  const unsigned f16 = 1u << LATHE_F16, f32 = 1u << LATHE_F32 | 1u << LATHE_BF16;
  const unsigned f64 = 1u << LATHE_F64;

  for (int dtype = 0; dtype < LATHE_DTYPES; dtype++) {
    const bool in_f64 = dtype == LATHE_F64, in_f16 = dtype == LATHE_F16;
    d->head.may_flush[dtype].types =
        (floats->denormals[1] && !in_f16 ? 0 : f32) | (in_f64 && !floats->denormals[2] ? f64 : 0);
    if (in_f16 && (!floats->denormals[0] || (alike && !floats->denormals[1])))
      d->head.may_flush[dtype].types |= f16;
    d->head.may_flush[dtype].between = !in_f64 || !floats->denormals[2];
  }
}

static void describe(vulkan_device *d, const VkPhysicalDeviceVulkan12Properties *v12,
                     const VkPhysicalDeviceProperties *p) {
  const lathe_floats *floats = &d->code.kind.floats;
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
  say_flushed(d);
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
  d->workgroup_matrix = has_workgroup_matrix(d, p->apiVersion);
  d->vector = has_vector(d);
  snprintf(d->id, sizeof d->id, "vulkan%zu", nth);
  d->head = (device){
      .id = d->id,
      .name = d->name,
      .notes = d->notes,
      .kind = LATHE_VULKAN,
      .features = LATHE_ON_VULKAN | (d->f64 ? LATHE_VULKAN_F64 : 0) |
                  (d->f16 && d->code.kind.floats.nearest[0] ? LATHE_VULKAN_F16 : 0) |
                  (d->storage16 ? LATHE_VULKAN_STORAGE16 : 0) |
                  (d->storage8 ? LATHE_VULKAN_STORAGE8 : 0) |
                  (d->limits.matrix[0] ? LATHE_VULKAN_MATRIX : 0) |
                  (d->workgroup_matrix ? LATHE_VULKAN_WORKGROUP_MATRIX : 0) |
                  (d->vector ? LATHE_VULKAN_VECTOR : 0),
      .is_processor = d->type == VK_PHYSICAL_DEVICE_TYPE_CPU,
      .cools = d->type != VK_PHYSICAL_DEVICE_TYPE_CPU,
  };
  memcpy(d->head.uuid, d->uuid, sizeof d->head.uuid);
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
