/* A program over each row: passes of reductions over the row, then its values. Limited by bytes
 * moved where a row fits in registers: it is read once, all accesses in flight, and written once;
 * the passes work on registers. What its threads wait for each other for costs most then: a mean and a
 * variance are gathered at once, and so are the largest and the powers below it. A part of a warp has a
 * short row, a block a longer one; where there are few, a cluster of blocks, which reach each other's shared
 * memory, has one longer still; where there are many, and nothing is by columns, clusters stay and read ahead.
 * Other rows are read again, from the second-level cache if that has them, in each pass; what is dear to compute
 * twice is then kept in the output between passes. Where there are fewer of these than multiprocessors, or only
 * totals follow from one pass, each is split into parts, a launch for each pass: a few microseconds that many
 * blocks soon repay.
 *
 * Where rows start anywhere, accesses of 16 bytes are those that lie in the row whole; the few elements at both
 * its ends go to the first threads, one each, and what there is for each column is put together of two accesses.
 * Blocks that stay for many rows take those that start alike: each thread then has the same columns in all of
 * them. Rows of operands that lie unlike go by elements.
 *
 * Reductions over the rows are gathered in the last pass: each thread has its columns in registers
 * for all of its rows, and blocks leave what they gathered in the workspace, for one more launch to
 * merge, in an order that depends on nothing but the grid. Rows that a block can hold are
 * read once for all passes, ahead of their turn, into shared memory. With other rows, one launch leaves what the
 * passes came to, and the next, in which blocks have some columns of some rows, reads them again. */
//@ local P = use "parts.cu"
//@ local S, split = use "shapes.c", use "../gpu/split.c"
//@ local V, columns, by_column = k.width, k.program.columns, k.program.column_reductions
//@ -- The program that is being written: where a row stays in registers, so may what is dear. gathered(p): the
//@ -- type of what its phase p gathers.
//@ local phases, outputs, passes, point, totals, uniforms, active, gathered
//@ local gatherers = {} -- their types' names, by the kinds of what they gather
//@ local function define_gatherers()
//@ for _, p in ipairs(active) do
//@ P.define_gatherer(gathered(p), phases[p].reductions)
//@ end
//@ end
//@ local function program_of(lowered)
//@   local own, point, totals = lowered:passes(P.define), lowered:last_pass(P.define), lowered:totals()
//@   local kinds = lowered.program.kinds
//@   local function select()
//@     phases, outputs, active = lowered.program.phases, lowered.program.points, lowered.program.active
//@     function gathered(p) return gatherers[kinds] .. "_gathered" .. p end
//@     return own, point, totals, function(step) return lowered:uniforms(step) end
//@   end
//@   if not gatherers[kinds] then
//@     gatherers[kinds] = lowered.name
//@     select()
//@     define_gatherers()
//@   end
//@   return select
//@ end
//@ local read_again = program_of(k)
//@ local held, short = k:held(op), k:held(op, true)
//@ local in_registers = held == k and read_again or program_of(held)
//@ -- A part of a warp takes two passes for two results, as for a mean and what is about it: its threads need not
//@ -- wait for others, and then merge sums alone.
//@ short = short.program.kinds == held.program.kinds and held or short
//@ local of_short = short == held and in_registers or program_of(short)
//@ passes, point, totals, uniforms = read_again()
//@ local finish = k:finish(P.define)
//@ if finish then
//@ P.define_gatherer(k.name .. "_columns", by_column)
/* What the passes over a row came to. */
struct $k.name$_left {
  //@ for _, phase in ipairs(phases) do
  //@ for _, r in ipairs(phase.reductions) do
  $(k:result_type(r.kind)) $r.name$;
  //@ end
  //@ for _, r in ipairs(phase.picks) do
  $k.number$ $r.name$;
  //@ end
  //@ end
};

/* The workspace: how many partial results there are, these, and for each row what is left of it. */
static __device__ __forceinline__ unsigned *$k.name$_partials(const lathe_args &args) {
  return (unsigned *)args.workspace;
}

