/* random.c - SplitMix64 (Steele, Lea and Flood, 2014) run as a counter-based generator: each
 * value is a mix of the seed, the stream and its index. */
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/pool.h"
#include "library/dtype.h"

enum {
  BLOCK = 256,       /* elements at a time */
  PART = 64 * BLOCK, /* by one thread */
};

const char *const random_names[RANDOM_NAMES] = {"nan",  "inf",    "zero",    "denormal", "alone",
                                                "ties", "narrow", "scalars", "small"};

const char *random_special_names(unsigned special) {
  static _Thread_local char names[80];
  size_t length = 0;

  names[0] = 0;
  for (int i = 0; i < RANDOM_NAMES; i++)
    if (special & 1u << i)
      length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length ? "," : "",
                                 random_names[i]);
  return names;
}

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static uint64_t bits_at(uint64_t key, uint64_t index) {
  return mix(key + (index + 1) * 0x9e3779b97f4a7c15u);
}

static double uniform(uint64_t bits) {
  return (double)(int64_t)(bits >> 11) * 0x1p-53;
}

/* One of the kinds asked for (at least one), by the bits; the sign is drawn apart. In integer types an end of the
 * range stands for NaN and infinity, and 1 for what is below the normal range. */
static double special_value(const dtype_format *f, unsigned kinds, uint64_t bits) {
  const uint64_t below_normal = (1ull << (f->digits - 1)) - 1;
  const double end = bits & 1 ? f->low : f->high;
  unsigned chosen[RANDOM_KINDS] = {0}, count = 0;
  double value = 0;

  for (int kind = 0; kind < RANDOM_KINDS; kind++)
    if (kinds & 1u << kind)
      chosen[count++] = 1u << kind;
  switch (chosen[(bits >> 8) % count]) {
  case RANDOM_NAN:
    if (f->integer)
      return end;
    value = NAN;
    break;
  case RANDOM_INF:
    if (f->integer)
      return end;
    value = INFINITY;
    break;
  case RANDOM_DENORMAL:
    value =
        f->integer ? 1 : ldexp((double)(1 + (bits >> 16) % below_normal), f->emin - f->digits + 1);
    break;
  default: break;
  }
  return bits & 1 ? -value : value;
}

/* Whether an element is to be a special value. */
static bool is_special(uint64_t key, size_t index, size_t row, bool alone) {
  if (alone)
    return index % row == bits_at(key ^ 1, index / row) % row;
  return bits_at(key, index) >> 61 == 0;
}

double random_near(double value, uint64_t seed, int index) {
  const uint64_t key = mix(seed ^ 0x5ca1a5u);
  const double all = 0.5 + 0.4375 * uniform(bits_at(key, 0));
  const double own = 1 + uniform(bits_at(key, 1 + (uint64_t)index)) / 16;

  return (value == 0 ? 0.25 : value) * all * own;
}

size_t random_below(uint64_t seed, uint64_t index, size_t limit) {
  return (size_t)(uniform(bits_at(mix(seed ^ 0x91aceu), index)) * (double)limit);
}

/* What random_fill is asked for. */
typedef struct filling {
  lathe_dtype dtype;
  const dtype_format *format;
  char *to;
  size_t count, row;
  double low, high;
  uint64_t key, special_key;
  unsigned special;
} filling;

/* Numbers of a range, with all the digits that the type has there: of doubles that are multiples of 2^-52 sums
 * would be exact. */
static void draw(const filling *f, size_t start, size_t n, double *block) {
  const double levels = 4; /* of ties */
  const double width = f->high - f->low;

  if (f->format->integer)
    for (size_t i = 0; i < n; i++)
      block[i] = fmin(floor(f->low + uniform(bits_at(f->key, start + i)) * (width + 1)), f->high);
  else if (f->special & RANDOM_TIES)
    for (size_t i = 0; i < n; i++)
      block[i] = f->low + floor(levels * uniform(bits_at(f->key, start + i))) / levels * width;
  else if (f->format->digits < 53)
    for (size_t i = 0; i < n; i++)
      block[i] = f->low + uniform(bits_at(f->key, start + i)) * width;
  else
    for (size_t i = 0; i < n; i++)
      block[i] = (double)(f->low + (long double)bits_at(f->key, start + i) * 0x1p-64L *
                                       ((long double)f->high - f->low));
}

static void fill_part(void *context, size_t nth, int thread) {
  const filling *f = context;
  const unsigned kinds = f->special & ((1u << RANDOM_KINDS) - 1);
  const size_t end = nth * PART + pool_part_size(f->count, PART, nth);
  double block[BLOCK];

  (void)thread;
  for (size_t start = nth * PART; start < end; start += BLOCK) {
    const size_t n = end - start < BLOCK ? end - start : BLOCK;
    draw(f, start, n, block);
    for (size_t i = 0; kinds && f->format->digits != 0 && i < n; i++)
      if (is_special(f->special_key, start + i, f->row, f->special & RANDOM_ALONE))
        block[i] = special_value(f->format, kinds, bits_at(f->special_key, start + i));
    lathe_dtype_narrow(f->dtype, block, n, f->to + start * f->format->size);
  }
}

void random_fill(lathe_dtype dtype, void *to, size_t count, size_t row, double low, double high,
                 uint64_t seed, uint64_t stream, unsigned special) {
  const uint64_t key = mix(mix(seed + 0x9e3779b97f4a7c15u) + stream);
  filling f = {dtype, lathe_dtype_format_of(dtype), to,     count, row, low, high,
               key,   mix(key ^ 0x5bec1a1u),        special};

  pool_run(fill_part, &f, pool_parts(count, PART));
}

uint64_t random_seed(void) {
  struct timespec now;

  clock_gettime(CLOCK_REALTIME, &now);
  /* Short enough to be typed again. */
  return mix((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec + (uint64_t)getpid()) >> 32;
}
