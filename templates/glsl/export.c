/* $name$.c - $doc$: see $name$.h.
 * $made$ Make it again with:
 *   $command$
 * SPDX-License-Identifier: 0BSD */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
//@ for _, include in ipairs(system) do
#include <$include$>
//@ end

#include "$name$.h"

/* ---- launches ---- */

$common$
$launches$
/* ---- device code ---- */

/* SPIR-V, in words. */
//@ for _, image in ipairs(images) do
$image.place$
//@ end

/* loose: its f32 is rounded to 16 bits later, and need not be right to the last bit. */
typedef struct lathe_code {
  const uint32_t *words;
  size_t count;
  bool loose;
} lathe_code;

static const lathe_code lathe_codes[] = {
  //@ for _, image in ipairs(images) do
  {$image.name$, $(image.size // 4), $(tostring(image.loose))},
  //@ end
};

/* ---- devices ---- */

/* A pipeline: of one kernel of a code, with constants. */
typedef struct lathe_pipeline {
  struct lathe_pipeline *next;
  const lathe_code *code;
  uint32_t block, constant[6];
  VkPipeline made;
} lathe_pipeline;

struct $name$ {
  VkDevice device;
  VkPipelineCache cache;
  lathe_vulkan_kind kind;
  uint64_t features;
  PFN_vkCreateShaderModule make_module;
  PFN_vkDestroyShaderModule free_module;
  PFN_vkCreatePipelineLayout make_layout;
  PFN_vkDestroyPipelineLayout free_layout;
  PFN_vkCreateComputePipelines make_pipelines;
  PFN_vkDestroyPipeline free_pipeline;
  PFN_vkCmdBindPipeline bind;
  PFN_vkCmdPushConstants push;
  PFN_vkCmdDispatch dispatch;
  PFN_vkCmdPipelineBarrier wait;
  PFN_vkCmdUpdateBuffer update;
  VkPipelineLayout layout;
  pthread_mutex_t lock; /* of what follows, which grows at its beginning */
  lathe_pipeline *pipelines;
};

/* What is enabled of a device, of what kernels use. */
typedef struct lathe_enabled {
  bool addresses, int64, f64, f16, storage16, storage8, size_control, full;
} lathe_enabled;

static lathe_enabled lathe_read_enabled(const VkPhysicalDeviceFeatures2 *features) {
  lathe_enabled e;

  memset(&e, 0, sizeof e);
  for (const VkBaseInStructure *s = (const VkBaseInStructure *)features; s; s = s->pNext) {
    const void *at = s;
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
      e.int64 |= ((const VkPhysicalDeviceFeatures2 *)at)->features.shaderInt64;
      e.f64 |= ((const VkPhysicalDeviceFeatures2 *)at)->features.shaderFloat64;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
      e.storage16 |= ((const VkPhysicalDeviceVulkan11Features *)at)->storageBuffer16BitAccess;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES) {
      e.storage16 |= ((const VkPhysicalDevice16BitStorageFeatures *)at)->storageBuffer16BitAccess;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      e.addresses |= ((const VkPhysicalDeviceVulkan12Features *)at)->bufferDeviceAddress;
      e.f16 |= ((const VkPhysicalDeviceVulkan12Features *)at)->shaderFloat16;
      e.storage8 |= ((const VkPhysicalDeviceVulkan12Features *)at)->storageBuffer8BitAccess;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES) {
      e.addresses |= ((const VkPhysicalDeviceBufferDeviceAddressFeatures *)at)->bufferDeviceAddress;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES) {
      e.f16 |= ((const VkPhysicalDeviceShaderFloat16Int8Features *)at)->shaderFloat16;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES) {
      e.storage8 |= ((const VkPhysicalDevice8BitStorageFeatures *)at)->storageBuffer8BitAccess;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT) {
      e.size_control |= ((const VkPhysicalDeviceSubgroupSizeControlFeaturesEXT *)at)->subgroupSizeControl;
      e.full |= ((const VkPhysicalDeviceSubgroupSizeControlFeaturesEXT *)at)->computeFullSubgroups;
#ifdef VK_VERSION_1_3
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
      e.size_control |= ((const VkPhysicalDeviceVulkan13Features *)at)->subgroupSizeControl;
      e.full |= ((const VkPhysicalDeviceVulkan13Features *)at)->computeFullSubgroups;
#endif
    }
  }
  return e;
}

/* Looks functions up; false where one is lacking. */
static bool lathe_find($name$ *made, const $name$_device *on, lathe_vulkan_found *by) {
  const PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)on->get(on->instance, "vkGetDeviceProcAddr");
  by->properties =
      (PFN_vkGetPhysicalDeviceProperties2)on->get(on->instance, "vkGetPhysicalDeviceProperties2");
  by->extensions = (PFN_vkEnumerateDeviceExtensionProperties)on->get(on->instance, "vkEnumerateDeviceExtensionProperties");
  if (!get || !by->properties || !by->extensions)
    return false;
  made->make_module = (PFN_vkCreateShaderModule)get(on->device, "vkCreateShaderModule");
  made->free_module = (PFN_vkDestroyShaderModule)get(on->device, "vkDestroyShaderModule");
  made->make_layout = (PFN_vkCreatePipelineLayout)get(on->device, "vkCreatePipelineLayout");
  made->free_layout = (PFN_vkDestroyPipelineLayout)get(on->device, "vkDestroyPipelineLayout");
  made->make_pipelines = (PFN_vkCreateComputePipelines)get(on->device, "vkCreateComputePipelines");
  made->free_pipeline = (PFN_vkDestroyPipeline)get(on->device, "vkDestroyPipeline");
  made->bind = (PFN_vkCmdBindPipeline)get(on->device, "vkCmdBindPipeline");
  made->push = (PFN_vkCmdPushConstants)get(on->device, "vkCmdPushConstants");
  made->dispatch = (PFN_vkCmdDispatch)get(on->device, "vkCmdDispatch");
  made->wait = (PFN_vkCmdPipelineBarrier)get(on->device, "vkCmdPipelineBarrier");
  made->update = (PFN_vkCmdUpdateBuffer)get(on->device, "vkCmdUpdateBuffer");
  return made->update && made->make_module && made->free_module && made->make_layout && made->free_layout &&
         made->make_pipelines && made->free_pipeline && made->bind && made->push && made->dispatch && made->wait;
}

