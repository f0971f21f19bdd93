/* launch.h - which kernels a call launches on a GPU. The generator writes functions that say so (launch_*.c beside the
 * templates) and puts them beside the image of an op's kernels.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "dispatch.h"

enum {
  LATHE_MAX_LAUNCHES = 48, /* of steps, of which each may want a copy of its factors */
  LATHE_MAX_MAPS = 6,      /* of a launch */
};

/* Device code carried in the program: fatbins, or SPIR-V. */
struct lathe_image {
  const unsigned char *start, *end; /* of all of an op's, packed together */
  uint32_t nth;                     /* which of these it is, from 0 */
  int loose; /* its f32 is rounded to 16 bits later, and need not be right to the last bit */
  const lathe_image *next; /* of a variant that has several: see lathe_launch */
};

/* The limits that a device tells, for choosing launches. */
typedef struct lathe_limits {
  uint32_t multiprocessors;
  uint32_t subgroup;     /* threads that run in step: a warp */
  uint32_t group;        /* most threads of a block */
  uint32_t grid;         /* most blocks in one dimension */
  size_t shared;         /* most shared memory of a block, bytes */
  uint32_t cluster;      /* most blocks that share memory on every such device; 1 where none do */
  uint32_t architecture; /* CUDA: 90 for compute capability 9.0; 0 elsewhere */
  uint32_t maps;         /* CUDA: 1 where the driver makes tensor maps */
  uint32_t matrix[3];    /* Vulkan: rows, columns and terms of a product that it computes at once */
  uint32_t cut; /* no limit: which cut of each step to take where it can be; 0: the fastest */
} lathe_limits;

/* One kernel of a call. */
typedef struct lathe_launch {
  const char *kernel; /* its name in the image */
  uint32_t image;     /* which of the variant's images that is, from 0 */
  uint32_t grid[3];   /* blocks */
  uint32_t block[3];  /* threads of a block */
  uint32_t cluster;   /* blocks that share memory; 0 or 1 for none */
  uint32_t joined;    /* 1: clusters' blocks share terms, if the kernel was compiled for clusters */
  uint32_t resident;  /* 1: of the clusters, no more than may run at once, for they share all */
  uint32_t shared;    /* dynamic shared memory, bytes */
  uint32_t early;     /* CUDA: 1 where it may begin before the kernel before it ends */
  /* Vulkan: the module, and its constants THREADS, MODE, and a matrix's. */
  uint32_t constant[6];
  /* CUDA: to be made of the operands, and given after the arguments. */
  const struct lathe_tensor_map *maps;
  int nmaps;
  size_t past; /* CUDA: bytes of the workspace before what the kernel takes for it */
} lathe_launch;

/* A tensor map (TMA) that is made of an operand, or of a temporary in the workspace, when a kernel is launched: of
 * copies from there, what lies outside is zero. */
typedef struct lathe_tensor_map {
  int operand;
  uint32_t bytes; /* of an element */
  /* Along each dimension, the innermost first: the product of which of the op's, a bit each; 0 past the last. */
  uint32_t extent[5];
  uint32_t box[5];   /* elements along each that a copy brings */
  uint32_t swizzle;  /* bytes: 0, 32, 64 or 128 */
  uint32_t rounded;  /* 1: of f32, whose numbers are rounded to 11 digits on the way (tf32) */
  lathe_cost *place; /* of a temporary or a copy: the bytes before it in the workspace, or null */
  uint32_t padded;   /* 1: a copy is used where the operand's rows are no multiples of 16 bytes */
} lathe_tensor_map;

/* A variant's launches, as functions that the generator writes beside the image of its kernels. */
struct lathe_schedule {
  /* Fills in the kernels of one call, run one after another, and returns how many there are, at most
   * LATHE_MAX_LAUNCHES; 0 where the variant has no launch for the size on such a device. self: the schedule that has
   * it. */
  int (*launches)(const lathe_schedule *self, const lathe_args *args, const lathe_limits *limits,
                  lathe_launch *launches);
  lathe_cost *workspace; /* bytes; null for none */
  /* Whether there are launches for a size, wherever operands lie, where a block may have so many bytes of shared
   * memory; null: for any. */
  bool (*fits)(const size_t *dim, size_t shared);
  const lathe_way *ways;      /* sizes that try each way of launching: see lathe_way */
  const char *const *kernels; /* the names of all that may be launched, with nulls among them */
  int nkernels;
};

/* Shared memory that a block surely has: of GPUs whose kind is not known, as much as the least of them. */
static inline size_t lathe_least_shared(uint64_t features) {
  return features & LATHE_SM90A ? 227 << 10 : 99 << 10;
}

/* Whether a map is of what is in the workspace, all of it at multiples of 16 bytes; where what it is of begins. */
bool lathe_is_placed(const lathe_tensor_map *map, const size_t *dim);
void *lathe_map_start(const lathe_tensor_map *map, const lathe_args *args);

/* A call's operand as CUDA's cuTensorMapEncodeTiled takes it: extents, and how many bytes lie from an index along
 * each dimension but the innermost to the next. Returns how many dimensions there are; 0 where the operand lies as no
 * map can have it, which wants all of these bytes and the address to be multiples of 16, or has nothing. */
int lathe_lay_out(const lathe_tensor_map *map, const lathe_args *args, uint64_t extents[5],
                  uint64_t strides[4]);

/* Whether a variant may have launches for a size on a device with so much shared memory. */
bool lathe_fits(const lathe_variant *variant, const size_t *dim, size_t shared);

#endif
