/* ceiling.c - how fast a device can move memory at all, and how fast it can compute. */
#include "ceiling.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { LINE = 64 }; /* sizes are rounded to this, the widest register */

/* What was measured, remembered; when it is full the oldest is given up. */
typedef struct memory {
  const device *on;
  int streams;
  size_t bytes;
  double rate;
  int round; /* that it was last measured in */
} memory;

double ceiling_rate(device *on, double bytes_in, double bytes_out, int round_now,
                    const char **name) {
  enum { REMEMBERED = 256 };
  static const char *const names[] = {"write", "copy", "two in, one out", "three in, one out"};
  static memory remembered[REMEMBERED];
  static size_t count;
  size_t known;
  const double out_of_total = 1.0 / 32; /* written bytes below this share do not matter */
  const bool reading = bytes_out < (bytes_in + bytes_out) * out_of_total;
  memory m = {.on = on, .streams = STREAMS_READING, .round = -1};
  double bytes = bytes_in;

  if (!reading) {
    m.streams = (int)fmin(STREAMS_MOST, round(bytes_in / bytes_out));
    bytes = (bytes_in + bytes_out) / (m.streams + 1);
  }
  *name = reading ? "read" : names[m.streams];
  m.bytes = ((size_t)bytes + LINE - 1) / LINE * LINE;
  if (m.bytes == 0)
    return 0;
  known = 0;
  while (known < count && known < REMEMBERED &&
         (remembered[known].on != on || remembered[known].streams != m.streams ||
          remembered[known].bytes != m.bytes))
    known++;
  if (known == count || known == REMEMBERED) {
    known = count++ % REMEMBERED;
    remembered[known] = m;
  }
  if (remembered[known].round != round_now) {
    remembered[known].rate = fmax(remembered[known].rate, on->streams_rate(on, m.streams, m.bytes));
    remembered[known].round = round_now;
  }
  return remembered[known].rate;
}

double ceiling_arithmetic(device *on, lathe_dtype dtype, device_unit unit) {
  enum { REMEMBERED = 128 };
  static struct {
    const device *on;
    lathe_dtype dtype;
    device_unit unit;
    double rate;
  } remembered[REMEMBERED];
  static size_t count;
  double rate;

  if (!on->arithmetic_rate)
    return 0;
  for (size_t i = 0; i < count && i < REMEMBERED; i++)
    if (remembered[i].on == on && remembered[i].dtype == dtype && remembered[i].unit == unit)
      return remembered[i].rate;
  rate = on->arithmetic_rate(on, dtype, unit);
  remembered[count % REMEMBERED].on = on;
  remembered[count % REMEMBERED].dtype = dtype;
  remembered[count % REMEMBERED].unit = unit;
  remembered[count++ % REMEMBERED].rate = rate;
  return rate;
}

double ceiling_best_arithmetic(device *on, lathe_dtype dtype, const char **name) {
  const double vector = ceiling_arithmetic(on, dtype, DEVICE_VECTOR);
  const double matrix = ceiling_arithmetic(on, dtype, DEVICE_MATRIX);

  *name = matrix > vector ? "matrix units" : "multiply-adds";
  return fmax(vector, matrix);
}
