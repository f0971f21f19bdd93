/* two_layers.h - two layers that many rows go through, one after the other, by the tensor cores of compute capability
 * 9.0 (wgmma), of factors that the copy engine brings (TMA).
 *
 * A block takes ROWS rows at a time, and stays for further ones. Of these rows it has all terms in shared memory. The
 * first layer's results come HIDDEN at a time: while they are in registers their values are computed, which tensor
 * cores take from there as factors of the second layer, all COLUMNS of whose sums are in registers. Both matrices stay
 * in shared memory where they fit, else they come again for each tile of rows. One thread asks for what is next of
 * both; two groups of four warps have 64 of the rows each.
 *
 * A number between the layers is multiplied as the sum of several elements: within f32's bounds three of bf16 lose no
 * digit, and two of f16 none above 2^-36 (lathe_several). Where it is beyond an element's range the sums are no
 * numbers: such rows are computed by plain arithmetic. */
#ifndef LATHE_TWO_LAYERS_H
#define LATHE_TWO_LAYERS_H

#include "bulk.h"
#include "tensor.h"
#include "tensor_results.h"

/* Numbers as sums of elements. The second of f16, whose least digits would be below f16's range, is this many times as
 * large, and its products have sums of their own. */
template <typename T> struct lathe_several;

#ifdef __CUDA_FP16_TYPES_EXIST__
template <> struct lathe_several<__half> {
  static constexpr int COUNT = 2, SUMS = 2;
  static constexpr float LARGER = 2048;

  /* What is left of a number after its first part. */
  static __device__ __forceinline__ float left(float x, float part, int) {
    return (x - part) * LARGER;
  }
  template <int TILES>
  static __device__ __forceinline__ float sum_of(const float (&sums)[SUMS][TILES][4], int tile,
                                                 int nth) {
    return fmaf(sums[1][tile][nth], 1 / LARGER, sums[0][tile][nth]);
  }
  static __device__ __forceinline__ bool is_lost(float sum) {
    return sum != sum;
  }
};
#endif

#ifdef __CUDA_BF16_TYPES_EXIST__
template <> struct lathe_several<__nv_bfloat16> {
  static constexpr int COUNT = 3, SUMS = 1;

  static __device__ __forceinline__ float left(float x, float part, int) {
    return x - part;
  }
  template <int TILES>
  static __device__ __forceinline__ float sum_of(const float (&sums)[SUMS][TILES][4], int tile,
                                                 int nth) {
    return sums[0][tile][nth];
  }
  /* Of tiny numbers the last parts have fewer digits. */
  static __device__ __forceinline__ bool is_lost(float sum) {
    return !(fabsf(sum) >= 0x1p-100f) && sum != 0;
  }
};
#endif

template <typename First, typename Second, int HIDDEN, int COLUMNS, int AT_ONCE>
struct lathe_two_layers {
  using element = typename First::element;
  using split = lathe_several<element>;
  static constexpr int ROWS = 128, THREADS = 256, TERMS = 64, STEP = 16; /* terms of an mma */
  using rows = lathe_slice<element, ROWS, true, THREADS>;
  using first = lathe_slice<element, HIDDEN, First::B_ALONG_K, 128>;
  using second = lathe_slice<element, COLUMNS, Second::B_ALONG_K, 128>;
  static constexpr int SLOT = rows::CHUNKS, SLOTS = 14 / AT_ONCE; /* of shared memory */
  static constexpr int PARTS = HIDDEN / TERMS, TILES = HIDDEN / 8, LAST_TILES = COLUMNS / 8;
  static constexpr int STAYING = 32; /* the most slices of matrices that stay */
  static_assert(first::CHUNKS <= SLOT && second::CHUNKS <= SLOT, "a slot has any slice");
  using results = lathe_results_of_warp<COLUMNS>;

  /* When slices are there, and when nobody needs them any more. */
  struct ring {
    unsigned long long full[SLOTS + STAYING], empty[SLOTS + STAYING]; /* of rows, of matrices */

    __device__ __forceinline__ void open() {
      if (threadIdx.x < SLOTS + STAYING) {
        lathe_open(full + threadIdx.x, 1);
        lathe_open(empty + threadIdx.x, THREADS / 32);
        lathe_show_barriers();
      }
      __syncthreads();
    }
  };

