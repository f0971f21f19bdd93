/* device.c - calls on Vulkan devices.
 *
 * Buffers are addresses, which go to a kernel with dimensions and scalars as push constants. A
 * logical device is made when a call first wants one. Where it is lost, this process has no other; see
 * worker.h. */
#include "device.h"

#include "physical.h"

#ifdef HAVE_VULKAN
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "devices/common/remote.h"
#include "library/dtype.h"
#include "library/launch.h"

enum {
  ALIGNMENT = 256,      /* of data, before the layout's offset */
  MOST_RECORDED = 4096, /* calls of one command buffer */
  MOST_SETS = 4096,     /* copies of operands that a cold call may take, a power of two like that */
};

/* Vulkan does not tell how large a GPU's last cache is: about what the largest have, and the smallest. */
static const double largest_cache = 256 << 20, smallest_cache = 1 << 20;

typedef struct vulkan_call {
  device_call head;
  vulkan_buffer operand[LATHE_MAX_OPERANDS], workspace;
  vulkan_buffer input[LATHE_MAX_OPERANDS]; /* those of the problem that calls take turns with */
  void *host[LATHE_MAX_OPERANDS];          /* copies of the outputs, or of inputs to compare */
  lathe_args args;
  bool by_call; /* each call takes its turn, not each batch */
  unsigned char pushed[VULKAN_PUSHED];
  uint32_t pushed_size;
  int count; /* launches of a call */
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  VkPipeline pipeline[LATHE_MAX_LAUNCHES];
  /* Sets of operands that timed calls take in turn, a power of two: the first is `operand`, the
   * others lie one after the other in `copies`, each operand in its slot. */
  uint64_t sets, next_set;
  vulkan_buffer copies;
  size_t set_size, slot[LATHE_MAX_OPERANDS];
  bool broken; /* what went wrong leaves nothing to be done with it */
} vulkan_call;

static vulkan_device *device_of(const device_call *call) {
  return (vulkan_device *)call->on;
}

/* ---- commands ----------------------------------------------------------------------------------- */

/* All that was written is there for all that follows. Between launches only shaders' own accesses
 * count: what a driver does for more than is asked for, it does within the time that is measured. */
static void barrier(VkCommandBuffer to, VkPipelineStageFlags before, VkPipelineStageFlags after) {
  const VkPipelineStageFlags shader = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  const VkMemoryBarrier all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = before == shader ? VK_ACCESS_SHADER_WRITE_BIT : VK_ACCESS_MEMORY_WRITE_BIT,
      .dstAccessMask = after == shader ? VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT
                                       : VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
  };

  vk.CmdPipelineBarrier(to, before, after, 0, 1, &all, 0, NULL, 0, NULL);
}

static VkResult begin(VkCommandBuffer to) {
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  const VkResult error = vk.BeginCommandBuffer(to, &info);

  if (!error)
    barrier(to, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  return error;
}

/* Runs what was recorded, to its end: a launch that has none is ended with the process (see
 * device_limit). */
static VkResult submit(vulkan_device *d, VkCommandBuffer recorded) {
  const VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .commandBufferCount = 1,
      .pCommandBuffers = &recorded,
  };
  VkResult error = vk.QueueSubmit(d->queue, 1, &info, d->fence);

  if (!error)
    error = vk.WaitForFences(d->made, 1, &d->fence, VK_TRUE, UINT64_MAX);
  if (error == VK_ERROR_DEVICE_LOST)
    d->head.lost = true;
  return error ? error : vk.ResetFences(d->made, 1, &d->fence);
}

static VkResult finish_transfer(vulkan_device *d) {
  const VkResult error = vk.EndCommandBuffer(d->transfer);

  return error ? error : submit(d, d->transfer);
}

