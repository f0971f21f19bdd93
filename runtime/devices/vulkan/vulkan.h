/* vulkan.h - Vulkan's functions, looked up at run time, and what physical.h is made of. */
#ifndef VULKAN_H
#define VULKAN_H

#include "library/launch.h"

#if __has_include(<vulkan/vulkan_core.h>)
#define HAVE_VULKAN 1
#define VK_NO_PROTOTYPES
#include "library/vulkan_device.h"

/* Headers of before Vulkan 1.3.255 lack this, of which only these names are wanted. */
#ifndef VK_KHR_cooperative_matrix
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR                          \
  ((VkStructureType)1000506000)
#define VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR ((VkStructureType)1000506001)
enum {
  VK_COMPONENT_TYPE_FLOAT16_KHR,
  VK_COMPONENT_TYPE_FLOAT32_KHR,
  VK_SCOPE_WORKGROUP_KHR = 2,
  VK_SCOPE_SUBGROUP_KHR = 3
};
typedef struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
  VkStructureType sType;
  void *pNext;
  VkBool32 cooperativeMatrix, cooperativeMatrixRobustBufferAccess;
} VkPhysicalDeviceCooperativeMatrixFeaturesKHR;
typedef struct VkCooperativeMatrixPropertiesKHR {
  VkStructureType sType;
  void *pNext;
  uint32_t MSize, NSize, KSize;
  int AType, BType, CType, ResultType;
  VkBool32 saturatingAccumulation;
  int scope;
} VkCooperativeMatrixPropertiesKHR;
typedef VkResult(VKAPI_PTR *PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)(
    VkPhysicalDevice, uint32_t *, VkCooperativeMatrixPropertiesKHR *);
#endif

/* The same of headers of before 1.4.304. */
#ifndef VK_NV_cooperative_matrix2
#define VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME "VK_NV_cooperative_matrix2"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV                         \
  ((VkStructureType)1000593000)
#define VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS_PROPERTIES_NV                     \
  ((VkStructureType)1000593001)
typedef struct VkPhysicalDeviceCooperativeMatrix2FeaturesNV {
  VkStructureType sType;
  void *pNext;
  VkBool32 cooperativeMatrixWorkgroupScope, cooperativeMatrixFlexibleDimensions,
      cooperativeMatrixReductions, cooperativeMatrixConversions,
      cooperativeMatrixPerElementOperations, cooperativeMatrixTensorAddressing,
      cooperativeMatrixBlockLoads;
} VkPhysicalDeviceCooperativeMatrix2FeaturesNV;
typedef struct VkCooperativeMatrixFlexibleDimensionsPropertiesNV {
  VkStructureType sType;
  void *pNext;
  uint32_t MGranularity, NGranularity, KGranularity;
  int AType, BType, CType, ResultType;
  VkBool32 saturatingAccumulation;
  int scope;
  uint32_t workgroupInvocations;
} VkCooperativeMatrixFlexibleDimensionsPropertiesNV;
typedef VkResult(VKAPI_PTR *PFN_vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV)(
    VkPhysicalDevice, uint32_t *, VkCooperativeMatrixFlexibleDimensionsPropertiesNV *);
#endif

/* The same, of before 1.4.307. */
#ifndef VK_NV_cooperative_vector
#define VK_NV_COOPERATIVE_VECTOR_EXTENSION_NAME "VK_NV_cooperative_vector"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_VECTOR_FEATURES_NV                           \
  ((VkStructureType)1000491000)
#define VK_STRUCTURE_TYPE_COOPERATIVE_VECTOR_PROPERTIES_NV ((VkStructureType)1000491002)
typedef struct VkPhysicalDeviceCooperativeVectorFeaturesNV {
  VkStructureType sType;
  void *pNext;
  VkBool32 cooperativeVector, cooperativeVectorTraining;
} VkPhysicalDeviceCooperativeVectorFeaturesNV;
typedef struct VkCooperativeVectorPropertiesNV {
  VkStructureType sType;
  void *pNext;
  int inputType, inputInterpretation, matrixInterpretation, biasInterpretation, resultType;
  VkBool32 transpose;
} VkCooperativeVectorPropertiesNV;
typedef VkResult(VKAPI_PTR *PFN_vkGetPhysicalDeviceCooperativeVectorPropertiesNV)(
    VkPhysicalDevice, uint32_t *, VkCooperativeVectorPropertiesNV *);
#endif

/* Those that need no instance, and those that do: a row each. */
#define VULKAN_GLOBAL_FUNCTIONS(ROW)                                                               \
  ROW(EnumerateInstanceVersion)                                                                    \
  ROW(CreateInstance)
