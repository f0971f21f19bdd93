//@ -- A kernel of one step: a block's tile of its sums, in one of the shapes that the schedule has.
//@ local S = use "../c/contract_step.c"
//@ local T = use "contract_step.cu"
//@ -- The type of a block's sums.
//@ local types = {
//@   points = {}, short = { "bm", "bn" }, thin = { "bm" }, thin_columns = { "bn" },
//@   tile = { "bm", "bn", "bk", "tm", "tn" }, tensor = { "bm", "bn", "warp_m", "warp_n", "stages" },
//@   fetched = { "left", "right", "stages", "turned" },
//@ }
//@ local names = {
//@   points = "lathe_points", short = "lathe_short_sums", thin = "lathe_thin_sums", thin_columns = "lathe_thin_columns",
//@   tile = "lathe_sums", tensor = "lathe_tensor_sums", fetched = "lathe_fetched_sums",
//@ }
//@ local function kind_of(step, shape)
//@   local list = { step.name }
//@   for i, field in ipairs(types[shape.sums]) do
//@     list[i + 1] = tostring(shape[field])
//@   end
//@   return names[shape.sums] .. "<" .. table.concat(list, ", ") .. ">"
//@ end
//@ -- The loops over k-runs outside the matrices, with `here` at their place.
//@ local function outer_loops(step, places, count)
//@ for i = 1, #step.of.k - 1 do
//@ places[count + i] = "outer" .. i
for (size_t outer$i$ = 0; outer$i$ < $(S.size(step.of.k[i])); outer$i$++)
//@ end
//@ end
//@ -- `here` for the results of a tile.
//@ local function place_results(step, places, count)
//@ for i = count + 1, #places do
//@   places[i] = "0"
//@ end
here.place($(table.concat(places, ", ")));
//@ end
//@ -- What a block does of the work with some number: its tile, the terms, and which matrices.
//@ local function begin(shape, loops, matrices, block)
const lathe_work work($shape.bm$, $shape.bn$, here.m_count, here.n_count, $matrices$$block$);
//@ end
//@ -- The indexes of the loops around the matrix of a block's work.
//@ function matrix_of(loops)
//@ if #loops > 0 then
unsigned rest = work.matrix;
//@ for i = #loops, 2, -1 do
const size_t loop$i$ = rest % (unsigned)loops$i$;
rest /= (unsigned)loops$i$;
//@ end
const size_t loop1 = rest;
//@ end
//@ end
//@ local function terms(shape, loops)
//@ matrix_of(loops)
size_t from = 0, to = here.k_count;
if (work.parts > 1) {
  const size_t each = lathe_times(lathe_times(to, $shape.slice$), work.parts) * $shape.slice$;
  from = work.part * each < to ? work.part * each : to;
  to = to - from < each ? to : from + each;
}
//@ end
//@ local gathered = "(unsigned *)args->workspace, (" .. k.number .. " *)((char *)args->workspace + " .. T.partials()
//@   .. ")"
//@ function define(step, shape, name)
//@ local kind = kind_of(step, shape)
//@ local loops, places = S.loops_of(step), {}
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$)
    $name$(const __grid_constant__ lathe_args given) {
  lathe_begin();
  const lathe_args *args = &given;
  //@ if shape.shared then
  extern __shared__ __align__(1024) uint4 room[];
  //@ else
  __shared__ $kind$::slices room;
  //@ end
  $step.name$ here(given);
  //@ for i, run in ipairs(loops) do
  //@ places[i] = "loop" .. i
  const size_t loops$i$ = $(S.size(run));
  //@ end
  //@ local matrices = T.times(#loops, "loops")
  if (here.m_count == 0 || here.n_count == 0 || $matrices$ == 0)
    return;
  //@ begin(shape, loops, matrices, shape.joins and ", 1, blockIdx.x, lathe_cluster_size()" or "")
  //@ terms(shape, loops)
  $kind$ sums;
  //@ outer_loops(step, places, #loops)
  {
    here.place($(table.concat(places, ", ")));
    sums.add(here, room, work.m, work.n, from, to);
  }
  //@ if #step.of.k > 1 then
  //@ place_results(step, places, #loops)
  //@ end
  //@ if shape.joins then
  if (work.joined > 1) {
    sums.finish_joined(here, room, work, $gathered$);
    return;
  }
  //@ end
  if (sums.gather(room, work, $gathered$))
    sums.finish(here, room, work.m, work.n);
}