/* Copies between the host and a buffer, at an offset of it. */
static VkResult copy(vulkan_device *d, const vulkan_buffer *b, size_t at, const void *from,
                     void *to, size_t bytes) {
  VkResult error = VK_SUCCESS;

  for (size_t done = 0; done < bytes && !error;) {
    const size_t some = bytes - done < VULKAN_STAGING ? bytes - done : VULKAN_STAGING;
    const VkBufferCopy part = {
        .srcOffset = from ? 0 : at + done, .dstOffset = from ? at + done : 0, .size = some};
    if (from)
      memcpy(d->mapped, (const char *)from + done, some);
    error = begin(d->transfer);
    if (error)
      break;
    vk.CmdCopyBuffer(d->transfer, from ? d->staging.buffer : b->buffer,
                     from ? b->buffer : d->staging.buffer, 1, &part);
    barrier(d->transfer, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT);
    error = finish_transfer(d);
    if (to && !error)
      memcpy((char *)to + done, d->mapped, some);
    done += some;
  }
  return error;
}

/* Sets the bytes from `at` to `end` of a buffer: whole words by the device, and those around them. */
static VkResult fill(vulkan_device *d, const vulkan_buffer *b, size_t at, size_t end,
                     unsigned char value) {
  const size_t first = (at + 3) / 4 * 4, last = end / 4 * 4;
  unsigned char edge[8];
  VkResult error;

  memset(edge, value, sizeof edge);
  if (first >= last)
    return copy(d, b, at, edge, NULL, end - at);
  error = copy(d, b, at, edge, NULL, first - at);
  if (!error)
    error = copy(d, b, last, edge, NULL, end - last);
  if (!error)
    error = begin(d->transfer);
  if (error)
    return error;
  vk.CmdFillBuffer(d->transfer, b->buffer, first, last - first, value * 0x01010101u);
  return finish_transfer(d);
}

/* ---- calls -------------------------------------------------------------------------------------- */

