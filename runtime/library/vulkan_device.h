/* vulkan_device.h - what plans on a Vulkan device share, for who launches kernels of its own there. */
#ifndef LATHE_VULKAN_DEVICE_H
#define LATHE_VULKAN_DEVICE_H

#include "lathe_vulkan.h"
#include "on_vulkan.h"
#include "plan.h"

/* Of a device that lathe_open_vulkan made. */
lathe_vulkan_device *lathe_vulkan_of(lathe_device *device);

/* The code of a chain of images, side by side, unpacked once; null with the reason in why. */
const lathe_vulkan_code *lathe_vulkan_codes(lathe_device *device, const lathe_image *first,
                                            const char **why);

#endif
