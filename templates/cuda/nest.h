/* nest.h - the loops around steps of any axes. A block has POINTS vectors of points, or points, each of which LANES
 * threads share: of terms that lie side by side neighbouring threads, else neighbouring threads have points that do.
 * Where there are few points, blocks share the terms: all but the last to come leave what they gathered, and that one
 * merges it in order. Steps that share points go one after the other through those of a block (lathe_fused); what lies
 * across vectors goes through shared memory in squares (lathe_turned).
 *
 * A step N says what is gathered:
 *   index                       the type of its numbers of points and terms
 *   gathered                    of a point, with clear() and merge(other)
 *   MINE                        points of a thread
 *   TOGETHER                    whether terms lie side by side
 *   points(), terms()           how many vectors there are of each
 *   place(point)                makes it the step of one vector of points
 *   whole                       whether its vectors may be read by one access each
 *   keep<whole>()               reads what stays the same at all terms of the point
 *   take<whole>(mine, from, to, apart)   takes the terms from one on, each so many after the one before
 *   finish<whole>(mine)         stores what follows
 *   shared(), extra(), place_shared(nth), place_extra(nth)   the same of the points that it shares with other steps, and
 *                               of those that it has besides, if HAS_EXTRA
 *   hold_in(room, nth)          tells it where the block holds what several steps read, and which of its points it has
 *   squares(), place_square(nth), bring(tile), turn(tile), put(tile)   of those that go by squares
 * One of scans has in the place of take and finish what is done on the way, at VECTOR places from one on, of each of a
 * thread's points:
 *   places()                    how many there are
 *   taken, going                what a thread gathers of a part of a point, and what that has come to on the way
 *                               (lathe_part, lathe_going)
 *   SURE                        whether what is merged is what terms in turn come to; else gathered says by is_sure()
 *   read_places<whole>(read, nth), store_places<whole>(made, nth, is_there, room)   room: for the `widest` of what is
 *                               stored of a warp, all of which takes part
 *   gather<whole>(taken, read, nth), go<whole>(now, made, read, nth)   takes them, and makes what is stored there */
#ifndef LATHE_NEST_H
#define LATHE_NEST_H

#include "gather.h"
#include "philox.h"
#include "tiles.h"

/* A sum that carries its rounding errors along: those of a sum of two are exact (Knuth 1969). */
template <typename T> struct lathe_carried {
  T value, lost;

  __device__ __forceinline__ void clear() {
    value = T(-0.0);
    lost = 0;
  }
  __device__ __forceinline__ void take(T term) {
    const T sum = value + term, taken = sum - value;
    lost += (value - (sum - taken)) + (term - taken);
    value = sum;
  }
  __device__ __forceinline__ void merge(const lathe_carried &other) {
    take(other.value);
    lost += other.lost;
  }
  /* An infinite sum has no error to add: infinity less infinity is NaN. */
  __device__ __forceinline__ T result() const {
    return lost == lost && lost != 0 ? value + lost : value;
  }
};

/* So many terms of a sum, or a vector of them, are added up plainly before errors are carried. */
enum { LATHE_PLAIN_TERMS = 8 };

template <typename T, int N> struct lathe_plain {
  T at[N];

  __device__ __forceinline__ lathe_plain() {
#pragma unroll
    for (int nth = 0; nth < N; nth++)
      at[nth] = T(-0.0);
  }
};

/* What a thread gathers of a part of a scan, of LATHE_PLAIN_TERMS places at the most, whose terms of a sum are added up
 * plainly; finish() makes it what parts are merged as. */
template <typename G> struct lathe_part : G {
  __device__ __forceinline__ void finish(G &to) const {
    to = *this;
  }
};

template <typename T> struct lathe_part<lathe_carried<T>> {
  T value;

  __device__ __forceinline__ void clear() {
    value = T(-0.0);
  }
  __device__ __forceinline__ void take(T term) {
    value += term;
  }
  __device__ __forceinline__ void finish(lathe_carried<T> &to) const {
    to.value = value;
    to.lost = 0;
  }
};

/* What a scan has come to on the way: begin() makes it of what was gathered before, leave() adds to that. A sum adds up
 * as many terms plainly to one that carries its errors. */
template <typename G> struct lathe_going : G {
  __device__ __forceinline__ void begin(const G &from) {
    static_cast<G &>(*this) = from;
  }
  __device__ __forceinline__ void leave(G &to) const {
    to = *this;
  }
};

template <typename T> struct lathe_going<lathe_carried<T>> {
  T value, lost, plain;

  __device__ __forceinline__ void begin(const lathe_carried<T> &from) {
    value = from.value;
    lost = from.lost == from.lost && from.lost != 0 ? from.lost : T(-0.0);
    plain = T(-0.0);
  }
  __device__ __forceinline__ void take(T term) {
    plain += term;
  }
  __device__ __forceinline__ void leave(lathe_carried<T> &to) const {
    to.take(plain);
  }
  __device__ __forceinline__ T result() const {
    return value + (plain + lost);
  }
};

/* Of a type the least normal number and the least of all; what so many times the first is as the latter grows to that;
 * and half a unit of 1. */
template <typename T> struct lathe_range;
template <> struct lathe_range<float> {
  static constexpr float LEAST = 0x1p-126f, MARK = 0x1p-149f, REACH = 0x1p-103f, UNIT = 0x1p-24f;
};
template <> struct lathe_range<double> {
  static constexpr double LEAST = 0x1p-1022, MARK = 0x1p-1074, REACH = 0x1p-970, UNIT = 0x1p-53;
};