/* Says what went wrong in a call, which can do no more then. */
static bool fail(device_call *call, VkResult error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(device_call *call, VkResult error, const char *format, ...) {
  va_list list;

  va_start(list, format);
  device_fail_list(call, error ? vulkan_error(error) : NULL, format, list);
  va_end(list);
  if (error)
    ((vulkan_call *)call)->broken = true;
  return false;
}

/* An operand's buffer. */
static VkResult make_operand(vulkan_device *d, vulkan_buffer *b, size_t size, size_t offset) {
  /* The buffer's own address may be aligned to less. */
  const size_t length = (REMOTE_GUARD + ALIGNMENT + offset + size + REMOTE_GUARD + 3) / 4 * 4;
  VkResult error = vulkan_buffer_make(d, b, length, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);

  if (error)
    return error;
  b->size = size;
  b->lead = REMOTE_GUARD + (0 - (size_t)b->address) % ALIGNMENT + offset;
  b->address += b->lead;
  return fill(d, b, 0, length, remote_guard_byte);
}

/* An address in the form in which the generated code takes it. */
static void *pointer_to(VkDeviceAddress address) {
  return (void *)(uintptr_t)address; /* NOLINT */
}

static VkResult allocate(vulkan_call *c) {
  vulkan_device *d = device_of(&c->head);
  const lathe_variant *v = c->head.variant;
  const problem *p = c->head.problem;
  VkResult error = VK_SUCCESS;

  for (int o = 0; o < v->op->noperands && !error; o++) {
    if (device_home(&c->head, o) != o)
      continue;
    error = make_operand(d, &c->operand[o], p->bytes[o], device_offset(&c->head, o));
    if (!error && p->input[o])
      error = copy(d, &c->operand[o], c->operand[o].lead, p->input[o], NULL, p->bytes[o]);
  }
  for (int o = 0; o < v->op->noperands; o++)
    c->args.buf[o] = pointer_to(c->operand[device_home(&c->head, o)].address);
  const size_t workspace = (size_t)lathe_workspace(v, p->dim);
  if (workspace && !error) {
    error = make_operand(d, &c->workspace, workspace, 0);
    if (!error)
      error = fill(d, &c->workspace, c->workspace.lead, c->workspace.lead + c->workspace.size, 0);
    c->args.workspace = pointer_to(c->workspace.address);
  }
  return error;
}

static void push(vulkan_call *c, const void *value, size_t size) {
  memcpy(c->pushed + c->pushed_size, value, size);
  c->pushed_size += (uint32_t)size;
}

/* An operand's address in the nth set, as well aligned as in the first. */
static VkDeviceAddress address_of(const vulkan_call *c, int operand, uint64_t nth) {
  const int home = device_home(&c->head, operand);
  const VkDeviceAddress data = c->operand[home].address;

  return nth && c->sets > 1
             ? c->copies.address + (nth - 1) * c->set_size + c->slot[home] + data % ALIGNMENT
             : data;
}

/* Problems that take turns count as two sets. */
static uint64_t turns(const vulkan_call *c) {
  return c->head.other ? 2 : c->sets;
}

static bool is_other(const vulkan_call *c, uint64_t set) {
  return c->head.other && set % 2;
}

/* The arguments in the order of gen/lower_glsl.lua, which sees to it that they fit. */
static void push_arguments(vulkan_call *c, uint64_t set) {
  const lathe_op *op = c->head.variant->op;
  const bool others = is_other(c, set);
  const lathe_args with = others ? problem_args(c->head.other) : c->args, *args = &with;

  c->pushed_size = 0;
  for (int o = 0; o < op->noperands; o++) {
    const VkDeviceAddress address =
        others && c->input[o].buffer ? c->input[o].address : address_of(c, o, set);
    push(c, &address, sizeof address);
  }
  push(c, &c->workspace.address, sizeof(VkDeviceAddress));
  for (int i = 0; i < op->ndim; i++) {
    const uint64_t dim = args->dim[i];
    push(c, &dim, sizeof dim);
  }
  for (int s = 0; s < op->nscalars; s++) {
    const float number = (float)args->scalar[s];
    if (c->head.variant->dtype == LATHE_F64)
      push(c, &args->scalar[s], sizeof(double));
    else
      push(c, &number, sizeof number);
  }
}

static void free_inputs(vulkan_call *c) {
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    vulkan_buffer_free(device_of(&c->head), &c->input[o]);
}

static void release(device_call *call) {
  vulkan_call *c = (vulkan_call *)call;
  vulkan_device *d = device_of(call);

  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    free(c->host[o]);
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    vulkan_buffer_free(d, &c->operand[o]);
  free_inputs(c);
  vulkan_buffer_free(d, &c->workspace);
  vulkan_buffer_free(d, &c->copies);
  if (d->recorded_of == c)
    d->recorded_of = NULL;
  free(c);
}

/* The kernels of a call; false with the reason in why. */
static bool load_kernels(vulkan_call *c, const char **why) {
  static char text[320];
  vulkan_device *d = device_of(&c->head);
  const lathe_variant *v = c->head.variant;

  c->count = lathe_launch_vulkan(v->schedule, &c->args, &d->limits, c->launch);
  if (c->count == 0) {
    *why = "the variant has no launch for this size on this device";
    return false;
  }
  for (int l = 0; l < c->count; l++) {
    const char *none = vulkan_code_get(&d->code, v->image, &c->launch[l], &c->pipeline[l]);
    if (none) {
      snprintf(text, sizeof text, "no pipeline could be made of kernel %s: %s", c->launch[l].kernel,
               none);
      *why = text;
      return false;
    }
  }
  return true;
}

static device_call *prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why) {
  static char text[256];
  vulkan_device *d = (vulkan_device *)on;
  vulkan_call *c;
  VkResult error;

  *why = NULL;
  if (on->lost)
    *why = "an earlier kernel's fault has cost this program the device";
  else if (layout.in_place && !variant->op->in_place)
    *why = "the op does not work in place";
  if (*why)
    return NULL;
  error = vulkan_device_open(d);
  if (error) {
    snprintf(text, sizeof text, "the device could not be opened: %s", vulkan_error(error));
    *why = text;
    return NULL;
  }
  c = calloc(1, sizeof *c);
  if (!c) {
    *why = "not enough memory";
    return NULL;
  }
  c->head = (device_call){.on = on, .variant = variant, .problem = p, .layout = layout};
  c->args = problem_args(p);
  c->sets = 1;
  error = allocate(c);
  if (error == VK_ERROR_OUT_OF_DEVICE_MEMORY || error == VK_ERROR_OUT_OF_HOST_MEMORY) {
    *why = "not enough memory on the device for the operands";
  } else if (error) {
    snprintf(text, sizeof text, "its buffers could not be made: %s", vulkan_error(error));
    *why = text;
  }
  if (*why || !load_kernels(c, why)) {
    release(&c->head);
    return NULL;
  }
  return &c->head;
}