//@ end
//@ -- A kernel whose factors the copy engine brings, of blocks that stay for further tiles.
//@ function define_fetched(step, shape, name)
//@ local kind = kind_of(step, shape)
//@ local loops, places = S.loops_of(step), {}
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$)
    $name$(const __grid_constant__ lathe_args given, const __grid_constant__ lathe_map map_a, const __grid_constant__ lathe_map map_b) {
  using kind = $kind$;
  const lathe_args *args = &given;
  extern __shared__ __align__(1024) uint4 room[];
  __shared__ kind::ring ring;
  if (threadIdx.x == kind::THREADS) { /* the thread that will ask for slices */
    lathe_expect_map(map_a);
    lathe_expect_map(map_b);
  }
  ring.open();
  lathe_begin();
  $step.name$ here(given);
  //@ for i, run in ipairs(loops) do
  //@ places[i] = "loop" .. i
  const size_t loops$i$ = $(S.size(run));
  //@ end
  //@ local matrices = T.times(#loops, "loops")
  kind::turn turn;
  if (here.m_count == 0 || here.n_count == 0 || $matrices$ == 0)
    return;
  //@ local tiles = ("lathe_times(here.m_count, %d) * lathe_times(here.n_count, %d) * %s"):format(shape.bm, shape.bn,
  //@   matrices)
  const unsigned fewest = lathe_fewest($tiles$, $schedule.most_shared$, here.k_count, $shape.depth$);
  if (threadIdx.x >= kind::THREADS) {
    kind::begin_fetching();
    if (threadIdx.x >= kind::THREADS + 32 || !lathe_is_elected())
      return;
    for (unsigned block = blockIdx.x;; block += gridDim.x) {
      //@ begin(shape, loops, matrices, ", fewest, block")
      if (!work.is_there)
        return;
      //@ terms(shape, loops)
      //@ outer_loops(step, places, #loops)
      {
        here.place($(table.concat(places, ", ")));
        kind::fetch(here, room, ring, turn, map_a, map_b, work.m, work.n, from, to);
      }
    }
  } else {
    kind::begin_multiplying();
    for (unsigned block = blockIdx.x;; block += gridDim.x) {
      //@ begin(shape, loops, matrices, ", fewest, block")
      if (!work.is_there)
        return;
      //@ terms(shape, loops)
      kind sums;
      //@ outer_loops(step, places, #loops)
      sums.add(room, ring, turn, from, to);
      //@ place_results(step, places, #loops)
      if (sums.gather(work, $gathered$))
        sums.finish(here, room, work.m, work.n);
    }
  }
}

//@ end
//@ -- A kernel that copies factors of a step whose rows no tensor map can have; its workspace begins with the copies.
//@ function define_copies(made, name)
//@ local copies = { made.a.copy or made.b.copy, made.a.copy and made.b.copy ~= made.a.copy and made.b.copy or nil }
//@ if #copies > 0 then
extern "C" __global__ void __launch_bounds__(1024)
    $name$(const __grid_constant__ lathe_args given) {
  lathe_begin();
  const lathe_args *args = &given;
  //@ for _, copy in ipairs(copies) do
  {
    size_t before = 0;
    //@ for _, other in ipairs(copy.before) do
    before += lathe_padded($(T.extents_of(other)), $other.bytes$);
    //@ end
    lathe_copy_padded(($k.storage$ *)((char *)args->workspace + before),
        ($k.storage$ *)args->buf[$(copy.operand - 1)], $(T.extents_of(copy)));
  }
  //@ end
}

//@ end
//@ end