/* A part of h = a h + b along an axis, of places that follow each other: what comes of 0 there, and what h before them
 * is multiplied by. Where the product of factors was below the normal range it is a mark, how many times the least
 * normal number it may have grown to. NaN says that the part has to be gone through: so does what is infinite, a mark
 * that has grown too large, and zeros whose sign h before them decides. */
template <typename T> struct lathe_linear {
  T value, factor;

  typedef lathe_range<T> range;

  __device__ __forceinline__ void clear() {
    value = 0;
    factor = 1;
  }
  static __device__ __forceinline__ T multiplied(T a, T b) {
    const T product = a * b, least = fmin(fabs(a), fabs(b)), most = fmax(fabs(a), fabs(b));
    if (!(fmin(fabs(product), least) < range::LEAST) || least == 0)
      return product;
    const bool is_new = most < range::LEAST || least >= range::LEAST;
    const T mark = is_new ? range::MARK : most > 1 ? least * most + range::MARK : least;
    return mark < range::LEAST ? copysign(mark, product) : T(NAN);
  }
  __device__ __forceinline__ void merge(const lathe_linear &other) {
    const T was = fabs(value), mark = fabs(other.factor);
    value = other.factor * value + other.value;
    if (mark < range::LEAST && mark != 0 && was > range::LEAST / range::REACH * range::UNIT &&
        fabs(value) < was * (range::REACH / range::UNIT))
      value = T(NAN);
    factor = multiplied(factor, other.factor);
  }
  __device__ __forceinline__ bool is_sure() const {
    return fabs(value) < T(INFINITY);
  }
};

/* Keeps the least product, and the least and the largest factor: a product that was below the normal range is a mark
 * if no factor was zero, and may have grown since if one was above 1. */
template <typename T> struct lathe_part<lathe_linear<T>> {
  T value, product, least, small, large;

  __device__ __forceinline__ void clear() {
    value = 0;
    product = least = small = 1;
    large = 0;
  }
  __device__ __forceinline__ void multiply(T a) {
    product *= a;
    least = fmin(least, fabs(product));
    small = fmin(small, fabs(a));
    large = fmax(large, fabs(a));
  }
  __device__ __forceinline__ void take(T a, T b) {
    const bool hides_sign = b == 0 && signbit(b) && value == 0;
    value = hides_sign ? T(NAN) : a * value + b;
    multiply(a);
  }
  __device__ __forceinline__ T factor() const {
    const T MOST = 8, GROWN = 0x1p21; /* of 8 factors all but the first */
    const T mark = lathe_range<T>::MARK * (large > 1 ? GROWN : T(1));
    const bool is_mark = least < lathe_range<T>::LEAST && small != 0;
    return !is_mark ? product : large > MOST ? T(NAN) : copysign(mark, product);
  }
  __device__ __forceinline__ void finish(lathe_linear<T> &to) const {
    to.value = value;
    to.factor = factor();
  }
};

template <typename T> struct lathe_going<lathe_linear<T>> {
  T value;

  __device__ __forceinline__ void begin(const lathe_linear<T> &from) {
    value = from.value;
  }
  __device__ __forceinline__ void take(T a, T b) {
    value = a * value + b;
  }
  __device__ __forceinline__ void leave(lathe_linear<T> &to) const {
    to.value = value;
  }
  __device__ __forceinline__ T result() const {
    return value;
  }
};

/* The same of a product: a part is all factor. */
template <typename T> struct lathe_product : lathe_linear<T> {
  __device__ __forceinline__ void clear() {
    this->value = T(-0.0);
    this->factor = 1;
  }
};

template <typename T> struct lathe_part<lathe_product<T>> : lathe_part<lathe_linear<T>> {
  __device__ __forceinline__ void take(T a) {
    this->multiply(a);
  }
  __device__ __forceinline__ void finish(lathe_product<T> &to) const {
    to.value = T(-0.0);
    to.factor = this->factor();
  }
};

template <typename T> struct lathe_going<lathe_product<T>> : lathe_going<lathe_linear<T>> {
  __device__ __forceinline__ void take(T a) {
    this->value *= a;
  }
};

/* The term at an index; NaN where there is none. */
template <typename T> struct lathe_picked {
  T value;
  unsigned is_there;

  __device__ __forceinline__ void clear() {
    value = T(NAN);
    is_there = 0;
  }
  __device__ __forceinline__ void take(T term) {
    value = term;
    is_there = 1;
  }
  __device__ __forceinline__ void merge(const lathe_picked &other) {
    if (!is_there)
      *this = other;
  }
  __device__ __forceinline__ T result() const {
    return value;
  }
};

/* The indexes of some loops, the last the innermost. */
template <int N, typename I> struct lathe_odometer {
  I index[N], extent[N];

  __device__ __forceinline__ lathe_odometer(I from, const I (&extents)[N]) {
#pragma unroll
    for (int nth = N - 1; nth >= 0; nth--) {
      extent[nth] = extents[nth];
      index[nth] = nth > 0 ? from % extents[nth] : from;
      from = nth > 0 ? from / extents[nth] : from;
    }
  }
  __device__ __forceinline__ void advance(I by) {
    index[N - 1] += by;
#pragma unroll
    for (int nth = N - 1; nth > 0; nth--)
      if (index[nth] >= extent[nth]) {
        const I carried = index[nth] / extent[nth];
        index[nth] -= carried * extent[nth];
        index[nth - 1] += carried;
      }
  }
};

/* Does something for each of so many numbers, of a few at once: what these read does not wait for the one before. */
template <typename I, typename F>
static __device__ __forceinline__ void lathe_each_of(I from, I to, I apart, F one) {
  constexpr unsigned AT_ONCE = 4;
  I nth = from;
  while (nth < to && to - nth > (AT_ONCE - 1) * apart) {
#pragma unroll
    for (unsigned of = 0; of < AT_ONCE; of++, nth += apart)
      one(nth);
  }
  for (; nth < to; nth += apart)
    one(nth);
}