static void reset(device_call *call) {
  vulkan_call *c = (vulkan_call *)call;
  vulkan_device *d = device_of(call);
  const lathe_op *op = call->variant->op;
  VkResult error = VK_SUCCESS;

  for (int o = 0; o < op->noperands && !error && !c->broken; o++) {
    const vulkan_buffer *b = &c->operand[device_home(&c->head, o)];
    if (op->operands[o].output && device_home(&c->head, o) == o)
      error = fill(d, b, b->lead, b->lead + b->size, remote_poison_byte);
    else if (op->operands[o].output) /* an input that the last call wrote over */
      error = copy(d, b, b->lead, call->problem->input[device_home(&c->head, o)], NULL, b->size);
  }
  if (error)
    fail(call, error, "the buffers could not be set");
}

static bool load(device_call *call, const problem *p) {
  vulkan_call *c = (vulkan_call *)call;
  const lathe_args with = problem_args(p);
  VkResult error = VK_SUCCESS;

  call->problem = p;
  memcpy(c->args.scalar, with.scalar, sizeof with.scalar);
  device_of(call)->recorded_of = NULL;
  for (int o = 0; o < p->op->noperands && !error; o++)
    if (p->input[o])
      error =
          copy(device_of(call), &c->operand[o], c->operand[o].lead, p->input[o], NULL, p->bytes[o]);
  return !error || fail(call, error, "the inputs could not be copied");
}

/* Where a cache may hold the operands, but not two problems' inputs, a batch has one problem. */
static bool take_turns(device_call *call, const problem *other) {
  const double beyond = 4; /* times the cache */
  vulkan_call *c = (vulkan_call *)call;
  vulkan_device *d = device_of(call);
  VkResult error = VK_SUCCESS;
  double bytes = 0, more = 0;

  for (int o = 0; o < other->op->noperands && !error; o++) {
    bytes += (double)other->bytes[o];
    if (!other->input[o])
      continue;
    more += (double)other->bytes[o];
    error = make_operand(d, &c->input[o], other->bytes[o], device_offset(call, o));
    if (!error)
      error = copy(d, &c->input[o], c->input[o].lead, other->input[o], NULL, other->bytes[o]);
  }
  if (error) {
    free_inputs(c);
    return false;
  }
  call->other = other;
  c->by_call = bytes + more <= smallest_cache || bytes > beyond * largest_cache;
  d->recorded_of = NULL;
  return true;
}

/* Begins a batch with a reading of the device's clock: that of the moment when the queue comes to it,
 * with nothing before it. Another ends it, of when all is done. */
static VkResult begin_batch(vulkan_device *d) {
  const VkResult error = begin(d->batch);

  d->recorded_of = NULL;
  if (!error && d->clock_mask) {
    vk.CmdResetQueryPool(d->batch, d->clock, 0, 2);
    vk.CmdWriteTimestamp(d->batch, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, d->clock, 0);
  }
  return error;
}

static VkResult end_batch(vulkan_device *d) {
  if (d->clock_mask)
    vk.CmdWriteTimestamp(d->batch, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, d->clock, 1);
  return vk.EndCommandBuffer(d->batch);
}

