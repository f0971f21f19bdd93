/* memory.c - buffers on Vulkan devices. */
#include "physical.h"

#ifdef HAVE_VULKAN
#include <math.h>

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

#endif
