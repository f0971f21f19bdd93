//@ if first then
/* Products of operands whose results are reduced over their rows or columns alone (gen/program/stream.lua): a launch
 * for each pass (stream.h). Limited by arithmetic: of each row of a tile 2 operations for each key and term of each
 * product, and a power. */
#include "stream.h"
#include "stream_fetched.h"

//@ end
//@ local P = use "parts.cu"
//@ local S = use "../c/contract_step.c"
//@ local T = use "contract_step.cu"
//@ local K = use "contract_kernel.cu"
//@ local Masks = use "../c/stream_masks.c"
//@ for i, step in ipairs(k.steps) do
//@ T.define(step, schedule.steps[i], P, schedule.is_tensor)
//@ end
//@ local function list_of(steps)
//@   local names = {}
//@   for i, step in ipairs(steps) do
//@     names[i] = step.name
//@   end
//@   return "lathe_list<" .. table.concat(names, ", ") .. ">"
//@ end
//@ -- What is gathered of rows between the products of a pass: a struct of that name.
//@ local function define_rows(pass, rows)
//@ local of, first = pass.of, pass.inner
//@ local place_of, results = {}, #of.values
//@ for i, value in ipairs(of.values) do
//@   place_of[value.operand.name] = i - 1
//@ end
//@ -- What a name comes to at a point, times the power there; "1" for one that is none.
//@ local function at_point(name, powered)
//@   local list = {}
//@   list[#list + 1] = powered and "power" or nil
//@   list[#list + 1] = place_of[name] and "of[" .. place_of[name] .. "]" or nil
//@   return #list > 0 and table.concat(list, " * ") or "number(1)"
//@ end
//@ local has = {
//@   fields = "at.", loop = "c.", rows = "c.m_count", keys = "c.n_count", by_warp = true, language = T.language,
//@   ends = "of.",
//@ }
//@ if of.peak then
//@ P.define(first.powers.point)
//@ end
struct $rows$ {
  using number = $k.number$;
  static constexpr bool PEAK = $(tostring(of.peak ~= nil)), FREE = $(tostring(first.restricted ~= nil));
  static constexpr bool MASKED = FREE || $(tostring(first.rules_out ~= nil));
  static constexpr int FIRSTS = $(#pass.firsts), RESULTS = $results$, SUMS = $(#of.sums), LASTS = $(#pass.lasts);

  //@ local powered = {}
  //@ for i, last in ipairs(of.lasts) do
  //@   powered[i] = ("last == %d ? %s : "):format(i - 1, tostring(last.powered))
  //@ end
  static __device__ __forceinline__ constexpr bool powered(int last) {
    (void)last;
    return $(table.concat(powered))false;
  }
  using row_found = typename $first.name$::row_found;
  template <int COUNT> using keys_found = typename $first.name$::template keys_found<COUNT>;

  template <bool FREE_OF_MASKS = false, bool WHOLE = false, bool ALIGNED = false, int COUNT, int NUMBERS>
  static __device__ __forceinline__ void results(const $first.name$ &c, const row_found &row,
      const keys_found<COUNT> &keys, size_t m, size_t n, const number (&sums)[FIRSTS][COUNT], long long there,
      number (&to)[NUMBERS][COUNT]) {
    //@ local given = {}
    //@ for i = 1, results do
    //@   given[i] = ", to[" .. i - 1 .. "]"
    //@ end
    //@ if results > 0 then
    //@ if first.free then
    if constexpr (FREE_OF_MASKS)
      return c.finish_free<WHOLE, ALIGNED>(row, keys, m, n, sums, there$(table.concat(given)));
    //@ end
    c.finish_layer<WHOLE, ALIGNED>(row, keys, m, n, sums, there$(table.concat(given)));
    //@ end
  }
  /* Where some rows lie along axes, and what masks by places are made of besides. */
  struct rows_at {
    //@ Masks.fields(first)

    __device__ __forceinline__ rows_at(const $first.name$ &c, size_t m, int rows) {
      [[maybe_unused]] const lathe_args *args = c.args;
      //@ Masks.rows_of(first, { fields = "", loop = "c.", rows = "c.m_count", by_warp = true, language = T.language })
    }
  };
  /* What masks ask of a tile's keys, whatever its rows are. */
  struct keys_at {
    //@ Masks.key_fields(first)
  };
  static __device__ __forceinline__ keys_at look(const $first.name$ &c, size_t n, int keys) {
    [[maybe_unused]] const lathe_args *args = c.args;
    keys_at of;
    (void)n, (void)keys;
    //@ Masks.keys_of(first, has)
    return of;
  }
  /* Whether no key of a tile counts in any of its rows, and whether all do by their places. */
  static __device__ __forceinline__ bool skips(const rows_at &at, const keys_at &of, const $first.name$ &c, size_t n,
      int keys) {
    //@ if first.rules_out then
    [[maybe_unused]] const lathe_args *args = c.args;
    (void)of;
    //@ Masks.skips(first, has)
    return skips;
    //@ else
    (void)at, (void)of, (void)c, (void)n, (void)keys;
    return false;
    //@ end
  }
  static __device__ __forceinline__ bool is_free(const rows_at &at, const keys_at &of, const $first.name$ &c, size_t n,
      int keys) {
    //@ if first.restricted then
    [[maybe_unused]] const lathe_args *args = c.args;
    (void)of;
    //@ Masks.is_free(first, has)
    return is_free;
    //@ else
    (void)at, (void)of, (void)c, (void)n, (void)keys;
    return false;
    //@ end
  }
  static __device__ __forceinline__ number power(number x, number peak) {
    //@ if of.peak then
    $(first.powers.k:uniforms("call"))
    //@ P.call(first.powers.point, function(x) return x.name == "power" and "x" or "peak" end)
    return powers_;
    //@ else
    return x - peak;
    //@ end
  }
  template <int SOME> static __device__ __forceinline__ void scale(number (&sums)[SOME], number by) {
    //@ for i, sum in ipairs(of.sums) do
    //@ if sum.powered then
    sums[$(i - 1)] *= by;
    //@ end
    //@ end
  }
  template <int SOME, int NUMBERS>
  static __device__ __forceinline__ void take(number (&sums)[SOME], number power, const number (&of)[NUMBERS]) {
    //@ for i, sum in ipairs(of.sums) do
    sums[$(i - 1)] += $(at_point(sum.name, sum.powered));
    //@ end
  }
  static __device__ __forceinline__ void finish_rows(const $first.name$ &c, size_t m) {
    //@ if first.rows then
    c.finish_rows(m);
    //@ else
    (void)c, (void)m;
    //@ end
  }
  template <int LAST, int NUMBERS>
  static __device__ __forceinline__ number factor(number power, const number (&of)[NUMBERS]) {
    //@ for i, last in ipairs(of.lasts) do
    if constexpr (LAST == $(i - 1))
      return $(at_point(last.weight, last.powered));
    //@ end
    return 0;
  }
};

//@ end
//@ local types = {
//@   stream = { "bm", "keys", "bn", "bk", "tm", "tn_first", "tn" },
//@     tensor_stream = { "warps", "tiles", "depth_of_first", "bn", "split" },
//@   fetched_stream = { "groups", "depth_of_first", "bn", "keys" },
//@ }
//@ -- A pass's kernel in some shape. rows: the struct of what it gathers.
//@ local function define(pass, nth, rows, shape)
//@ local list = { list_of(pass.firsts), list_of(pass.lasts), rows }
//@ for i, field in ipairs(types[shape.sums]) do
//@   list[3 + i] = tostring(shape[field])
//@ end
//@ local maps, given = {}, {}
//@ for i in ipairs(shape.maps or {}) do
//@   maps[i], given[i] = ", const __grid_constant__ lathe_map map" .. i, "&map" .. i
//@ end
//@ local first = pass.inner
//@ local loops, places = S.loops_of(first), {}
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$)
    $part.stem$_step$nth$$shape.name$(const __grid_constant__ lathe_args given$(table.concat(maps))) {
  lathe_begin();
  typedef lathe_$shape.sums$<$(table.concat(list, ", "))> stream;
  const lathe_args *args = &given;
  extern __shared__ __align__(1024) uint4 room[];
  static_assert(stream::BYTES <= $shape.shared$ && stream::LEFT == $shape.numbers$, "a block has and leaves that much");
  //@ if shape.maps then
  __shared__ stream::ring ring;
  const lathe_map *const maps[] = {$(table.concat(given, ", "))};
  //@ end
  //@ -- A list's steps, all of the call.
  //@ local function steps_of(list)
  //@   local made = "{}"
  //@   for i = #list, 1, -1 do
  //@     made = ("{%s(given), %s}"):format(list[i].name, made)
  //@   end
  //@   return made
  //@ end
  stream::firsts firsts = $(steps_of(pass.firsts));
  stream::lasts lasts = $(steps_of(pass.lasts));
  auto &inner = firsts.at<$(#pass.firsts - 1)>();
  //@ for i, run in ipairs(loops) do
  //@ places[i] = "loop" .. i
  const size_t loops$i$ = $(S.size(run));
  //@ end
  //@ local matrices = T.times(#loops, "loops")
  size_t columns = $(#pass.lasts > 0 and not first.rows and "0" or "1");
  //@ for i in ipairs(pass.lasts) do
  columns = lathe_most(columns, lasts.at<$(i - 1)>().n_count);
  //@ end
  if (inner.m_count == 0 || columns == 0 || $matrices$ == 0)
    return;
  const lathe_work work($shape.bm$, $shape.bn$, inner.m_count, columns, $matrices$);
  //@ K.matrix_of(loops)
  //@ local m = "work.m"
  //@ if first.rules_out then
  //@ m = "m"
  /* Of masks by places the last rows most often have most keys: those begin first. */
  const size_t m = (lathe_times(inner.m_count, $shape.bm$) - 1) * $shape.bm$ - work.m;
  //@ end
  //@ for _, kind in ipairs { "firsts", "lasts" } do
  //@ for i in ipairs(pass[kind]) do
  $kind$.at<$(i - 1)>().place($(table.concat(places, ", ")));
  //@ end
  //@ end
  const lathe_stream_tile<$k.number$> block(work, $m$, inner.n_count, $shape.keys$, (unsigned *)args->workspace, ($k.number$ *)((char *)args->workspace + $(T.partials())));
  stream::run(firsts, lasts, room, $(shape.maps and "ring, " or "")block$(shape.maps and ", maps" or ""));
}

//@ end
//@ -- The kernels of all passes that all of the compilers have, or those of wgmma.
//@ local function kernels(groups)
//@ local made = {}
//@ for _, v in ipairs(variants) do
//@ for nth, pass in ipairs(k.passes) do
//@ for _, shape in ipairs(v.shape.shapes[nth]) do
//@ local name = nth .. shape.name
//@ if not made[name] and (shape.architecture ~= nil) == groups then
//@ made[name] = true
//@ define(pass, nth, pass.inner.name .. "_rows", shape)
//@ end
//@ end
//@ end
//@ end
//@ end
//@ for _, pass in ipairs(k.passes) do
//@ define_rows(pass, pass.inner.name .. "_rows")
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
