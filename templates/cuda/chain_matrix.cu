//@ if first then
/* Layers, of which each row of a batch goes through all (gen/program/chain.lua), in one launch, by tensor cores
 * (tensor_layers.h). All sums over the batch follow in another (totals.h). */
//@ end
//@ local P = use "parts.cu"
//@ local S = use "../c/contract_step.c"
//@ local T = use "contract_step.cu"
//@ if first then
#include "tensor_layers.h"
#include "totals.h"
//@ if #schedule.pairs > 0 then
#include "two_layers.h"
//@ end

//@ end
//@ for i, step in ipairs(k.steps) do
//@ T.define(step, schedule.steps[i], P, #schedule.pairs > 0)
//@ end
//@ local function type_of(tile)
//@   return tile.kept and k.number or k.storage
//@ end
//@ -- What a factor's numbers are multiplied as, by its record and whether a shape rounds.
//@ local function factor_of(factor, rounds)
//@   return factor.exact and "LATHE_AS_IT_IS" or rounds and "LATHE_ROUNDED" or "LATHE_HALVED"
//@ end
//@ -- The kernel of a shape, for a cluster's blocks or for one alone.
//@ local function define(shape, ending, blocks)
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$)
    $part.stem$_step1$shape.name$$ending$(const __grid_constant__ lathe_args given) {
  lathe_begin();
  typedef lathe_tensor_layers<$k.storage$, $shape.bm$, $shape.columns$, $shape.warps_m$, $shape.warps_n$, $shape.stages$> layers;
  extern __shared__ __align__(1024) uint4 room[];
  layers all(room, $blocks$);
  const size_t m = (size_t)(blockIdx.x >> all.shift) * $shape.bm$;
  //@ for _, i in ipairs(schedule.layers) do
  $(k.steps[i].name) step$i$(given);
  step$i$.place();
  //@ end
  //@ local last
  //@ for t, tile in ipairs(schedule.tiles) do
  //@ local places = S.size(tile.run):gsub("args%->", "given.")
  $(type_of(tile)) *const tile$t$ = reinterpret_cast<$(type_of(tile)) *>($(last or "all.tiles"));
  const int line$t$ = layers::line_of($places$);
  //@ last = ("tile%d + %d * line%d"):format(t, shape.bm, t)
  //@ end
  //@ if blocks ~= "1" then
  lathe_cluster_arrive();
  //@ end
  //@ local copied = {}
  //@ for _, i in ipairs(schedule.layers) do
  //@ local tile = schedule.steps[i].layer.tile
  //@ if not tile.kept and not copied[tile] then
  //@ copied[tile] = true
  all.copy_rows(step$i$, tile$tile.number$, m);
  //@ end
  //@ end
  //@ if shape.stages == 0 then
  $k.storage$ *const matrix1 = reinterpret_cast<$k.storage$ *>($last$);
  //@ for nth, i in ipairs(schedule.layers) do
  //@ if nth > 1 then
  $k.storage$ *const matrix$nth$ = matrix$(nth - 1) + all.room_of(step$(schedule.layers[nth - 1]));
  //@ end
  all.copy_matrix(step$i$, matrix$nth$);
  lathe_end_group();
  //@ end
  auto more = [] {};
  //@ else
  auto more = [&]() {
    bool copied = false;
    //@ for nth, i in ipairs(schedule.layers) do
    if (!copied)
      copied = all.copy_slice(step$i$, $(nth - 1));
    //@ end
    lathe_end_group();
  };
  for (int nth = 0; nth < $(shape.stages - 1); nth++)
    more();
  //@ end
  //@ if blocks ~= "1" then
  lathe_cluster_wait();
  //@ end
  //@ for nth, i in ipairs(schedule.layers) do
  //@ local layer, step = schedule.steps[i].layer, k.steps[i]
  //@ local left, given = {}, {}
  //@ for _, value in ipairs(step.of.values) do
  //@   local tile = layer.next[value.operand.name]
  //@   left[#left + 1] = tile and { tile = tile, name = value.operand.name }
  //@   given[#given + 1] = tile and ", " .. value.operand.name
  //@ end

  //@ if shape.stages == 0 then
  lathe_await_groups<$(#schedule.layers - nth)>();
  __syncthreads();
  //@ end
  all.template layer<$(factor_of({}, shape.rounds and not k.chain.decides[i]))>(step$i$, tile$layer.tile.number$, $(shape.stages == 0 and "matrix" .. nth or "nullptr"), more, [&](int row, size_t n, const $k.number$ (&sums)[2]) {
    const long long there = (long long)step$i$.n_count - (long long)n;
    //@ for _, of in ipairs(left) do
    $k.number$ $of.name$[2] = {0, 0};
    //@ end
    if (m + row < step$i$.m_count && there > 0)
      step$i$.finish_layer(m + row, n, sums, there$(table.concat(given)));
    //@ for _, of in ipairs(left) do
    all.leave(tile$of.tile.number$, line$of.tile.number$, row, n, step$i$.n_count, $of.name$);
    //@ end
  });
  //@ if #left > 0 and blocks ~= "1" then
  lathe_cluster_arrive();
  lathe_cluster_wait();
  //@ end
  //@ end
  lathe_await_groups<0>();
}

//@ end
//@ -- The kernel of two layers that take turns.
//@ local function define_pair(shape)
//@ local first, second = k.steps[1].name, k.steps[2].name
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$)
    $part.stem$_step1$shape.name$(const __grid_constant__ lathe_args given, const __grid_constant__ lathe_map rows,
        const __grid_constant__ lathe_map matrix1, const __grid_constant__ lathe_map matrix2) {
  lathe_begin();
  typedef lathe_two_layers<$first$, $second$, $shape.hidden$, $shape.columns$, $shape.at_once$> layers;
  extern __shared__ __align__(1024) uint4 room[];
  __shared__ layers::ring ring;
  $first$ step1(given);
  $second$ step2(given);
  step1.place();
  step2.place();
  layers::run(step1, step2, room, ring, rows, matrix1, matrix2);
}

