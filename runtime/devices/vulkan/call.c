/* call.c - calls on Vulkan devices.
 *
 * Buffers are addresses, which go to a kernel with dimensions and scalars as push constants, or in memory. A
 * logical device is made when a call first wants one. Where it is lost, this process has no other; see
 * worker.h. */
#include "call.h"

#ifdef HAVE_VULKAN
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "devices/foreign/description.h"
#include "devices/foreign/foreign.h"

enum {
  ALIGNMENT = 256,      /* of data, before the layout's offset */
  MOST_RECORDED = 4096, /* calls of one command buffer */
  TRAFFIC = 5,          /* parts of memory of which one is copied to the others */
  MOST_SETS = 4096,     /* copies of operands that a cold call may take, a power of two like that */
};

/* Vulkan does not tell how large a GPU's last cache is: about what the largest have, and the smallest. */
static const double largest_cache = 256 << 20, smallest_cache = 1 << 20;

static vulkan_device *device_of(const device_call *call) {
  return (vulkan_device *)call->on;
}

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
  return vulkan_fill(d, b, 0, length, remote_guard_byte);
}

/* An address in the form in which the generated code takes it. */
static void *pointer_to(VkDeviceAddress address) {
  return (void *)(uintptr_t)address; /* NOLINT */
}

static void *make(device_call *call, int buffer, size_t bytes, size_t offset) {
  vulkan_buffer *b = &((vulkan_call *)call)->buffer[buffer];
  const VkResult error = make_operand(device_of(call), b, bytes, offset);

  if (!error)
    return pointer_to(b->address);
  if (error == VK_ERROR_OUT_OF_DEVICE_MEMORY || error == VK_ERROR_OUT_OF_HOST_MEMORY)
    device_fail(call, "not enough memory on the device for the operands");
  else
    fail(call, error, "its buffers could not be made");
  return NULL;
}

static void free_buffer(device_call *call, int buffer) {
  vulkan_buffer_free(device_of(call), &((vulkan_call *)call)->buffer[buffer]);
}

static void add(vulkan_call *c, const void *value, size_t size) {
  memcpy(c->arguments + c->arguments_size, value, size);
  c->arguments_size += (uint32_t)size;
}

static void add_address(vulkan_call *c, const void *at) {
  const VkDeviceAddress address = (uintptr_t)at;

  add(c, &address, sizeof address);
}

/* An operand's address in the nth set, as well aligned as in the first. */
static VkDeviceAddress address_of(const vulkan_call *c, int operand, uint64_t nth) {
  const int home = device_home(&c->remote.head, operand);
  const VkDeviceAddress data = c->buffer[home].address;

  return nth && c->sets > 1
             ? c->copies.address + (nth - 1) * c->set_size + c->slot[home] + data % ALIGNMENT
             : data;
}

/* Problems that take turns count as two sets. */
static uint64_t turns(const vulkan_call *c) {
  return c->remote.head.other ? 2 : c->sets;
}

static bool is_other(const vulkan_call *c, uint64_t set) {
  return c->remote.head.other && set % 2;
}

/* Those that somebody else's description names. */
static void find_described(vulkan_call *c, const lathe_args *args) {
  description_arguments a;
  const char *why;

  if (description_fill(c->foreign->description, c->remote.head.variant, args, &a, &why) &&
      a.size <= VULKAN_ARGUMENTS)
    add(c, a.bytes, a.size);
}

/* The arguments, in the order of gen/pour/lower_glsl.lua. */
static void find_arguments(vulkan_call *c, uint64_t set) {
  const lathe_op *op = c->remote.head.variant->op;
  const bool others = is_other(c, set);
  lathe_args args = others ? c->remote.other_args : c->remote.args;

  for (int o = 0; o < op->noperands && !others; o++)
    args.buf[o] = pointer_to(address_of(c, o, set));
  c->arguments_size = 0;
  if (c->foreign) {
    find_described(c, &args);
    return;
  }
  for (int o = 0; o < op->noperands; o++)
    add_address(c, args.buf[o]);
  add_address(c, args.workspace);
  for (int i = 0; i < op->ndim; i++) {
    const uint64_t dim = args.dim[i];
    add(c, &dim, sizeof dim);
  }
  for (int s = 0; s < op->nscalars; s++) {
    const float number = (float)args.scalar[s];
    if (c->remote.head.variant->dtype == LATHE_F64)
      add(c, &args.scalar[s], sizeof(double));
    else
      add(c, &number, sizeof number);
  }
}

