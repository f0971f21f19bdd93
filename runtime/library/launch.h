/* launch.h - which kernels a call launches on a GPU, as data: rows that the generator makes of what schedule.lua
 * beside a language's templates says, and puts beside the image of an op's kernels. One function for each kind of
 * device reads them. Counts are of elements; accesses are of 16 bytes.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "dispatch.h"

enum {
  LATHE_MAX_LAUNCHES = 24,
  LATHE_MAX_MAPS = 3, /* of a launch */
};

/* Device code carried in the program: fatbins, or SPIR-V. */
struct lathe_image {
  const unsigned char *start, *end; /* of all of an op's, packed together */
  uint32_t nth;                     /* which of these it is, from 0 */
  int loose; /* its f32 is rounded to 16 bits later, and need not be right to the last bit */
};

/* What a device says of itself, for choosing launches. */
typedef struct lathe_limits {
  uint32_t multiprocessors;
  uint32_t subgroup;     /* threads that run in step: a warp */
  uint32_t group;        /* most threads of a block */
  uint32_t grid;         /* most blocks in one dimension */
  size_t shared;         /* most shared memory of a block, bytes */
  uint32_t cluster;      /* most blocks that share memory on every such device; 1 where none do */
  uint32_t architecture; /* CUDA: 90 for compute capability 9.0; 0 elsewhere */
  uint32_t maps;         /* CUDA: 1 where the driver makes tensor maps */
  uint32_t matrix
      [3]; /* Vulkan: rows, columns and terms of a product of matrices that it computes at once */
} lathe_limits;

/* One kernel of a call. */
typedef struct lathe_launch {
  const char *kernel; /* its name in the image */
  uint32_t grid[3];   /* blocks */
  uint32_t block[3];  /* threads of a block */
  uint32_t cluster;   /* blocks that share memory; 0 or 1 for none */
  uint32_t resident;  /* 1: of the clusters, no more than may run at once, for they share all */
  uint32_t shared;    /* dynamic shared memory, bytes */
  uint32_t
      constant[6]; /* Vulkan: the module, and its constants THREADS, MODE, and those of a matrix */
  const struct lathe_tensor_map
      *maps; /* CUDA: to be made of the operands, and given after the arguments */
  int nmaps;
} lathe_launch;

/* How the operands of a call lie: all unlike each other; at multiples of 16 bytes; the same, in rows of just as
 * many elements as a kernel's threads hold; anywhere, but all alike. templates/glsl/kernel.comp has the same. */
enum { LATHE_APART, LATHE_PACKS, LATHE_FULL, LATHE_ENDS, LATHE_MODES };

/* How blocks are dealt out over a call's work, and which of a kernel's fields that asks for besides threads. */
typedef enum lathe_deal {
  LATHE_TILES, /* over all points: each */
  LATHE_WAVES, /* the same, again and again by no more blocks than `waves` and `most` allow: each */
  LATHE_ROWS,  /* over rows: rows */
  LATHE_BLOCKS,  /* over rows, of which each has `cluster` blocks */
  LATHE_STAY,    /* over rows, by no more blocks than `waves` and the partial results allow: rows */
  LATHE_PARTS,   /* over the parts of rows */
  LATHE_JOIN,    /* over rows that had parts */
  LATHE_COLUMNS, /* over some columns of some rows: rows, waves */
  LATHE_MERGE,   /* over columns: each, rows */
} lathe_deal;

/* A tensor map (TMA) that is made of an operand when a kernel is launched: of copies from there, what lies outside is
 * zero. */
typedef struct lathe_tensor_map {
  int operand;
  uint32_t bytes; /* of an element */
  uint32_t extent
      [5]; /* along each dimension, the innermost first: the product of which of the op's, a bit each; 0
                       * past the last */
  uint32_t box[5];  /* elements along each that a copy brings */
  uint32_t swizzle; /* bytes: 0, 32, 64 or 128 */
  uint32_t rounded; /* 1: of f32, whose numbers are rounded to 11 digits on the way (tf32) */
} lathe_tensor_map;