/* What a thread has of its points. */
template <typename N> struct lathe_mine {
  typename N::gathered at[N::MINE];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int nth = 0; nth < N::MINE; nth++)
      at[nth].clear();
  }
  /* As it is before the first place of a scan. */
  __device__ __forceinline__ void begin() {
#pragma unroll
    for (int nth = 0; nth < N::MINE; nth++)
      at[nth].begin();
  }
  __device__ __forceinline__ void merge(const lathe_mine &other) {
#pragma unroll
    for (int nth = 0; nth < N::MINE; nth++)
      at[nth].merge(other.at[nth]);
  }
};

template <typename N>
static __device__ __forceinline__ void
lathe_take_terms(const N &step, lathe_mine<N> &mine, typename N::index from, typename N::index to,
                 typename N::index apart) {
  if (step.whole)
    step.template take<true>(mine.at, from, to, apart);
  else
    step.template take<false>(mine.at, from, to, apart);
}

template <typename N> static __device__ __forceinline__ void lathe_keep(N &step) {
  if (step.whole)
    step.template keep<true>();
  else
    step.template keep<false>();
}

template <typename N>
static __device__ __forceinline__ void lathe_finish_points(const N &step,
                                                           const lathe_mine<N> &mine) {
  if (step.whole)
    step.template finish<true>(mine.at);
  else
    step.template finish<false>(mine.at);
}

/* The random number of one point. */
template <bool NARROW, typename T>
static __device__ __forceinline__ T lathe_random_at(long long seed, long long offset,
                                                    size_t point) {
  const lathe_keys keys(seed);
  T number[1];

  lathe_random<NARROW>(number, keys, offset, point);
  return number[0];
}

/* What LANES threads have of each point becomes that of the first: within warps by shuffles, then through shared
 * memory, which has room for half of the block's threads. */
template <bool TOGETHER, unsigned POINTS, unsigned LANES, typename G>
static __device__ __forceinline__ void lathe_join(G &mine, G *shared, unsigned lane, unsigned nth) {
  constexpr unsigned WARP = 32, APART = TOGETHER ? 1 : POINTS; /* threads from lane to lane */
  constexpr unsigned WITHIN = APART * LANES <= WARP ? LANES : APART < WARP ? WARP / APART : 1;
  if constexpr (WITHIN > 1) {
#pragma unroll
    for (unsigned mask = WITHIN / 2; mask > 0; mask /= 2)
      mine.merge(lathe_exchange(mine, (int)(mask * APART)));
    if constexpr (LANES > WITHIN) {
      constexpr unsigned WARPS = LANES / WITHIN, READERS = WARP / POINTS;
      if (lane % WITHIN == 0)
        shared[lane / WITHIN * POINTS + nth] = mine;
      __syncthreads();
      if (threadIdx.x < WARP) {
        const unsigned point = threadIdx.x % POINTS, reader = threadIdx.x / POINTS;
        mine.clear();
        for (unsigned warp = reader; warp < WARPS; warp += READERS)
          mine.merge(shared[warp * POINTS + point]);
#pragma unroll
        for (unsigned mask = READERS / 2; mask > 0; mask /= 2)
          mine.merge(lathe_exchange(mine, (int)(mask * POINTS)));
      }
    }
  } else {
#pragma unroll
    for (unsigned half = LANES / 2; half > 0; half /= 2) {
      if (lane >= half && lane < 2 * half)
        shared[(lane - half) * POINTS + nth] = mine;
      __syncthreads();
      if (lane < half)
        mine.merge(shared[lane * POINTS + nth]);
      if (half > 1)
        __syncthreads();
    }
  }
}

/* What another lane of the warp has. */
template <typename P> static __device__ __forceinline__ P lathe_of_lane(const P &p, unsigned lane) {
  return lathe_moved(p, [&](unsigned word) { return __shfl_sync(0xffffffffu, word, (int)lane); });
}

template <bool LONG> struct lathe_word_of { typedef unsigned type; };
template <> struct lathe_word_of<true> { typedef unsigned long long type; };

/* What another block has left. */
template <typename P> static __device__ __forceinline__ P lathe_left_by(const P *from) {
  typedef typename lathe_word_of<sizeof(P) % 8 == 0>::type word;
  word words[sizeof(P) / sizeof(word)];
  P p;

#pragma unroll
  for (unsigned w = 0; w < sizeof p / sizeof(word); w++)
    words[w] = __ldcg(reinterpret_cast<const word *>(from) + w);
  memcpy(&p, words, sizeof p);
  return p;
}

/* Moves a vector's elements so many places towards its end, or BACK; its elements stay in registers. */
template <bool BACK, int N, typename T>
static __device__ __forceinline__ void lathe_shift(lathe_pack<T, N> &pack, int by) {
#pragma unroll
  for (int step = 1; step < N; step *= 2) {
    const lathe_pack<T, N> was = pack;
#pragma unroll
    for (int nth = step; nth < N; nth++) {
      const int from = BACK ? nth : nth - step, to = BACK ? nth - step : nth;
      pack.at[to] = by & step ? was.at[from] : was.at[to];
    }
  }
}

/* Vectors of a warp's lanes that begin at any address, `there` elements of each: neighbouring lanes store elements that
 * lie side by side. room: for those of the warp. All lanes take part. */