  /* How many slices and chunks of hidden values there are, and what has how many of the slots. */
  struct plan {
    int slices, chunks, row_slots, slots;
    bool stay;

    __device__ __forceinline__ plan(const First &a, const Second &) {
      slices = (int)lathe_times(a.k_count, TERMS);
      chunks = (int)lathe_times(a.n_count, HIDDEN);
      const int count = chunks * (slices + PARTS);
      const int all = chunks * (slices * first::CHUNKS + PARTS * second::CHUNKS);
      stay = count <= STAYING && all + slices * SLOT <= SLOTS * SLOT;
      row_slots = stay ? SLOTS - (all + SLOT - 1) / SLOT : slices;
      slots = stay ? count : SLOTS - slices;
    }
  };

  /* The slot whose turn it is, where that begins, and how often all were gone round, odd or even: never of those that
   * stay. */
  struct turn {
    int slot = 0, at = 0;
    unsigned parity = 0;

    __device__ __forceinline__ void next(int slots, int each, bool stay) {
      at += each;
      if (++slot == slots) {
        slot = at = 0;
        parity ^= !stay;
      }
    }
  };

  /* Has all that the block needs brought, in the order in which it does. */
  static __device__ __forceinline__ void fetch(const First &a, const Second &b, uint4 *room,
                                               ring &r, const plan &p, const lathe_map &map_rows,
                                               const lathe_map &map_first,
                                               const lathe_map &map_second) {
    uint4 *const matrices = room + p.row_slots * SLOT;
    turn row, matrix;
    auto begin = [&](int slot, const turn &t, int chunks) {
      lathe_await_phase(r.empty + slot, t.parity ^ 1);
      lathe_arrive_before(r.full + slot, chunks * 16);
      return r.full + slot;
    };
    bool is_first = true;
    for (size_t m = (size_t)blockIdx.x * ROWS; m < a.m_count; m += (size_t)gridDim.x * ROWS) {
      const bool again = is_first || !p.stay;
      for (int n = 0; n < p.chunks; n++) {
        for (int k = 0; k < p.slices; k++) {
          if (n == 0) {
            unsigned long long *const full = begin(row.slot, row, SLOT);
            a.template fetch_a<ROWS>(room + row.at, map_rows, (int)m, k * TERMS, full);
            row.next(p.row_slots, SLOT, false);
          }
          if (again) {
            unsigned long long *const full = begin(SLOTS + matrix.slot, matrix, first::CHUNKS);
            a.template fetch_b<HIDDEN>(matrices + matrix.at, map_first, n * HIDDEN, k * TERMS,
                                       full);
            matrix.next(p.slots, p.stay ? first::CHUNKS : SLOT, p.stay);
          }
        }
        for (int part = 0; part < PARTS && again; part++) {
          unsigned long long *const full = begin(SLOTS + matrix.slot, matrix, second::CHUNKS);
          b.template fetch_b<COLUMNS>(matrices + matrix.at, map_second, 0,
                                      n * HIDDEN + part * TERMS, full);
          matrix.next(p.slots, p.stay ? second::CHUNKS : SLOT, p.stay);
        }
      }
      is_first = false;
    }
  }

  static __device__ __forceinline__ int lane() {
    return (int)threadIdx.x % 32;
  }
  /* The first or second of a thread's rows in the tile. */
  static __device__ __forceinline__ int row_of(int half) {
    return (int)threadIdx.x / 32 * 16 + half * 8 + lane() / 4;
  }

  template <int COUNT> static __device__ __forceinline__ void clear(float (&sums)[COUNT][4]) {
#pragma unroll
    for (int tile = 0; tile < COUNT; tile++)
#pragma unroll
      for (int nth = 0; nth < 4; nth++)
        sums[tile][nth] = 0;
  }

