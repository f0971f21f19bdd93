/* nest_scan.h - scans of a nest: a point's places go by vectors that a warp's lanes, a block's warps, or several blocks
 * merge in order.
 *
 * A step of scans has in the place of take and finish what is done on the way, at VECTOR places from one on, of each
 * of a thread's points:
 *   places()                    how many there are
 *   taken, going                what a thread gathers of a part of a point, and what that has come to on the way
 *                               (lathe_part, lathe_going)
 *   SURE                        whether what is merged is what terms in turn come to; else gathered says by is_sure()
 *   read_places<whole>(read, nth), store_places<whole>(made, nth, is_there, room)   room: for the `widest` of what is
 *                               stored of a warp, all of which takes part
 *   gather<whole>(taken, read, nth), go<whole>(now, made, read, nth)   takes them, and makes what is stored there */
#ifndef LATHE_NEST_SCAN_H
#define LATHE_NEST_SCAN_H

#include "nest.h"
#include "scan_kinds.h"

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
  /* Not by lathe_store: kernels of scans would have up to 16 registers more. */
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

#endif
