/* dispatch.h - the dispatch tables: what an op is, what a variant is, and what a device must have for it. The generator
 * writes the rows, which are plain constant data: those of all ops with all that the bench program asks of them
 * (out/gen/table.c), and for programs that link the library those of one op in one type on one kind of device.
 */
#ifndef DISPATCH_H
#define DISPATCH_H

#include "call.h"

/* All that a shared library shows. */
#pragma GCC visibility push(default)
#include "lathe.h"
#pragma GCC visibility pop

typedef struct lathe_op lathe_op;
typedef struct lathe_variant lathe_variant;

const char *lathe_dtype_name(lathe_dtype dtype);
size_t lathe_dtype_size(lathe_dtype dtype);

/* Where a backend's kernels run. A peer is another library, which the bench program holds kernels against: the table
 * has none. */
typedef enum lathe_kind { LATHE_CPU, LATHE_CUDA, LATHE_VULKAN, LATHE_PEER } lathe_kind;

/* "cpu", "cuda", "vulkan", "peer". */
const char *lathe_kind_name(lathe_kind kind);

/* Of what processors have, what may take numbers below the normal range as zero. */
enum { LATHE_FLUSHES = LATHE_AMX_BF16 };

/* Features that a device must offer for a variant to run: a bit each, besides a processor's (call.h). */
enum {
  LATHE_SM80 = 1u << 16,                    /* CUDA's compute capability 8.0 or more */
  LATHE_VULKAN_F64 = 1u << 17,              /* arithmetic in f64 */
  LATHE_VULKAN_F16 = 1u << 18,              /* in f16 */
  LATHE_VULKAN_STORAGE16 = 1u << 19,        /* numbers of 16 bits in buffers */
  LATHE_VULKAN_STORAGE8 = 1u << 20,         /* of 8 bits */
  LATHE_VULKAN_MATRIX = 1u << 21,           /* products of small matrices of f16, added up in f32 */
  LATHE_SM90A = 1u << 22,                   /* 9.0, whose own instructions no other has */
  LATHE_VULKAN_WORKGROUP_MATRIX = 1u << 23, /* products of such matrices by whole workgroups */
  LATHE_VULKAN_VECTOR = 1u << 24, /* products of a matrix and an invocation's vector of f16 */
  /* The kind of device that it is, which every backend needs. */
  LATHE_ON_PEER = 1u << 27,
  LATHE_ON_CPU = 1u << 28,
  LATHE_ON_CUDA = 1u << 29,
  LATHE_ON_VULKAN = 1u << 30,
};

/* Code for a GPU, and what of it a call runs: launch.h. */
typedef struct lathe_image lathe_image;
typedef struct lathe_schedule lathe_schedule;

/* An op's facts for checking and timing: bench.h. */
typedef struct lathe_bench lathe_bench;

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

/* Arithmetic operations: so many at each point of some of the op's dimensions. */
typedef struct lathe_arithmetic {
  unsigned dims; /* a bit each, of the first the lowest */
  unsigned each;
} lathe_arithmetic;

struct lathe_op {
  const char *name, *doc;
  /* Of its kernels, where an implementation has no other: map, rows. Null: it is of no table, and its reference written
   * by hand (solve.c). */
  const char *template_name;
  const char *source; /* specs/add.lua:3 */
  int ndim;
  const char *dim[LATHE_MAX_DIMS];
  int noperands, nscalars, nwork;
  const lathe_operand *operands;
  const lathe_scalar *scalars;
  const lathe_arithmetic *work; /* what the traced graph computes, in all */
  bool in_place;                /* the first output may be the first input */
  int cut;                      /* 1 + the dimension along which calls may be cut; 0: none */
  /* The op of which this one is the gradient, or null: its inputs are those of that op that it needs and d<output>, its
   * outputs d<input>. */
  const lathe_op *gradient_of;
  const lathe_bench *bench;
};

typedef struct lathe_backend {
  const char *name; /* avx2 */
  lathe_kind kind;
  uint64_t features;
  const char *disabled; /* why configure left it out, or null */
} lathe_backend;

struct lathe_variant {
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
  const lathe_way *ways; /* of its products, on the CPU; null for none */
  const lathe_sharing *sharing;       /* on the CPU; null: calls are cut along the op's `cut` */
  lathe_prefer prefer[LATHE_PREFERS]; /* calls for which dispatch may choose it */
  const char *params;                 /* unroll=4 store=streaming */
  const char *source;                 /* specs/include/vector.lua:9 */
  const char *template_file;          /* templates/c/map.c */
  /* The spec's word for this way; null for that by the op's own template. */
  const char *implementation;
  int digits; /* to which it rounds factors of products (11: tf32) or sums of them (8: f16); 0: it does not */
  int narrowed; /* to which it rounds what is between two products; 0: it does not */
  bool by_name; /* it rounds them further than its op allows: it is for who names it */
};

/* An op in one type on one kind of device, as programs link it: rows by falling preference. */
struct lathe_kernels {
  const lathe_op *op;
  lathe_dtype dtype;
  lathe_kind kind;
  size_t count;
  const lathe_variant *variants;
  double ulp;    /* the bench program's bound */
  uint32_t mark; /* of the names of all variants of that type: lathe_tuning_mark */
};

/* The first of some rows that can run on a device with these features and is for a size, else the first that can run;
 * null where none can. bytes: of all operands. With force not null, only variants whose name matches that glob are
 * considered, whatever size they prefer and however they round products. */
const lathe_variant *lathe_choose(const lathe_variant *rows, size_t count, const size_t *dim,
                                  double bytes, uint64_t features, const char *force);

/* The processor's features, of those that variants need. */
uint64_t lathe_present_features(void);

/* Bytes of workspace that a variant's calls want, 0 for none, infinite where no memory has such a size; where the
 * variant can run. */
double lathe_workspace(const lathe_variant *variant, const size_t *dim);

/* How many parts to cut a call into for some threads: 1 where the op cannot be cut, or is done too soon to be. Results
 * do not depend on it. */
size_t lathe_parts(const lathe_variant *variant, const size_t *dim, int threads);

/* Bytes of workspace, at a multiple of 64, that a call in parts wants. */
double lathe_workspace_of_parts(const lathe_variant *variant, const size_t *dim, size_t parts);

/* Makes a call in parts, or as many of these as it can have; one after the other where threads is null. On a processor
 * alone. */
void lathe_run_parts(const lathe_variant *variant, const lathe_args *args, size_t parts,
                     const lathe_threads *threads);

/* How a variant computes its op: the spec's word, or the name of its template. */
const char *lathe_implementation(const lathe_variant *variant);

/* Null where the variant can run on a device with these features; else the reason, static. */
const char *lathe_why_not(const lathe_variant *variant, uint64_t features);

/* Elements of an operand at a size, and bytes of all operands of a variant's type. */
size_t lathe_elements(const lathe_op *op, int operand, const size_t *dim);
double lathe_bytes(const lathe_op *op, lathe_dtype dtype, const size_t *dim);

/* Whether no memory has such a size: of a dimension, or of all operands, so many bytes. */
bool lathe_is_beyond(const lathe_op *op, lathe_dtype dtype, const size_t *dim);
bool lathe_are_beyond(const lathe_op *op, const size_t *dim, double bytes);

/* Arithmetic operations of a call; of them those of contractions, sums over points of which no operand has as many:
 * 2mnk of a product of matrices, 0 where an op reads as much as it computes. */
double lathe_flops(const lathe_op *op, const size_t *dim);
double lathe_contracted_flops(const lathe_op *op, const size_t *dim);

#endif
