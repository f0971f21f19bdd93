/* ceiling.c - how fast a device can move memory at all, and how fast it can compute. */
#include "ceiling.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

/* The best rate of a loop in all rounds, in each of which it is measured once. */
static double best_rate(device *on, const loop *l, int round) {
  enum { REMEMBERED = 256 }; /* when that many are known the oldest is given up */
  static struct {
    loop of;
    double rate;
    int round; /* that it was last measured in */
  } remembered[REMEMBERED];
  static size_t count;
  size_t known = 0;

  while (known < count && known < REMEMBERED && !same(&remembered[known].of, l))
    known++;
  if (known == count || known == REMEMBERED) {
    known = count++ % REMEMBERED;
    remembered[known].of = *l;
    remembered[known].rate = 0;
    remembered[known].round = round - 1;
  }
  if (remembered[known].round != round) {
    const double rate = l->streams == ARITHMETIC
                            ? on->arithmetic_rate(on, l->dtype, l->unit, l->threads)
                            : on->streams_rate(on, l->streams, l->bytes, l->threads);
    remembered[known].rate = fmax(remembered[known].rate, rate);
    remembered[known].round = round;
  }
  return remembered[known].rate;
}

/* The rate of a number of streams in for each stream out, or of reading alone, which move so many bytes in all. */
static double rate_of_streams(device *on, int streams, double bytes, int threads, int round) {
  const double each = streams == STREAMS_READING ? bytes : bytes / (streams + 1);
  const loop l = {.on = on,
                  .streams = streams,
                  .bytes = ((size_t)each + LINE - 1) / LINE * LINE,
                  .threads = threads};

  return l.bytes > 0 ? best_rate(on, &l, round) : 0;
}

double ceiling_rate(device *on, double bytes_in, double bytes_out, int threads, int round,
                    const char **name) {
  static const char *const names[] = {"write", "copy", "two in, one out", "three in, one out"};
  const double out_of_total = 1.0 / 32; /* written bytes below this share do not matter */
  const double nearly = 1.0 / 16;       /* as good as a whole number of streams in */
  const double bytes = bytes_in + bytes_out;
  double in, less, fewer, more;
  int whole;

  if (bytes_out < bytes * out_of_total) {
    *name = "read";
    return rate_of_streams(on, STREAMS_READING, bytes_in, threads, round);
  }
  in = fmin(STREAMS_MOST, bytes_in / bytes_out);
  whole = (int)(in + nearly);
  *name = names[(int)(in + 0.5)];
  fewer = rate_of_streams(on, whole, bytes, threads, round);
  less = fmax(0, in - whole);
  if (less <= nearly || fewer <= 0)
    return fewer;
  /* Between two numbers of streams lies the time for each byte out. */
  more = rate_of_streams(on, whole + 1, bytes, threads, round);
  return more > 0 ? (in + 1) / ((whole + 1) / fewer * (1 - less) + (whole + 2) / more * less) : 0;
}

double ceiling_arithmetic(device *on, lathe_dtype dtype, device_unit unit, int threads, int round) {
  const loop l = {
      .on = on, .streams = ARITHMETIC, .dtype = dtype, .unit = unit, .threads = threads};

  return on->arithmetic_rate ? best_rate(on, &l, round) : 0;
}

double ceiling_best_arithmetic(device *on, lathe_dtype dtype, int threads, int round,
                               const char **name) {
  const double vector = ceiling_arithmetic(on, dtype, DEVICE_VECTOR, threads, round);
  const double matrix = ceiling_arithmetic(on, dtype, DEVICE_MATRIX, threads, round);

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

ceilings ceilings_of(device *on, const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                     int threads, int round) {
  const char *name = "";
  ceilings c = {0};

  c.bytes = ceiling_rate(on, bytes_of(op, dtype, dim, false), bytes_of(op, dtype, dim, true),
                         threads, round, &name);
  snprintf(c.bytes_name, sizeof c.bytes_name, "%s", name);
  if (lathe_contracted_flops(op, dim) <= 0)
    return c;
  c.flops = ceiling_best_arithmetic(on, dtype, threads, round, &name);
  snprintf(c.flops_name, sizeof c.flops_name, "%s", name);
  return c;
}