enum { LATHE_PUSHED = 128 }; /* bytes of push constants, which every device has */

int $name$_make($name$ **made, const $name$_device *on) {
  const lathe_enabled enabled = lathe_read_enabled(on->enabled);
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, LATHE_PUSHED};
  const VkPipelineLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .pushConstantRangeCount = 1,
      .pPushConstantRanges = &range,
  };
  $name$ *m = calloc(1, sizeof *m);
  VkPhysicalDeviceVulkan11Properties v11;
  VkPhysicalDeviceVulkan12Properties v12;
  lathe_vulkan_found by;
  VkResult error;

  *made = NULL;
  if (!m)
    return $UPPER$_MEMORY;
  m->device = on->device;
  m->cache = on->cache;
  if (!enabled.addresses || !enabled.int64 || !lathe_find(m, on, &by)) {
    free(m);
    return $UPPER$_LACKS;
  }
  lathe_vulkan_describe(&by, on->physical, enabled.size_control, enabled.full, &m->kind, &v11, &v12);
  m->features = LATHE_ON_VULKAN | (enabled.f64 ? LATHE_VULKAN_F64 : 0) |
                (enabled.f16 && m->kind.floats.nearest[0] ? LATHE_VULKAN_F16 : 0) |
                (enabled.storage16 ? LATHE_VULKAN_STORAGE16 : 0) | (enabled.storage8 ? LATHE_VULKAN_STORAGE8 : 0);
  error = m->kind.lacks ? VK_SUCCESS : m->make_layout(m->device, &layout, NULL, &m->layout);
  if (m->kind.lacks || error) {
    free(m);
    return error ? (int)error : $UPPER$_LACKS;
  }
  pthread_mutex_init(&m->lock, NULL);
  *made = m;
  return $UPPER$_OK;
}

void $name$_free($name$ *on) {
  if (!on)
    return;
  while (on->pipelines) {
    lathe_pipeline *next = on->pipelines->next;
    on->free_pipeline(on->device, on->pipelines->made, NULL);
    free(on->pipelines);
    on->pipelines = next;
  }
  on->free_layout(on->device, on->layout, NULL);
  pthread_mutex_destroy(&on->lock);
  free(on);
}

/* ---- pipelines ---- */

