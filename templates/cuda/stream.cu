//@ if first then
/* Two products and reductions between them, in one launch (stream.h). Limited by arithmetic: of each row of a tile
 * 2 * (terms + columns) operations for each key, and a power. */
#include "stream.h"
#include "stream_fetched.h"

//@ end
//@ local P = use "parts.cu"
//@ local S = use "../c/contract_step.c"
//@ local T = use "contract_step.cu"
//@ local K = use "contract_kernel.cu"
//@ local Masks = use "../c/stream_masks.c"
//@ local record = k.record
//@ local first, second = k.steps[1], k.steps[2]
//@ for i, step in ipairs(k.steps) do
//@ T.define(step, schedule.steps[i], P, schedule.fetches)
//@ end
//@ if record.peak then
//@ P.define(first.powers.point)
//@ end
//@ local place_of = {}
//@ for i, value in ipairs(first.of.values) do
//@   place_of[value.operand.name] = i - 1
//@ end
//@ -- What a name comes to at a point, times the power there; "1" for one that is none.
//@ local function at_point(name, powered)
//@   local list = {}
//@   list[#list + 1] = powered and "power" or nil
//@   list[#list + 1] = place_of[name] and "of[" .. place_of[name] .. "]" or nil
//@   return #list > 0 and table.concat(list, " * ") or "number(1)"
//@ end
//@ local has = { fields = "at.", loop = "c.", rows = "c.m_count", keys = "c.n_count" }
//@ local rows = part.stem .. "_rows"
//@ local results = #first.of.values
/* What is gathered of rows between the products. */
struct $rows$ {
  using number = $k.number$;
  static constexpr bool PEAK = $(tostring(record.peak ~= nil)), POWERED = $(tostring(record.powered));
  static constexpr bool FREE = $(tostring(first.restricted ~= nil));
  static constexpr int RESULTS = $results$, SUMS = $(#record.sums);

  template <bool FREE_OF_MASKS = false, int COUNT, int NUMBERS>
  static __device__ __forceinline__ void results(const $first.name$ &c, size_t m, size_t n, const number (&sums)[COUNT],
      long long there, number (&to)[NUMBERS][COUNT]) {
    //@ local given = {}
    //@ for i = 1, results do
    //@   given[i] = ", to[" .. i - 1 .. "]"
    //@ end
    //@ if results > 0 then
    //@ if first.free then
    if constexpr (FREE_OF_MASKS)
      return c.finish_free(m, n, sums, there$(table.concat(given)));
    //@ end
    c.finish_layer(m, n, sums, there$(table.concat(given)));
    //@ end
  }
  /* Where some rows lie along axes, and what masks by places are made of besides. */
  struct rows_at {
    //@ Masks.fields()

    __device__ __forceinline__ rows_at(const $first.name$ &c, size_t m, int rows) {
      [[maybe_unused]] const lathe_args *args = c.args;
      //@ Masks.rows_of { fields = "", loop = "c.", rows = "c.m_count" }
    }
  };
  /* Whether no key of a tile counts in any of its rows, and whether all do by their places. */
  static __device__ __forceinline__ bool skips(const rows_at &at, const $first.name$ &c, size_t n, int keys) {
    //@ if first.largest then
    //@ Masks.skips(has)
    //@ else
    (void)at, (void)c, (void)n, (void)keys;
    return false;
    //@ end
  }
  static __device__ __forceinline__ bool is_free(const rows_at &at, const $first.name$ &c, size_t n, int keys) {
    //@ if first.restricted then
    //@ Masks.is_free(has)
    //@ else
    (void)at, (void)c, (void)n, (void)keys;
    return false;
    //@ end
  }
  static __device__ __forceinline__ number power(number x, number peak) {
    //@ if record.peak then
    $(first.powers.k:uniforms("call"))
    //@ P.call(first.powers.point, function(x) return x.name == "power" and "x" or "peak" end)
    return powers_;
    //@ else
    return x - peak;
    //@ end
  }
  template <int SOME> static __device__ __forceinline__ void scale(number (&sums)[SOME], number by) {
    //@ for i, sum in ipairs(record.sums) do
    //@ if sum.powered then
    sums[$(i - 1)] *= by;
    //@ end
    //@ end
  }
  template <int SOME, int NUMBERS>
  static __device__ __forceinline__ void take(number (&sums)[SOME], number power, const number (&of)[NUMBERS]) {
    //@ for i, sum in ipairs(record.sums) do
    sums[$(i - 1)] += $(at_point(sum.name, sum.powered));
    //@ end
  }
  static __device__ __forceinline__ void finish_rows(const $second.name$ &c, size_t m) {
    //@ if second.rows then
    c.finish_rows(m);
    //@ else
    (void)c, (void)m;
    //@ end
  }
  template <int NUMBERS>
  static __device__ __forceinline__ number factor(number power, const number (&of)[NUMBERS]) {
    return $(at_point("weight", record.powered));
  }
};

//@ local loops, places = S.loops_of(first), {}
//@ local types = {
//@   stream = { "bm", "keys", "bn", "bk", "tm", "tn_first", "tn" }, tensor_stream = { "warps", "depth_of_first", "bn" },
//@   fetched_stream = { "groups", "depth_of_first", "bn", "keys" },
//@ }
//@ local function define(shape)
//@ local list = { first.name, second.name, rows }
//@ for i, field in ipairs(types[shape.sums]) do
//@   list[3 + i] = tostring(shape[field])
//@ end
//@ local maps = shape.maps and ", const __grid_constant__ lathe_map rows, const __grid_constant__ lathe_map keys, const __grid_constant__ lathe_map values" or ""
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$)
    $part.stem$_step1$shape.name$(const __grid_constant__ lathe_args given$maps$) {
  typedef lathe_$shape.sums$<$(table.concat(list, ", "))> stream;
  const lathe_args *args = &given;
  extern __shared__ __align__(1024) uint4 room[];
  static_assert(stream::BYTES <= $shape.shared$, "a block has that much");
  //@ if shape.maps then
  __shared__ stream::ring ring;
  //@ end
  $first.name$ step1(given);
  $second.name$ step2(given);
  //@ for i, run in ipairs(loops) do
  //@ places[i] = "loop" .. i
  const size_t loops$i$ = $(S.size(run));
  //@ end
  //@ local matrices = T.times(#loops, "loops")
  //@ local columns = second.rows and "(step2.n_count > 0 ? step2.n_count : 1)" or "step2.n_count"
  if (step2.m_count == 0 || $columns$ == 0 || $matrices$ == 0)
    return;
  const lathe_work work($shape.bm$, $shape.bn$, step2.m_count, $columns$, $matrices$);
  //@ K.matrix_of(loops)
  //@ local m = "work.m"
  //@ if first.largest then
  //@ m = "m"
  /* Of masks by places the last rows most often have most keys: those begin first. */
  const size_t m = (lathe_times(step2.m_count, $shape.bm$) - 1) * $shape.bm$ - work.m;
  //@ end
  step1.place($(table.concat(places, ", ")));
  step2.place($(table.concat(places, ", ")));
  stream::run(step1, step2, room, $(shape.maps and "ring, " or "")$m$, work.n$(shape.maps and ", rows, keys, values" or ""));
}

//@ end
//@ -- The kernels that all of the compilers have, or those of wgmma.
//@ local function kernels(groups)
//@ local made = {}
//@ for _, v in ipairs(variants) do
//@ for _, shape in ipairs(v.shape.shapes) do
//@ if not made[shape.name] and (shape.architecture ~= nil) == groups then
//@ made[shape.name] = true
//@ define(shape)
//@ end
//@ end
//@ end
//@ end
//@ if schedule.fetches then
#ifndef LATHE_CLUSTERS_ALONE
//@ end
//@ kernels(false)
//@ if schedule.fetches then
#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
//@ kernels(true)
#endif
//@ end