#define VULKAN_FUNCTIONS(ROW)                                                                      \
  ROW(AllocateCommandBuffers)                                                                      \
  ROW(AllocateMemory)                                                                              \
  ROW(BeginCommandBuffer)                                                                          \
  ROW(BindBufferMemory)                                                                            \
  ROW(CmdBindPipeline)                                                                             \
  ROW(CmdCopyBuffer)                                                                               \
  ROW(CmdDispatch)                                                                                 \
  ROW(CmdFillBuffer)                                                                               \
  ROW(CmdPipelineBarrier)                                                                          \
  ROW(CmdPushConstants)                                                                            \
  ROW(CmdResetQueryPool)                                                                           \
  ROW(CmdUpdateBuffer)                                                                             \
  ROW(CmdWriteTimestamp)                                                                           \
  ROW(CreateBuffer)                                                                                \
  ROW(CreateCommandPool)                                                                           \
  ROW(CreateDevice)                                                                                \
  ROW(CreateFence)                                                                                 \
  ROW(CreateQueryPool)                                                                             \
  ROW(DestroyBuffer)                                                                               \
  ROW(DestroyCommandPool)                                                                          \
  ROW(DestroyDevice)                                                                               \
  ROW(DestroyFence)                                                                                \
  ROW(DestroyInstance)                                                                             \
  ROW(DestroyQueryPool)                                                                            \
  ROW(EndCommandBuffer)                                                                            \
  ROW(EnumerateDeviceExtensionProperties)                                                          \
  ROW(EnumeratePhysicalDevices)                                                                    \
  ROW(FreeMemory)                                                                                  \
  ROW(GetBufferDeviceAddress)                                                                      \
  ROW(GetBufferMemoryRequirements)                                                                 \
  ROW(GetDeviceQueue)                                                                              \
  ROW(GetPhysicalDeviceFeatures2)                                                                  \
  ROW(GetPhysicalDeviceMemoryProperties2)                                                          \
  ROW(GetPhysicalDeviceProperties2)                                                                \
  ROW(GetPhysicalDeviceQueueFamilyProperties)                                                      \
  ROW(GetQueryPoolResults)                                                                         \
  ROW(MapMemory)                                                                                   \
  ROW(QueueSubmit)                                                                                 \
  ROW(ResetFences)                                                                                 \
  ROW(WaitForFences)

typedef struct vulkan_api {
  VkInstance instance;
  PFN_vkGetInstanceProcAddr get;
  /* Null where no driver has their extensions. */
  PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR
      GetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  PFN_vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV
      GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV;
  PFN_vkGetPhysicalDeviceCooperativeVectorPropertiesNV
      GetPhysicalDeviceCooperativeVectorPropertiesNV;
#define MEMBER(name) PFN_vk##name name;
  VULKAN_GLOBAL_FUNCTIONS(MEMBER) VULKAN_FUNCTIONS(MEMBER)
#undef MEMBER
} vulkan_api;

/* api.c */

extern vulkan_api vk;

/* Opens the loader and makes an instance of Vulkan 1.2; null where that fails, with the reason
 * in why. The program keeps it to its end. */
VkInstance vulkan_open(char *why, size_t size);

/* "VK_ERROR_DEVICE_LOST" */
const char *vulkan_error(VkResult error);

/* code.c */

/* By which pipelines are made of the images that the program carries, and kept. */
typedef struct vulkan_code {
  lathe_vulkan_kind kind;
  lathe_device *library;   /* that borrows the device; null where that is not made */
  VkPipelineLayout layout; /* push constants, VULKAN_PUSHED bytes */
} vulkan_code;

enum {
  VULKAN_PUSHED = LATHE_VULKAN_PUSHED,
  VULKAN_ARGUMENTS = 384, /* of what an op may be called with, in lines of 64 bytes */
};

/* The pipeline of one kernel of an image, in `pipeline`, and null; or why there is none, one line that the next call
 * may overwrite. */
const char *vulkan_code_get(vulkan_code *code, const lathe_image *first, const lathe_launch *launch,
                            VkPipeline *pipeline);

/* Makes those that are not there yet, all processors at once; those that cannot be made vulkan_code_get tells of. */
void vulkan_code_expect(vulkan_code *code, const lathe_image *first, const lathe_launch *launches,
                        size_t count);

/* gpu_clocks.c: keeps up, until the process ends, the clocks of the NVIDIA GPU with that identifier of
 * VK_UUID_SIZE bytes; where CUDA's driver is not there, nothing happens. */
void gpu_clocks_hold(const unsigned char *uuid);

/* streams.c: streams.comp and matrices.comp; empty where the build makes no such SPIR-V. */
extern const lathe_image vulkan_streams, vulkan_matrices;

#endif
#endif