/* A row's kernel, of which a call makes a launch. */
typedef struct lathe_kernel {
  const char *name
      [LATHE_MODES]; /* of each mode; none of FULL: there that of PACKS is; on Vulkan that of PACKS is
                                  * all, and one of FULL says that there is that mode */
  lathe_deal deal;
  uint32_t threads; /* that share a row, or all of a block */
  uint32_t
      spread; /* not 0: as few threads as have a row at once, by groups of so many, or of a subgroup that has
                      * more; at most `threads`, where that is not 0 */
  uint32_t held; /* accesses of each operand that a thread has at once; 0: one element */
  uint32_t
      rows; /* of a block; of STAY and COLUMNS on CUDA, threads of a block; of MERGE, that share a column */
  uint32_t
      each; /* points or columns of a block; accesses of a part; of COLUMNS on Vulkan, rows at once */
  uint32_t waves;    /* blocks for each multiprocessor */
  uint32_t most;     /* blocks; 0: any number */
  uint32_t shared;   /* dynamic shared memory, bytes */
  uint32_t cluster;  /* blocks that share memory; 0 or 1 for none */
  uint32_t resident; /* 1: of the clusters, no more than may run at once, for they share all */
  uint32_t number;   /* Vulkan: the kernel's in its module */
  int nmaps;
  const lathe_tensor_map *maps;
} lathe_kernel;

/* When some kernels are those of a call: where all of this holds. A limit of 0 is none, but for modes. */
typedef struct lathe_when {
  uint32_t modes;   /* a bit for each mode: APART, PACKS, ENDS */
  size_t above, to; /* accesses that a row has: more than, at most */
  size_t rows_above,
      rows_below; /* rows, in eighths of the multiprocessors: more than, fewer than */
  size_t shared;  /* shared memory of a block, bytes, at least */
  uint32_t cluster, cluster_below; /* blocks of a cluster: at least, fewer than */
  uint32_t architecture,
      architecture_below; /* CUDA: 90 for compute capability 9.0: at least, below */
  /* Rows have more than one part: of parts_waves for each multiprocessor, or parts_most, the share of one row. */
  uint32_t parts_waves, parts_most;
} lathe_when;

typedef struct lathe_row {
  lathe_when when;
  const lathe_kernel *kernels; /* run one after another */
  int nkernels;
} lathe_row;

/* What the kernels of an op and type work on. */
typedef struct lathe_work {
  uint32_t outer,
      inner; /* dimensions whose product is how many rows there are, and a row's points: a bit each */
  uint32_t whole,
      column; /* operands with an element at each point, and those read at each column: a bit each */
  bool by_rows;   /* accesses are in rows, which may start anywhere; else over all points */
  uint32_t width; /* elements of an access */
  /* Partial results of a column: about so many numbers in all, but between the fewest and the most; 0: none. */
  uint32_t numbers, fewest, most;
  /* The workspace, bytes: always, for each partial result, for each row. */
  double bytes, bytes_of_partial, bytes_of_row;
} lathe_work;