static __device__ __forceinline__ $k.name$_columns *$k.name$_partial(const lathe_args &args, size_t nth) {
  return ($k.name$_columns *)((char *)args.workspace + 64) + nth * args.dim[$(#op.dims - 1)];
}

static __device__ __forceinline__ $k.name$_left *$k.name$_of_row(const lathe_args &args, size_t row) {
  const size_t count = args.dim[$(#op.dims - 1)];
  return ($k.name$_left *)((char *)$k.name$_partial(args, $S.MOST_PARTIALS$)) + row;
}

//@ end
//@
//@ local offsets = { whole = "row * count", row = "row" }
//@ local function offset(operand)
//@   return offsets[operand.place]
//@ end
//@ -- The inputs of point functions that are elements of operands not in known, or of one place; stashed:
//@ -- also those that an earlier pass has kept there.
//@ local function elements(points, known, stashed, place)
//@   local list, taken = {}, {}
//@   for _, point in ipairs(points) do
//@     for _, x in ipairs(point.inputs) do
//@       local wanted = x.kind == "element" or stashed and x.kind == "stash"
//@       wanted = wanted and (not place or x.operand.place == place)
//@       if wanted and not known[x.pointer] and not taken[x.pointer] then
//@         taken[x.pointer] = true
//@         list[#list + 1] = x
//@       end
//@     end
//@   end
//@   return list
//@ end
//@ -- What varies over the row in all passes together.
//@ local all = {}
//@ for _, p in ipairs(active) do
//@   all[#all + 1] = passes[p]
//@ end
//@ all[#all + 1] = point
//@ local staged = elements(all, {}, false, "whole")
//@ local streams = #elements(all, {})
//@
//@ function dims(type)
$(k:scalars(op))
const size_t rows = $(k:product("args.dim", 1, #op.dims - 1));
const $type$ count = ($type$)args.dim[$(#op.dims - 1)];
//@ end
//@
//@ -- Pointers to the row's data and what there is of it once: where its indexes point to, as a place, and
//@ -- where there are to be picks what they read.
//@ function begin(type, picks)
$(k:pointers(offset))
$(k:row_values())
$(uniforms("row"))
//@ for _, operand in ipairs(k.operands) do
//@ if operand.index then
const $type$ $operand.name$_place = (unsigned long long)$operand.name$_value < count ? ($type$)$operand.name$_value : ~($type$)0;
//@ end
//@ end
//@ for _, phase in ipairs(picks and phases or {}) do
//@ for _, pick in ipairs(phase.picks) do
//@ for _, x in ipairs(elements({ pick.point }, {})) do
const $k.number$ $pick.name$_$x.pointer$ = $pick.index$_place < count ? ($k.number$)$x.pointer$[$pick.index$_place] : 0;
//@ end
//@ end
//@ end
//@ end
//@
//@ -- Where elements are: `from`, the place of the thread's first, and `until`, where those in accesses of 16 bytes
//@ -- end, are to be set. All rows have the first `sure` accesses of each thread.
//@ function places(type, sure)
const auto at = [=](int nth) {
  return from + (MODE == LATHE_APART ? nth * ($type$)threads
                                     : nth / $V$ * ($type$)threads * $V$ + nth % $V$);
};
const auto inside = [=](int nth) {
  return MODE == LATHE_FULL || $(sure and ("nth < %s * %d || "):format(sure, V) or "")at(MODE == LATHE_APART ? nth : nth / $V$ * $V$) < until;
};
//@ end
//@ -- Of a row that starts anywhere: how many elements lie ahead of the first multiple of 16 bytes, and where the
//@ -- accesses of so many end, one earlier than they could where operands for columns are then read past that. Those at
//@ -- both ends, fewer than 2 V, are the first threads', at most `most` of each, if `there`. row: of this one, where
//@ -- pointers are not to the row's data.
//@ local few_threads = ("T > 0 && T < %d ? 2 : 1"):format(2 * V - 1)
//@ function ends(type, most, there, row)
//@ local first
//@ for _, operand in ipairs(k.operands) do
//@   first = first or operand.place == "whole" and operand.name
//@ end
enum { ENDS = MODE == LATHE_ENDS ? $most$ : 0 };
unsigned head = 0;
$type$ until = count;
if (MODE == LATHE_ENDS) {
  head = lathe_head<$V$>($first$$(row and " + " .. row .. " * count" or ""), count);
  until = head + (count / $V$ - (head > 0 && count >= $V$)) * $V$;
}
const auto end_at = [=](int nth) {
  const unsigned place = thread + nth * threads;
  return $(there and there .. " && " or "")place < head + (count - until) ? place < head ? place : until + (place - head) : ~($type$)0;
};
//@ end
//@
//@ -- Reads operands; once: no more than once.
//@ function read(list, known, once)
//@ for _, x in ipairs(list) do
//@ known[x.pointer] = true
//@ local how = once and x.operand.place == "whole" and "_once" or ""
lathe_pack<$k.storage$, $V$> $x.pointer$_pack[H] = {};
#pragma unroll
for (int slot = 0; slot < H; slot++) {
  if (MODE == LATHE_APART) {
#pragma unroll
    for (int lane = 0; lane < $V$; lane++)
      if (inside(slot * $V$ + lane))
        $x.pointer$_pack[slot].at[lane] = $x.pointer$[at(slot * $V$ + lane)];
  } else if (inside(slot * $V$)) {
    //@ local first = x.operand.place == "column" and "(from - head)" or "from"
    $x.pointer$_pack[slot] = lathe_load$how$<$V$>(lathe_further<$V$>($x.pointer$ + $first$, slot * threads));
  }
}
//@ if x.operand.place == "column" then
if (MODE == LATHE_ENDS && head > 0) {
  lathe_pack<$k.storage$, $V$> next[H] = {};
#pragma unroll
  for (int slot = 0; slot < H; slot++)
    if (inside(slot * $V$))
      next[slot] = lathe_load<$V$>(lathe_further<$V$>($x.pointer$ + (from - head), slot * threads) + $V$);
#pragma unroll
  for (int slot = 0; slot < H; slot++)
    $x.pointer$_pack[slot] = lathe_past($x.pointer$_pack[slot], next[slot], head);
}
//@ end
//@ end
//@ end
//@ -- Where blocks, by groups, work on many rows: the nth of those that a group may meet, the first that it does, and
//@ -- how far the next are from these. All start alike, so that each thread has the same columns in them.
//@ function share_rows(group, groups)
enum { PERIOD = MODE == LATHE_ENDS ? $V$ : 1 };
const unsigned group = $group$, groups = $groups$;
const auto row_of = [=](size_t nth) { return nth * PERIOD + group % PERIOD; };
const size_t begin = (size_t)(group / PERIOD) * blockDim.y, step = (size_t)(groups / PERIOD) * blockDim.y;
//@ end
//@ -- Without a condition, so that they are not put off until they are needed.
//@ function read_ends(list)
//@ for _, x in ipairs(list) do
$k.storage$ $x.pointer$_ends[ENDS + 1];
#pragma unroll
for (int nth = 0; nth < ENDS; nth++)
  $x.pointer$_ends[nth] = $x.pointer$[end_at(nth) < count ? end_at(nth) : 0];
//@ end
//@ end
//@
//@ -- Writes NAME_out as pack [slot] of an operand; once: not to be read again soon.
//@ function write(name, once)
if (MODE == LATHE_APART) {
#pragma unroll
  for (int lane = 0; lane < $V$; lane++)
    if (inside(slot * $V$ + lane))
      $name$[at(slot * $V$ + lane)] = $name$_out.at[lane];
} else if (inside(slot * $V$)) {
  lathe_store$(once and "_once" or "")(lathe_further<$V$>($name$ + from, slot * threads), $name$_out);
}
//@ end
//@
//@ -- Calls a point function on element [lane] of pack [slot], or on the nth of the thread's at the ends; kept: the
//@ -- operands with values from an earlier pass in registers.
//@ function call(point, kept)
//@ P.call(point, function(x)
//@   if x.kind == "hit" then
//@     return "at(slot * " .. V .. " + lane) == " .. x.index .. "_place"
//@   elseif kept[x.pointer] then
//@     return x.pointer .. "_kept[slot * " .. V .. " + lane]"
//@   end
//@   return "lathe_number(" .. x.pointer .. "_pack[slot], lane)"
//@ end)
//@ end
//@ function call_end(point, kept)
//@ P.call(point, function(x)
//@   if x.kind == "hit" then
//@     return "end_at(nth) == " .. x.index .. "_place"
//@   end
//@   return x.pointer .. (kept[x.pointer] and "_kept_ends[nth]" or "_ends[nth]")
//@ end)
//@ end
//@
//@ -- Room for what a phase stashes in registers, under a name: NAME_what.
//@ function room_for(phase, what)
//@ for _, y in ipairs(phase.stash) do
$k.number$ $y.operand.name$_$what$[H * $V$];
//@ end
//@ end
//@ function room_for_ends(phase, what)
//@ for _, y in ipairs(phase.stash) do
$k.number$ $y.operand.name$_$what$[ENDS + 1];
//@ end
//@ end
//@
//@ -- The terms of a reduction as they are in memory, elements that a pass has read.
//@ function stored(r, name)
lathe_stored<$k.storage$, H * $V$> $name$($r.term.name$_pack);
#pragma unroll
for (int nth = 0; nth < H * $V$; nth++)
  if (!inside(nth))
    lathe_leave_out($name$, nth, mine.$r.name$.nothing());
//@ end
//@
//@ -- Gathers the terms of a phase; kept: where what it stashes stays in registers, else it is written.
//@ function gather(phase, point, kept)
//@ if k:is_as_stored(phase) then
//@ for _, r in ipairs(phase.reductions) do
{
  //@ stored(r, "terms")
  mine.$r.name$.take(terms, at);
}
//@ end
//@ else
//@ local at_once, by_access = {}, {} -- those with two results are taken of all that a thread holds
//@ for _, r in ipairs(phase.reductions) do
//@   table.insert(r.second and at_once or by_access, r)
//@ end
//@ for _, r in ipairs(at_once) do
$k.number$ $r.name$_terms[H * $V$];
//@ end
#pragma unroll
for (int slot = 0; slot < H; slot++) {
  //@ for _, r in ipairs(by_access) do
  $k.number$ $r.name$_terms[$V$];
  //@ end
  //@ for _, y in ipairs(kept and {} or phase.stash) do
  lathe_pack<$k.storage$, $V$> $y.operand.name$_out;
  //@ end
#pragma unroll
  for (int lane = 0; lane < $V$; lane++) {
    //@ call(point, kept or {})
    //@ for _, r in ipairs(phase.reductions) do
    //@ local nth = r.second and "slot * " .. V .. " + lane" or "lane"
    $r.name$_terms[$nth$] = inside(slot * $V$ + lane) ? $r.name$_term : mine.$r.name$.nothing();
    //@ end
    //@ for _, y in ipairs(phase.stash) do
    //@ if kept then
    $y.operand.name$_kept[slot * $V$ + lane] = $y.operand.name$_;
    //@ else
    $y.operand.name$_out.at[lane] = $y.operand.name$_;
    //@ end
    //@ end
  }
  //@ if #by_access > 0 then
  if (inside(slot * $V$)) {
    //@ for _, r in ipairs(by_access) do
    mine.$r.name$.take($r.name$_terms, [=](int lane) { return at(slot * $V$ + lane); });
    //@ end
  }
  //@ end
  //@ for _, y in ipairs(kept and {} or phase.stash) do
  //@ write(y.operand.name)
  //@ end
}
//@ for _, r in ipairs(at_once) do
//@ if r.kind == "moments" then
mine.$r.name$.take($r.name$_terms, inside);
//@ elseif k:is_stored(r) then
{
  //@ stored(r, "terms")
  mine.$r.name$.take($r.name$_terms, terms);
}
//@ else
mine.$r.name$.take($r.name$_terms, $r.name$_terms);
//@ end
//@ end
//@ for _, y in ipairs(kept and phase.stash or {}) do
//@ kept[y.operand.name] = true
//@ end
//@ end
//@ end
//@
//@ function gather_ends(phase, point, type, kept)
#pragma unroll
for (int nth = 0; nth < ENDS; nth++)
  if (end_at(nth) < count) {
    $type$ end;
    end.clear();
    //@ call_end(point, kept or {})
    //@ for _, r in ipairs(phase.reductions) do
    const $k.number$ $r.name$_terms[1] = {$r.name$_term};
    //@ local more = r.kind == "moments" and "[](int) { return true; }" or r.kind == "powers" and r.name .. "_terms"
    end.$r.name$.take($r.name$_terms, $(more or "[=](int) { return end_at(nth); }"));
    //@ end
    mine.merge(end);
    //@ for _, y in ipairs(phase.stash) do
    $y.operand.name$$(kept and "_kept_ends[nth]" or "[end_at(nth)]") = $y.operand.name$_;
    //@ end
  }
//@ end
//@
//@ -- Computes the points and writes them, and gathers the terms of reductions over the rows.
//@ function compute(kept)
#pragma unroll
for (int slot = 0; slot < H; slot++) {
  //@ for _, y in ipairs(outputs) do
  lathe_pack<$k.storage$, $V$> $y.operand.name$_out;
  //@ end
#pragma unroll
  for (int lane = 0; lane < $V$; lane++) {
    //@ call(point, kept)
    //@ for _, y in ipairs(outputs) do
    $y.operand.name$_out.at[lane] = $y.operand.name$_;
    //@ end
    //@ take_columns("over_rows[slot * " .. V .. " + lane]")
  }
  //@ for _, y in ipairs(outputs) do
  //@ write(y.operand.name, true)
  //@ end
}
//@ end
//@
//@ function compute_ends(kept)
#pragma unroll
for (int nth = 0; nth < ENDS; nth++)
  if (end_at(nth) < count) {
    //@ call_end(point, kept)
    //@ for _, y in ipairs(outputs) do
    $y.operand.name$[end_at(nth)] = $y.operand.name$_;
    //@ end
    //@ take_columns("over_ends[nth]")
  }
//@ end
//@
//@ function take_columns(of)
//@ for _, r in ipairs(by_column) do
const $k.number$ $r.name$_terms[1] = {$r.name$_term};
$of$.$r.name$.take($r.name$_terms, [](int) { return 0; });
//@ end
//@ end
//@ function clear_columns()
#pragma unroll
for (int nth = 0; nth < EACH; nth++)
  over_rows[nth].clear();
#pragma unroll
for (int nth = 0; nth < ENDS; nth++)
  over_ends[nth].clear();
//@ end
//@
//@ -- What follows from phase p: its picks, its results in the gatherer `mine`, if it has any, and uniforms.
//@ function follow(phase, p, mine)
//@ if mine then
//@ P.results(phase.reductions, mine)
//@ end
//@ for _, pick in ipairs(phase.picks) do
$k.number$ $pick.name$ = $(k:literal(0 / 0));
if ($pick.index$_place < count) {
  //@ P.call(pick.point, function(x)
  //@   return x.kind == "hit" and x.index .. "_place == " .. pick.index .. "_place" or pick.name .. "_" .. x.pointer
  //@ end)
  $pick.name$ = $pick.name$_term;
}
//@ end
$(uniforms(p))
//@ end
//@
//@ function write_totals()
//@ if #totals > 0 then
if (thread == 0 && live) {
  //@ for _, total in ipairs(totals) do
  $total$
  //@ end
}
//@ end
//@ end
//@ function define_held(what)
/* One row in the registers of T threads; of a block's where T is 0, of those of `blocks` blocks where that
 * is more than 1. A block has blockDim.y rows. */
template <int MODE, int T, int H>
static __device__ __forceinline__ void $k.name$_$what$(const lathe_args &args, unsigned blocks) {
  //@ dims("unsigned")
  const unsigned threads = T > 0 ? T : blockDim.x * blocks;
  const unsigned thread = (blocks > 1 ? blockIdx.x % blocks * blockDim.x : 0) + threadIdx.x;
  const size_t wanted = T > 0 ? (size_t)blockIdx.x * blockDim.y + threadIdx.y : blockIdx.x / blocks;
  const bool live = T == 0 || wanted < rows;
  const size_t row = live ? wanted : 0;
  //@ for _, p in ipairs(active) do
  __shared__ $(gathered(p)) shared$p$[T > 0 ? 1 : $(S.CLUSTER * 32)];
  //@ end
  __shared__ unsigned long long arrivals[2];
  lathe_cluster cluster(arrivals, blocks);
  $(uniforms("call"))
  //@ local known, kept = {}, {}
  //@ local function read_held(list)
  //@ read(list, known, true)
  //@ read_ends(list)
  //@ end
  //@ begin("unsigned", true)
  //@ ends("unsigned", few_threads)
  const unsigned from = head + thread * $V$;
  //@ -- A row of fewer accesses, where one at its ends may not count, would go to a shape with half as many.
  //@ places("unsigned", "H / 2")
  //@ if k.width == 8 then -- all at once: such operands take few registers
  //@ read_held(staged)
  //@ end
  //@ for p, phase in ipairs(phases) do
  //@ if passes[p] then
  //@ read_held(elements({ passes[p] }, known))
  //@ room_for(phase, "kept")
  //@ room_for_ends(phase, "kept_ends")
  $(gathered(p)) mine$p$;
  {
    auto &mine = mine$p$;
    mine.clear();
    //@ gather(phase, passes[p], kept)
    //@ gather_ends(phase, passes[p], gathered(p), kept)
  }
  //@ if p == active[1] then
  cluster.await_start();
  //@ end
  //@ if p == active[#active] and point then -- ahead of the wait for other threads
  //@ read_held(elements({ point }, known, false, S.columns_last and "whole" or nil))
  //@ end
  //@ local last = p == active[#active] and not point
  cluster.merge_row<T$(last and ", false" or "")>(mine$p$, shared$p$);
  //@ if last then
  if (thread > 0)
    return;
  //@ end
  //@ end
  //@ follow(phase, p, passes[p] and "mine" .. p)
  //@ end
  //@ write_totals()
  //@ if point then
  //@ read_held(elements({ point }, known))
  if (live) {
    //@ compute(kept)
    //@ compute_ends(kept)
  }
  //@ end
}

//@ end
//@ if not finish then
//@ passes, point, totals, uniforms = in_registers()
//@ define_held("held")
//@ if short ~= held then
//@ passes, point, totals, uniforms = of_short()
//@ define_held("short")
//@ end
//@ passes, point, totals, uniforms = read_again()
//@ end
//@ if not finish or S.leaves(k.program) then
/* A row of any length, by a block$(finish and ", which leaves what the passes came to" or ""). */
template <int MODE, int H>
static __device__ __forceinline__ void $k.name$_long(const lathe_args &args, size_t row) {
  //@ dims("size_t")
  const unsigned threads = blockDim.x, thread = threadIdx.x;
  const bool live = true;
  //@ for _, p in ipairs(active) do
  __shared__ $(gathered(p)) shared$p$[32];
  //@ end
  $(uniforms("call"))
  //@ begin("size_t", true)
  //@ ends("size_t", 1)
  //@ for p, phase in ipairs(phases) do
  //@ if passes[p] then
  $(gathered(p)) mine$p$;
  {
    auto &mine = mine$p$;
    mine.clear();
    for (size_t tile = head; tile < until; tile += threads * (H * $V$)) {
      const size_t from = tile + (MODE == LATHE_APART ? thread : thread * $V$);
      //@ places("size_t")
      //@ read(elements({ passes[p] }, {}, true), {})
      //@ gather(phase, passes[p])
    }
    //@ read_ends(elements({ passes[p] }, {}, true))
    //@ gather_ends(phase, passes[p], gathered(p))
  }
  lathe_merge_row<0>(mine$p$, shared$p$);
  //@ end
  //@ follow(phase, p, passes[p] and "mine" .. p)
  //@ end
  //@ write_totals()
  //@ if finish then
  if (thread == 0) {
    $k.name$_left *const left = $k.name$_of_row(args, row);
    //@ for _, phase in ipairs(phases) do
    //@ for _, list in ipairs { phase.reductions, phase.picks } do
    //@ for _, r in ipairs(list) do
    left->$r.name$ = $r.name$;
    //@ end
    //@ end
    //@ end
  }
  //@ elseif point then
  for (size_t tile = head; tile < until; tile += threads * (H * $V$)) {
    const size_t from = tile + (MODE == LATHE_APART ? thread : thread * $V$);
    //@ places("size_t")
    //@ read(elements({ point }, {}, true), {})
    //@ compute({})
  }
  //@ read_ends(elements({ point }, {}, true))
  //@ compute_ends({})
  //@ end
}

//@ end
//@ -- Where in the workspace the parts of rows leave what they gathered in phase p.
//@ local function parts_at(p)
//@   return string.format("((%s *)((char *)args.workspace + %d))", gathered(p), split.left_at(phases, p))
//@ end
//@ if split.splits(k.program) then
//@ for step = 1, #active + 1 do
//@ local p = active[step] or #phases + 1
/* Rows split into parts: $(active[step] and "phase " .. p or "the results") */
template <int MODE, int H>
static __device__ __forceinline__ void $k.name$_split$step$(const lathe_args &args) {
  //@ dims("size_t")
  const unsigned threads = blockDim.x, thread = threadIdx.x;
  const size_t row = blockIdx.y;
  const bool live = blockIdx.x == 0;
  //@ if step == 1 and active[step] then
  const unsigned parts = gridDim.x;
  if (row == 0 && live && thread == 0)
    *(unsigned *)args.workspace = parts;
  //@ elseif step > 1 then
  const unsigned parts = *(const unsigned *)args.workspace;
  //@ end
  //@ for _, q in ipairs(active) do
  __shared__ $(gathered(q)) shared$q$[32];
  //@ end
  $(uniforms("call"))
  //@ begin("size_t", true)
  //@ if active[step] or point then
  //@ ends("size_t", 1, "live")
  //@ end
  //@ for q = 1, p - 1 do
  //@ if passes[q] then
  $(gathered(q)) mine$q$;
  mine$q$.clear();
  for (unsigned part = thread; part < parts; part += threads)
    mine$q$.merge($(parts_at(q))[row * parts + part]);
  lathe_merge_row<0>(mine$q$, shared$q$);
  //@ end
  //@ follow(phases[q], q, passes[q] and "mine" .. q)
  //@ end
  //@ if not active[step] then
  //@ write_totals()
  //@ else
  $(gathered(p)) mine;
  mine.clear();
  //@ end
  //@ if active[step] or point then
  for (size_t tile = head + (size_t)blockIdx.x * (threads * (H * $V$)); tile < until;
       tile += (size_t)gridDim.x * (threads * (H * $V$))) {
    const size_t from = tile + thread * $V$;
    //@ places("size_t")
    //@ if active[step] then
    //@ read(elements({ passes[p] }, {}, true), {})
    //@ gather(phases[p], passes[p])
    //@ else
    //@ read(elements({ point }, {}, true), {})
    //@ compute({})
    //@ end
  }
  //@ read_ends(elements({ passes[p] or point }, {}, true))
  //@ if active[step] then
  //@ gather_ends(phases[p], passes[p], gathered(p))
  //@ else
  //@ compute_ends({})
  //@ end
  //@ end
  //@ if active[step] then
  lathe_merge_row<0>(mine, shared$p$);
  if (thread == 0)
    $(parts_at(p))[row * parts + blockIdx.x] = mine;
  //@ end
}

//@ end
//@ end
//@ if finish then
//@ -- Merges what the block's rows have gathered, EACH at each of `threads` threads, `first` the first column, and at
//@ -- the ends. In the room, that of one place is two apart from the next: threads write by place and read by column.
//@ function leave_columns(room, first)
const auto place = [=](unsigned row, unsigned nth, unsigned owner) {
  return (row * EACH + nth) * (threads + $S.APART$) + owner;
};
#pragma unroll
for (int nth = 0; nth < EACH; nth++)
  $room$[place(threadIdx.y, nth, threadIdx.x)] = over_rows[nth];
__syncthreads();
for (unsigned pos = threadIdx.y * blockDim.x + threadIdx.x; pos < EACH * threads; pos += blockDim.x * blockDim.y) {
  const unsigned nth = MODE == LATHE_APART ? pos / threads : pos / $V$ / threads * $V$ + pos % $V$;
  const unsigned owner = MODE == LATHE_APART ? pos % threads : pos / $V$ % threads;
  $k.name$_columns whole = $room$[place(0, nth, owner)];
  for (unsigned other = 1; other < blockDim.y; other++)
    whole.merge($room$[place(other, nth, owner)]);
  if ($first$ + pos < until)
    partial[$first$ + pos] = whole;
}
if (MODE == LATHE_ENDS) {
  __syncthreads();
#pragma unroll
  for (int nth = 0; nth < ENDS; nth++)
    $room$[place(threadIdx.y, nth, threadIdx.x)] = over_ends[nth];
  __syncthreads();
#pragma unroll
  for (int nth = 0; nth < ENDS; nth++)
    if (threadIdx.y == 0 && end_at(nth) < count) {
      $k.name$_columns whole = over_ends[nth];
      for (unsigned other = 1; other < blockDim.y; other++)
        whole.merge($room$[place(other, nth, threadIdx.x)]);
      partial[end_at(nth)] = whole;
    }
}
//@ end
//@ end
//@ local some_ahead = false
//@ for _, v in ipairs(variants) do
//@   some_ahead = some_ahead or #S.ahead(v) > 0 or S.ahead(v).cluster
//@ end
//@ if some_ahead then
//@ if not finish then
//@ passes, point, totals, uniforms = in_registers()
//@ end
//@ -- The nth of the rows at once, after its first phases.
//@ function each_row(last)
const size_t wanted = row_of(first + nth * step + threadIdx.y);
const bool live = wanted < rows;
const size_t row = live ? wanted : 0;
//@ begin("unsigned", true)
//@ for i, x in ipairs(staged) do
const auto &$x.pointer$_ends = $x.pointer$_now[nth];
lathe_pack<$k.storage$, $V$> $x.pointer$_pack[H];
#pragma unroll
for (int slot = 0; slot < H; slot++)
  memcpy(&$x.pointer$_pack[slot], staged(stage, nth, $(i - 1), slot), 16);
//@ end
//@ for p, phase in ipairs(phases) do
//@ for _, y in ipairs(passes[p] and phase.stash or {}) do
auto &$y.operand.name$_kept = $y.operand.name$_rows[nth];
auto &$y.operand.name$_kept_ends = $y.operand.name$_ends_rows[nth];
//@ end
//@ end
//@ for p = 1, last do
//@ follow(phases[p], p, passes[p] and "rows" .. p .. ".of[nth]")
//@ end
//@ end
/* Rows of which a block, or one of CLUSTERS, holds one or more: T threads share a row, with T = 0 those with the
 * same threadIdx.y, and work on ROWS at once, of which they wait for each other together. Each copies what it needs
 * of its rows into shared memory, STAGES - 1 times as many ahead, and has per-column operands in
 * registers for all of its rows. */
template <int MODE, int T, int H, int ROWS, int STAGES, bool CLUSTERS>
static __device__ __forceinline__ void $k.name$_ahead(const lathe_args &args) {
  enum { EACH = H * $V$ };
  extern __shared__ uint4 room[];
  //@ dims("unsigned")
  const unsigned blocks = CLUSTERS ? lathe_cluster_size() : 1;
  const unsigned threads = T > 0 ? T : blockDim.x * blocks;
  const unsigned thread = blockIdx.x % blocks * blockDim.x + threadIdx.x;
  const unsigned block = blockDim.x * blockDim.y, mine = threadIdx.y * blockDim.x + threadIdx.x;
  //@ share_rows("blockIdx.x / blocks", "gridDim.x / blocks")
  //@ for _, p in ipairs(active) do
  __shared__ lathe_rows<$(gathered(p)), ROWS> shared$p$[2][T > 0 ? 1 : (CLUSTERS ? $S.CLUSTER$ : 1) * $(S.AHEAD_THREADS // 32)];
  //@ end
  unsigned stage = 0, turn = 0;
  $(k:pointers())
  //@ ends("unsigned", few_threads, nil, "row_of(0)")
  const unsigned from = head + thread * $V$;
  //@ places("unsigned")
  //@ if finish then
  $k.name$_columns over_rows[EACH], over_ends[ENDS + 1];
  //@ end
  //@ local by_columns = elements(all, {}, false, "column")
  //@ read(by_columns, {})
  //@ read_ends(by_columns)
  const auto staged = [=](unsigned stage, int nth, int operand, int slot) {
    return room + (((stage * ROWS + nth) * $(#staged) + operand) * H + slot) * block + mine;
  };
  const auto fetch = [&](size_t first, unsigned stage) {
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++) {
      const size_t row = row_of(first + nth * step + threadIdx.y);
#pragma unroll
      for (int slot = 0; slot < H; slot++)
        if (row < rows && inside(slot * $V$)) {
          //@ for i, x in ipairs(staged) do
          lathe_copy_ahead(staged(stage, nth, $(i - 1), slot), $x.pointer$ + row * count + at(slot * $V$));
          //@ end
        }
    }
    lathe_end_group();
  };
  //@ for _, x in ipairs(staged) do
  $k.storage$ $x.pointer$_next[ROWS][ENDS + 1];
  //@ end
  const auto fetch_ends = [&](size_t first) {
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++) {
      const size_t row = row_of(first + nth * step + threadIdx.y);
#pragma unroll
      for (int end = 0; end < ENDS; end++) {
        const size_t at = row < rows && end_at(end) < count ? row * count + end_at(end) : 0;
        //@ for _, x in ipairs(staged) do
        $x.pointer$_next[nth][end] = $x.pointer$[at];
        //@ end
      }
    }
  };

  $(uniforms("call"))
  //@ if finish then
  //@ clear_columns()
  //@ end
#pragma unroll
  for (int nth = 0; nth < STAGES - 1; nth++)
    fetch(begin + nth * (ROWS * step), nth);
  fetch_ends(begin);
  __shared__ unsigned long long arrivals[2];
  lathe_cluster cluster(arrivals, blocks);
  cluster.await_start();
  for (size_t first = begin; row_of(first) < rows; first += ROWS * step) {
    lathe_await_groups<STAGES - 2>();
    fetch(first + (STAGES - 1) * (ROWS * step), stage > 0 ? stage - 1 : STAGES - 1);
    turn ^= 1;
    //@ for _, x in ipairs(staged) do
    $k.storage$ $x.pointer$_now[ROWS][ENDS + 1];
    memcpy($x.pointer$_now, $x.pointer$_next, sizeof $x.pointer$_now);
    //@ end
    fetch_ends(first + ROWS * step);
    //@ local kept = {}
    //@ for _, p in ipairs(active) do
    //@ room_for(phases[p], "rows[ROWS]")
    //@ room_for_ends(phases[p], "ends_rows[ROWS]")
    //@ end
    //@ for p, phase in ipairs(phases) do
    //@ if passes[p] then
    lathe_rows<$(gathered(p)), ROWS> rows$p$;
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++) {
      //@ each_row(p - 1)
      auto &mine = rows$p$.of[nth];
      mine.clear();
      //@ gather(phase, passes[p], kept)
      //@ gather_ends(phase, passes[p], gathered(p), kept)
    }
    cluster.merge_row<T>(rows$p$, shared$p$[turn]);
    //@ end
    //@ end
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++) {
      //@ each_row(#phases)
      //@ write_totals()
      //@ if point then
      if (live) {
        //@ compute(kept)
        //@ compute_ends(kept)
      }
      //@ end
    }
    stage = stage < STAGES - 1 ? stage + 1 : 0;
  }
  lathe_await_groups<0>();
  //@ if finish then
  __syncthreads();
  $k.name$_columns *const partial = $k.name$_partial(args, group);
  $k.name$_columns *const all = ($k.name$_columns *)room;
  //@ leave_columns("all", "head")
  if (blockIdx.x == 0 && mine == 0)
    *$k.name$_partials(args) = groups;
  //@ end
}

//@ passes, point, totals, uniforms = read_again()
//@ end
//@ if finish then
/* Some columns of some rows: a warp has an access to $(S.TILE_AT_ONCE) rows in flight. */
template <int MODE>
static __device__ __forceinline__ void $k.name$_tile(const lathe_args &args) {
  enum { H = 1, EACH = $V$, ROWS = $S.TILE_AT_ONCE$ };
  __shared__ $k.name$_columns all[$(S.TILE_ROWS * (32 + S.APART) * V)];
  //@ dims("size_t")
  const unsigned threads = 32, thread = threadIdx.x;
  //@ share_rows("blockIdx.y", "gridDim.y")
  $(k:pointers())
  //@ ends("size_t", 1, "blockIdx.x == 0", "row_of(0)")
  const size_t tile = head + (size_t)blockIdx.x * (32 * $V$);
  const size_t from = tile + (MODE == LATHE_APART ? thread : thread * $V$);
  $k.name$_columns over_rows[EACH], over_ends[ENDS + 1];
  //@ places("size_t")
  //@ local by_columns = elements({ point }, {}, false, "column")
  //@ read(by_columns, {})
  //@ read_ends(by_columns)

  $(uniforms("call"))
  //@ clear_columns()
  for (size_t first = begin + threadIdx.y; row_of(first) < rows; first += ROWS * step) {
    //@ local whole = elements({ point }, {}, false, "whole")
    //@ for _, x in ipairs(whole) do
    lathe_pack<$k.storage$, $V$> $x.pointer$_ahead[ROWS] = {};
#pragma unroll
    for (int turn = 0; turn < ROWS; turn++)
      if (row_of(first + turn * step) < rows) {
        const $k.storage$ *const of_row = $x.pointer$ + row_of(first + turn * step) * count;
        if (MODE != LATHE_APART && inside(0))
          $x.pointer$_ahead[turn] = lathe_load_once<$V$>(of_row + from);
        if (MODE == LATHE_APART) {
#pragma unroll
          for (int lane = 0; lane < $V$; lane++)
            if (inside(lane))
              $x.pointer$_ahead[turn].at[lane] = of_row[at(lane)];
        }
      }
    $k.storage$ $x.pointer$_ends_ahead[ROWS][ENDS + 1];
#pragma unroll
    for (int turn = 0; turn < ROWS; turn++)
#pragma unroll
      for (int nth = 0; nth < ENDS; nth++) {
        const size_t row = row_of(first + turn * step);
        $x.pointer$_ends_ahead[turn][nth] = $x.pointer$[row < rows && end_at(nth) < count ? row * count + end_at(nth) : 0];
      }
    //@ end
#pragma unroll
    for (int turn = 0; turn < ROWS; turn++) {
      const size_t row = row_of(first + turn * step);
      if (row < rows) {
        //@ begin("size_t")
        //@ if S.leaves(k.program) then
        const $k.name$_left left = *$k.name$_of_row(args, row);
        //@ end
        //@ for p, phase in ipairs(phases) do
        //@ for _, q in ipairs(phase.reductions) do
        const $(k:result_type(q.kind)) $q.name$ = left.$q.name$;
        //@ end
        //@ for _, q in ipairs(phase.picks) do
        const $k.number$ $q.name$ = left.$q.name$;
        //@ end
        $(uniforms(p))
        //@ end
        //@ for _, x in ipairs(whole) do
        lathe_pack<$k.storage$, $V$> *const $x.pointer$_pack = &$x.pointer$_ahead[turn];
        const auto &$x.pointer$_ends = $x.pointer$_ends_ahead[turn];
        //@ end
        //@ compute({})
        //@ compute_ends({})
      }
    }
  }
  $k.name$_columns *const partial = $k.name$_partial(args, group);
  //@ leave_columns("all", "tile")
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0)
    *$k.name$_partials(args) = groups;
}

/* The partial results of 32 columns, merged, and what is made of them. */
static __device__ __forceinline__ void $k.name$_merged(const lathe_args &args) {
  __shared__ $k.name$_columns all[32][32];
  //@ dims("size_t")
  const unsigned partials = *$k.name$_partials(args);
  const size_t i = (size_t)blockIdx.x * 32 + threadIdx.x;
  $k.name$_columns mine;

  mine.clear();
  if (i < count) {
#pragma unroll 4
    for (unsigned nth = threadIdx.y; nth < partials; nth += 32)
      mine.merge($k.name$_partial(args, nth)[i]);
  }
  all[threadIdx.y][threadIdx.x] = mine;
  for (unsigned half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half)
      all[threadIdx.y][threadIdx.x].merge(all[threadIdx.y + half][threadIdx.x]);
  }
  if (threadIdx.y > 0 || i >= count)
    return;
  $(k:pointers())
  $(uniforms("call"))
  //@ P.call(finish, function(x)
  //@   return x.kind == "column" and "all[0][threadIdx.x]." .. x.name .. ".result()" or x.pointer .. "[i]"
  //@ end)
  //@ for _, y in ipairs(columns) do
  $y.operand.name$[i] = $y.operand.name$_;
  //@ end
}

//@ end
//@ local modes = { full = "LATHE_FULL", packs = "LATHE_PACKS", ends = "LATHE_ENDS", apart = "LATHE_APART" }
//@ -- One kernel of a variant: its name's ending, most threads and fewest blocks on a multiprocessor, a call.
//@ function kernel(v, ending, bounds, call)
extern "C" __global__ void __launch_bounds__($bounds$)
    $v.name$_$ending$(const __grid_constant__ lathe_args args) {
  $k.name$_$call$;
}

//@ end
//@ function cluster_kernel(v, ending, bounds, call)
#if __CUDA_ARCH__ >= 900
//@ kernel(v, ending, bounds, call)
#endif

//@ end
//@ for _, v in ipairs(variants) do
/* $v.params_text$ */
//@ local H = S.hold(v)
//@ local shortly = short == held and "held" or "short"
//@ if not finish then
//@ for _, mode in ipairs(S.MODES) do
//@ -- Threads with unlike numbers of elements merge sums alone faster, too.
//@ local by_block = mode == "ends" and shortly or "held"
//@ for _, s in ipairs(S.short(v)) do
//@ kernel(v, s.threads .. "x" .. s.hold .. "_" .. mode, S.bounds(v, streams, S.SHORT_THREADS, mode), ("%s<%s, %d, %d>(args, 1)"):format(shortly, modes[mode], s.threads, s.hold))
//@ end
//@ kernel(v, "block_" .. mode, S.bounds(v, streams, v.params.threads, mode), ("%s<%s, 0, %d>(args, 1)"):format(by_block, modes[mode], H))
//@ if S.clusters(k.program) then
//@ cluster_kernel(v, "cluster_" .. mode, S.bounds(v, streams, v.params.threads, mode), ("%s<%s, 0, %d>(args, lathe_cluster_size())"):format(by_block, modes[mode], H))
//@ end
//@ end
//@ end
//@ for _, mode in ipairs { "packs", "ends", "apart" } do
//@ if not finish or S.leaves(k.program) then
//@ kernel(v, "long_" .. mode, S.LONG_THREADS .. ", 1", ("long<%s, %d>(args, blockIdx.x)"):format(modes[mode], S.long_hold(v)))
//@ end
//@ if split.splits(k.program) and mode ~= "apart" then
//@ for step = 1, #active + 1 do
//@ kernel(v, "split" .. step .. "_" .. mode, split.THREADS .. ", 1", ("split%d<%s, %d>(args)"):format(step, modes[mode], split.HOLD))
//@ end
//@ end
//@ end
//@ for _, mode in ipairs(finish and { "packs", "ends", "apart" } or {}) do
//@ kernel(v, "tile_" .. mode, 32 * S.TILE_ROWS .. ", 1", ("tile<%s>(args)"):format(modes[mode]))
//@ end
//@ for _, mode in ipairs { "full", "packs", "ends" } do
//@ local ahead = S.ahead(v)
//@ local function call(s)
//@   return ("ahead<%s, %d, %d, %d, %d, %s>(args)"):format(modes[mode], s.threads, s.hold, s.rows, s.stages, s == ahead.cluster)
//@ end
//@ for _, s in ipairs(ahead) do
//@ kernel(v, "ahead" .. s.name .. "_" .. mode, s.block .. ", " .. ahead.blocks, call(s))
//@ end
//@ if ahead.cluster and mode == "packs" then
//@ cluster_kernel(v, "ahead_cluster", S.AHEAD_THREADS .. ", " .. ahead.blocks, call(ahead.cluster))
//@ end
//@ end
//@ if finish then
//@ kernel(v, "merge", "1024, 1", "merged(args)")
//@ end
//@ end
