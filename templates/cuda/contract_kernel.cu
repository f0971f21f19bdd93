//@ -- A kernel of one step: a block's tile of its sums, in one of the shapes that the schedule has.
//@ local S = use "../c/contract_step.c"
//@ local T = use "contract_step.cu"
//@ -- The type of a block's sums.
//@ local types = {
//@   points = {}, thin = { "bm" }, tile = { "bm", "bn", "bk", "tm", "tn" }, tensor = { "bm", "bn", "warp_m", "warp_n", "stages" },
//@ }
//@ local names = {
//@   points = "lathe_points", thin = "lathe_thin_sums", tile = "lathe_sums", tensor = "lathe_tensor_sums",
//@ }
//@ local function kind_of(step, shape)
//@   local list = { step.name }
//@   for i, field in ipairs(types[shape.sums]) do
//@     list[i + 1] = tostring(shape[field])
//@   end
//@   return names[shape.sums] .. "<" .. table.concat(list, ", ") .. ">"
//@ end
//@ function define(step, shape, name)
//@ local kind = kind_of(step, shape)
//@ local loops, places = S.loops_of(step), {}
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$)
    $name$(const __grid_constant__ lathe_args given) {
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
  const lathe_work work($shape.bm$, $shape.bn$, here.m_count, here.n_count, $matrices$);
  size_t rest = work.matrix;
  //@ for i = #loops, 1, -1 do
  const size_t loop$i$ = rest % loops$i$;
  rest /= loops$i$;
  //@ end
  const size_t each = lathe_times(lathe_times(here.k_count, $shape.bk$), work.parts) * $shape.bk$;
  const size_t from = work.part * each < here.k_count ? work.part * each : here.k_count;
  const size_t to = here.k_count - from < each ? here.k_count : from + each;
  $kind$ sums;
  //@ for i = 1, #step.of.k - 1 do
  //@ places[#loops + i] = "outer" .. i
  for (size_t outer$i$ = 0; outer$i$ < $(S.size(step.of.k[i])); outer$i$++)
  //@ end
  {
    here.place($(table.concat(places, ", ")));
    sums.add(here, room, work.m, work.n, from, to);
  }
  //@ if #step.of.k > 1 then
  //@ for i = #loops + 1, #places do
  //@   places[i] = "0"
  //@ end
  here.place($(table.concat(places, ", ")));
  //@ end
  if (sums.gather(room, work, (unsigned *)args->workspace, ($k.number$ *)((char *)args->workspace + $(T.partials()))))
    sums.finish(here, room, work.m, work.n);
}

//@ end