template <int N, typename T>
static __device__ __forceinline__ void lathe_store_by_warp(T *to, const lathe_pack<T, N> &pack,
                                                           int there, char *room) {
  const unsigned lane = threadIdx.x % 32;
  T *const elements = reinterpret_cast<T *>(room);
  const struct {
    T *to;
    int there, unused;
  } mine = {to, there, 0};

  __syncwarp();
  *reinterpret_cast<lathe_pack<T, N> *>(elements + lane * N) = pack;
  __syncwarp();
#pragma unroll
  for (unsigned nth = 0; nth < N; nth++) {
    const unsigned of = (nth * 32 + lane) / N, e = (nth * 32 + lane) % N;
    const auto its = lathe_of_lane(mine, of);
    if ((int)e < its.there)
      its.to[e] = elements[nth * 32 + lane];
  }
}

/* Of lanes of a warp that are `apart`, and number `nth` of those that share a point: what all up to each have. */
template <typename G>
static __device__ __forceinline__ void lathe_scan_lanes(G &mine, unsigned nth, unsigned lanes,
                                                        unsigned apart) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned step = 1; step < lanes; step *= 2) {
    G before = lathe_of_lane(mine, nth < step ? lane : lane - step * apart);
    before.merge(mine);
    if (nth >= step)
      mine = before;
  }
}

/* Scans: a point's threads read CHUNKS times EACH vectors of places, which are a tile, or of one place where points lie
 * side by side, merge what they have in the order of places, and go over them once more. A warp's lanes have their
 * share of each chunk side by side, or, ROWS, a chunk is of another point. What is merged may not be what a point would
 * have come to: then its lanes go on in turn. */
template <typename N, unsigned POINTS, unsigned LANES> struct lathe_scan_room {
  typedef typename N::gathered gathered;
  static constexpr unsigned APART = N::TOGETHER ? 1 : POINTS < 32 ? POINTS : 32;
  static constexpr unsigned WITHIN = LANES < 32 / APART ? LANES : 32 / APART; /* lanes of a warp */
  static constexpr unsigned WARPS = LANES / WITHIN; /* that share a point */
  static constexpr unsigned THREADS = POINTS * LANES, COLUMNS = POINTS * N::MINE;

  /* Of each warp what its share of the tile comes to, then what is before that; and before the tile, and after. */
  gathered of[WARPS][COLUMNS], before[COLUMNS], after[COLUMNS];
  gathered ahead[WARPS]; /* what each warp finds before the tile, of one point */
  unsigned sure[THREADS / 32];
};

template <typename N, bool WHOLE, bool ROWS, unsigned POINTS, unsigned LANES, unsigned CHUNKS,
          unsigned EACH>
struct lathe_scanner {
  typedef typename N::gathered gathered;
  typedef typename N::index index;
  typedef lathe_mine<N> state;
  typedef lathe_scan_room<N, POINTS, LANES> room;
  static constexpr bool SURE = N::SURE, TOGETHER = N::TOGETHER;
  static constexpr unsigned STEPS = ROWS ? CHUNKS : 1, READS = CHUNKS * EACH;
  static constexpr unsigned APART = room::APART, WITHIN = room::WITHIN, WARPS = room::WARPS;
  static constexpr unsigned TILE = READS * LANES * N::VECTOR; /* places */
  static_assert(EACH * N::VECTOR <= LATHE_PLAIN_TERMS, "as many terms are added up plainly");

  N (&step)[STEPS];
  const bool (&is_there)[STEPS];
  room &shared;
  char *const of_warp;                  /* see lathe_store_by_warp */
  const unsigned lanes, nth, warp, own; /* nth: of a warp's `lanes` that share a point */
  typename N::places_read read[READS];
  state before[CHUNKS],
      total; /* what a warp has before that, then the point; and what the warp has in all */

