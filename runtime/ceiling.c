/* ceiling.c - how fast a device can move memory at all, and one core's loops for it. */
#include "ceiling.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "buffer.h"
#include "clock.h"
#include "lathe.h"

enum { LINE = 64 }; /* sizes are rounded to this, the widest register */

#if defined __x86_64__
#include <immintrin.h>

#define ALWAYS_INLINE __attribute__((always_inline)) inline

typedef struct ceiling_streams {
  const char *in[CEILING_STREAMS];
  char *out, *sink;
  int streams;    /* how many of in are read */
  bool streaming; /* stores go past the caches */
} ceiling_streams;

#define LOOP(name) sse2_##name
#define TARGET
#define vector __m128i
#define WIDTH 16
#define LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define ZERO() _mm_setzero_si128()
#define OR(a, b) _mm_or_si128(a, b)
#define STORE(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define STREAM(p, v) _mm_stream_si128((__m128i *)(p), v)
#include "ceiling_loops.h"

#define LOOP(name) avx2_##name
#define TARGET __attribute__((target("avx2")))
#define vector __m256i
#define WIDTH 32
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define ZERO() _mm256_setzero_si256()
#define OR(a, b) _mm256_or_si256(a, b)
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define STREAM(p, v) _mm256_stream_si256((__m256i *)(p), v)
#include "ceiling_loops.h"

#define LOOP(name) avx512_##name
#define TARGET __attribute__((target("avx512f")))
#define vector __m512i
#define WIDTH 64
#define LOAD(p) _mm512_loadu_si512(p)
#define ZERO() _mm512_setzero_si512()
#define OR(a, b) _mm512_or_si512(a, b)
#define STORE(p, v) _mm512_storeu_si512(p, v)
#define STREAM(p, v) _mm512_stream_si512((__m512i *)(p), v)
#include "ceiling_loops.h"

typedef void loop(const ceiling_streams *s, size_t bytes);

static const struct {
  uint64_t features;
  loop *read, *write;
} sets[] = {
    {LATHE_SSE2, sse2_read, sse2_write},
    {LATHE_AVX2, avx2_read, avx2_write},
    {LATHE_AVX512F, avx512_read, avx512_write},
};

/* Nanoseconds of one call at its best: batches of some 20 us, for about a millisecond. */
static double best_time(loop *run, const ceiling_streams *s, size_t bytes) {
  const double batch_ns = 20e3, total_ns = 1e6;
  const int rounds_at_least = 4;
  double best = INFINITY, spent = 0;
  size_t calls = 1;

  for (int round = 0; round < rounds_at_least || spent < total_ns; round++) {
    const double start = clock_ns();
    double taken;
    for (size_t i = 0; i < calls; i++)
      run(s, bytes);
    taken = clock_ns() - start;
    best = fmin(best, taken / (double)calls);
    if (taken < batch_ns)
      calls *= 2;
    spent += taken;
  }
  return best;
}

/* The shortest time to move one stream's bytes, over instruction sets and kinds of store. */
static double best_loop(uint64_t features, ceiling_streams *s, int streams, size_t bytes) {
  /* Below this, stores past the caches only lose. */
  const size_t streaming_from = 256 << 10;
  double best = INFINITY;

  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    if (sets[i].features & ~features)
      continue;
    if (streams == CEILING_READING) {
      best = fmin(best, best_time(sets[i].read, s, bytes));
      continue;
    }
    s->streams = streams;
    s->streaming = false;
    best = fmin(best, best_time(sets[i].write, s, bytes));
    s->streaming = true;
    if (bytes >= streaming_from)
      best = fmin(best, best_time(sets[i].write, s, bytes));
  }
  return best;
}

double ceiling_of_core(device *on, int streams, size_t bytes) {
  const int inputs = streams == CEILING_READING ? 1 : streams;
  buffer in[CEILING_STREAMS] = {0}, out = {0}, sink = {0};
  ceiling_streams s = {0};
  double rate = 0;
  bool ok = buffer_make(&sink, LINE, (buffer_place){0});

  for (int i = 0; i < inputs; i++) {
    ok = buffer_make(&in[i], bytes, (buffer_place){.stagger = i}) && ok;
    s.in[i] = (const char *)in[i].data;
  }
  if (streams != CEILING_READING)
    ok = buffer_make(&out, bytes, (buffer_place){.stagger = inputs}) && ok;
  s.out = (char *)out.data;
  s.sink = (char *)sink.data;
  if (ok) {
    const int moved = streams == CEILING_READING ? 1 : streams + 1;
    rate = (double)moved * (double)bytes * 1e9 / best_loop(on->features, &s, streams, bytes);
  }
  for (int i = 0; i < CEILING_STREAMS; i++)
    buffer_free(&in[i]);
  buffer_free(&out);
  buffer_free(&sink);
  return rate;
}

#else

double ceiling_of_core(device *on, int streams, size_t bytes) {
  (void)on, (void)streams, (void)bytes;
  return 0;
}

#endif

/* What was measured, remembered; when it is full the oldest is given up. */
typedef struct memory {
  const device *on;
  int streams;
  size_t bytes;
  double rate;
} memory;

double ceiling_rate(device *on, ceiling_measure *measure, double bytes_in, double bytes_out,
                    const char **name) {
  enum { REMEMBERED = 256 };
  static const char *const names[] = {"write", "copy", "two in, one out", "three in, one out"};
  static memory remembered[REMEMBERED];
  static size_t count;
  const double out_of_total = 1.0 / 32; /* written bytes below this share do not matter */
  const bool reading = bytes_out < (bytes_in + bytes_out) * out_of_total;
  memory m = {.on = on, .streams = CEILING_READING};
  double bytes = bytes_in;

  if (!reading) {
    m.streams = (int)fmin(CEILING_STREAMS, round(bytes_in / bytes_out));
    bytes = (bytes_in + bytes_out) / (m.streams + 1);
  }
  *name = reading ? "read" : names[m.streams];
  m.bytes = ((size_t)bytes + LINE - 1) / LINE * LINE;
  if (m.bytes == 0)
    return 0;
  for (size_t i = 0; i < count && i < REMEMBERED; i++)
    if (remembered[i].on == on && remembered[i].streams == m.streams &&
        remembered[i].bytes == m.bytes)
      return remembered[i].rate;
  m.rate = measure(on, m.streams, m.bytes);
  remembered[count++ % REMEMBERED] = m;
  return m.rate;
}
