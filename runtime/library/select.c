/* select.c - which variants can run, and which one to call: one loop over the rows of an op and type. */
#include <fnmatch.h>

#include "dispatch.h"
#include "dtype.h"
#include "launch.h"

/* Bytes of all operands, and points of a dimension: some bits fewer than addresses have, so that what is made of them,
 * such as their sum with a tile's, is a size too. */
static const double largest = 0x1p56;

static const struct {
  uint64_t feature;
  const char *missing;
} needs[] = {
    {LATHE_ON_CPU, "it runs on a processor"},
    {LATHE_ON_CUDA, "it runs on a CUDA device"},
    {LATHE_ON_VULKAN, "it runs on a Vulkan device"},
    {LATHE_ON_PEER, "it is another library"},
    {LATHE_VULKAN_F64, "this device does not compute in f64 (shaderFloat64)"},
    {LATHE_VULKAN_F16, "this device does not compute in f16 (shaderFloat16)"},
    {LATHE_VULKAN_MATRIX,
     "this device has no products of matrices of f16 added up in f32 (VK_KHR_cooperative_matrix)"},
    {LATHE_VULKAN_WORKGROUP_MATRIX,
     "this device has no products of matrices of f16 by workgroups (VK_NV_cooperative_matrix2)"},
    {LATHE_VULKAN_VECTOR,
     "this device has no products of a matrix and a vector of f16 (VK_NV_cooperative_vector)"},
    {LATHE_VULKAN_STORAGE8,
     "this device has no numbers of 8 bits in buffers (storageBuffer8BitAccess)"},
    {LATHE_VULKAN_STORAGE16,
     "this device has no numbers of 16 bits in buffers (storageBuffer16BitAccess)"},
    {LATHE_SM90A, "this device's compute capability is not 9.0"},
    {LATHE_SM80, "this device's compute capability is below 8.0"},
    {LATHE_SSE2, "this processor has no SSE2"},
    {LATHE_AVX2, "this processor has no AVX2"},
    {LATHE_FMA, "this processor has no FMA"},
    {LATHE_F16C, "this processor has no F16C"},
    {LATHE_AVX512F, "this processor has no AVX-512F"},
    {LATHE_AVX512BW, "this processor has no AVX-512BW"},
    {LATHE_AVX512DQ, "this processor has no AVX-512DQ"},
    {LATHE_AVX512VL, "this processor has no AVX-512VL"},
    {LATHE_AVX512VNNI, "this processor has no AVX-512 VNNI"},
    {LATHE_AMX_BF16, "this processor or this system has no AMX for bf16"},
    {LATHE_AMX_INT8, "this processor or this system has no AMX for 8 bits"},
};

static uint64_t missing_of(const lathe_variant *variant, uint64_t features) {
  return (variant->backend->features | variant->features) & ~features;
}

const char *lathe_kind_name(lathe_kind kind) {
  static const char *const names[] = {
      [LATHE_CPU] = "cpu", [LATHE_CUDA] = "cuda", [LATHE_VULKAN] = "vulkan", [LATHE_PEER] = "peer"};

  return names[kind];
}

const char *lathe_why_not(const lathe_variant *variant, uint64_t features) {
  const uint64_t missing = missing_of(variant, features);

  if (variant->disabled)
    return variant->disabled;
  if (variant->backend->disabled)
    return variant->backend->disabled;
  if (missing == 0)
    return NULL;
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if (missing & needs[i].feature)
      return needs[i].missing;
  return "this device lacks a feature that the variant needs";
}

static bool can_run(const lathe_variant *variant, uint64_t features) {
  return !variant->disabled && !variant->backend->disabled && !missing_of(variant, features);
}

bool lathe_are_beyond(const lathe_op *op, const size_t *dim, double bytes) {
  for (int d = 0; d < op->ndim; d++)
    if ((double)dim[d] > largest)
      return true;
  return bytes > largest;
}

bool lathe_is_beyond(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  return lathe_are_beyond(op, dim, lathe_bytes(op, dtype, dim));
}

const lathe_variant *lathe_choose(const lathe_variant *rows, size_t count, const size_t *dim,
                                  double bytes, uint64_t features, const char *force) {
  const lathe_variant *able = NULL; /* the first that can run, should none prefer this size */

  for (const lathe_variant *v = rows; v < rows + count; v++) {
    if (!can_run(v, features))
      continue;
    if (force) {
      if (fnmatch(force, v->name, 0) == 0)
        return v;
      continue;
    }
    if (v->by_name || !lathe_fits(v, dim, lathe_least_shared(features)))
      continue;
    if (lathe_prefers(v->prefer, dim, bytes))
      return v;
    if (!able)
      able = v;
  }
  return able;
}

size_t lathe_elements(const lathe_op *op, int operand, const size_t *dim) {
  const lathe_operand *o = &op->operands[operand];
  size_t count = 1;

  for (int i = 0; i < o->ndim; i++)
    count *= dim[o->dim[i]];
  return count;
}

static double points_of(const lathe_op *op, unsigned dims, const size_t *dim) {
  double points = 1;

  for (int d = 0; d < op->ndim; d++)
    points *= dims & 1u << d ? (double)dim[d] : 1;
  return points;
}

double lathe_flops(const lathe_op *op, const size_t *dim) {
  double flops = 0;

  for (int i = 0; i < op->nwork; i++)
    flops += op->work[i].each * points_of(op, op->work[i].dims, dim);
  return flops;
}

/* Whether some operand has all of some dimensions. */
static bool is_held(const lathe_op *op, unsigned dims) {
  for (int o = 0; o < op->noperands; o++) {
    unsigned of = 0;
    for (int i = 0; i < op->operands[o].ndim; i++)
      of |= 1u << op->operands[o].dim[i];
    if (!(dims & ~of))
      return true;
  }
  return false;
}

double lathe_contracted_flops(const lathe_op *op, const size_t *dim) {
  double flops = 0;

  for (int i = 0; i < op->nwork; i++)
    if (!is_held(op, op->work[i].dims))
      flops += op->work[i].each * points_of(op, op->work[i].dims, dim);
  return flops;
}

double lathe_bytes(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  double bytes = 0;

  for (int o = 0; o < op->noperands; o++) {
    const lathe_operand *operand = &op->operands[o];
    double count = 1; /* which may be more than a size_t counts */
    for (int i = 0; i < operand->ndim; i++)
      count *= (double)dim[operand->dim[i]];
    bytes += count * (double)lathe_dtype_size(lathe_dtype_of_operand(operand, dtype));
  }
  return bytes;
}