  __device__ __forceinline__ lathe_scanner(N (&given)[STEPS], const bool (&there)[STEPS],
                                           room &some, char *of_warp, unsigned lanes, unsigned nth,
                                           unsigned warp, unsigned own)
      : step(given), is_there(there), shared(some), of_warp(of_warp), lanes(lanes), nth(nth),
        warp(warp), own(own) {
  }
  __device__ __forceinline__ index places() const {
    return step[0].places();
  }
  /* Does something with each read of a chunk, and says whether there is that. */
  template <typename F>
  __device__ __forceinline__ void at_all(index from, unsigned chunk, F one) const {
    const unsigned ahead = ROWS ? 0 : (warp * CHUNKS + chunk) * lanes;
#pragma unroll
    for (unsigned of = 0; of < EACH; of++) {
      const index at = from + (index)(((ahead + nth) * EACH + of) * N::VECTOR);
      one(step[ROWS ? chunk : 0], chunk * EACH + of, at,
          is_there[ROWS ? chunk : 0] && at < places());
    }
  }
  template <typename F>
  __device__ __forceinline__ void at_each(index from, unsigned chunk, F one) const {
    at_all(from, chunk, [&](const N &step, unsigned of, index at, bool there) {
      if (there)
        one(step, of, at);
    });
  }
  __device__ __forceinline__ void bring(index from) {
#pragma unroll
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++)
      at_each(from, chunk, [&](const N &step, unsigned of, index at) {
        step.template read_places<WHOLE>(read[of], at);
      });
  }
  /* The lane that is number so many of this point's in the warp. */
  __device__ __forceinline__ unsigned lane_of(unsigned number) const {
    return (threadIdx.x + (number - nth) * APART) % 32;
  }
  /* What is shared of this thread's points. */
  __device__ __forceinline__ state shared_of(const gathered *of) const {
    state some;
#pragma unroll
    for (unsigned e = 0; e < N::MINE; e++)
      some.at[e] = of[e * POINTS + own];
    return some;
  }
  __device__ __forceinline__ void share(gathered *of, const state &some) const {
#pragma unroll
    for (unsigned e = 0; e < N::MINE; e++)
      of[e * POINTS + own] = some.at[e];
  }
  /* Does something with each of the block's points, of which it is one thread's number. */
  template <typename F> static __device__ __forceinline__ void at_columns(F one) {
    for (unsigned column = threadIdx.x; column < room::COLUMNS; column += room::THREADS)
      one(column);
  }
  /* What the block's warps have of a point, after what is given. */
  __device__ __forceinline__ gathered joined(gathered all, unsigned column) const {
#pragma unroll
    for (unsigned from = 0; from < WARPS; from++)
      all.merge(shared.of[from][column]);
    return all;
  }
  /* Merges what a warp's lanes have into the total, and says what is before each. */
  __device__ __forceinline__ void add(state &mine, state &before_lane) {
    before_lane = total;
    if constexpr (WITHIN > 1) {
      lathe_scan_lanes(mine, nth, lanes, APART);
      const state last = lathe_of_lane(mine, lane_of(nth > 0 ? nth - 1 : 0));
      if (nth > 0)
        before_lane.merge(last);
      mine = lathe_of_lane(mine, lane_of(lanes - 1));
    }
    total.merge(mine);
  }
  __device__ __forceinline__ void offer() {
    if (nth == 0)
      share(shared.of[warp], total);
    __syncthreads();
  }
  /* Of what was read from there on: what each warp has, which it shares. */
  __device__ __forceinline__ void gather(index from) {
    total.clear();
#pragma unroll
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
      typename N::taken taken[N::MINE];
      state mine;
#pragma unroll
      for (int nth = 0; nth < N::MINE; nth++)
        taken[nth].clear();
      at_each(from, chunk, [&](const N &step, unsigned of, index at) {
        step.template gather<WHOLE>(taken, read[of], at);
      });
#pragma unroll
      for (int nth = 0; nth < N::MINE; nth++)
        taken[nth].finish(mine.at[nth]);
      if (ROWS)
        total.clear();
      add(mine, before[chunk]);
    }
    if constexpr (WARPS > 1)
      offer();
  }
  static __device__ __forceinline__ bool is_sure(const state &of) {
    bool sure = true;
#pragma unroll
    for (int nth = 0; nth < N::MINE; nth++)
      sure = sure && of.at[nth].is_sure();
    return sure;
  }
  /* Whether all say so that share points with this one, or a warp with those. */
  __device__ __forceinline__ bool all_sure(bool sure) {
    bool all = __all_sync(0xffffffffu, sure);
    if constexpr (WARPS > 1) {
      shared.sure[threadIdx.x / 32] = all;
      __syncthreads();
#pragma unroll
      for (unsigned from = 0; from < room::THREADS / 32; from++)
        all = all && shared.sure[from];
      __syncthreads();
    }
    return all;
  }
  /* What there is after a chunk, of what was before. */
  __device__ __forceinline__ state after(const state &given, index from, unsigned chunk) const {
    typename N::going now[N::MINE];
    state all = given;
#pragma unroll
    for (int nth = 0; nth < N::MINE; nth++)
      now[nth].begin(given.at[nth]);
    at_each(from, chunk, [&](const N &step, unsigned of, index at) {
      typename N::places_made made;
      step.template go<WHOLE>(now, made, read[of], at);
    });
#pragma unroll
    for (int nth = 0; nth < N::MINE; nth++)
      now[nth].leave(all.at[nth]);
    return all;
  }
  /* Lane by lane: what there is before the tile becomes what there is after it. */
  __device__ __forceinline__ void in_turn(state &all, index from) {
#pragma unroll 1
    for (unsigned at = 0; at < WARPS; at++) {
#pragma unroll
      for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
        if (ROWS)
          all.begin();
#pragma unroll 1
        for (unsigned lane = 0; lane < lanes; lane++) {
          const bool is_next = at == warp && nth == lane;
          if constexpr (WARPS > 1) {
            if (is_next) {
              before[chunk] = shared_of(shared.before);
              share(shared.before, after(before[chunk], from, chunk));
            }
            __syncwarp();
          } else {
            if (is_next)
              before[chunk] = all;
            all = lathe_of_lane(after(all, from, chunk), lane_of(lane));
          }
        }
      }
      if constexpr (WARPS > 1)
        __syncthreads();
    }
  }
  /* Before the first tile; of a point that warps share it is where these see it. */
  __device__ __forceinline__ void begin(state &all) {
    if constexpr (WARPS > 1)
      at_columns([&](unsigned column) { shared.before[column].begin(); });
    else
      all.begin();
  }
  /* Makes `before` what there is at each chunk, after what there is before the tile; and that what there is then. */
  __device__ __forceinline__ void follow(state &all, index from) {
    state then = all, first = all, own_before[CHUNKS];
    if constexpr (WARPS > 1) {
      at_columns([&](unsigned column) {
        gathered now = shared.before[column];
#pragma unroll
        for (unsigned of = 0; of < WARPS; of++) {
          const gathered its = shared.of[of][column];
          shared.of[of][column] = now;
          now.merge(its);
        }
        shared.after[column] = now;
      });
      __syncthreads();
      first = shared_of(shared.of[warp]);
    } else {
      then.merge(total);
    }
#pragma unroll
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
      own_before[chunk] = first;
      if constexpr (WITHIN > 1 || CHUNKS > 1)
        own_before[chunk].merge(before[chunk]);
    }
    if constexpr (!SURE) {
      bool sure = ROWS || is_sure(WARPS > 1 ? shared_of(shared.after) : then);
#pragma unroll
      for (unsigned chunk = 0; chunk < CHUNKS; chunk++)
        sure = sure && is_sure(own_before[chunk]);
      if (!all_sure(sure)) {
        in_turn(all, from);
        return;
      }
    }
    if constexpr (WARPS > 1)
      at_columns([&](unsigned column) { shared.before[column] = shared.after[column]; });
    else
      all = then;
