/* stream_loops.h - one instruction set's loops; streams.c includes this once for each, with
 *   LOOP(name)        the loops' names
 *   TARGET            what the compiler needs to be told of the instruction set
 *   vector, WIDTH     the type of a register, and its bytes
 *   FENCE()           what stores past the caches need after them, the same for all
 *   AGAIN()           what stands between two passes, the same for all
 *   LOAD(p) ZERO() OR(a, b) STORE(p, v) STREAM(p, v)
 * bytes is a multiple of WIDTH everywhere. All is moved `times` times: a call's own time is no part of what can be had.
 * No include guard: it is meant to come again. */

/* Eight loads in flight, each with its own accumulator. */
TARGET static void LOOP(read)(const cpu_streams *s, size_t bytes, size_t times) {
  const char *in = s->in[0];
  vector a = ZERO(), b = ZERO(), c = ZERO(), d = ZERO();
  vector e = ZERO(), f = ZERO(), g = ZERO(), h = ZERO();

  while (times-- > 0) {
    size_t i = 0;
    for (; i + 8 * WIDTH <= bytes; i += 8 * WIDTH) {
      a = OR(a, LOAD(in + i));
      b = OR(b, LOAD(in + i + WIDTH));
      c = OR(c, LOAD(in + i + 2 * WIDTH));
      d = OR(d, LOAD(in + i + 3 * WIDTH));
      e = OR(e, LOAD(in + i + 4 * WIDTH));
      f = OR(f, LOAD(in + i + 5 * WIDTH));
      g = OR(g, LOAD(in + i + 6 * WIDTH));
      h = OR(h, LOAD(in + i + 7 * WIDTH));
    }
    for (; i + 2 * WIDTH <= bytes; i += 2 * WIDTH) {
      a = OR(a, LOAD(in + i));
      b = OR(b, LOAD(in + i + WIDTH));
    }
    if (i < bytes)
      c = OR(c, LOAD(in + i));
    AGAIN();
  }
  a = OR(OR(OR(a, b), OR(c, d)), OR(OR(e, f), OR(g, h)));
  STORE(s->sink, a);
}

/* One vector of the streams joined. */
TARGET ALWAYS_INLINE static vector LOOP(join)(const char *x, const char *y, const char *z,
                                              int streams) {
  if (streams == 0)
    return ZERO();
  if (streams == 1)
    return LOAD(x);
  if (streams == 2)
    return OR(LOAD(x), LOAD(y));
  return OR(OR(LOAD(x), LOAD(y)), LOAD(z));
}

TARGET ALWAYS_INLINE static void LOOP(join_all)(const cpu_streams *s, size_t bytes, size_t times,
                                                int streams, bool streaming) {
  /* Copies: for all that the compiler knows, a store may change what s points to. */
  const char *x = s->in[0], *y = s->in[1], *z = s->in[2];
  char *out = s->out;

  while (times-- > 0) {
    size_t i = 0;
    for (; i + 4 * WIDTH <= bytes; i += 4 * WIDTH)
#pragma GCC unroll 4
      for (int u = 0; u < 4; u++) {
        const size_t at = i + (size_t)u * WIDTH;
        const vector v = LOOP(join)(x + at, y + at, z + at, streams);
        if (streaming)
          STREAM(out + at, v);
        else
          STORE(out + at, v);
      }
    for (; i < bytes; i += WIDTH)
      STORE(out + i, LOOP(join)(x + i, y + i, z + i, streams));
    if (streaming)
      FENCE();
    AGAIN();
  }
}

/* The number of streams and the kind of store as constants, so that each loop is tight. */
TARGET static void LOOP(write)(const cpu_streams *s, size_t bytes, size_t times) {
  if (s->streaming)
    switch (s->streams) {
    case 0: LOOP(join_all)(s, bytes, times, 0, true); break;
    case 1: LOOP(join_all)(s, bytes, times, 1, true); break;
    case 2: LOOP(join_all)(s, bytes, times, 2, true); break;
    default: LOOP(join_all)(s, bytes, times, 3, true); break;
    }
  else
    switch (s->streams) {
    case 0: LOOP(join_all)(s, bytes, times, 0, false); break;
    case 1: LOOP(join_all)(s, bytes, times, 1, false); break;
    case 2: LOOP(join_all)(s, bytes, times, 2, false); break;
    default: LOOP(join_all)(s, bytes, times, 3, false); break;
    }
}

#undef LOOP
#undef TARGET
#undef vector
#undef WIDTH
#undef LOAD
#undef ZERO
#undef OR
#undef STORE
#undef STREAM