/* Nanoseconds between the two readings of the batch that ran. */
static VkResult read_clock(vulkan_device *d, double *ns) {
  uint64_t ticks[2];
  const VkResult error =
      vk.GetQueryPoolResults(d->made, d->clock, 0, 2, sizeof ticks, ticks, sizeof *ticks,
                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);

  if (!error)
    *ns = (double)((ticks[1] - ticks[0]) & d->clock_mask) * d->clock_ns;
  return error;
}

/* Records a batch of calls, one after another. */
static VkResult record(vulkan_call *c, uint64_t calls) {
  vulkan_device *d = device_of(&c->head);
  VkResult error;

  if (d->recorded_of == c && d->recorded == calls && d->recorded_from == c->next_set)
    return VK_SUCCESS;
  error = begin_batch(d);
  if (error)
    return error;
  for (uint64_t i = 0; i < calls; i++) {
    if (i == 0 || c->sets > 1 || c->by_call) {
      push_arguments(c, (c->next_set + (c->by_call || c->sets > 1 ? i : 0)) % turns(c));
      vk.CmdPushConstants(d->batch, d->code.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, c->pushed_size,
                          c->pushed);
    }
    for (int l = 0; l < c->count; l++) {
      const uint32_t *grid = c->launch[l].grid;
      if (i == 0 || c->count > 1)
        vk.CmdBindPipeline(d->batch, VK_PIPELINE_BIND_POINT_COMPUTE, c->pipeline[l]);
      vk.CmdDispatch(d->batch, grid[0], grid[1], grid[2]);
      barrier(d->batch, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    }
  }
  error = end_batch(d);
  if (!error) {
    d->recorded_of = c;
    d->recorded = calls;
    d->recorded_from = c->next_set;
  }
  return error;
}

static bool run_recorded(device_call *call, const char *what) {
  const VkResult error = submit(device_of(call), device_of(call)->batch);

  return !error || fail(call, error, "%s failed", what);
}

/* Else the error says what went wrong before. */
static bool usable(const device_call *call) {
  return !((const vulkan_call *)call)->broken;
}

static bool run(device_call *call) {
  vulkan_call *c = (vulkan_call *)call;
  VkResult error;

  if (!usable(call))
    return false;
  c->next_set = 0;
  error = record(c, 1);
  if (error)
    return fail(call, error, "the launch could not be recorded");
  return run_recorded(call, "the kernel");
}

/* Many calls go in one command buffer: one by one they would wait for the host. */
static bool time_calls(device_call *call, uint64_t calls, device_time *taken) {
  vulkan_call *c = (vulkan_call *)call;
  vulkan_device *d = device_of(call);

  *taken = (device_time){0};
  if (!usable(call))
    return false;
  while (calls > 0) {
    const uint64_t some = calls < MOST_RECORDED ? calls : MOST_RECORDED;
    VkResult error = record(c, some);
    double start, host, own;
    if (error)
      return fail(call, error, "the launches could not be recorded");
    start = clock_ns();
    if (!run_recorded(call, "the kernel, while it was timed,"))
      return false;
    own = host = clock_ns() - start;
    if (d->clock_mask) {
      error = read_clock(d, &own);
      if (error)
        return fail(call, error, "the device's clock could not be read");
    }
    taken->host += host;
    taken->own += own;
    call->others = is_other(c, c->next_set + (c->by_call ? some - 1 : 0));
    if (!c->head.other || c->by_call)
      c->next_set = (c->next_set + some) % turns(c);
    calls -= some;
  }
  if (call->other && !c->by_call)
    c->next_set = !c->next_set;
  return true;
}

/* Copies the inputs into all sets. */
static VkResult fill_sets(vulkan_call *c) {
  vulkan_device *d = device_of(&c->head);
  const VkResult error = begin(d->transfer);

  for (uint64_t set = 1; set < c->sets && !error; set++)
    for (int o = 0; o < c->head.variant->op->noperands; o++)
      if (c->head.problem->input[o] && device_home(&c->head, o) == o) {
        const vulkan_buffer *b = &c->operand[o];
        const VkBufferCopy part = {.srcOffset = b->lead,
                                   .dstOffset =
                                       address_of(c, o, set) - c->copies.address + c->copies.lead,
                                   .size = b->size};
        vk.CmdCopyBuffer(d->transfer, b->buffer, c->copies.buffer, 1, &part);
      }
  return error ? error : finish_transfer(d);
}

/* The workspace stays one: it is the variant's own, and small. */
static bool cool(device_call *call) {
  vulkan_call *c = (vulkan_call *)call;
  vulkan_device *d = device_of(call);
  const lathe_op *op = call->variant->op;
  size_t bytes = 0, length;
  uint64_t sets = 2;
  VkResult error;

  for (int o = 0; o < op->noperands; o++)
    if (device_home(&c->head, o) == o) {
      bytes += c->operand[o].size;
      c->slot[o] = c->set_size;
      c->set_size += (c->operand[o].size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    }
  if (!usable(call) || bytes == 0 || !call->on->cools)
    return false;
  while ((double)bytes * (double)sets < largest_cache)
    sets *= 2;
  length = (sets - 1) * c->set_size + ALIGNMENT;
  if (sets > MOST_SETS || (double)length > vulkan_device_memory(d) / 2 ||
      vulkan_buffer_make(d, &c->copies, length, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0))
    return false;
  c->copies.lead = (0 - (size_t)c->copies.address) % ALIGNMENT;
  c->copies.address += c->copies.lead;
  c->sets = sets;
  c->next_set = 0;
  c->by_call = call->others = false;
  call->other = NULL;
  call->group = sets;
  d->recorded_of = NULL;
  error = fill_sets(c);
  return !error || fail(call, error, "the operands could not be copied");
}

/* ---- what a call left --------------------------------------------------------------------------- */

static const vulkan_buffer *buffer_of(device_call *call, int operand) {
  vulkan_call *c = (vulkan_call *)call;

  return operand < LATHE_MAX_OPERANDS ? &c->operand[operand] : &c->workspace;
}

static size_t lead_of(device_call *call, int operand) {
  const vulkan_buffer *b = buffer_of(call, operand);

  return b->buffer ? b->lead : 0;
}

static bool read_back(device_call *call, int operand, ptrdiff_t at, void *to, size_t bytes) {
  const vulkan_buffer *b = buffer_of(call, operand);
  VkResult error;

  if (!usable(call))
    return false;
  error = copy(device_of(call), b, b->lead + (size_t)at, NULL, to, bytes);
  return !error || fail(call, error, "the results could not be read");
}

static bool peek(device_call *call, int operand, size_t at, void *to, size_t bytes) {
  return read_back(call, device_home(call, operand), (ptrdiff_t)at, to, bytes);
}

static bool poke(device_call *call, int operand, size_t at, const void *from, size_t bytes) {
  const vulkan_buffer *b = buffer_of(call, device_home(call, operand));
  VkResult error;

  if (!usable(call))
    return false;
  error = copy(device_of(call), b, b->lead + at, from, NULL, bytes);
  return !error || fail(call, error, "the outputs could not be set");
}

static remote_call remote_of(device_call *call) {
  return (remote_call){call, ((vulkan_call *)call)->host, lead_of, read_back, NULL};
}

static const void *output(device_call *call, int operand) {
  const remote_call r = remote_of(call);

  return remote_output(&r, operand);
}

static bool intact(device_call *call) {
  const remote_call r = remote_of(call);

  return usable(call) && remote_intact(&r);
}

/* ---- the ceiling -------------------------------------------------------------------------------- */

/* One way to move memory: streams.comp in so many workgroups, or where there is no pipeline the
 * driver's own copy. */
typedef struct streams_run {
  vulkan_device *d;
  VkPipeline pipeline;
  uint32_t groups;
  vulkan_buffer from[STREAMS_MOST], to;
  struct streams_args {
    uint64_t from[STREAMS_MOST], to, packs;
  } args;
} streams_run;

/* Nanoseconds of so many runs, one after another; infinite where they fail. */
static double time_streams(const streams_run *r, int runs) {
  vulkan_device *d = r->d;
  const VkBufferCopy whole = {.size = r->args.packs * 16};
  double ns = INFINITY;

  if (begin_batch(d))
    return INFINITY;
  if (r->pipeline) {
    vk.CmdPushConstants(d->batch, d->code.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof r->args,
                        &r->args);
    vk.CmdBindPipeline(d->batch, VK_PIPELINE_BIND_POINT_COMPUTE, r->pipeline);
  }
  for (int i = 0; i < runs; i++) {
    const VkPipelineStageFlags stage =
        r->pipeline ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT : VK_PIPELINE_STAGE_TRANSFER_BIT;
    if (r->pipeline)
      vk.CmdDispatch(d->batch, r->groups, 1, 1);
    else
      vk.CmdCopyBuffer(d->batch, r->from[0].buffer, r->to.buffer, 1, &whole);
    barrier(d->batch, stage, stage);
  }
  if (end_batch(d) || submit(d, d->batch) || read_clock(d, &ns))
    return INFINITY;
  return ns;
}

/* Seconds of one run at its best, of some batches that are long enough for the clock. */
static double best_run(const streams_run *r) {
  const int rounds = 4, most = 64;
  const double batch_ns = 500e3, once = time_streams(r, 1);
  const int runs = (int)fmin(most, 1 + batch_ns / fmax(once, 1));
  double best = INFINITY;

  for (int round = 0; round < rounds && isfinite(once); round++)
    best = fmin(best, time_streams(r, runs) * 1e-9 / runs);
  return best;
}

/* The best over workgroups and grids: a tile for each workgroup, of few invocations where there is
 * little to move; or some workgroups for each multiprocessor, that go on from tile to tile. */
static double best_streams(streams_run *r, int streams) {
  vulkan_device *d = r->d;
  const uint32_t accesses = 4; /* as in streams.comp */
  const uint32_t reading = STREAMS_MOST + 1;
  double best = streams == 1 ? best_run(r) : INFINITY;

  for (uint32_t threads = 32; threads <= 512 && threads <= d->limits.group; threads *= 4) {
    const lathe_launch launch = {
        .block = {threads, 1, 1},
        .constant = {0, streams == STREAMS_READING ? reading : (uint32_t)streams},
    };
    const uint64_t tile = threads * accesses, tiles = (r->args.packs + tile - 1) / tile;
    if (vulkan_code_get(&d->code, &vulkan_streams, &launch, &r->pipeline))
      return INFINITY;
    r->groups = tiles < d->limits.grid ? (uint32_t)tiles : d->limits.grid;
    best = fmin(best, best_run(r));
    for (uint32_t each = 1024 / threads; each <= 2048 / threads; each *= 2)
      if (each * d->limits.multiprocessors < tiles) {
        r->groups = each * d->limits.multiprocessors;
        best = fmin(best, best_run(r));
      }
  }
  return best;
}

static double streams_rate(device *on, int streams, size_t bytes) {
  vulkan_device *d = (vulkan_device *)on;
  const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const int reads = streams == STREAMS_READING ? 1 : streams;
  const int moved = streams == STREAMS_READING ? 1 : streams + 1;
  streams_run r = {.d = d, .args.packs = bytes / 16};
  VkResult error;
  double rate = 0;

  if (!vulkan_streams.start || !d->clock_mask || on->lost)
    return 0;
  error = vulkan_device_open(d);
  if (error)
    return 0;
  for (int s = 0; s < reads && !error; s++) {
    error = vulkan_buffer_make(d, &r.from[s], bytes, local, 0);
    r.args.from[s] = r.from[s].address;
  }
  if (!error) /* where nothing is written the loops still name a place */
    error = vulkan_buffer_make(d, &r.to, moved > reads ? bytes : 16, local, 0);
  r.args.to = r.to.address;
  if (!error)
    rate = moved * (double)bytes / best_streams(&r, streams);
  for (int s = 0; s < reads; s++)
    vulkan_buffer_free(d, &r.from[s]);
  vulkan_buffer_free(d, &r.to);
  return rate;
}

/* Operations per second at their best, of runs that are long enough for the clock, of some workgroups for each
 * multiprocessor; each: operations of a workgroup in a round. */
static double best_arithmetic(streams_run *r, double each) {
  const double long_enough = 500e3; /* nanoseconds */
  const uint64_t most_rounds = 1 << 20;
  const uint32_t most_groups = 16;
  const int times = 3;
  double best = 0;

  r->groups = r->d->limits.multiprocessors;
  for (r->args.packs = 16; r->args.packs < most_rounds && time_streams(r, 1) < long_enough;)
    r->args.packs *= 2;
  for (uint32_t groups = 1; groups <= most_groups; groups *= 2)
    for (int i = 0; i < times; i++) {
      r->groups = groups * r->d->limits.multiprocessors;
      best = fmax(best, each * r->groups * (double)r->args.packs * 1e9 / time_streams(r, 1));
    }
  return best;
}

/* In f32, which types of 16 bits and less are computed in; in the matrix units of f16, added up in f32. */
static double arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit) {
  vulkan_device *d = (vulkan_device *)on;
  const bool matrices = unit == DEVICE_MATRIX;
  const lathe_image *image = matrices ? &vulkan_matrices : &vulkan_streams;
  const uint32_t *sides = d->limits.matrix, threads = d->limits.group < 256 ? d->limits.group : 256;
  /* As in matrices.comp, and in streams.comp, whose second kernel it is. */
  const double each = matrices
                          ? 2.0 * 8 * sides[0] * sides[1] * sides[2] * threads / d->limits.subgroup
                          : 2.0 * 16 * 8 * threads;
  const lathe_launch launch = {.block = {threads, 1, 1},
                               .constant = {!matrices, 0, 0, sides[0], sides[1], sides[2]}};
  streams_run r = {.d = d};
  double rate = 0;

  if ((matrices && (dtype != LATHE_F16 || sides[0] == 0 || threads % d->limits.subgroup != 0)) ||
      lathe_dtype_format_of(dtype)->computed != LATHE_F32 || !image->start || !d->clock_mask ||
      on->lost || vulkan_device_open(d))
    return 0;
  if (!vulkan_buffer_make(d, &r.to, 16, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0) &&
      !vulkan_code_get(&d->code, image, &launch, &r.pipeline)) {
    r.args.to = r.to.address;
    rate = best_arithmetic(&r, each);
  }
  vulkan_buffer_free(d, &r.to);
  return rate;
}

static double memory(device *on) {
  return vulkan_device_memory((const vulkan_device *)on);
}

device_list device_vulkan(void) {
  static vulkan_device devices[VULKAN_DEVICES];
  static device *found[VULKAN_DEVICES];
  static char missing[400]; /* why there is none */
  static size_t count;
  static bool looked;

  if (!looked)
    count = vulkan_device_find(devices, missing, sizeof missing);
  looked = true;
  for (size_t i = 0; i < count; i++) {
    device *on = &devices[i].head;
    on->memory = memory;
    on->prepare = prepare;
    on->release = release;
    on->reset = reset;
    on->load = load;
    on->take_turns = take_turns;
    on->run = run;
    on->time = time_calls;
    on->cool = cool;
    on->output = output;
    on->intact = intact;
    on->peek = peek;
    on->poke = poke;
    on->streams_rate = streams_rate;
    on->arithmetic_rate = arithmetic_rate;
    found[i] = on;
  }
  return (device_list){.count = count, .at = found, .missing = missing};
}

#else

device_list device_vulkan(void) {
  return (device_list){.missing = "this program was built without Vulkan's headers"};
}

#endif
