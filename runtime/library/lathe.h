/* lathe.h - the dispatch table: what an op is, what a variant is, and how one is chosen.
 *
 * The generator writes the rows (out/gen/table.c); everything here is plain constant data.
 * The table is the only thing that generated code and the runtime share.
 */
#ifndef LATHE_H
#define LATHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  LATHE_MAX_DIMS = 8,
  LATHE_MAX_OPERANDS = 16, /* inputs, then outputs, in the order of the spec's function */
  LATHE_MAX_SCALARS = 8,
  LATHE_MAX_LAUNCHES = 8,
  LATHE_MAX_MAPS = 2, /* of a launch */
};

typedef enum lathe_dtype {
  LATHE_F64,
  LATHE_F32,
  LATHE_F16,
  LATHE_BF16,
  LATHE_I8, /* whole numbers that stand for numbers, computed in f32 */
  LATHE_U8,
  LATHE_I64,    /* indexes and seeds */
  LATHE_DTYPES, /* how many there are */
  /* An operand of this type has the variant's own type. */
  LATHE_VARIANT_DTYPE,
} lathe_dtype;

/* Where a backend's kernels run; each kind has a device file in runtime/. A peer is another library, which the bench
 * program holds kernels against: the table has none. */
typedef enum lathe_kind { LATHE_CPU, LATHE_CUDA, LATHE_VULKAN, LATHE_PEER } lathe_kind;

/* What a device must offer for a variant to run: a bit each. */
enum {
  LATHE_SSE2 = 1u << 0,
  LATHE_AVX2 = 1u << 1,
  LATHE_FMA = 1u << 2,
  LATHE_F16C = 1u << 3,
  LATHE_AVX512F = 1u << 4,
  LATHE_AVX512BW = 1u << 5,
  LATHE_AVX512DQ = 1u << 6,
  LATHE_AVX512VL = 1u << 7,
  LATHE_SM80 = 1u << 16,             /* CUDA's compute capability 8.0 or more */
  LATHE_SM90A = 1u << 22,            /* 9.0, whose own instructions no other has */
  LATHE_VULKAN_F64 = 1u << 17,       /* arithmetic in f64 */
  LATHE_VULKAN_F16 = 1u << 18,       /* in f16 */
  LATHE_VULKAN_STORAGE16 = 1u << 19, /* numbers of 16 bits in buffers */
  LATHE_VULKAN_STORAGE8 = 1u << 20,  /* of 8 bits */
  LATHE_VULKAN_MATRIX = 1u << 21,    /* products of small matrices of f16, added up in f32 */
  /* The kind of device that it is, which every backend needs. */
  LATHE_ON_PEER = 1u << 27,
  LATHE_ON_CPU = 1u << 28,
  LATHE_ON_CUDA = 1u << 29,
  LATHE_ON_VULKAN = 1u << 30,
};

/* One call: buffers in operand order, scalars and dimensions in the op's order.
 * workspace has at least lathe_workspace(variant, dim) bytes at a multiple of 64, or is null where that is
 * none; on a device other than the CPU it is zero before the first call, and a call leaves it fit for
 * the next. */
typedef struct lathe_args {
  void *buf[LATHE_MAX_OPERANDS];
  double scalar[LATHE_MAX_SCALARS];
  size_t dim[LATHE_MAX_DIMS];
  void *workspace;
  bool narrow; /* to references alone: the call is in a type of 16 bits */
} lathe_args;

typedef void lathe_fn(const lathe_args *args);

/* Device code carried in the program: a fatbin, or SPIR-V. */
typedef struct lathe_image {
  const unsigned char *start, *end;
  int loose; /* its f32 is rounded to 16 bits later, and need not be right to the last bit */
} lathe_image;

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

/* Which kernels calls launch: launch.h. */
typedef struct lathe_schedule lathe_schedule;

/* A figure as a function of the size: bytes moved, operations done, workspace wanted. */
typedef double lathe_cost(const size_t *dim);