/* Makes the pipeline of a launch. */
static int lathe_make_pipeline(const $name$ *on, lathe_pipeline *p) {
  VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  VkShaderModule module = VK_NULL_HANDLE;
  size_t count = 0, asked = 0;
  uint32_t *kernel = lathe_spirv_kernel(p->code->words, p->code->count, p->constant[0], &count);
  uint32_t *words = kernel ? lathe_spirv_ask(kernel, count, p->code->loose, &on->kind.floats, &asked) : NULL;
  VkResult error;

  free(kernel);
  if (!words)
    return $UPPER$_MEMORY;
  info.codeSize = 4 * asked;
  info.pCode = words;
  error = on->make_module(on->device, &info, NULL, &module);
  free(words);
  if (error)
    return error;
  error = lathe_vulkan_pipeline(on->make_pipelines, on->device, on->cache, on->layout, module, &on->kind, p->block,
                                p->constant, &p->made);
  on->free_module(on->device, module, NULL);
  return error;
}

static const lathe_pipeline *lathe_among(const lathe_pipeline *p, const lathe_code *code, const lathe_launch *launch) {
  while (p && (p->code != code || p->block != launch->block[0] ||
               memcmp(p->constant, launch->constant, sizeof p->constant) != 0))
    p = p->next;
  return p;
}

/* The pipeline of a launch. */
static int lathe_pipeline_of($name$ *on, const lathe_code *code, const lathe_launch *launch, VkPipeline *pipeline) {
  const lathe_pipeline *known = lathe_among(__atomic_load_n(&on->pipelines, __ATOMIC_ACQUIRE), code, launch);
  int status = $UPPER$_OK;

  if (!known) {
    pthread_mutex_lock(&on->lock);
    known = lathe_among(on->pipelines, code, launch);
    if (!known) {
      lathe_pipeline *p = calloc(1, sizeof *p);
      status = $UPPER$_MEMORY;
      if (p) {
        p->code = code;
        p->block = launch->block[0];
        memcpy(p->constant, launch->constant, sizeof p->constant);
        p->next = on->pipelines;
        status = lathe_make_pipeline(on, p);
      }
      if (status)
        free(p);
      else
        __atomic_store_n(&on->pipelines, p, __ATOMIC_RELEASE);
      known = status ? NULL : p;
    }
    pthread_mutex_unlock(&on->lock);
  }
  *pipeline = known ? known->made : VK_NULL_HANDLE;
  return status;
}

/* ---- variants ---- */

/* A variant: what it must find in a device, the bytes of all operands that it is the best for, and where in lathe_codes
 * its kernels begin. */
typedef struct lathe_choice {
  const char *name;
  const lathe_schedule *schedule;
  uint64_t features;
  double from, to;
  int code;
} lathe_choice;
//@ for _, t in ipairs(types) do

/* Dispatch takes the first that fits. */
static const lathe_choice $t.name$_choices[] = {
  //@ for _, row in ipairs(rows[t]) do
  {"$row.name$", &$row.name$_schedule, $row.features$, $row.from$, $row.to$, $row.code$},
  //@ end
  {NULL, NULL, 0, 0, 0, 0},
};
//@ end

static const double lathe_largest = 72057594037927936.0; /* 2^56: no memory has so many bytes */

/* The first variant that can run and is for so many bytes, else the first that can run; null where none can. */
static const lathe_choice *lathe_choose(const lathe_choice *all, const $name$ *on, const size_t *dim, double bytes) {
  const lathe_choice *able = NULL;

  for (const lathe_choice *v = all; v->name; v++) {
    if ((v->features & ~on->features) ||
        (v->schedule->fits && !v->schedule->fits(dim, lathe_least_shared(on->features))))
      continue;
    if (bytes >= v->from && bytes < v->to)
      return v;
    able = able ? able : v;
  }
  return able;
}

/* Records the kernels of a call, each after the one before. pushed: what they are given, of so many bytes. */
static int lathe_record($name$ *on, VkCommandBuffer commands, const lathe_choice *v, const lathe_args *args,
                        const void *pushed, uint32_t size) {
  lathe_launch launches[LATHE_MAX_LAUNCHES];
  VkPipeline pipeline[LATHE_MAX_LAUNCHES];
  const int count = v->schedule->launches(v->schedule, args, &on->kind.limits, launches);
  const VkMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
  };
  int status = count > 0 ? $UPPER$_OK : $UPPER$_SIZE;

  for (int l = 0; l < count && !status; l++)
    status = lathe_pipeline_of(on, &lathe_codes[v->code + (int)launches[l].image], &launches[l], &pipeline[l]);
  if (status)
    return status;
  on->push(commands, on->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size, pushed);
  for (int l = 0; l < count; l++) {
    const uint32_t *grid = launches[l].grid;
    if (l > 0)
      on->wait(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0,
               NULL, 0, NULL);
    on->bind(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline[l]);
    on->dispatch(commands, grid[0], grid[1], grid[2]);
  }
  return $UPPER$_OK;
}

