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

static const lathe_vulkan_code lathe_codes[] = {
  //@ for _, image in ipairs(images) do
  {$image.name$, $(image.size // 4), $(tostring(image.loose))},
  //@ end
};

/* ---- devices ---- */

struct $name$ {
  lathe_vulkan_device on;
};

int $name$_make($name$ **made, const $name$_device *on) {
  $name$ *m = (*made = calloc(1, sizeof *m));
  const int error = m ? lathe_vulkan_open(&m->on, on->instance, on->get, on->physical, on->device, on->enabled, on->cache)
                      : $UPPER$_MEMORY;

  if (error) {
    free(m);
    *made = NULL;
  }
  return error == LATHE_VULKAN_LACKS ? $UPPER$_LACKS : error;
}

void $name$_free($name$ *on) {
  if (on)
    lathe_vulkan_close(&on->on);
  free(on);
}

/* ---- variants ---- */

/* A variant: what it must find in a device, the bytes of all operands that it is the best for, and where in lathe_codes
 * its kernels begin. */
typedef struct lathe_choice {
  const char *name;
  const lathe_schedule *schedule;
  uint64_t features;
  lathe_prefer prefer[LATHE_PREFERS];
  int code;
} lathe_choice;
//@ for _, t in ipairs(types) do

/* Dispatch takes the first that fits. */
static const lathe_choice $t.name$_choices[] = {
  //@ for _, row in ipairs(rows[t]) do
  {"$row.name$", &$row.name$_schedule, $row.features$, {$row.prefer$}, $row.code$},
  //@ end
  {NULL, NULL, 0, {$no_calls$}, 0},
};
//@ end

static const double lathe_largest = 72057594037927936.0; /* 2^56: no memory has so many bytes */

/* The first variant that can run and is for so many bytes, else the first that can run; null where none can. */
static const lathe_choice *lathe_choose(const lathe_choice *all, const $name$ *on, const size_t *dim, double bytes) {
  const lathe_choice *able = NULL;

  for (const lathe_choice *v = all; v->name; v++) {
    if ((v->features & ~on->on.features) ||
        (v->schedule->fits && !v->schedule->fits(dim, lathe_least_shared(on->on.features))))
      continue;
    if (lathe_prefers(v->prefer, dim, bytes))
      return v;
    able = able ? able : v;
  }
  return able;
}

/* Records the kernels of a call. pushed: what they are given, of so many bytes. */
static int lathe_record($name$ *on, VkCommandBuffer commands, const lathe_choice *v, const lathe_args *args,
                        const void *pushed, uint32_t size) {
  const int error = lathe_vulkan_record(&on->on, commands, v->schedule, &lathe_codes[v->code], args, pushed, size);

  return error == LATHE_VULKAN_NO_LAUNCH ? $UPPER$_SIZE : error == LATHE_VULKAN_NO_MEMORY ? $UPPER$_MEMORY : error;
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
  lathe_vulkan_give(&on->on, commands, to, at, given, size);
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
