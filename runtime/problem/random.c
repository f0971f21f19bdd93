/* random.c - SplitMix64 (Steele, Lea and Flood, 2014) run as a counter-based generator: each
 * value is a mix of the seed, the stream and its index. */
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/pool.h"
#include "library/dtype.h"

enum {
  BLOCK = 256,       /* elements at a time */
  PART = 64 * BLOCK, /* by one thread */
};

const char *const random_names[RANDOM_NAMES] = {
    "nan",    "inf",     "zero",  "denormal", "beyond", "alone",  "ties",
    "narrow", "scalars", "small", "negative", "equal",  "ends",   "far",
    "poked",  "nulls",   "same",  "peak",     "rising", "falling"};

const char *random_special_names(unsigned special) {
  static _Thread_local char names[128];
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

/* The request of random_fill. */
typedef struct filling {
  lathe_dtype dtype;
  const dtype_format *format;
  char *to;
  size_t count, row;
  double low, high;
  uint64_t key, special_key;
  unsigned special;
} filling;

/* A number that the range has not, though so near that what is made of it is seldom too large; of the range's sign,
 * where that has one. */
static double beyond(const filling *f, uint64_t bits) {
  const double least = 2048, times = 64;
  const double end = fmax(fmax(fabs(f->low), fabs(f->high)), 1);
  const double size = end * pow(fmax(least / end, times), uniform(bits));

  return f->low >= 0 || (f->high > 0 && bits & 1) ? fmin(size, f->format->high)
                                                  : fmax(-size, f->format->low);
}

/* The same of a position or a seed: next to the range, or of the range but for bits above the last 31 or 32. */
static double index_beyond(const filling *f, uint64_t bits) {
  const double within = fmin(floor(f->low + uniform(bits) * (f->high - f->low + 1)), f->high);

  switch (bits % 5) {
  case 0: return f->low - 1;
  case 1: return f->high + 1;
  case 2: return within + 0x1p31;
  case 3: return within + 0x1p32;
  default: return within - 0x1p32;
  }
}

/* One of the kinds asked for (at least one), by the bits; the sign is drawn apart. In integer types an end of the
 * range stands for NaN, infinity and what is beyond, and 1 for what is below the normal range. */
static double special_value(const filling *of, unsigned kinds, uint64_t bits) {
  const dtype_format *f = of->format;
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
  case RANDOM_BEYOND: return f->integer ? end : beyond(of, mix(bits));
  case RANDOM_DENORMAL:
    value =
        f->integer ? 1 : ldexp((double)(1 + (bits >> 16) % below_normal), f->emin - f->digits + 1);
    break;
  default: break;
  }
  return bits & 1 ? -value : value;
}

/* Whether an element is to be a special value; of positions and seeds every other one. */
static bool is_special(const filling *f, size_t index) {
  const uint64_t key = f->special_key;

  if (f->special & RANDOM_ALONE)
    return index % f->row == bits_at(key ^ 1, index / f->row) % f->row;
  if (f->format->digits)
    return bits_at(key, index) >> 61 == 0;
  return f->count == 1 || bits_at(key, index) >> 63;
}

double random_near(double value, uint64_t seed, int index) {
  const uint64_t key = mix(seed ^ 0x5ca1a5u);
  const double all = 0.5 + 0.4375 * uniform(bits_at(key, 0));
  const double own = 1 + uniform(bits_at(key, 1 + (uint64_t)index)) / 16;

  return (value == 0 ? 0.25 : value) * all * own;
}

double random_far(double value, uint64_t seed, int index) {
  const double other = value == 0 ? 1 : value;

  switch ((seed + (uint64_t)index) % 3) {
  case 0: return value == 0 ? -4 : 0;
  case 1: return -other;
  default: return 4 * other;
  }
}

size_t random_below(uint64_t seed, uint64_t index, size_t limit) {
  return (size_t)(uniform(bits_at(mix(seed ^ 0x91aceu), index)) * (double)limit);
}

/* The bits that an element is drawn by: in a row that rises or falls, of the part that is its place's. */
static uint64_t bits_of(const filling *f, size_t index) {
  const uint64_t bits = bits_at(f->key, f->special & RANDOM_EQUAL ? index / f->row : index);

  if (f->special & (RANDOM_RISING | RANDOM_FALLING)) {
    const uint64_t part = UINT64_MAX / f->row, place = index % f->row;
    return (f->special & RANDOM_RISING ? place : f->row - 1 - place) * part + bits % part;
  }
  return bits;
}

