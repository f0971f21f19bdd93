/* launches.h - what the generated functions share that say which kernels a call launches on a GPU (launch_*.c beside
 * the templates): how much work there is, and how many blocks have it. Accesses are of 16 bytes.
 */
#ifndef LAUNCHES_H
#define LAUNCHES_H

#include <math.h>

#include "launch.h"
#include "modes.h"

static inline size_t lathe_times(size_t count, size_t each) {
  return count / each + (count % each != 0);
}

static inline size_t lathe_upwards(size_t count, size_t each) {
  return lathe_times(count, each) * each;
}

static inline size_t lathe_most(size_t a, size_t b) {
  return a > b ? a : b;
}

/* ---- points and rows ------------------------------------------------------------------------- */

/* A call whose kernels go over points, or over rows of points. Its function sets what comes first. */
typedef struct lathe_call {
  const lathe_schedule *self;
  const lathe_limits *limits;
  lathe_launch *to;
  size_t rows, count; /* count: points of a row */
  size_t partials;    /* of a column: see lathe_partials; 0: there are none */
  uint32_t width;     /* elements of an access */
  bool by_rows;       /* accesses are in rows, which may start anywhere; else over all points */
  bool
      mixed; /* operands have elements of several sizes, which lie alike at multiples of 16 bytes alone */
  bool vulkan;
  size_t machine;  /* multiprocessors */
  size_t accesses; /* that a row may have */
  size_t period;   /* rows so far apart start alike */
  size_t parts;    /* of a row */
  int mode;        /* modes.h */
  bool aligned;    /* what varies over all rows does, at a multiple of 16 bytes */
  int launches;    /* so far */
} lathe_call;

/* A kernel that a call may launch. Its fields that are 0 say nothing. */
typedef struct lathe_kernel {
  int name; /* where in the variant's kernels those of each mode begin; on Vulkan that of PACKS is all, and one of FULL says
             * that there is that mode */
  uint32_t threads; /* that share a row, or all of a block */
  /* As few threads as have a row at once, by groups of so many, or of a subgroup that has more; at most `threads`. Of
   * CUDA's lathe_columns: whether rows may be for fewer than a warp. */
  uint32_t spread;
  uint32_t held; /* accesses of each operand that a thread has at once; 0: one element */
  uint32_t
      rows; /* of a block; of lathe_stay and lathe_columns on CUDA, threads of a block; of lathe_merge, that share a
                      * column */
  uint32_t
      each; /* points or columns of a block; accesses of a part; of lathe_columns, rows that a thread has at once */
  uint32_t waves;    /* blocks for each multiprocessor */
  uint32_t most;     /* blocks */
  uint32_t shared;   /* dynamic shared memory, bytes */
  uint32_t cluster;  /* blocks that share memory */
  uint32_t resident; /* 1: of the clusters, no more than may run at once, for they share all */
  uint32_t number;   /* Vulkan: the kernel's in its module */
} lathe_kernel;

/* Partial results of a column with so many beside it: about so many numbers in all, but between the fewest and the
 * most. */
static inline size_t lathe_partials(size_t count, size_t numbers, size_t fewest, size_t most) {
  const size_t some = numbers / (count ? count : 1);

  return some < fewest ? fewest : some < most ? some : most;
}

/* Finds how operands lie, and what follows from that. whole, column: those with an element at each point, and those
 * read at each column, a bit each. */
void lathe_measure(lathe_call *c, const lathe_args *args, uint32_t whole, uint32_t column);

/* Whether rows have more than one part, where all have so many. */
bool lathe_split(lathe_call *c, size_t parts);

/* Adds a launch whose blocks are dealt out in such a way, for which the kernel's record says what is named. Where there
 * may not be as many blocks there is no launch of the call, and false; CUDA has none where there are no rows. */
typedef bool lathe_deal(lathe_call *c, const lathe_kernel *k);

lathe_deal lathe_tiles; /* over all points: each */
lathe_deal
    lathe_waves; /* the same, again and again by no more than `waves` and `most` allow: each */
lathe_deal lathe_rows;   /* over rows: rows */
lathe_deal lathe_blocks; /* over rows, of which each has `cluster` blocks */
lathe_deal lathe_stay; /* over rows, by no more than `waves` and the partial results allow: rows */
lathe_deal lathe_parts_of_rows;      /* over the parts of rows: each */
lathe_deal lathe_join;               /* over rows that had parts */
lathe_deal lathe_columns;            /* over some columns of some rows: rows, waves */
lathe_deal lathe_columns_of_several; /* the same, of `width` rows as one: CUDA */
lathe_deal lathe_merge;              /* over columns: each, rows */

/* ---- products of matrices -------------------------------------------------------------------- */

/* Matrices of a product, all with as many rows and columns. */
typedef struct lathe_matrices {
  size_t m, n, count;
} lathe_matrices;

/* A step of a call: products of matrices whose tiles are made in one launch, all of as many terms. */
typedef struct lathe_step {
  const lathe_matrices *of;
  int nof;
  size_t k;
} lathe_step;

