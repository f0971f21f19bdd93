/* random.c - SplitMix64 (Steele, Lea and Flood, 2014) run as a counter-based generator: each
 * value is a mix of the seed, the stream and its index. */
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dtype.h"

enum { BLOCK = 256 };

const char *const random_names[RANDOM_NAMES] = {"nan",   "inf",  "zero",   "denormal",
                                                "alone", "ties", "narrow", "scalars"};

const char *random_special_names(unsigned special) {
  static char names[80];
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
  return (double)(bits >> 11) * 0x1p-53;
}

/* One of the kinds asked for (at least one), by the bits; the sign is drawn apart. */
static double special_value(const dtype_format *f, unsigned kinds, uint64_t bits) {
  const uint64_t below_normal = (1ull << (f->digits - 1)) - 1;
  unsigned chosen[RANDOM_KINDS] = {0}, count = 0;
  double value = 0;

  for (int kind = 0; kind < RANDOM_KINDS; kind++)
    if (kinds & 1u << kind)
      chosen[count++] = 1u << kind;
  switch (chosen[(bits >> 8) % count]) {
  case RANDOM_NAN: value = NAN; break;
  case RANDOM_INF: value = INFINITY; break;
  case RANDOM_DENORMAL:
    value = ldexp((double)(1 + (bits >> 16) % below_normal), f->emin - f->digits + 1);
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

void random_fill(lathe_dtype dtype, void *to, size_t count, size_t row, double low, double high,
                 uint64_t seed, uint64_t stream, unsigned special) {
  const unsigned kinds = special & ((1u << RANDOM_KINDS) - 1);
  const double levels = 4; /* of ties */
  const dtype_format *f = dtype_format_of(dtype);
  const uint64_t key = mix(mix(seed + 0x9e3779b97f4a7c15u) + stream);
  const uint64_t special_key = mix(key ^ 0x5bec1a1u);
  double block[BLOCK];

  for (size_t start = 0; start < count; start += BLOCK) {
    const size_t n = count - start < BLOCK ? count - start : BLOCK;
    for (size_t i = 0; i < n; i++) {
      double u = uniform(bits_at(key, start + i));
      if (special & RANDOM_TIES)
        u = floor(levels * u) / levels;
      if (f->digits == 0)
        block[i] = fmin(floor(low + u * (high - low + 1)), high);
      else
        block[i] = low + u * (high - low);
    }
    for (size_t i = 0; kinds && f->digits != 0 && i < n; i++)
      if (is_special(special_key, start + i, row, special & RANDOM_ALONE))
        block[i] = special_value(f, kinds, bits_at(special_key, start + i));
    dtype_narrow(dtype, block, n, (char *)to + start * f->size);
  }
}

uint64_t random_seed(void) {
  struct timespec now;

  clock_gettime(CLOCK_REALTIME, &now);
  /* Short enough to be typed again. */
  return mix((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec + (uint64_t)getpid()) >> 32;
}
