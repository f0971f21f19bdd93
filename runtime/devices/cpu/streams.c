/* streams.c - one core's loops that move memory and do nothing else. */
#include "streams.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "devices/common/buffer.h"
#include "library/cpu.h"
#include "library/dispatch.h"

enum { LINE = 64 };

#if defined __x86_64__ || defined __aarch64__

/* Between two passes: for all that the compiler knows, the memory is another one then. */
#define AGAIN() __asm__ volatile("" ::: "memory")

#define ALWAYS_INLINE __attribute__((always_inline)) inline

typedef struct cpu_streams {
  const char *in[STREAMS_MOST];
  char *out, *sink;
  int streams;    /* how many of in are read */
  bool streaming; /* stores go past the caches */
} cpu_streams;

#if defined __x86_64__
#include <immintrin.h>

#define FENCE() _mm_sfence()

#define LOOP(name) sse2_##name
#define TARGET
#define vector __m128i
#define WIDTH 16
#define LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define ZERO() _mm_setzero_si128()
#define OR(a, b) _mm_or_si128(a, b)
#define STORE(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define STREAM(p, v) _mm_stream_si128((__m128i *)(p), v)
#include "stream_loops.h"

#define LOOP(name) avx2_##name
#define TARGET __attribute__((target("avx2")))
#define vector __m256i
#define WIDTH 32
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define ZERO() _mm256_setzero_si256()
#define OR(a, b) _mm256_or_si256(a, b)
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define STREAM(p, v) _mm256_stream_si256((__m256i *)(p), v)
#include "stream_loops.h"

#define LOOP(name) avx512_##name
#define TARGET __attribute__((target("avx512f")))
#define vector __m512i
#define WIDTH 64
#define LOAD(p) _mm512_loadu_si512(p)
#define ZERO() _mm512_setzero_si512()
#define OR(a, b) _mm512_or_si512(a, b)
#define STORE(p, v) _mm512_storeu_si512(p, v)
#define STREAM(p, v) _mm512_stream_si512((__m512i *)(p), v)
#include "stream_loops.h"

#else
#include <arm_neon.h>

/* Past the caches, as two halves: no other store has the hint. */
ALWAYS_INLINE static void store_past(char *p, uint8x16_t v) {
  __asm__("stnp %d1, %d2, [%3]"
          : "=m"(*(char(*)[16])p)
          : "w"(vget_low_u8(v)), "w"(vget_high_u8(v)), "r"(p));
}

#define FENCE() (void)0

#define LOOP(name) neon_##name
#define TARGET
#define vector uint8x16_t
#define WIDTH 16
#define LOAD(p) vld1q_u8((const uint8_t *)(p))
#define ZERO() vdupq_n_u8(0)
#define OR(a, b) vorrq_u8(a, b)
#define STORE(p, v) vst1q_u8((uint8_t *)(p), v)
#define STREAM(p, v) store_past(p, v)
#include "stream_loops.h"

#endif

typedef void loop(const cpu_streams *s, size_t bytes, size_t times);

static const struct {
  uint64_t features;
  loop *read, *write;
} sets[] = {
#if defined __aarch64__
    {0, neon_read, neon_write},
#else
    {LATHE_SSE2, sse2_read, sse2_write},
    {LATHE_AVX2, avx2_read, avx2_write},
    {LATHE_AVX512F, avx512_read, avx512_write},
#endif
};

/* Nanoseconds of one call at its best: batches of some 20 us, for about a quarter of a millisecond; a call that takes
 * long, as beyond a large cache, is not made again. */
static double best_time(loop *run, const cpu_streams *s, size_t bytes) {
  const double batch_ns = 20e3, total_ns = 0.25e6, long_ns = 50e6;
  const int rounds_at_least = 4;
  double best = INFINITY, spent = 0;
  size_t calls = 1;

  for (int round = 0; (round < rounds_at_least && spent < long_ns) || spent < total_ns; round++) {
    const double start = clock_ns();
    double taken;
    run(s, bytes, calls);
    taken = clock_ns() - start;
    best = fmin(best, taken / (double)calls);
    if (taken < batch_ns)
      calls *= 2;
    spent += taken;
  }
  return best;
}

/* The streams to move. */
typedef struct task {
  cpu_streams s;
  uint64_t features;
  int streams;
  size_t bytes; /* of a stream */
} task;

enum { KINDS_OF_STORE = 2, WAYS = KINDS_OF_STORE * (int)(sizeof sets / sizeof *sets) };

/* Bytes per second of an instruction set's loop, with one of both kinds of store. */
static double rate_of_way(void *argument, int way) {
  const size_t past_caches_from = 256 << 10; /* below, such stores only lose */
  task *t = argument;
  const bool reading = t->streams == STREAMS_READING;
  const int set = way / KINDS_OF_STORE, moved = reading ? 1 : t->streams + 1;

  t->s.streams = t->streams;
  t->s.streaming = way % KINDS_OF_STORE;
  if (sets[set].features & ~t->features ||
      (t->s.streaming && (reading || t->bytes < past_caches_from)))
    return 0;
  return moved * (double)t->bytes * 1e9 /
         best_time(reading ? sets[set].read : sets[set].write, &t->s, t->bytes);
}

/* Where a stream lies, in cache lines, in the nth measurement: as for kernels' operands, each has other neighbours. */
static int lines_of(unsigned nth, int stream) {
  const unsigned mixed = (nth * 2654435761u ^ (unsigned)stream * 2246822519u) * 3266489917u;

  return (int)(mixed >> 28);
}

double cpu_streams_rate(int streams, size_t bytes, int *way) {
  static atomic_uint measured;
  const unsigned nth = atomic_fetch_add(&measured, 1);
  const int inputs = streams == STREAMS_READING ? 1 : streams;
  buffer in[STREAMS_MOST] = {0}, out = {0}, sink = {0};
  task t = {.features = lathe_cpu_features(), .streams = streams, .bytes = bytes};
  double rate = 0;
  bool ok = buffer_make(&sink, LINE, (buffer_place){0});

  for (int i = 0; i < inputs; i++) {
    ok = buffer_make(&in[i], bytes, (buffer_place){.stagger = i, .lines = lines_of(nth, i)}) && ok;
    t.s.in[i] = (const char *)in[i].data;
  }
  if (streams != STREAMS_READING)
    ok = buffer_make(&out, bytes,
                     (buffer_place){.stagger = inputs, .lines = lines_of(nth, inputs)}) &&
         ok;
  t.s.out = (char *)out.data;
  t.s.sink = (char *)sink.data;
  if (ok)
    rate = device_best_way(rate_of_way, &t, WAYS, way);
  for (int i = 0; i < STREAMS_MOST; i++)
    buffer_free(&in[i]);
  buffer_free(&out);
  buffer_free(&sink);
  return rate;
}

#else

double cpu_streams_rate(int streams, size_t bytes, int *way) {
  (void)streams, (void)bytes, (void)way;
  return 0;
}

#endif