/* A way to cut a step into blocks, of a tile each, or of a part of its terms where tiles are few. */
typedef struct lathe_cut {
  int name;              /* its kernel's place among the variant's; that of clusters follows */
  uint32_t bm, bn;       /* rows and columns of a tile; no bn: all, be they none */
  uint32_t terms;        /* that are worth a block of their own */
  uint32_t at_once;      /* blocks on a multiprocessor */
  uint32_t threads;      /* of a block; 0: as many as are `subgroups` */
  uint32_t subgroups;    /* Vulkan: of a block, which compute by matrices that fit into `side` */
  uint32_t side[3];      /* rows, columns and terms */
  uint32_t shared;       /* dynamic shared memory, bytes */
  uint32_t architecture; /* CUDA: at least, 90 for compute capability 9.0 */
  uint32_t most;         /* blocks that share tiles, of all tiles together */
  uint32_t depth;   /* the most terms that a block adds up, of no more tiles than `most`; 0: any */
  uint32_t number;  /* Vulkan: the kernel's in its module */
  uint32_t image;   /* which of the variant's, from 0 on, has its kernel */
  double left;      /* bytes of the workspace that a block leaves for the last one of its tile */
  uint32_t cluster; /* CUDA: the most blocks that share each tile's columns; a power of two, or 0 */
  uint32_t
      room; /* the most shared memory that it takes with its rooms, bytes; 0: it has no rooms */
  uint32_t
      joins; /* CUDA: the most blocks of a cluster that share a tile's terms, in place of `cluster`; several such
              * clusters may share one */
  uint32_t stays; /* 1: no more blocks than run at once, which go on to further tiles */
  /* Multiply-adds that a multiprocessor does in a clock, and clocks that a tile takes besides. 0: none. Of a block
   * alone: clocks between its slices of so many terms; 0: it has a multiprocessor's rate. */
  uint32_t rate, start, wait, slice;
  uint32_t rest_rate,
      rest_wait; /* where factors lie as no tensor map can have them; 0: as elsewhere */
  int nmaps;     /* CUDA: of its factors, without which it is not taken */
  const lathe_tensor_map *maps;
  lathe_cost *
      copies; /* where in the workspace copies of factors begin whose rows no map can have; the kernel that makes
                       * them follows. Null: none */
} lathe_cut;

/* What is asked of a variant's steps for a size: the launches of a call; the most bytes that their blocks leave,
 * whatever the device and whichever cut is taken there; or whether each is cut in some way, wherever operands lie. */
typedef enum lathe_asks { LATHE_LAUNCHES, LATHE_LEFT, LATHE_FITS } lathe_asks;

typedef struct lathe_query {
  lathe_asks asks;
  const size_t *dim;
  const lathe_limits *limits;
  const lathe_args *args;
  const lathe_schedule *self;
  size_t most; /* tiles and shares of them of a launch */
  lathe_launch *to;
  int launches;
  double left;
  /* Of this step: the cut that is taken so far, by how many blocks a tile's terms are shared, and the clocks it
   * takes. */
  const lathe_cut *cut;
  uint32_t nth; /* cuts that were tried */
  bool rest;    /* a factor lies as no tensor map can have it */
  size_t shares, shared;
  double clocks;
  bool decided;
} lathe_query;

typedef bool lathe_steps(lathe_query *q);

/* Tries a cut, the best so far: the first, or of those in a row that have a rate the fastest. wanted: whether it is for
 * such a size; rooms: bytes of shared memory besides. */
void lathe_try(lathe_query *q, const lathe_step *s, bool wanted, const lathe_cut *c, size_t rooms);

/* Ends a step: adds the launch of the cut that was taken. False where there is none. */
bool lathe_take(lathe_query *q, const lathe_step *s);

/* The blocks of a cluster, of which each has some of a tile's columns: as many as those are worth, where so many run at
 * once. */
uint32_t lathe_cluster(const lathe_query *q, const lathe_step *s, const lathe_cut *c);

/* Bytes of the copy of an operand whose rows no tensor map can have; 0: one can. */
static inline size_t lathe_padded(size_t rows, size_t columns, size_t bytes) {
  return columns * bytes % 16 == 0 ? 0
                                   : lathe_upwards(rows * lathe_upwards(columns * bytes, 16), 64);
}

/* Shared memory for a row of so many elements; and for a block's share of a matrix with rows of these, which lies along
 * them or across. Lines end eight elements past a multiple of 64, or 16 bytes past one of 16. */
static inline size_t lathe_line(size_t of, size_t bytes) {
  return (lathe_upwards(of, 64) + 8) * bytes;
}

static inline size_t lathe_room(size_t of, size_t bytes, size_t columns, bool across,
                                uint32_t blocks) {
  const size_t share = lathe_upwards(lathe_times(columns, blocks), 16);

  return across ? lathe_upwards(of, 16) * (share * bytes + 16) : share * lathe_line(of, bytes);
}

/* The launches of all steps: 0 where there is none for the size. A step of nothing has no blocks; CUDA takes no grid of
 * nothing, and its kernel sees that it has none. */
int lathe_launch_steps(lathe_steps *steps, bool vulkan, const lathe_schedule *self,
                       const lathe_args *args, const lathe_limits *limits, lathe_launch *to);
double lathe_left_by_steps(lathe_steps *steps, const size_t *dim);
bool lathe_steps_fit(lathe_steps *steps, const size_t *dim, size_t shared);

#endif