  /* The parts of hidden values from column n on, of the group's rows, as tensor cores take them. WHOLE: they are all
   * there. */
  template <bool WHOLE>
  static __device__ __forceinline__ void make_hidden(const First &a, const float (&sums)[TILES][4],
                                                     unsigned (&parts)[split::COUNT][TILES / 2][4],
                                                     size_t m, size_t n) {
    First known = a;
    known.whole_values = WHOLE || a.whole_values;
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const float two[2] = {sums[tile][half * 2], sums[tile][half * 2 + 1]};
        const size_t row = m + row_of(half), column = n + tile * 8 + lane() % 4 * 2;
        const long long there = WHOLE ? 2 : (long long)a.n_count - (long long)column;
        float hidden[2] = {0, 0};
        if (WHOLE || (row < a.m_count && there > 0))
          known.finish_layer(row, column, two, there, hidden);
        if (!WHOLE && there < 2)
          hidden[1] = 0;
#pragma unroll
        for (int part = 0; part < split::COUNT; part++) {
          const unsigned word = lathe_round_two((const element *)nullptr, hidden[0], hidden[1]);
          lathe_pack<element, 2> pack;
          memcpy(&pack, &word, sizeof pack);
          parts[part][tile / 2][tile % 2 * 2 + half] = word;
          hidden[0] = split::left(hidden[0], lathe_number(pack, 0), part);
          hidden[1] = split::left(hidden[1], lathe_number(pack, 1), part);
        }
      }
  }

  /* The results of one row by plain arithmetic: hidden values by a thread each, which all of a warp then multiply. */
  static __device__ __forceinline__ void mend(const First &a, const Second &b, size_t row) {
    float sums[(COLUMNS + 31) / 32] = {};
#pragma unroll 1
    for (size_t first_of = 0; first_of < a.n_count; first_of += 32) {
      const size_t n = first_of + lane();
      float sum[2] = {0, 0}, hidden[2] = {0, 0};
      if (n < a.n_count) {
#pragma unroll 1
        for (size_t k = 0; k < a.k_count; k++)
          sum[0] = fmaf(float(*a.from_a(row, k)), float(*a.from_b(n, k)), sum[0]);
        a.finish_layer(row, n, sum, 1, hidden);
      }
#pragma unroll 1
      for (int nth = 0; nth < 32 && first_of + nth < a.n_count; nth++) {
        const float of = __uint_as_float(__shfl_sync(0xffffffff, __float_as_uint(hidden[0]), nth));
#pragma unroll
        for (int each = 0; each < (COLUMNS + 31) / 32; each++)
          if (lane() + each * 32 < b.n_count)
            sums[each] = fmaf(of, float(*b.from_b(lane() + each * 32, first_of + nth)), sums[each]);
      }
    }
#pragma unroll
    for (int each = 0; each < (COLUMNS + 31) / 32; each++) {
      const float some[4] = {sums[each], 0, 0, 0};
      if (lane() + each * 32 < b.n_count)
        b.finish(row, lane() + each * 32, some, 1);
    }
  }

  /* Multiplies what is brought, and stores the results. */
  static __device__ __forceinline__ void compute(const First &a, const Second &b, uint4 *room,
                                                 ring &r, const plan &p) {
    const uint4 *const matrices = room + p.row_slots * SLOT;
    const int group = lathe_rows_of_group();
    turn first_row, matrix;
    auto give_back = [&](int slot) {
      if (slot >= 0 && lane() == 0)
        lathe_arrive(r.empty + slot);
    };
    for (size_t m = (size_t)blockIdx.x * ROWS; m < a.m_count; m += (size_t)gridDim.x * ROWS) {
      float sums[split::SUMS][LAST_TILES][4];
      turn row;
      int last_row = 0; /* its slot stays the block's for results */
#pragma unroll
      for (int nth = 0; nth < split::SUMS; nth++)
        clear(sums[nth]);
      for (int n = 0; n < p.chunks; n++) {
        const bool is_last = n == p.chunks - 1;
        float hidden[TILES][4];
        unsigned parts[split::COUNT][TILES / 2][4];
        int slice_before = -1, row_before = -1;
        clear(hidden);
        row = first_row;
        for (int k = 0; k < p.slices; k++) {
          if (n == 0)
            lathe_await_phase(r.full + row.slot, row.parity);
          lathe_await_phase(r.full + SLOTS + matrix.slot, matrix.parity);
          lathe_begin_mma();
#pragma unroll
          for (int term = 0; term < TERMS; term += STEP)
            lathe_group_mma<HIDDEN, true, First::B_ALONG_K>(
                (const element *)nullptr, hidden, room + row.at, rows::line_of(group, term),
                matrices + matrix.at, first::line_of(0, term));
          lathe_end_mma();
          lathe_await_mma<1>(hidden);
          give_back(slice_before);
          give_back(row_before);
          slice_before = p.stay ? -1 : SLOTS + matrix.slot;
          row_before = is_last && k < p.slices - 1 ? row.slot : -1;
          last_row = row.slot;
          row.next(p.row_slots, SLOT, false);
          matrix.next(p.slots, p.stay ? first::CHUNKS : SLOT, p.stay);
        }
        lathe_await_mma<0>(hidden);
        give_back(slice_before);
        give_back(row_before);
        if (m + ROWS <= a.m_count && (size_t)(n + 1) * HIDDEN <= a.n_count && a.whole_values)
          make_hidden<true>(a, hidden, parts, m, (size_t)n * HIDDEN);
        else
          make_hidden<false>(a, hidden, parts, m, (size_t)n * HIDDEN);
        const turn before = matrix;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
          lathe_await_phase(r.full + SLOTS + matrix.slot, matrix.parity);
          lathe_begin_mma();
#pragma unroll
          for (int term = 0; term < TERMS; term += STEP)
#pragma unroll
            for (int nth = 0; nth < split::COUNT; nth++)
              lathe_group_mma_of_threads<COLUMNS, Second::B_ALONG_K>(
                  (const element *)nullptr, sums[nth % split::SUMS],
                  parts[nth][(part * TERMS + term) / STEP], matrices + matrix.at,
                  second::line_of(0, term));
          lathe_end_mma();
          matrix.next(p.slots, p.stay ? second::CHUNKS : SLOT, p.stay);
        }
#pragma unroll
        for (int nth = 0; nth < split::SUMS; nth++)
          lathe_await_mma<0>(sums[nth]);
        turn done = before;
        for (int part = 0; part < PARTS && !p.stay; part++) {
          give_back(SLOTS + done.slot);
          done.next(p.slots, SLOT, false);
        }
      }
      first_row = row;
      const size_t first_of = m + threadIdx.x / 32 * 16;
      uint4 *const lines =
          reinterpret_cast<uint4 *>(room + last_row * SLOT) + threadIdx.x / 32 * (SLOT / 8);
      unsigned lost = 0;
#pragma unroll
      for (int tile = 0; tile < LAST_TILES; tile++)
#pragma unroll
        for (int nth = 0; nth < 4; nth++) {
          sums[0][tile][nth] = split::sum_of(sums, tile, nth);
          lost |= (unsigned)split::is_lost(sums[0][tile][nth]) << (nth / 2 * 8 + lane() / 4);
        }
      lost = __reduce_or_sync(0xffffffff, lost);
      if (m + ROWS <= b.m_count && b.n_count == COLUMNS && b.whole_values && lost == 0)
        results::template finish<true>(b, sums[0], lines, first_of, 0, 0);
      else
        results::template finish<false>(b, sums[0], lines, first_of, 0, lost);
      lathe_show_tensor_cores();
      __syncwarp();
      give_back(last_row);
#pragma unroll 1
      for (int nth = 0; lost >> nth; nth++)
        if (lost >> nth & 1 && first_of + nth < a.m_count)
          mend(a, b, first_of + nth);
    }
  }

  static __device__ __forceinline__ void run(const First &a, const Second &b, uint4 *room, ring &r,
                                             const lathe_map &map_rows, const lathe_map &map_first,
                                             const lathe_map &map_second) {
    const plan p(a, b);
    r.open();
    if (threadIdx.x >= THREADS) {
      lathe_leave_registers<AT_ONCE == 1 ? 40 : 24>();
      if (threadIdx.x == THREADS)
        fetch(a, b, room, r, p, map_rows, map_first, map_second);
    } else {
      lathe_take_registers<AT_ONCE == 1 ? 232 : 104>();
      compute(a, b, room, r, p);
    }
  }
};

#endif