//@ local in_memory = false
//@ for _, t in ipairs(types) do
//@ in_memory = in_memory or t.in_memory
//@ end
//@ if in_memory then
/* The same where what they are given goes into a buffer, which has an address. */
static int lathe_record_given($name$ *on, VkCommandBuffer commands, const lathe_choice *v, const lathe_args *args,
                              const void *given, uint32_t size, VkBuffer to, VkDeviceSize at,
                              VkDeviceAddress address) {
  const VkMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
  };

  on->update(commands, to, at, size, given);
  on->wait(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0,
           NULL);
  return lathe_record(on, commands, v, args, &address, sizeof address);
}

//@ end
/* ---- calls ---- */

const char *$name$_status(int status) {
  switch (status) {
  case $UPPER$_OK: return "done";
  case $UPPER$_NULL: return "$name$: the address of an operand that has elements is 0";
  case $UPPER$_SIZE: return "$name$: no memory has such a size, or no kernel is for it";
  case $UPPER$_WORKSPACE: return "$name$: the workspace's address is 0, or no multiple of 64";
  case $UPPER$_LACKS:
    return "$name$: the device lacks, or has not enabled, shaderInt64, bufferDeviceAddress, or shuffles of subgroups";
  case $UPPER$_DEVICE: return "$name$: no kernel of the file runs on this device";
  case $UPPER$_MEMORY: return "$name$: the host's memory does not suffice";
  default: return status < 0 ? "$name$: Vulkan returned this error" : "$name$: no status";
  }
}
//@ for _, t in ipairs(types) do

/* The variant for a size; null with the reason in *status. */
static const lathe_choice *$t.name$_choice($t.handle$$t.extents$, int *status) {
  const double bytes = ($t.all_extents$) >> 56 ? lathe_largest : $t.bytes$;
  const size_t dim[] = {$t.extents_given$};
  const lathe_choice *variant = bytes < lathe_largest ? lathe_choose($t.name$_choices, on, dim, bytes) : NULL;

  *status = bytes >= lathe_largest ? $UPPER$_SIZE : variant ? $UPPER$_OK : $UPPER$_DEVICE;
  return variant;
}

const char *$t.name$_variant($t.handle$$t.extents$) {
  int status;
  const lathe_choice *variant = $t.name$_choice(on, $t.extents_given$, &status);
  return variant ? variant->name : "none";
}
//@ if t.workspace then

size_t $t.name$_workspace($t.handle$$t.extents$) {
  const size_t dim[] = {$t.extents_given$};
  int status;
  const lathe_choice *variant = $t.name$_choice(on, $t.extents_given$, &status);
  return variant && variant->schedule->workspace ? (size_t)variant->schedule->workspace(dim) : 0;
}
//@ end

$t.prototype$ {
  int status;
  const lathe_choice *variant = $t.name$_choice(on, $t.extents_given$, &status);
  lathe_args args;
  struct {
    uint64_t address[$(#t.arguments + 1)], dim[$(#t.dims)];
    //@ if #t.scalars > 0 then
    $t.number$ scalar[$(#t.scalars)];
    //@ end
  } pushed;
  if (!variant)
    return status;
  if ($t.absent$)
    return $UPPER$_NULL;
  if ($t.nothing$)
    return $UPPER$_OK;
  memset(&args, 0, sizeof args);
  memset(&pushed, 0, sizeof pushed);
  //@ for i, argument in ipairs(t.arguments) do
  args.buf[$(i - 1)] = (void *)(uintptr_t)$argument$;
  pushed.address[$(i - 1)] = $argument$;
  //@ end
  //@ for i, scalar in ipairs(t.scalars) do
  args.scalar[$(i - 1)] = $scalar$;
  pushed.scalar[$(i - 1)] = ($t.number$)$scalar$;
  //@ end
  //@ for i, extent in ipairs(t.dims) do
  args.dim[$(i - 1)] = $extent$;
  pushed.dim[$(i - 1)] = $extent$;
  //@ end
  //@ if t.workspace then
  args.workspace = (void *)(uintptr_t)workspace;
  pushed.address[$(#t.arguments)] = workspace;
  if (workspace % 64 != 0 || (!workspace && variant->schedule->workspace && variant->schedule->workspace(args.dim) > 0))
    return $UPPER$_WORKSPACE;
  //@ end
  //@ if t.in_memory then
  return lathe_record_given(on, commands, variant, &args, &pushed, $t.pushed$, arguments, arguments_at,
                            arguments_address);
  //@ else
  return lathe_record(on, commands, variant, &args, &pushed, $t.pushed$);
  //@ end
}
//@ end