//@ end
//@ local function define_totals(shape)
//@ local all = {}
/* Blocks have a tile of one of the sums each, or a part of its terms: the first ones those of the first sum. */
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$)
    $part.stem$_step2$shape.name$(const __grid_constant__ lathe_args given) {
  lathe_begin();
  const lathe_args *args = &given;
  extern __shared__ __align__(1024) uint4 room[];
  unsigned *const arrived = (unsigned *)args->workspace;
  float *const left = (float *)((char *)args->workspace + $(T.partials()));
  //@ for nth, i in ipairs(schedule.totals) do
  $(k.steps[i].name) step$i$(given);
  const unsigned tiles$i$ = (unsigned)(lathe_times(step$i$.m_count, $shape.side$) * lathe_times(step$i$.n_count, $shape.side$));
  //@ all[nth] = "tiles" .. i
  //@ end
  const unsigned all = $(table.concat(all, " + "));
  unsigned tile = all > 0 ? blockIdx.x % all : 0;
  //@ for nth, i in ipairs(schedule.totals) do
  //@ local made = schedule.steps[i]
  //@ local rounds = shape.rounds and not k.chain.decides[i]
  //@ if nth > 1 then
  tile -= tiles$(schedule.totals[nth - 1]);
  //@ end
  if (tile < tiles$i$) {
    lathe_total<$shape.side$, $shape.terms$, $(factor_of(made.a, rounds)), $(factor_of(made.b, rounds))>(step$i$, room, tile, all, arrived, left);
    return;
  }
  //@ end
}

//@ end
#ifndef LATHE_CLUSTERS_ALONE
//@ for _, shape in ipairs(schedule.shapes) do
//@ define(shape, "", "1")
//@ end
//@ for _, shape in ipairs(#schedule.totals > 0 and schedule.together or {}) do
//@ define_totals(shape)
//@ end
#endif

//@ if #schedule.pairs > 0 then
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
//@ for _, shape in ipairs(schedule.pairs) do
//@ define_pair(shape)
//@ end
#endif

//@ end
#if __CUDA_ARCH__ >= 900
//@ for _, shape in ipairs(schedule.shapes) do
//@ if shape.cluster then
//@ define(shape, "_cluster", "lathe_cluster_size()")
//@ end
//@ end
#endif
