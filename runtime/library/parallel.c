/* parallel.c - calls that several threads share: in the parts that the kernel knows of itself, or cut along the
 * dimension that the op says into calls of fewer points, each with a workspace of its own. */
#include "dispatch.h"
#include "dtype.h"

/* Points of a part, at least: so many that threads do not write to one line of a cache, and that few are not what a
 * kernel takes another way for. */
enum { POINTS = 64 };

static const double worth = 20e3; /* nanoseconds of a part: more than waking a thread takes */

typedef struct shared_call {
  const lathe_variant *variant;
  const lathe_args *args;
  size_t parts, apart;
  int phase;
} shared_call;

/* Where a part begins: at a whole number of POINTS. */
static size_t start_of(size_t all, size_t parts, size_t nth) {
  const size_t blocks = all / POINTS;

  return nth == parts
             ? all
             : (blocks / parts * nth + (nth < blocks % parts ? nth : blocks % parts)) * POINTS;
}

/* One thread's time, about: 16 bytes and 64 operations a nanosecond. */
static double time_of(const lathe_variant *variant, const size_t *dim) {
  const double memory = lathe_bytes(variant->op, variant->dtype, dim) / 16;
  const double arithmetic = lathe_flops(variant->op, dim) / 64;

  return memory > arithmetic ? memory : arithmetic;
}

/* As many parts as were asked for, or as a call can have. */
static size_t parts_of(const lathe_variant *variant, const size_t *dim, size_t parts) {
  const lathe_sharing *sharing = variant->sharing;
  const int cut = variant->run ? variant->op->cut : 0;
  size_t most = sharing ? 0 : cut > 0 ? dim[cut - 1] / POINTS : 1;

  for (int phase = 0; sharing && phase < sharing->phases; phase++) {
    const size_t some = sharing->parts(dim, phase);
    most = some > most ? some : most;
  }
  parts = parts < most ? parts : most;
  return parts > 1 ? parts : 1;
}

size_t lathe_parts(const lathe_variant *variant, const size_t *dim, int threads) {
  size_t parts = threads > 1 ? (size_t)threads : 1;

  if (!variant || !dim || lathe_is_beyond(variant->op, variant->dtype, dim))
    return 1;
  parts = parts_of(variant, dim, parts);
  if ((double)parts > time_of(variant, dim) / worth)
    parts = (size_t)(time_of(variant, dim) / worth);
  return parts > 1 ? parts : 1;
}

/* Bytes of the workspace that parts have in common. */
static double common_of(const lathe_variant *variant, const size_t *dim) {
  return variant->workspace && variant->sharing ? variant->sharing->common(dim) : 0;
}

/* In whole lines of a cache; infinite where it is. */
static double in_lines(double bytes) {
  const double most = 0x1p62, line = 64;
  double whole;

  if (bytes >= most)
    return bytes;
  whole = line * (double)(uint64_t)(bytes / line);
  return whole < bytes ? whole + line : whole;
}

/* Bytes from one part's workspace to the next one's: what the part that wants most does, in whole lines of a cache. */
static double room_of(const lathe_variant *variant, const size_t *dim, size_t parts) {
  size_t part[LATHE_MAX_DIMS] = {0};
  double room = 0;

  if (!variant->workspace)
    return 0;
  if (variant->sharing)
    return in_lines(variant->workspace(dim) - common_of(variant, dim));
  for (int d = 0; d < variant->op->ndim; d++)
    part[d] = dim[d];
  for (size_t nth = 0; nth < parts; nth++) {
    if (parts > 1) {
      const size_t all = dim[variant->op->cut - 1];
      part[variant->op->cut - 1] = start_of(all, parts, nth + 1) - start_of(all, parts, nth);
    }
    const double wanted = variant->workspace(part);
    room = wanted > room ? wanted : room;
  }
  return in_lines(room);
}

double lathe_workspace_of_parts(const lathe_variant *variant, const size_t *dim, size_t parts) {
  if (!variant || !dim || !variant->run || lathe_is_beyond(variant->op, variant->dtype, dim))
    return lathe_workspace(variant, dim);
  parts = parts_of(variant, dim, parts);
  return common_of(variant, dim) + room_of(variant, dim, parts) * (double)parts;
}

/* A part of a phase. */
static void run_shared(void *context, size_t nth) {
  const shared_call *call = context;
  lathe_args args = *call->args;

  args.phase = call->phase;
  args.part = nth;
  args.parts = call->parts;
  args.apart = call->apart;
  call->variant->run(&args);
}

static void run_part(void *context, size_t nth) {
  const shared_call *call = context;
  const lathe_variant *v = call->variant;
  const lathe_op *op = v->op;
  const size_t all = call->args->dim[op->cut - 1], first = start_of(all, call->parts, nth);
  lathe_args args = *call->args;

  for (int o = 0; o < op->noperands; o++) {
    const lathe_operand *operand = &op->operands[o];
    const size_t size = lathe_dtype_size(lathe_dtype_of_operand(operand, v->dtype));
    if (operand->ndim > 0 && operand->dim[0] == op->cut - 1)
      args.buf[o] = (char *)args.buf[o] + first * (lathe_elements(op, o, args.dim) / all) * size;
  }
  args.dim[op->cut - 1] = start_of(all, call->parts, nth + 1) - first;
  if (args.workspace)
    args.workspace =
        (char *)args.workspace + nth * (size_t)room_of(v, call->args->dim, call->parts);
  v->run(&args);
}

/* All parts of a call. */
static void run_all(lathe_part_fn *work, shared_call *call, const lathe_threads *threads) {
  if (threads && threads->run)
    threads->run(threads->pool, work, call, call->parts);
  else
    for (size_t nth = 0; nth < call->parts; nth++)
      work(call, nth);
}

void lathe_run_parts(const lathe_variant *variant, const lathe_args *args, size_t parts,
                     const lathe_threads *threads) {
  shared_call call = {.variant = variant, .args = args};

  if (!variant || !args || !variant->run)
    return;
  parts = parts_of(variant, args->dim, parts);
  call.parts = parts;
  if (parts == 1) {
    variant->run(args);
  } else if (!variant->sharing) {
    run_all(run_part, &call, threads);
  } else {
    call.apart = (size_t)room_of(variant, args->dim, parts);
    for (; call.phase < variant->sharing->phases; call.phase++) {
      const size_t most = variant->sharing->parts(args->dim, call.phase);
      call.parts = parts < most ? parts : most;
      run_all(run_shared, &call, threads);
    }
  }
}
