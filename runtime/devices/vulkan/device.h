/* device.h - Vulkan devices: those that the loader finds, GPUs first. */
#ifndef VULKAN_DEVICE_H
#define VULKAN_DEVICE_H

#include "devices/common/device.h"

device_list device_vulkan(void);

#endif
