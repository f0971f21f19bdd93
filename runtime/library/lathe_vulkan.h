/* lathe_vulkan.h - a Vulkan device that is borrowed, and what calls there are recorded into. */
#ifndef LATHE_BORROWED_VULKAN_H
#define LATHE_BORROWED_VULKAN_H

#include "lathe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Borrows a VkDevice of Vulkan 1.2 or more. enabled: the VkPhysicalDeviceFeatures2 that vkCreateDevice was given, with
 * all that follows it: bufferDeviceAddress and shaderInt64 at least. */
typedef struct lathe_vulkan {
  void *instance, *physical, *device;
  void (*get_instance_proc_addr)(void);
  const void *enabled;
} lathe_vulkan;
lathe_status lathe_open_vulkan(lathe_device **made, const lathe_vulkan *yours);

/* Where calls put more arguments than are pushed, by vkCmdUpdateBuffer. No other call has that place before this
 * one has run. offset: a multiple of 64; address: of what is there. */
typedef struct lathe_commands {
  void *commands; /* VkCommandBuffer */
  uint64_t buffer, offset, address;
} lathe_commands;

#ifdef __cplusplus
}
#endif

#endif
