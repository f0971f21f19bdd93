/* commands.c - what is asked of a Vulkan device's queue: copies, and batches between two readings of its clock. */
#include "physical.h"

#ifdef HAVE_VULKAN
#include <string.h>

#include "base/clock.h"

/* All that was written is there for all that follows. Between launches only shaders' own accesses
 * count: what a driver does for more than is asked for, it does within the time that is measured. */
void vulkan_barrier(VkCommandBuffer to, VkPipelineStageFlags before, VkPipelineStageFlags after) {
  const VkPipelineStageFlags shader = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  const VkMemoryBarrier all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = before == shader ? VK_ACCESS_SHADER_WRITE_BIT : VK_ACCESS_MEMORY_WRITE_BIT,
      .dstAccessMask = after == shader ? VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT
                                       : VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
  };

  vk.CmdPipelineBarrier(to, before, after, 0, 1, &all, 0, NULL, 0, NULL);
}

VkResult vulkan_begin(VkCommandBuffer to) {
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  const VkResult error = vk.BeginCommandBuffer(to, &info);

  if (!error)
    vulkan_barrier(to, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  return error;
}

VkResult vulkan_submit(vulkan_device *d, VkCommandBuffer recorded) {
  const VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .commandBufferCount = 1,
      .pCommandBuffers = &recorded,
  };
  const double start = clock_ns();
  VkResult error = vk.QueueSubmit(d->queue, 1, &info, d->fence);

  d->asked_ns = clock_ns() - start;
  if (!error)
    error = vk.WaitForFences(d->made, 1, &d->fence, VK_TRUE, UINT64_MAX);
  if (error == VK_ERROR_DEVICE_LOST)
    d->head.lost = true;
  return error ? error : vk.ResetFences(d->made, 1, &d->fence);
}

VkResult vulkan_finish_transfer(vulkan_device *d) {
  const VkResult error = vk.EndCommandBuffer(d->transfer);

  return error ? error : vulkan_submit(d, d->transfer);
}

/* Copies between the host and a buffer, at an offset of it. */
VkResult vulkan_copy(vulkan_device *d, const vulkan_buffer *b, size_t at, const void *from,
                     void *to, size_t bytes) {
  VkResult error = VK_SUCCESS;

  for (size_t done = 0; done < bytes && !error;) {
    const size_t some = bytes - done < VULKAN_STAGING ? bytes - done : VULKAN_STAGING;
    const VkBufferCopy part = {
        .srcOffset = from ? 0 : at + done, .dstOffset = from ? at + done : 0, .size = some};
    if (from)
      memcpy(d->mapped, (const char *)from + done, some);
    error = vulkan_begin(d->transfer);
    if (error)
      break;
    vk.CmdCopyBuffer(d->transfer, from ? d->staging.buffer : b->buffer,
                     from ? b->buffer : d->staging.buffer, 1, &part);
    vulkan_barrier(d->transfer, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT);
    error = vulkan_finish_transfer(d);
    if (to && !error)
      memcpy((char *)to + done, d->mapped, some);
    done += some;
  }
  return error;
}

/* Sets the bytes from `at` to `end` of a buffer: whole words by the device, and those around them. */
VkResult vulkan_fill(vulkan_device *d, const vulkan_buffer *b, size_t at, size_t end,
                     unsigned char value) {
  const size_t first = (at + 3) / 4 * 4, last = end / 4 * 4;
  unsigned char edge[8];
  VkResult error;

  memset(edge, value, sizeof edge);
  if (first >= last)
    return vulkan_copy(d, b, at, edge, NULL, end - at);
  error = vulkan_copy(d, b, at, edge, NULL, first - at);
  if (!error)
    error = vulkan_copy(d, b, last, edge, NULL, end - last);
  if (!error)
    error = vulkan_begin(d->transfer);
  if (error)
    return error;
  vk.CmdFillBuffer(d->transfer, b->buffer, first, last - first, value * 0x01010101u);
  return vulkan_finish_transfer(d);
}

/* Begins a batch with a reading of the device's clock: that of the moment when the queue comes to it,
 * with nothing before it. Another ends it, of when all is done. */
VkResult vulkan_begin_batch(vulkan_device *d) {
  const VkResult error = vulkan_begin(d->batch);

  d->recorded_of = NULL;
  if (!error && d->clock_mask) {
    vk.CmdResetQueryPool(d->batch, d->clock, 0, 2);
    vk.CmdWriteTimestamp(d->batch, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, d->clock, 0);
  }
  return error;
}

VkResult vulkan_end_batch(vulkan_device *d) {
  if (d->clock_mask)
    vk.CmdWriteTimestamp(d->batch, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, d->clock, 1);
  return vk.EndCommandBuffer(d->batch);
}

/* Nanoseconds between the two readings of the batch that ran. */
VkResult vulkan_read_clock(vulkan_device *d, double *ns) {
  uint64_t ticks[2];
  const VkResult error =
      vk.GetQueryPoolResults(d->made, d->clock, 0, 2, sizeof ticks, ticks, sizeof *ticks,
                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);

  if (!error)
    *ns = (double)((ticks[1] - ticks[0]) & d->clock_mask) * d->clock_ns;
  return error;
}

#endif
