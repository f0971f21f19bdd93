/* ceiling.c - how fast a device can move memory at all, and how fast it can compute. */
#include "ceiling.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "library/bench.h"
#include "library/dtype.h"

enum {
  LINE = 64,      /* sizes are rounded to this, the widest register */
  ARITHMETIC = -2 /* in place of a number of streams */
};

/* A loop that is measured: so many streams of so many bytes each, or arithmetic of a type in a unit, by threads. */
typedef struct loop {
  const device *on;
  int streams; /* or ARITHMETIC */
  size_t bytes;
  lathe_dtype dtype;
  device_unit unit;
  int threads;
} loop;

static bool same(const loop *a, const loop *b) {
  return a->on == b->on && a->streams == b->streams && a->bytes == b->bytes &&
         a->dtype == b->dtype && a->unit == b->unit && a->threads == b->threads;
}

/* The results of a loop. */
typedef struct known_loop {
  loop of;
  int round;   /* that it was last measured in; -1: none */
  double rate; /* the best of that round */
  int way;     /* that was the best when all were tried (device.h) */
} known_loop;

/* Its place in the memory of loops. It may replace a loop that was not asked for lately. */
static known_loop *look_up(const loop *l) {
  enum { REMEMBERED = 256 };
  static known_loop all[REMEMBERED];
  static size_t count;
  known_loop *found;

  for (size_t i = 0; i < count && i < REMEMBERED; i++)
    if (same(&all[i].of, l))
      return &all[i];
  found = &all[count++ % REMEMBERED];
  *found = (known_loop){.of = *l, .round = -1, .way = DEVICE_ANY_WAY};
  return found;
}

static double rate_of_loop(device *on, const loop *l, ceiling_when when) {
  known_loop *known = look_up(l);
  double rate;

  if (known->round == when.round && when.effort == CEILING_KNOWN)
    return known->rate;
  if (when.effort == CEILING_ANEW)
    known->way = DEVICE_ANY_WAY;
  rate = l->streams == ARITHMETIC
             ? on->arithmetic_rate(on, l->dtype, l->unit, l->threads, &known->way)
             : on->streams_rate(on, l->streams, l->bytes, l->threads, &known->way);
  known->rate = known->round == when.round ? fmax(known->rate, rate) : rate;
  known->round = when.round;
  return known->rate;
}

/* The rate of a number of streams in for each stream out, or of reading alone, which move so many bytes in all. */
static double rate_of_streams(device *on, int streams, double bytes, ceiling_when when) {
  const double each = streams == STREAMS_READING ? bytes : bytes / (streams + 1);
  const loop l = {.on = on,
                  .streams = streams,
                  .bytes = ((size_t)each + LINE - 1) / LINE * LINE,
                  .threads = when.threads};

  return l.bytes > 0 ? rate_of_loop(on, &l, when) : 0;
}

double ceiling_rate(device *on, double bytes_in, double bytes_out, ceiling_when when,
                    const char **name) {
  static const char *const names[] = {"write", "copy", "two in, one out", "three in, one out"};
  const double out_of_total = 1.0 / 32; /* written bytes below this share do not matter */
  const double nearly = 1.0 / 16;       /* as good as a whole number of streams in */
  const double bytes = bytes_in + bytes_out;
  double in, less, fewer, more;
  int whole;

  if (bytes_out < bytes * out_of_total) {
    *name = "read";
    return rate_of_streams(on, STREAMS_READING, bytes_in, when);
  }
  in = fmin(STREAMS_MOST, bytes_in / bytes_out);
  whole = (int)(in + nearly);
  *name = names[(int)(in + 0.5)];
  fewer = rate_of_streams(on, whole, bytes, when);
  less = fmax(0, in - whole);
  if (less <= nearly || fewer <= 0)
    return fewer;
  /* Between two numbers of streams lies the time for each byte out. */
  more = rate_of_streams(on, whole + 1, bytes, when);
  return more > 0 ? (in + 1) / ((whole + 1) / fewer * (1 - less) + (whole + 2) / more * less) : 0;
}

double ceiling_arithmetic(device *on, lathe_dtype dtype, device_unit unit, ceiling_when when) {
  const loop l = {
      .on = on, .streams = ARITHMETIC, .dtype = dtype, .unit = unit, .threads = when.threads};

  return on->arithmetic_rate ? rate_of_loop(on, &l, when) : 0;
}

double ceiling_best_arithmetic(device *on, lathe_dtype dtype, bool rounded, ceiling_when when,
                               const char **name) {
  const double products = dtype == LATHE_F32 && !rounded ? 3 : 1;
  const double vector = ceiling_arithmetic(on, dtype, DEVICE_VECTOR, when);
  const double matrix = ceiling_arithmetic(on, dtype, DEVICE_MATRIX, when) / products;

  *name = matrix > vector ? "matrix units" : "multiply-adds";
  return fmax(vector, matrix);
}