typedef struct lathe_operand {
  const char *name;
  lathe_dtype dtype;
  bool output;
  int ndim;                /* 0: one element */
  int dim[LATHE_MAX_DIMS]; /* indexes into the op's dimensions, slowest first */
  double low, high;        /* the range that random inputs are drawn from */
  int index;               /* 1 + the dimension of the op that elements are places along; 0: none */
} lathe_operand;

typedef struct lathe_scalar {
  const char *name;
  double value; /* what the check and the benchmark use */
} lathe_scalar;

typedef struct lathe_size {
  const char *name;
  size_t dim[LATHE_MAX_DIMS];
} lathe_size;

/* Sizes that are run when the set is asked for by name: for each shape its extents, slowest first,
 * each one of some choices; all are combined. What an op's dimensions become of it: size.h. */
typedef struct lathe_shape {
  int ndim;
  int count[LATHE_MAX_DIMS];
  const size_t *choice[LATHE_MAX_DIMS];
} lathe_shape;

typedef struct lathe_set {
  const char *name;
  int nshapes;
  const lathe_shape *shapes;
} lathe_set;

/* The most that a result may be off, in units of the last place of
 * max(|reference|, magnitude); see judge.h. */
typedef struct lathe_bound {
  lathe_dtype dtype;
  double ulp;
} lathe_bound;

/* Arithmetic operations: so many at each point of some of the op's dimensions. */
typedef struct lathe_arithmetic {
  unsigned dims; /* a bit each, of the first the lowest */
  unsigned each;
} lathe_arithmetic;

typedef struct lathe_peer {
  const char *name;       /* numpy, torch, blas */
  const char *expression; /* over the operands' names */
} lathe_peer;

/* A way to compute an op and its gradient, of several that are to be compared: the implementations of both; null for
 * none of the gradient. */
typedef struct lathe_compared {
  const char *name, *forward, *backward;
} lathe_compared;

typedef struct lathe_op lathe_op;
struct lathe_op {
  const char *name, *doc, *family;
  const char *source; /* specs/add.lua:3 */
  int ndim;
  const char *dim[LATHE_MAX_DIMS];
  int noperands, nscalars, nsizes, nsets, nbounds, npeers, ncompared;
  const lathe_operand *operands;
  const lathe_scalar *scalars;
  const lathe_size *sizes; /* what is run when no size is asked for */
  const lathe_set *sets;
  const lathe_bound *bounds;
  const lathe_peer *peers;
  const lathe_compared *compared; /* the first with all others */
  bool in_place;                  /* the first output may be the first input */
  bool any_zero_sign;             /* +0 and -0 are equally right */
  unsigned
      rounded_terms; /* a bit for each operand: an index of terms that are rounded; see judge.h */
  /* The operation of the graph whose kernels may be furthest off by themselves, and by how many ulp of the type
   * computed in; null where all is exact. */
  const char *roughest;
  double roughest_ulp;
  int nwork;
  const lathe_arithmetic *work; /* what the traced graph computes, in all */
  /* By output, a bit for each dimension: along which its elements stand for themselves, so that those at some places can
   * be asked for alone; and of these along which it is linear in the inputs that have them, and all inputs' sizes
   * give at least its size (excerpt.h, freivalds.h). */
  unsigned apart[LATHE_MAX_OPERANDS], linear[LATHE_MAX_OPERANDS];
  /* The op of which this one is the gradient, or null: its inputs are those of that op that it
   * needs and d<output>, its outputs d<input>. */
  const lathe_op *gradient_of;
  /* References in higher precision. Floating operands are arrays of double (f64) or
   * long double (wide, for checking f64 itself); after the operands comes one more buffer
   * for each floating output, in order, which takes its magnitude, and three for each output among the
   * rounded terms: the indexes asked about, their terms (NaN for none), and the terms' magnitudes. Their workspace has twice
   * column_reductions numbers of that type for each point of the last dimension. Asked in parts: reference.h. */
  int column_reductions;
  int cut; /* 1 + the dimension along which calls may be cut; 0: none */
  lathe_fn *reference_f64, *reference_wide;
};

typedef struct lathe_backend {
  const char *name; /* avx2 */
  lathe_kind kind;
  uint64_t features;
  const char *disabled; /* why configure left it out, or null */
} lathe_backend;