/* An end of the range: in a row of several one of them or either, in one alone either. */
static double end_at(const filling *f, size_t index) {
  const uint64_t row = bits_at(f->special_key ^ 2, index / f->row) % 3;
  const bool high = row < 2 && f->count > f->row ? row : bits_of(f, index) >> 63;

  return high ? f->high : f->low;
}

/* Numbers of a range, with all the digits that the type has there: of doubles that are multiples of 2^-52 sums
 * would be exact. */
static void draw_any(const filling *f, size_t start, size_t n, double *block) {
  const double levels = 4; /* of ties */
  const double width = f->high - f->low;

  if (f->special & RANDOM_ENDS)
    for (size_t i = 0; i < n; i++)
      block[i] = end_at(f, start + i);
  else if (f->format->integer)
    for (size_t i = 0; i < n; i++)
      block[i] = fmin(floor(f->low + uniform(bits_of(f, start + i)) * (width + 1)), f->high);
  else if (f->special & RANDOM_TIES)
    for (size_t i = 0; i < n; i++)
      block[i] = f->low + floor(levels * uniform(bits_of(f, start + i))) / levels * width;
  else if (f->format->digits < 53)
    for (size_t i = 0; i < n; i++)
      block[i] = f->low + uniform(bits_of(f, start + i)) * width;
  else
    for (size_t i = 0; i < n; i++)
      block[i] = (double)(f->low + (long double)bits_of(f, start + i) * 0x1p-64L *
                                       ((long double)f->high - f->low));
}

/* A number near one of the range, and in it, of so few digits that many of them have an exact sum: what sums of equal
 * numbers are rounded by does not average out. */
static double of_few_digits(const filling *f, double value) {
  const int digits = 5;
  double step, near;

  if (value == 0)
    return value;
  step = ldexp(1, ilogb(value) + 1 - digits);
  near = nearbyint(value / step) * step;
  return near < f->low ? near + step : near > f->high ? near - step : near;
}

static void draw(const filling *f, size_t start, size_t n, double *block) {
  draw_any(f, start, n, block);
  if (f->special & RANDOM_EQUAL && f->format->digits && !f->format->integer)
    for (size_t i = 0; i < n; i++)
      block[i] = of_few_digits(f, block[i]);
}

/* The value of an element that is to be special. */
static double special_at(const filling *f, unsigned kinds, size_t index) {
  const uint64_t bits = bits_at(f->special_key, index);

  return f->format->digits ? special_value(f, kinds, bits) : index_beyond(f, mix(bits));
}

static void fill_part(void *context, size_t nth, int thread) {
  const filling *f = context;
  const unsigned all = (1u << RANDOM_KINDS) - 1;
  const unsigned kinds = f->special & (f->format->digits ? all : RANDOM_BEYOND);
  const size_t end = nth * PART + pool_part_size(f->count, PART, nth);
  double block[BLOCK];

  (void)thread;
  for (size_t start = nth * PART; start < end; start += BLOCK) {
    const size_t n = end - start < BLOCK ? end - start : BLOCK;
    draw(f, start, n, block);
    for (size_t i = 0; kinds && i < n; i++)
      if (is_special(f, start + i))
        block[i] = special_at(f, kinds, start + i);
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

unsigned random_kinds_of(const char *list) {
  unsigned kinds = 0;
  char word[32];

  while (*list) {
    const size_t length = strcspn(list, ",");
    int kind = 0;
    snprintf(word, sizeof word, "%.*s", (int)length, list);
    while (kind < RANDOM_NAMES && strcmp(word, random_names[kind]) != 0)
      kind++;
    if (kind == RANDOM_NAMES)
      message_unknown(
          "special value", word, random_names, RANDOM_NAMES,
          "nan, inf, zero, denormal, beyond, alone, ties, narrow, scalars, small, negative, "
          "equal, ends, far, poked, nulls, same, peak, rising, falling");
    kinds |= 1u << kind;
    list += length + (list[length] == ',');
  }
  return kinds;
}