#pragma unroll
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++)
      before[chunk] = own_before[chunk];
  }
  /* Stores what there is at each place; a point that has one thread is followed here. */
  __device__ __forceinline__ void put(index from) {
#pragma unroll
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
      typename N::going now[N::MINE];
#pragma unroll
      for (int nth = 0; nth < N::MINE; nth++)
        now[nth].begin(before[chunk].at[nth]);
      at_all(from, chunk, [&](const N &step, unsigned of, index at, bool there) {
        typename N::places_made made;
        if (there)
          step.template go<WHOLE>(now, made, read[of], at);
        step.template store_places<WHOLE>(made, at, there, of_warp);
      });
      if constexpr (LANES == 1) {
#pragma unroll
        for (int nth = 0; nth < N::MINE; nth++)
          now[nth].leave(before[chunk].at[nth]);
      }
    }
  }
  /* Goes along the axis, a tile at a time. */
  __device__ __forceinline__ void go_along() {
    const index tile = ROWS ? places() : (index)(READS * N::VECTOR * WARPS) * (index)lanes;
    state all;
    begin(all);
    for (index from = 0; from < places(); from += tile) {
      bring(from);
      if constexpr (LANES == 1) {
        before[0] = all;
        put(from);
        all = before[0];
      } else {
        gather(from);
        follow(all, from);
        put(from);
        if constexpr (WARPS > 1)
          __syncthreads(); /* what warps share was read */
      }
    }
  }
};

/* Blocks that share the axis of some points, a tile each, in the order in which they begin. Each leaves what its tile
 * comes to, takes what the tiles before it have left, of FEW at once and of all before these, and leaves what there
 * is after it: for one that begins such a few, or that has to go on from there. count: of blocks that have begun and that
 * have ended, then marks of what tiles have left; all are zero before and after. */
template <typename S> struct lathe_scan_parts {
  typedef typename S::gathered gathered;
  typedef typename S::room room;
  enum { NOTHING, OWN, ALL };
  /* Where terms lie side by side each lane has a tile; else a thread goes through those of its point. */
  static constexpr unsigned FEW = S::TOGETHER ? room::THREADS : 8;

  unsigned *const count;
  gathered *const left;
  const unsigned group, groups, part, parts; /* group: of points */

  /* What a tile has left of a point: its own or all up to there. */
  __device__ __forceinline__ gathered *place(unsigned of, unsigned what, unsigned column) const {
    return left + ((size_t)(of * groups + group) * 2 + (what == ALL)) * room::COLUMNS + column;
  }
  __device__ __forceinline__ volatile unsigned *mark(unsigned of) const {
    return count + 2 + of * groups + group;
  }
  __device__ __forceinline__ void show(unsigned what) const {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      *mark(part) = what;
  }
  __device__ __forceinline__ void await(bool wanted, unsigned of, unsigned what) const {
    while (wanted && *mark(of) < what) {
    }
    __threadfence();
    __syncthreads();
  }
  /* Finds what is before the tile, for the threads that have columns. */
  __device__ __forceinline__ void look_back(S &scanner) const {
    room &shared = scanner.shared;
    const unsigned first = part - part % FEW, ahead = part - first, thread = threadIdx.x;
    const bool is_last =
        thread == FEW - 1; /* there is no tile for it: it waits for all before these */
    await(thread < ahead || (is_last && first > 0), is_last ? first - 1 : first + thread,
          is_last ? ALL : OWN);
    if constexpr (S::TOGETHER) {
      typename S::state mine, ignored;
      mine.clear();
      if (thread < ahead)
        mine.at[0] = lathe_left_by(place(first + thread, OWN, 0));
      scanner.total.clear();
      scanner.add(mine, ignored);
      if (scanner.nth == 0)
        shared.ahead[scanner.warp] = scanner.total.at[0];
      __syncthreads();
    }
    bool sure = true;
    scanner.at_columns([&](unsigned column) {
      gathered all = shared.before[column];
      if (first > 0)
        all = lathe_left_by(place(first - 1, ALL, column));
      if constexpr (S::TOGETHER) {
#pragma unroll
        for (unsigned of = 0; of < S::WARPS; of++)
          all.merge(shared.ahead[of]);
      } else {
        gathered its[FEW - 1];
        const gathered *const from = place(first, OWN, column);
        const size_t apart = (size_t)groups * 2 * room::COLUMNS;
#pragma unroll
        for (unsigned of = 0; of + 1 < FEW; of++)
          if (of < ahead)
            its[of] = lathe_left_by(from + of * apart);
#pragma unroll
        for (unsigned of = 0; of + 1 < FEW; of++)
          if (of < ahead)
            all.merge(its[of]);
      }
      shared.before[column] = all;
      sure = sure && all.is_sure();
    });
    if constexpr (!S::SURE)
      if (!scanner.all_sure(sure)) {
        await(thread == 0, part - 1, ALL);
        scanner.at_columns([&](unsigned column) {
          shared.before[column] = lathe_left_by(place(part - 1, ALL, column));
        });
      }
  }
  __device__ __forceinline__ void scan(S &scanner) const {
    const typename S::index from = (typename S::index)part * S::TILE;
    typename S::state all;
    const bool last = part + 1 == parts;
    scanner.bring(from);
    scanner.gather(from);
    scanner.begin(all);
    if (!last) {
      scanner.at_columns([&](unsigned column) {
        gathered own;
        own.clear();
        *place(part, OWN, column) = scanner.joined(own, column);
      });
      show(OWN);
    }
    if (part > 0)
      look_back(scanner);
    scanner.follow(all, from);
    if (!last && (!S::SURE || part % FEW == FEW - 1)) {
      scanner.at_columns(
          [&](unsigned column) { *place(part, ALL, column) = scanner.shared.before[column]; });
      show(ALL);
    }
    scanner.put(from);
  }
};

