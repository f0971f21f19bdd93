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
  LATHE_MAX_DIMS = 4,
  LATHE_MAX_OPERANDS = 16, /* inputs, then outputs, in the order of the spec's function */
  LATHE_MAX_SCALARS = 8,
  LATHE_MAX_LAUNCHES = 4,
};

typedef enum lathe_dtype {
  LATHE_F64,
  LATHE_F32,
  LATHE_F16,
  LATHE_BF16,
  LATHE_I32,
  LATHE_I64,
  LATHE_DTYPES, /* how many there are */
  /* An operand of this type has the variant's own type. */
  LATHE_VARIANT_DTYPE,
} lathe_dtype;

/* Where a backend's kernels run; each kind has a device file in runtime/. */
typedef enum lathe_kind { LATHE_CPU, LATHE_CUDA, LATHE_VULKAN } lathe_kind;

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
  LATHE_VULKAN_F64 = 1u << 17,       /* arithmetic in f64 */
  LATHE_VULKAN_F16 = 1u << 18,       /* in f16 */
  LATHE_VULKAN_STORAGE16 = 1u << 19, /* numbers of 16 bits in buffers */
  /* The kind of device that it is, which every backend needs. */
  LATHE_ON_CPU = 1u << 28,
  LATHE_ON_CUDA = 1u << 29,
  LATHE_ON_VULKAN = 1u << 30,
};

/* One call: buffers in operand order, scalars and dimensions in the op's order.
 * workspace has at least variant->workspace(dim) bytes at a multiple of 64, or is null where that is
 * null; on a device other than the CPU it is zero before the first call, and a call leaves it fit for
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
  uint32_t subgroup; /* threads that run in step: a warp */
  uint32_t group;    /* most threads of a block */
  uint32_t grid;     /* most blocks in one dimension */
  size_t shared;     /* most shared memory of a block, bytes */
  uint32_t cluster;  /* most blocks that share memory on every such device; 1 where none do */
} lathe_limits;

/* One kernel of a call. */
typedef struct lathe_launch {
  const char *kernel;   /* its name in the image */
  uint32_t grid[3];     /* blocks */
  uint32_t block[3];    /* threads of a block */
  uint32_t cluster;     /* blocks that share memory; 0 or 1 for none */
  uint32_t resident;    /* 1: of the clusters, no more than may run at once, for they share all */
  uint32_t shared;      /* dynamic shared memory, bytes */
  uint32_t constant[3]; /* Vulkan: the module, and its constants THREADS and MODE */
} lathe_launch;

/* Fills in the kernels of one call, run one after another, and returns how many there are, at
 * most LATHE_MAX_LAUNCHES; 0 where the variant has no launch for the size. */
typedef int lathe_launches(const lathe_args *args, const lathe_limits *limits,
                           lathe_launch *launches);

/* A figure as a function of the size: bytes moved, operations done, workspace wanted. */
typedef double lathe_cost(const size_t *dim);

typedef struct lathe_operand {
  const char *name;
  lathe_dtype dtype;
  bool output;
  int ndim;                /* 0: one element */
  int dim[LATHE_MAX_DIMS]; /* indexes into the op's dimensions, slowest first */
  double low, high;        /* the range that random inputs are drawn from */
  bool index;              /* the elements are indexes into the op's last dimension */
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

typedef struct lathe_peer {
  const char *name;       /* numpy, torch */
  const char *expression; /* over the operands' names */
} lathe_peer;

typedef struct lathe_op lathe_op;
struct lathe_op {
  const char *name, *doc, *family;
  const char *source; /* specs/add.lua:3 */
  int ndim;
  const char *dim[LATHE_MAX_DIMS];
  int noperands, nscalars, nsizes, nsets, nbounds, npeers;
  const lathe_operand *operands;
  const lathe_scalar *scalars;
  const lathe_size *sizes; /* what is run when no size is asked for */
  const lathe_set *sets;
  const lathe_bound *bounds;
  const lathe_peer *peers;
  bool in_place;      /* the first output may be the first input */
  bool any_zero_sign; /* +0 and -0 are equally right */
  unsigned
      rounded_terms; /* a bit for each operand: an index of terms that are rounded; see judge.h */
  /* The operation of the graph whose kernels may be furthest off by themselves, and by how many ulp of the type
   * computed in; null where all is exact. */
  const char *roughest;
  double roughest_ulp;
  double
      flops_per_point; /* arithmetic nodes of the traced graph, for each point of the op's dimensions */
  /* The op of which this one is the gradient, or null: its inputs are those of that op that it
   * needs and d<output>, its outputs d<input>. */
  const lathe_op *gradient_of;
  /* References in higher precision. Floating operands are arrays of double (f64) or
   * long double (wide, for checking f64 itself); after the operands comes one more buffer
   * for each floating output, in order, which takes its magnitude, and three for each output among the
   * rounded terms: the indexes asked about, their terms (NaN for none), and the terms' magnitudes. Their workspace has twice
   * column_reductions numbers of that type for each point of the last dimension. Asked in parts: reference.h. */
  int column_reductions;
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
  lathe_launches *launches;
  lathe_cost *workspace;         /* bytes; null for none; to be called where `run` may be */
  size_t align;                  /* bytes each buffer must be aligned to */
  double prefer_from, prefer_to; /* bytes of all operands between which dispatch may choose it */
  const char *params;            /* unroll=4 store=streaming */
  const char *source;            /* specs/include/vector.lua:9 */
  const char *template_file;     /* templates/c/map.c */
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

/* dtype.c */
const char *lathe_dtype_name(lathe_dtype dtype);
size_t lathe_dtype_size(lathe_dtype dtype);

/* cpu.c: the features of this processor, less those not named in the environment variable
 * LATHE_CPU_FEATURES where that is set (for trying another machine's choice). */
uint64_t lathe_cpu_features(void);
const char *lathe_cpu_name(void);

#endif