/* Bytes of an op's inputs or outputs. */
static double bytes_of(const lathe_op *op, lathe_dtype dtype, const size_t *dim, bool output) {
  double bytes = 0;

  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output == output)
      bytes += (double)lathe_elements(op, o, dim) *
               (double)lathe_dtype_size(lathe_dtype_of_operand(&op->operands[o], dtype));
  return bytes;
}

static void measure_bytes(ceilings *c, device *on, const lathe_variant *v, const size_t *dim,
                          ceiling_when when) {
  const char *name = "";

  c->bytes = ceiling_rate(on, bytes_of(v->op, v->dtype, dim, false),
                          bytes_of(v->op, v->dtype, dim, true), when, &name);
  snprintf(c->bytes_name, sizeof c->bytes_name, "%s", name);
}

/* The type of what an op multiplies: the widest of its inputs that have most dimensions. */
static lathe_dtype type_of_factors(const lathe_op *op, lathe_dtype dtype) {
  lathe_dtype widest = dtype;
  int most = -1;

  for (int o = 0; o < op->noperands; o++) {
    const lathe_operand *operand = &op->operands[o];
    const lathe_dtype own = lathe_dtype_of_operand(operand, dtype);
    const bool is_wider = lathe_dtype_size(own) > lathe_dtype_size(widest);
    if (!operand->output && (operand->ndim > most || (operand->ndim == most && is_wider))) {
      most = operand->ndim;
      widest = own;
    }
  }
  return widest;
}

static void measure_flops(ceilings *c, device *on, const lathe_variant *v, const size_t *dim,
                          ceiling_when when) {
  const lathe_dtype factors = type_of_factors(v->op, v->dtype);
  const bool rounded = v->digits > 0;
  const char *name = "";

  if (lathe_contracted_flops(v->op, dim) <= 0 || (rounded && factors == LATHE_F16))
    return;
  c->flops = ceiling_best_arithmetic(on, factors, rounded, when, &name);
  snprintf(c->flops_name, sizeof c->flops_name, "%s", name);
}

double ceilings_bytes(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  double bytes = lathe_bytes(op, dtype, dim);

  for (int o = 0; op->bench && o < op->noperands; o++) {
    const lathe_operand *operand = &op->operands[o];
    const unsigned read_at = op->bench->read[o];
    double all = (double)lathe_dtype_size(lathe_dtype_of_operand(operand, dtype)), read = all;
    for (int i = 0; i < operand->ndim; i++)
      all *= (double)dim[operand->dim[i]];
    for (int d = 0; d < op->ndim; d++)
      read *= read_at >> d & 1 ? (double)dim[d] : 1;
    bytes -= read_at && read < all ? all - read : 0;
  }
  return bytes;
}

double ceilings_flops(const lathe_op *op, const size_t *dim) {
  const lathe_bench *bench = op->bench;
  const double share = bench && bench->share ? bench->share(dim) : 1;
  double flops = 0;

  for (int i = 0; i < op->nwork; i++) {
    double points = op->work[i].each;
    for (int d = 0; d < op->ndim; d++)
      points *= op->work[i].dims & 1u << d ? (double)dim[d] : 1;
    flops += bench && bench->masked & ~op->work[i].dims ? points : points * share;
  }
  return flops;
}

double ceilings_share(const ceilings *c, double bytes, double flops, double ns,
                      bool *by_arithmetic) {
  const double moved = c->bytes > 0 ? bytes * 1e9 / ns / c->bytes : NAN;
  const double computed = c->flops > 0 ? flops * 1e9 / ns / c->flops : NAN;
  const bool nearer = !(computed <= moved) && !isnan(computed);

  if (by_arithmetic)
    *by_arithmetic = nearer;
  return nearer ? computed : moved;
}

ceilings ceilings_beside(device *on, const lathe_variant *v, const size_t *dim, int threads,
                         int round, double ns) {
  enum { TRIES = 4 };
  const double near = 0.85;
  const double bytes = ceilings_bytes(v->op, v->dtype, dim), flops = ceilings_flops(v->op, dim);
  ceiling_when when = {threads, round, CEILING_KNOWN};
  ceilings c = {0};
  bool by_arithmetic;

  if (v->op->bench && v->op->bench->leaves_out)
    return c;
  measure_bytes(&c, on, v, dim, when);
  measure_flops(&c, on, v, dim, when);
  when.effort = CEILING_BRIEFLY;
  for (int tries = 0; tries < TRIES; tries++) {
    const double share = ceilings_share(&c, bytes, flops, ns, &by_arithmetic);
    if (!(share > (tries == 0 ? near : 1)))
      break;
    (by_arithmetic ? measure_flops : measure_bytes)(&c, on, v, dim, when);
    when.effort = CEILING_ANEW;
  }
  return c;
}