/* A way to cut a matrix product into blocks, of a tile each, or of a part of its terms where tiles are few. */
typedef struct lathe_cut {
  const char *name;
  uint32_t rows, columns; /* the most that a matrix may have; 0: any */
  uint32_t bm, bn;        /* rows and columns of a tile; no bn: all, be they none */
  uint32_t terms;         /* that are worth a block of their own */
  uint32_t at_once;       /* blocks on a multiprocessor */
  uint32_t threads;       /* of a block; 0: as many as are `subgroups` */
  uint32_t subgroups;     /* Vulkan: of a block, which compute by matrices that fit into `side` */
  uint32_t side[3];       /* rows, columns and terms */
  uint32_t shared;        /* dynamic shared memory, bytes */
  uint32_t architecture;  /* CUDA: at least, 90 for compute capability 9.0 */
  uint32_t most;          /* blocks that share tiles, of all tiles together */
  uint32_t depth;   /* the most terms that a block adds up, of no more tiles than `most`; 0: any */
  uint32_t number;  /* Vulkan: the kernel's in its module */
  double left;      /* bytes of the workspace that a block leaves for the last one of its tile */
  uint32_t cluster; /* CUDA: the most blocks that share each tile's columns; a power of two, or 0 */
  const char *of_cluster; /* the kernel of those that are more than one */
  uint32_t room;  /* the most shared memory that it takes with the step's rooms, bytes; 0: any */
  uint32_t rooms; /* which of the step's it has, a bit each */
  uint32_t stays; /* 1: no more blocks than run at once, which go on to further tiles */
  /* Multiply-adds that a multiprocessor does in a clock, and clocks that a tile takes besides; of cuts that say so the
   * fastest is taken. 0: none. */
  uint32_t rate, start;
  int nmaps; /* CUDA: of its factors, without which it is not taken */
  const lathe_tensor_map *maps;
  int nextents;
  const struct lathe_extent *extents;
} lathe_cut;

/* What calls a cut is for: the product of some dimensions, a bit each, is more than `above`, and at most `most`; 0: any. */
typedef struct lathe_extent {
  uint32_t of, above, most;
} lathe_extent;

/* Shared memory, of elements of some bytes: for the rows of a tile, whose dimensions are `of`; or, where there are
 * `columns`, for a block's share of a matrix with so many and rows of `of`, which lies along these or across. */
typedef struct lathe_room {
  uint32_t of, columns, across, bytes;
} lathe_room;

/* The tiles of a product that a launch makes besides its first: the dimensions of its rows and columns, and how many
 * there are; a bit each. */
typedef struct lathe_tiles {
  uint32_t m, n, matrices;
} lathe_tiles;

/* One of an op's matrix products, run one after another: of which dimensions the products are its rows, columns and
 * terms, and how many there are; a bit each. Of its cuts the first is taken that a matrix's rows and columns, its
 * extents, the device and the operands' places fit, and whose room has the step's rooms: of tiles that stay in shared memory for several
 * products; or of those in a row that have a rate the fastest. */
typedef struct lathe_step {
  uint32_t m, n, k, matrices;
  const lathe_cut *cuts;
  int ncuts;
  const lathe_room *rooms;
  int nrooms;
  const lathe_tiles *beside; /* of as many terms, in the same launch */
  int nbeside;
} lathe_step;

/* What a variant launches: the first row that holds, or all steps. What steps leave comes after the workspace's bytes. */
struct lathe_schedule {
  const lathe_work *work;
  const lathe_row *rows;
  int nrows;
  const lathe_step *steps;
  int nsteps;
  const uint32_t *temporaries; /* between steps, in the workspace: of dimensions, a bit each */
  int ntemporaries;
  uint32_t number; /* bytes of a temporary's element */
};

/* What CUDA's cuTensorMapEncodeTiled is told of a call's operand: extents, and how many bytes lie from an index along each
 * dimension but the innermost to the next. Returns how many dimensions there are; 0 where the operand lies as no map can
 * have it, which wants all of these bytes and the address to be multiples of 16, or has nothing. */
int lathe_lay_out(const lathe_tensor_map *map, const lathe_args *args, uint64_t extents[5],
                  uint64_t strides[4]);

/* Whether each step of a call is cut in some way for its size, wherever operands lie, and a block that may have so many
 * bytes of shared memory has room for that; true without steps. */
bool lathe_steps_fit(const lathe_schedule *schedule, const size_t *dim, size_t shared);

/* Fill in the kernels of one call, run one after another, and return how many there are, at most
 * LATHE_MAX_LAUNCHES; 0 where the variant has no launch for the size on such a device. */
int lathe_launch_cuda(const lathe_schedule *schedule, const lathe_args *args,
                      const lathe_limits *limits, lathe_launch *launches);
int lathe_launch_vulkan(const lathe_schedule *schedule, const lathe_args *args,
                        const lathe_limits *limits, lathe_launch *launches);

#endif