typedef struct lathe_variant {
  const char *name; /* add_f32__avx2_u4: made by one function of the generator, parsed by nobody */
  const lathe_op *op;
  const lathe_backend *backend;
  lathe_dtype dtype;
  uint64_t features;        /* that it needs besides the backend's */
  const char *disabled;     /* why configure left it out, or null */
  lathe_fn *run;            /* on the CPU; null elsewhere and where the backend is disabled */
  const lathe_image *image; /* elsewhere: the code, and what of it a call runs */
  const lathe_schedule *schedule;
  lathe_cost *workspace; /* bytes, on the CPU; null for none; to be called where `run` may be */
  double prefer_from, prefer_to; /* bytes of all operands between which dispatch may choose it */
  const char *params;            /* unroll=4 store=streaming */
  const char *source;            /* specs/include/vector.lua:9 */
  const char *template_file;     /* templates/c/map.c */
  const char *implementation; /* the spec's word for this way; null for that of the op's family */
} lathe_variant;

/* The table. Ops are sorted by name; variants by op, dtype, then falling preference, so
 * that the first that fits is the one to call. */
extern const lathe_backend lathe_backends[];
extern const size_t lathe_backend_count;
extern const lathe_op lathe_ops[];
extern const size_t lathe_op_count;
extern const lathe_variant lathe_variants[];
extern const size_t lathe_variant_count;

/* select.c */

/* How a variant computes its op: the spec's word, or the family of its templates. */
const char *lathe_implementation(const lathe_variant *variant);

/* Null where the variant can run on a device with these features; else the reason, static. */
const char *lathe_why_not(const lathe_variant *variant, uint64_t features);

/* The variant to call for an op, type and size (op->ndim dimensions) on a device with
 * these features; null where none can run. With force not null, only variants whose name
 * matches that glob are considered, whatever size they prefer. */
const lathe_variant *lathe_select(const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                                  uint64_t features, const char *force);

/* Elements of operand o at a size, and bytes of all operands of a variant's type. */
size_t lathe_elements(const lathe_op *op, int operand, const size_t *dim);
double lathe_bytes(const lathe_op *op, lathe_dtype dtype, const size_t *dim);

/* Arithmetic operations of a call; of them those of contractions, sums over points of which no operand has as many: 2mnk
 * of a product of matrices, 0 where an op reads as much as it computes. */
double lathe_flops(const lathe_op *op, const size_t *dim);
double lathe_contracted_flops(const lathe_op *op, const size_t *dim);

/* launch.c: bytes of workspace that a variant's calls want, 0 for none; where the variant can run. */
double lathe_workspace(const lathe_variant *variant, const size_t *dim);

/* parallel.c: calls on a processor that several threads share. */

/* Who does the parts of a call: run(pool, work, context, parts) calls work(context, nth) for each nth below `parts`, on
 * as many threads as it has, and returns when all are done. */
typedef void lathe_part_fn(void *context, size_t nth);
typedef struct lathe_threads {
  void (*run)(void *pool, lathe_part_fn *work, void *context, size_t parts);
  void *pool;
} lathe_threads;

/* How many parts to cut a call into for some threads: 1 where the op cannot be cut, or is done too soon to be. Results
 * do not depend on it. */
size_t lathe_parts(const lathe_variant *variant, const size_t *dim, int threads);

/* Bytes of workspace, at a multiple of 64, that a call in parts wants. */
double lathe_workspace_of_parts(const lathe_variant *variant, const size_t *dim, size_t parts);

/* Makes a call in parts; threads: may be null for one. */
void lathe_run_parts(const lathe_variant *variant, const lathe_args *args, size_t parts,
                     const lathe_threads *threads);

/* dtype.c */
const char *lathe_dtype_name(lathe_dtype dtype);
size_t lathe_dtype_size(lathe_dtype dtype);

/* cpu.c: the features of this processor, less those not named in the environment variable
 * LATHE_CPU_FEATURES where that is set (for trying another machine's choice). */
uint64_t lathe_cpu_features(void);
const char *lathe_cpu_name(void);

#endif