/* How a scan is cut: a point's lanes go along all of its axis; those of a warp that it needs do so (SPREAD); or blocks
 * share it (PARTS). */
enum lathe_scan_cut { LATHE_SCAN_ALONG, LATHE_SCAN_SPREAD, LATHE_SCAN_PARTS };

template <typename N, bool WHOLE, bool ROWS, lathe_scan_cut CUT, unsigned POINTS, unsigned LANES,
          unsigned CHUNKS, unsigned EACH>
static __device__ __forceinline__ void lathe_scan_points(const N &given, char *room,
                                                         unsigned *count, char *left) {
  typedef lathe_scanner<N, WHOLE, ROWS, POINTS, LANES, CHUNKS, EACH> scanner;
  typedef typename N::index index;
  constexpr unsigned STEPS = scanner::STEPS, WITHIN = scanner::WITHIN, WARPS = scanner::WARPS;
  const index points = given.points(), vectors = (index)lathe_times(given.places(), N::VECTOR);
  const unsigned some = vectors > 0 ? (unsigned)vectors : 1;
  const unsigned lanes = CUT == LATHE_SCAN_SPREAD && vectors < WITHIN ? some : WITHIN;
  const unsigned thread = threadIdx.x, lane = thread % 32;
  const unsigned nth = N::TOGETHER ? lane % lanes : thread / POINTS % WITHIN;
  const unsigned warp = N::TOGETHER ? thread / 32 % WARPS : thread / POINTS / WITHIN;
  const unsigned of_warp = 32 / lanes; /* points, where lanes are neighbours */
  const unsigned own = N::TOGETHER ? thread / 32 / WARPS * of_warp + lane / lanes : thread % POINTS;
  const unsigned all = N::TOGETHER ? POINTS * LANES / 32 / WARPS * of_warp : POINTS;
  const bool is_one = !N::TOGETHER || lane / lanes < of_warp;
  index group = 0;
  N step[STEPS];
  bool is_there[STEPS];
  const auto place = [&] {
#pragma unroll
    for (unsigned chunk = 0; chunk < STEPS; chunk++) {
      const index point = (group * STEPS + chunk) * (index)all + own;
      step[chunk] = given;
      is_there[chunk] = is_one && point < points;
      step[chunk].place(is_there[chunk] ? point : 0);
    }
  };
  constexpr unsigned STORED = 32 * sizeof(typename N::widest); /* bytes of a warp's */
  __shared__ __align__(64) char stored[WHOLE ? 16 : POINTS * LANES / 32 * STORED];
  scanner scan(step, is_there, *reinterpret_cast<typename scanner::room *>(room),
               stored + (WHOLE ? 0 : thread / 32 * STORED), lanes, nth, warp, own);
  if constexpr (CUT == LATHE_SCAN_PARTS) {
    const unsigned groups = (unsigned)lathe_times(points, POINTS);
    __shared__ unsigned order;
    static_assert(WARPS > 1, "what is before a tile is shared");
    if (groups == 0)
      return;
    if (thread == 0)
      order = atomicAdd(count, 1);
    __syncthreads();
    const unsigned nth_tile = order;
    group = (index)(nth_tile % groups);
    place();
    lathe_scan_parts<scanner>{count,
                              reinterpret_cast<typename N::gathered *>(left),
                              nth_tile % groups,
                              groups,
                              nth_tile / groups,
                              gridDim.x / groups}
        .scan(scan);
    __syncthreads();
    if (thread == 0)
      order = atomicAdd(count + 1, 1);
    __syncthreads();
    if (order + 1 == gridDim.x)
      for (unsigned at = thread; at < gridDim.x + 2; at += POINTS * LANES)
        count[at] = 0;
  } else {
    const index groups = (index)lathe_times(points, STEPS * all);
    for (group = (index)blockIdx.x; group < groups; group += (index)gridDim.x) {
      place();
      scan.go_along();
    }
  }
}

template <typename N, lathe_scan_cut CUT, unsigned POINTS, unsigned LANES, unsigned CHUNKS,
          unsigned EACH>
static __device__ __forceinline__ void lathe_scan(const lathe_args &args, unsigned *count,
                                                  char *left) {
  typedef lathe_scan_room<N, POINTS, LANES> shared;
  __shared__ __align__(16) char room[shared::WARPS > 1 ? sizeof(shared) : 16];
  const N step(args);
  const bool rows = CUT == LATHE_SCAN_SPREAD && step.places() <= 32 * N::VECTOR;
  if (rows && step.whole)
    lathe_scan_points<N, true, CUT == LATHE_SCAN_SPREAD, CUT, POINTS, LANES, CHUNKS, EACH>(
        step, room, count, left);
  else if (rows)
    lathe_scan_points<N, false, CUT == LATHE_SCAN_SPREAD, CUT, POINTS, LANES, CHUNKS, EACH>(
        step, room, count, left);
  else if (step.whole)
    lathe_scan_points<N, true, false, CUT, POINTS, LANES, CHUNKS, EACH>(step, room, count, left);
  else
    lathe_scan_points<N, false, false, CUT, POINTS, LANES, CHUNKS, EACH>(step, room, count, left);
}

