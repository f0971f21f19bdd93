/* $name$.c - $doc$: see $name$.h.
 * $made$ Make it again with:
 *   $command$
 * SPDX-License-Identifier: 0BSD */

/* Not every variant uses all that there is for it. Of C++ compilers some warn of intrinsics of AVX-512, and of
 * initializers as C has them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

//@ for _, include in ipairs(system) do
#include <$include$>
//@ end
//@ for _, processor in ipairs(processors) do
#if $processor.condition$
//@ for _, include in ipairs(processor.system) do
#include <$include$>
//@ end
#endif
//@ end

#include "$name$.h"

/* Each operation is rounded once, and NaN and infinity are what they are. */
#ifdef __FAST_MATH__
#error "$name$.c: compile it without -ffast-math"
#endif
#if defined __clang__
#pragma clang fp contract(off)
#else
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off", "no-math-errno", "no-trapping-math", "align-loops=32")
#endif

$common$
#if $x86$
$detect$
#endif

//@ for _, section in ipairs(sections) do
/* ---- $section.title$ ---- */

#if $section.condition$
//@ if section.target then
#if defined __clang__
#pragma clang attribute push(__attribute__((target("$section.target$"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("$section.target$")
#endif
//@ end

//@ for _, kernel in ipairs(section.kernels) do
static lathe_fn $kernel.run$;
//@ if kernel.workspace then
static lathe_cost $kernel.workspace$;
//@ end
//@ end

$section.text$
//@ if section.target then
#if defined __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
//@ end
#endif

//@ end
/* ---- calls ---- */

/* A kernel, what it must find in a processor, and the calls that it is the best for. */
typedef struct lathe_kernel {
  lathe_fn *run;
  lathe_cost *workspace;
  uint64_t features;
  lathe_prefer prefer[LATHE_PREFERS];
  const char *name;
} lathe_kernel;

/* Instructions that calls may use: fewer where a compiler is told so, for the same bits on every machine. */
#ifndef LATHE_FEATURES
#define LATHE_FEATURES UINT64_MAX
#endif

/* What the processor has of these, looked at once: to ask it takes long. Several threads may, and find the same. */
static uint64_t lathe_features(void) {
  const uint64_t is_known = (uint64_t)1 << 63;
  static uint64_t known;
  uint64_t features = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!features) {
#if $x86$
    features = lathe_detect();
#endif
    features = (features & LATHE_FEATURES) | is_known;
    __atomic_store_n(&known, features, __ATOMIC_RELAXED);
  }
  return features;
}

static const double lathe_largest = 72057594037927936.0; /* 2^56: no memory has so many bytes */

/* The first kernel that can run and is for such calls, else the first that can run; null where none can. first:
 * where that one is kept when it is known; several threads may look for it, and find the same. */
static const lathe_kernel *lathe_choose(const lathe_kernel *kernels, const lathe_kernel **first,
                                        const size_t *dim, double bytes) {
  const lathe_kernel *able = __atomic_load_n(first, __ATOMIC_RELAXED), *kernel;
  uint64_t features;
  if (able && lathe_prefers(able->prefer, dim, bytes))
    return able;
  features = lathe_features();
  able = NULL;
  for (kernel = kernels; kernel->run; kernel++) {
    if (kernel->features & ~features)
      continue;
    if (!able) {
      able = kernel;
      __atomic_store_n(first, able, __ATOMIC_RELAXED);
    }
    if (lathe_prefers(kernel->prefer, dim, bytes))
      return kernel;
  }
  return able;
}

const char *$name$_status(int status) {
  switch (status) {
  case $UPPER$_OK: return "done";
  case $UPPER$_NULL: return "$name$: an operand that has elements is null";
  case $UPPER$_SIZE: return "$name$: no memory has such a size";
  case $UPPER$_WORKSPACE: return "$name$: the workspace is null, or its address no multiple of 64";
  case $UPPER$_PROCESSOR: return "$name$: no kernel of the file runs on this processor";
  default: return "$name$: no status";
  }
}
//@ for _, t in ipairs(types) do

/* Dispatch takes the first that fits. */
static const lathe_kernel $t.name$_kernels[] = {
  //@ local open
  //@ for _, section in ipairs(sections) do
  //@ for _, row in ipairs(section.rows[t]) do
  //@ if open ~= section.condition then
  //@ if open then
#endif
  //@ end
#if $section.condition$
  //@ open = section.condition
  //@ end
  {$row.run$, $(row.workspace or "NULL"), $row.features$, {$row.prefer$}, "$row.run$"},
  //@ end
  //@ end
#endif
  {NULL, NULL, 0, {$no_calls$}, NULL},
};

static const lathe_kernel *$t.name$_first;

/* The kernel for a size; null where none runs, or no memory has such a size: then *bytes is not below the largest. */
static const lathe_kernel *$t.name$_kernel($t.extents$, double *bytes) {
  const size_t dim[] = {$t.extents_given$};
  *bytes = ($t.all_extents$) >> 56 ? lathe_largest : $t.bytes$;
  return *bytes < lathe_largest ? lathe_choose($t.name$_kernels, &$t.name$_first, dim, *bytes) : NULL;
}

const char *$t.name$_variant($t.extents$) {
  double bytes;
  const lathe_kernel *kernel = $t.name$_kernel($t.extents_given$, &bytes);
  return kernel ? kernel->name : "none";
}
//@ if t.workspace then

size_t $t.name$_workspace($t.extents$) {
  const size_t dim[] = {$t.extents_given$};
  double bytes;
  const lathe_kernel *kernel = $t.name$_kernel($t.extents_given$, &bytes);
  return kernel && kernel->workspace ? (size_t)kernel->workspace(dim) : 0;
}
//@ end

$t.prototype$ {
  double bytes;
  const lathe_kernel *kernel = $t.name$_kernel($t.extents_given$, &bytes);
  lathe_args args;
  if (!kernel)
    return bytes < lathe_largest ? $UPPER$_PROCESSOR : $UPPER$_SIZE;
  if ($t.absent$)
    return $UPPER$_NULL;
  //@ for i, argument in ipairs(t.arguments) do
  args.buf[$(i - 1)] = (void *)$argument$;
  //@ end
  //@ for i, scalar in ipairs(t.scalars) do
  args.scalar[$(i - 1)] = $scalar$;
  //@ end
  //@ for i, extent in ipairs(t.dims) do
  args.dim[$(i - 1)] = $extent$;
  //@ end
  args.workspace = $(t.workspace and "workspace" or "NULL");
  args.phase = 0;
  args.part = args.parts = args.apart = 0;
  //@ if t.workspace then
  if ((uintptr_t)workspace % 64 != 0 || (!workspace && kernel->workspace && kernel->workspace(args.dim) > 0))
    return $UPPER$_WORKSPACE;
  //@ end
  kernel->run(&args);
  return $UPPER$_OK;
}
//@ end

#ifndef __clang__
#pragma GCC pop_options
#endif
#pragma GCC diagnostic pop