/* The set of the ith call of a batch. */
static uint64_t set_of(const vulkan_call *c, uint64_t i) {
  return (c->next_set + (c->remote.by_call || c->sets > 1 ? i : 0)) % turns(c);
}

/* Records that the arguments of a batch's sets are written, where push constants have no room for them. */
static VkResult record_given(vulkan_call *c, uint64_t calls) {
  vulkan_device *d = device_of(&c->remote.head);
  const uint64_t sets = c->remote.by_call || c->sets > 1 ? turns(c) : 1;
  VkResult error = VK_SUCCESS;

  find_arguments(c, 0);
  if (c->arguments_size <= VULKAN_PUSHED)
    return VK_SUCCESS;
  if (c->given.length < turns(c) * VULKAN_ARGUMENTS) {
    vulkan_buffer_free(d, &c->given);
    error = vulkan_buffer_make(d, &c->given, turns(c) * VULKAN_ARGUMENTS,
                               VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  }
  if (error)
    return error;
  for (uint64_t i = 0; i < calls && i < sets; i++) {
    find_arguments(c, set_of(c, i));
    vk.CmdUpdateBuffer(d->batch, c->given.buffer, set_of(c, i) * VULKAN_ARGUMENTS,
                       c->arguments_size, c->arguments);
  }
  vulkan_barrier(d->batch, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
  return VK_SUCCESS;
}

/* The same, or their address, as push constants. */
static void record_arguments(vulkan_call *c, uint64_t set) {
  vulkan_device *d = device_of(&c->remote.head);
  const VkDeviceAddress address = c->given.address + set * VULKAN_ARGUMENTS;

  find_arguments(c, set);
  if (c->arguments_size > VULKAN_PUSHED) {
    c->arguments_size = 0;
    add(c, &address, sizeof address);
  }
  vk.CmdPushConstants(d->batch, d->code.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, c->arguments_size,
                      c->arguments);
}

void vulkan_release(device_call *call) {
  vulkan_call *c = (vulkan_call *)call;
  vulkan_device *d = device_of(call);

  remote_free(&c->remote);
  vulkan_buffer_free(d, &c->copies);
  vulkan_buffer_free(d, &c->given);
  if (d->recorded_of == c)
    d->recorded_of = NULL;
  free(c);
}

device_call *vulkan_prepare(device *on, const lathe_variant *variant, const problem *p,
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
  c->remote.head = (device_call){.on = on, .variant = variant, .problem = p, .layout = layout};
  c->remote.args = problem_args(p);
  c->foreign = foreign_of(variant);
  c->sets = 1;
  c->remote.workspace =
      c->foreign ? vulkan_foreign_workspace(c) : (size_t)lathe_workspace(variant, p->dim);
  if (!remote_allocate(&c->remote)) {
    snprintf(text, sizeof text, "%s", c->remote.head.error);
    *why = text;
  }
  if (*why || !vulkan_load_kernels(c, why)) {
    vulkan_release(&c->remote.head);
    return NULL;
  }
  return &c->remote.head;
}

bool vulkan_load(device_call *call, const problem *p) {
  device_of(call)->recorded_of = NULL;
  return remote_load(call, p);
}

bool vulkan_take_turns(device_call *call, const problem *other) {
  const double beyond = 4; /* times the cache */

  if (!remote_take_turns(call, other, smallest_cache, beyond * largest_cache))
    return false;
  device_of(call)->recorded_of = NULL;
  return true;
}

/* Copies to some parts of memory that nothing else has, from the first of it. */
static void record_copies(vulkan_device *d, size_t part, size_t end) {
  const size_t bytes = d->traffic.length / TRAFFIC;

  for (; part < end; part++) {
    const VkBufferCopy copy = {.dstOffset = part * bytes, .size = bytes};
    vk.CmdCopyBuffer(d->batch, d->traffic.buffer, d->traffic.buffer, 1, &copy);
  }
}

/* Records a batch of calls, one after another. A device is busy with copies that none of them waits for, and thrashed
 * by such as all wait for. */
static VkResult record(vulkan_call *c, uint64_t calls, device_load load) {
  vulkan_device *d = device_of(&c->remote.head);
  const size_t before = load == DEVICE_QUIET ? 1 : load == DEVICE_BUSY ? TRAFFIC / 2 : TRAFFIC;
  VkResult error;

  if (d->recorded_of == c && d->recorded == calls && d->recorded_from == c->next_set &&
      load == DEVICE_QUIET)
    return VK_SUCCESS;
  error = vulkan_begin_batch(d);
  if (error)
    return error;
  record_copies(d, 1, before);
  if (load == DEVICE_THRASHED)
    vulkan_barrier(d->batch, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
  error = record_given(c, calls);
  for (uint64_t i = 0; i < calls && !error; i++) {
    if (i == 0 || c->sets > 1 || c->remote.by_call)
      record_arguments(c, set_of(c, i));
    if (c->foreign && c->buffer[REMOTE_WORKSPACE].buffer) { /* nothing is to stay there */
      vk.CmdFillBuffer(d->batch, c->buffer[REMOTE_WORKSPACE].buffer,
                       c->buffer[REMOTE_WORKSPACE].lead / 4 * 4,
                       c->buffer[REMOTE_WORKSPACE].size / 4 * 4, 0);
      vulkan_barrier(d->batch, VK_PIPELINE_STAGE_TRANSFER_BIT,
                     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    }
    for (int l = 0; l < c->count; l++) {
      const uint32_t *grid = c->launch[l].grid;
      if (i == 0 || c->count > 1)
        vk.CmdBindPipeline(d->batch, VK_PIPELINE_BIND_POINT_COMPUTE, c->pipeline[l]);
      vk.CmdDispatch(d->batch, grid[0], grid[1], grid[2]);
      vulkan_barrier(d->batch, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    }
  }
  if (load == DEVICE_BUSY)
    record_copies(d, before, TRAFFIC);
  if (!error)
    error = vulkan_end_batch(d);
  if (!error && load == DEVICE_QUIET) {
    d->recorded_of = c;
    d->recorded = calls;
    d->recorded_from = c->next_set;
  }
  return error;
}

static bool run_recorded(device_call *call, const char *what) {
  const VkResult error = vulkan_submit(device_of(call), device_of(call)->batch);

  return !error || fail(call, error, "%s failed", what);
}

/* Else the error says what went wrong before. */
static bool usable(device_call *call) {
  return !((vulkan_call *)call)->broken;
}

static bool run(device_call *call, device_load load) {
  vulkan_call *c = (vulkan_call *)call;
  VkResult error;

  if (!usable(call))
    return false;
  c->next_set = 0;
  error = record(c, 1, load);
  if (error)
    return fail(call, error, "the launch could not be recorded");
  return run_recorded(call, "the kernel");
}

bool vulkan_run(device_call *call) {
  return run(call, DEVICE_QUIET);
}

bool vulkan_run_under(device_call *call, device_load load) {
  vulkan_device *d = device_of(call);
  const size_t part = call->on->is_processor ? (size_t)smallest_cache : (size_t)largest_cache / 4;

  if (!d->traffic.buffer &&
      (vulkan_buffer_make(d, &d->traffic, TRAFFIC * part, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0) ||
       vulkan_fill(d, &d->traffic, 0, d->traffic.length, 0)))
    return vulkan_run(call);
  return run(call, load);
}

bool vulkan_ask(device_call *call, double *ns) {
  const bool ok = vulkan_run(call);

  *ns = device_of(call)->asked_ns;
  return ok;
}

/* Many calls go in one command buffer: one by one they would wait for the host. */
bool vulkan_time_calls(device_call *call, uint64_t calls, device_time *taken) {
  vulkan_call *c = (vulkan_call *)call;
  vulkan_device *d = device_of(call);

  *taken = (device_time){0};
  if (!usable(call))
    return false;
  while (calls > 0) {
    const uint64_t some = calls < MOST_RECORDED ? calls : MOST_RECORDED;
    VkResult error = record(c, some, DEVICE_QUIET);
    double start, host, own;
    if (error)
      return fail(call, error, "the launches could not be recorded");
    start = clock_ns();
    if (!run_recorded(call, "the kernel, while it was timed,"))
      return false;
    own = host = clock_ns() - start;
    if (d->clock_mask) {
      error = vulkan_read_clock(d, &own);
      if (error)
        return fail(call, error, "the device's clock could not be read");
    }
    taken->host += host;
    taken->own += own;
    call->others = is_other(c, c->next_set + (c->remote.by_call ? some - 1 : 0));
    if (!c->remote.head.other || c->remote.by_call)
      c->next_set = (c->next_set + some) % turns(c);
    calls -= some;
  }
  if (call->other && !c->remote.by_call)
    c->next_set = !c->next_set;
  return true;
}

/* Copies the inputs into all sets. */
static VkResult fill_sets(vulkan_call *c) {
  vulkan_device *d = device_of(&c->remote.head);
  const VkResult error = vulkan_begin(d->transfer);

  for (uint64_t set = 1; set < c->sets && !error; set++)
    for (int o = 0; o < c->remote.head.variant->op->noperands; o++)
      if (c->remote.head.problem->input[o] && device_home(&c->remote.head, o) == o) {
        const vulkan_buffer *b = &c->buffer[o];
        const VkBufferCopy part = {.srcOffset = b->lead,
                                   .dstOffset =
                                       address_of(c, o, set) - c->copies.address + c->copies.lead,
                                   .size = b->size};
        vk.CmdCopyBuffer(d->transfer, b->buffer, c->copies.buffer, 1, &part);
      }
  return error ? error : vulkan_finish_transfer(d);
}

/* The workspace stays one: it is the variant's own, and small. */
bool vulkan_cool(device_call *call) {
  vulkan_call *c = (vulkan_call *)call;
  vulkan_device *d = device_of(call);
  const lathe_op *op = call->variant->op;
  size_t bytes = 0, length;
  uint64_t sets = 2;
  VkResult error;

  for (int o = 0; o < op->noperands; o++)
    if (device_home(&c->remote.head, o) == o) {
      bytes += c->buffer[o].size;
      c->slot[o] = c->set_size;
      c->set_size += (c->buffer[o].size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
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
  c->remote.by_call = call->others = false;
  call->other = NULL;
  call->group = sets;
  d->recorded_of = NULL;
  error = fill_sets(c);
  return !error || fail(call, error, "the operands could not be copied");
}

static size_t lead_of(device_call *call, int buffer) {
  const vulkan_buffer *b = &((vulkan_call *)call)->buffer[buffer];

  return b->buffer ? b->lead : 0;
}

static bool read_back(device_call *call, int buffer, ptrdiff_t at, void *to, size_t bytes) {
  const vulkan_buffer *b = &((vulkan_call *)call)->buffer[buffer];
  VkResult error;

  if (!usable(call))
    return false;
  error = vulkan_copy(device_of(call), b, b->lead + (size_t)at, NULL, to, bytes);
  return !error || fail(call, error, "the results could not be read");
}

static bool write_to(device_call *call, int buffer, size_t at, const void *from, size_t bytes) {
  const vulkan_buffer *b = &((vulkan_call *)call)->buffer[buffer];
  VkResult error;

  if (!usable(call))
    return false;
  error = vulkan_copy(device_of(call), b, b->lead + at, from, NULL, bytes);
  return !error || fail(call, error, "the operands could not be set");
}

static bool poison(device_call *call, int buffer, unsigned char value) {
  const vulkan_buffer *b = &((vulkan_call *)call)->buffer[buffer];
  const VkResult error = vulkan_fill(device_of(call), b, b->lead, b->lead + b->size, value);

  return !error || fail(call, error, "the operands could not be set");
}

const remote_kind vulkan_remote = {.usable = usable,
                                   .make = make,
                                   .free = free_buffer,
                                   .lead = lead_of,
                                   .read = read_back,
                                   .write = write_to,
                                   .fill = poison};

#endif