/* arrived: a count for each tile of points, zero before and after; left: room for what blocks leave. */
template <typename N, unsigned POINTS, unsigned LANES>
static __device__ __forceinline__ void lathe_nest(const lathe_args &args, unsigned *arrived,
                                                  char *left) {
  typedef lathe_mine<N> gathered;
  typedef typename N::index index;
  __shared__ __align__(16) char room[LANES > 1 ? sizeof(gathered) * POINTS * LANES / 2 : 16];
  __shared__ unsigned order;
  gathered *const shared = reinterpret_cast<gathered *>(room);
  N step(args);
  const index points = step.points(), terms = step.terms();
  const unsigned tiles = (unsigned)lathe_times(points, POINTS);
  if (tiles == 0)
    return;
  const unsigned tile = blockIdx.x % tiles, part = blockIdx.x / tiles, parts = gridDim.x / tiles;
  const unsigned lane = N::TOGETHER ? threadIdx.x % LANES : threadIdx.x / POINTS;
  const unsigned nth = N::TOGETHER ? threadIdx.x / LANES : threadIdx.x % POINTS;
  const index point = (index)tile * POINTS + nth, each = (index)lathe_times(terms, parts);
  const index from = part * each < terms ? part * each : terms;
  const index to = terms - from < each ? terms : from + each;
  gathered mine;
  mine.clear();
  if (point < points) {
    step.place(point);
    lathe_keep(step);
    lathe_take_terms(step, mine, from + lane, to, (index)LANES);
  }
  lathe_join<N::TOGETHER, POINTS, LANES>(mine, shared, lane, nth);
  if (parts > 1) {
    gathered *const all = reinterpret_cast<gathered *>(left) + (size_t)tile * parts * POINTS + nth;
    if (lane == 0)
      all[part * POINTS] = mine;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      order = atomicAdd(arrived + tile, 1);
    __syncthreads();
    if (order + 1 < parts)
      return;
    __threadfence();
    if (threadIdx.x == 0)
      arrived[tile] = 0;
    mine.clear();
    for (unsigned of = lane; of < parts; of += LANES)
      mine.merge(all[of * POINTS]);
    lathe_join<N::TOGETHER, POINTS, LANES>(mine, shared, lane, nth);
  }
  if (lane == 0 && point < points)
    lathe_finish_points(step, mine);
}

/* A step for the shared points of a block, all of whose threads take part. room, held: of what they gather, and of what
 * they hold for all steps. */
template <typename N, unsigned POINTS, unsigned LANES>
static __device__ __forceinline__ void lathe_one_of(const lathe_args &args, char *room, char *held,
                                                    unsigned lane, unsigned nth) {
  typedef lathe_mine<N> gathered;
  typedef typename N::index index;
  N step(args);
  step.hold_in(held, nth);
  const index point = (index)blockIdx.x * POINTS + nth;
  const bool is_there = point < step.shared();
  if (is_there)
    step.place_shared(point), lathe_keep(step);
  if constexpr (N::HAS_EXTRA) {
    const index extra = step.extra(), terms = step.terms();
    lathe_each_of((index)lane, is_there ? extra : 0, (index)LANES, [&](index at) {
      gathered mine;
      step.place_extra(at);
      if constexpr (N::GATHERS) {
        mine.clear();
        lathe_take_terms(step, mine, (index)0, terms, (index)1);
      }
      lathe_finish_points(step, mine);
    });
  } else {
    gathered mine;
    if constexpr (N::GATHERS) {
      mine.clear();
      if (is_there)
        lathe_take_terms(step, mine, (index)lane, step.terms(), (index)LANES);
      lathe_join<N::TOGETHER, POINTS, LANES>(mine, reinterpret_cast<gathered *>(room), lane, nth);
    }
    if (lane == 0 && is_there)
      lathe_finish_points(step, mine);
  }
  __syncthreads(); /* what it stored the next one reads */
}

/* The room that a thread needs for the step that gathers most. */
template <typename... N> struct lathe_room_of { static constexpr size_t bytes = 1; };
template <typename N, typename... More> struct lathe_room_of<N, More...> {
  static constexpr size_t own = N::GATHERS && !N::HAS_EXTRA ? sizeof(lathe_mine<N>) : 1;
  static constexpr size_t rest = lathe_room_of<More...>::bytes;
  static constexpr size_t bytes = own > rest ? own : rest;
};

/* HELD: where in the memory that the launch gives what is held begins, after what is gathered; -1: nothing is. */
template <unsigned POINTS, unsigned LANES, bool TOGETHER, int HELD, typename... N>
static __device__ __forceinline__ void lathe_fused(const lathe_args &args) {
  constexpr size_t bytes = lathe_room_of<N...>::bytes * POINTS * (LANES > 1 ? LANES / 2 : 1);
  const unsigned lane = TOGETHER ? threadIdx.x % LANES : threadIdx.x / POINTS;
  const unsigned nth = TOGETHER ? threadIdx.x / LANES : threadIdx.x % POINTS;
  if constexpr (HELD < 0) {
    __shared__ __align__(16) char room[bytes];
    (lathe_one_of<N, POINTS, LANES>(args, room, nullptr, lane, nth), ...);
  } else {
    extern __shared__ __align__(1024) uint4 room[];
    static_assert(bytes <= HELD, "what is gathered has room before what is held");
    char *const given = reinterpret_cast<char *>(room);
    (lathe_one_of<N, POINTS, LANES>(args, given, given + HELD, lane, nth), ...);
  }
}

/* A square of points: what is read across comes in rows, and what is written across leaves in rows. */
template <typename N> static __device__ __forceinline__ void lathe_turned(const lathe_args &args) {
  __shared__ typename N::square tile;
  N step(args);
  if (blockIdx.x >= step.squares())
    return;
  step.place_square(blockIdx.x);
  step.bring(tile);
  __syncthreads();
  step.turn(tile);
  __syncthreads();
  step.put(tile);
}

#endif
