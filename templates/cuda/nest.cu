//@ if first then
/* Nests of loops, a launch for each step or for steps that share points (nest.h): a block has some points, each of
 * which a few neighbouring threads or none share, who take terms in turn. A thread has a vector of what lies side by
 * side, points or terms. Limited by memory where operands lie so; else by how far apart elements are that neighbouring
 * threads read. */
#include "nest.h"
#include "nest_lists.h"
#include "nest_scan.h"

//@ end
//@ local P = use "parts.cu"
//@ local S = use "../c/nest_step.c"
//@ local N = use "nest_points.cu"
//@ local own, at, at_first, lie, input, type_of = N.own, N.at, N.at_first, N.lie, N.input, N.type_of
//@ local extent, count, stays, of_vector, read_vector = N.extent, N.count, N.stays, N.of_vector, N.read_vector
//@ local bring, each, take, store, read_plainly, begin = N.bring, N.each, N.take, N.store, N.read_plainly, N.begin
//@ local has, span = N.has, N.span
//@ local Z = use "nest_scan.cu"
//@ local scan, scanned_type = Z.scan, Z.scanned_type
//@ local L = use "nest_lists.cu"
//@ -- Of some of a step's places, of which a thread has vectors along one, the indexes of the nth.
//@ local function decode(step, places)
//@ for i = #places, 1, -1 do
//@ local place = places[i]
//@ local index = i > 1 and ("nth %% %s"):format(extent(step, place)) or "nth"
//@ local vector = place == step.of.along and ("(%s) * (I)V"):format(index) or index
i$place$ = $vector$;
//@ if i > 1 then
nth /= $(extent(step, place));
//@ end
//@ end
(void)nth;
//@ end
//@ local temporaries = S.bytes_of_temporaries():gsub("args%->", "args.")
//@ for nth, step in ipairs(k.steps) do
//@ local of, about = step.of, schedule.steps[nth]
//@ for _, part in ipairs { step.terms, step.values } do
//@ if #part.results > 0 then
//@ P.define(part.point)
//@ end
//@ end
//@ local over, pick, by_points = of.over ~= 0, S.gathers(step, "pick"), has(of.axes, of.along)
//@ local shared, extra = {}, {}
//@ for _, place in ipairs(of.keep) do
//@ local list = has(about.shared, place) and shared or extra
//@ list[#list + 1] = place
//@ end
//@ local gathered = {}
//@ for _, r in ipairs(of.scanned and of.scans or S.phase_of(step).reductions) do
//@ gathered[#gathered + 1] = { name = r.name, type = of.scanned and scanned_type(r) or k:gatherer(r.kind) }
//@ end
/* $(of.name): indexes are of type I; a thread has vectors of V elements; HELD: the points of a block that holds what its
 * group's steps read, else 0. */
template <typename I, int V, int HELD> struct $step.name$ {
  typedef I index;
  struct gathered {
    //@ for _, r in ipairs(gathered) do
    $r.type$ $r.name$;
    //@ end

    __device__ __forceinline__ void clear() {
      //@ for _, r in ipairs(gathered) do
      $r.name$.clear();
      //@ end
    }
    __device__ __forceinline__ void merge(const gathered &other) {
      (void)other;
      //@ for _, r in ipairs(gathered) do
      $r.name$.merge(other.$r.name$);
      //@ end
    }
    //@ if of.scanned then
    __device__ __forceinline__ void begin() {
      clear();
      //@ for _, r in ipairs(of.scans) do
      //@ if r.kind == "product" then
      $r.name$.value = 1;
      //@ end
      //@ end
    }
    __device__ __forceinline__ bool is_sure() const {
      //@ for _, r in ipairs(of.scans) do
      //@ if S.next_scanned(r, "") then
      if (!$r.name$.is_sure())
        return false;
      //@ end
      //@ end
      return true;
    }
    //@ end
  };
  static constexpr int MINE = $(by_points and "V" or "1"); /* points of a thread */
  static constexpr bool TOGETHER = $(tostring(about.together)); /* terms lie side by side, not points */
  static constexpr bool GATHERS = $(tostring(#of.gathered > 0));
  static constexpr bool HAS_EXTRA = $(tostring(#extra > 0)); /* points besides those that it shares with other steps */
  const lathe_args *args;
  I dim[$(#op.dims)];
  //@ for _, place in ipairs(of.keep) do
  I i$place$;
  //@ end
  bool whole; /* vectors are of elements that one access may have */
  char *room = nullptr; /* of what the block holds, and the number of the point there */
  unsigned own = 0;

  //@ if of.scanned then
  $step.name$() = default;
  //@ end
  __device__ __forceinline__ explicit $step.name$(const lathe_args &given) : args(&given), whole(true) {
    //@ for i = 1, #op.dims do
    dim[$(i - 1)] = (I)given.dim[$(i - 1)];
    //@ end
    //@ for _, place in ipairs(of.keep) do
    i$place$ = 0;
    //@ end
    //@ if of.along then
    whole = dim[$(of.along - 1)] % (I)V == 0;
    //@ for i, operand in ipairs(op.operands) do
    //@ local reads = false
    //@ for _, mine in ipairs(of.operands) do
    //@ reads = reads or mine == operand
    //@ end
    //@ if reads and operand.dtype ~= "i64" and lie(step, operand) == "unit" then
    whole = whole && (uintptr_t)given.buf[$(i - 1)] % sizeof(lathe_pack<$(type_of(operand)), V>) == 0;
    //@ end
    //@ end
    //@ end
  }
  __device__ __forceinline__ void hold_in(char *given, unsigned point) {
    room = given;
    own = point;
  }
  //@ local kept = {}
  //@ for _, part in ipairs { of.scanned and {} or step.terms, of.scanned and {} or step.values } do
  //@ for _, x in ipairs(part.point and part.point.inputs or {}) do
  //@ if x.kind == "element" and stays(step, x.operand) and not kept[x.operand] then
  //@ kept[#kept + 1], kept[x.operand] = x.operand, true
  $(of_vector(step, x.operand)) $x.operand.name$_kept;
  //@ end
  //@ end
  //@ end
  /* Reads what stays the same at all terms of the point, and at all points besides those that it shares. */
  template <bool WHOLE> __device__ __forceinline__ void keep() {
    //@ if #kept > 0 then
    //@ begin(step)
    //@ if has(about.shared, of.along) then
    const I first = i$of.along$;
    const int there = WHOLE || dim[$(of.along - 1)] - first >= (I)V ? V : (int)(dim[$(of.along - 1)] - first);
    (void)first, (void)there;
    //@ end
    //@ for _, operand in ipairs(kept) do
    //@ read_vector(step, operand, operand.name .. "_kept")
    //@ end
    //@ end
  }
  //@ if about.outside then
  /* The nth of the point's vectors; before: bytes of what is held of an element besides. */
  template <typename T> __device__ __forceinline__ lathe_pack<T, V> &held(int before, I nth) const {
    const I all = $(count(step, S.places_of(about.outside)));
    return reinterpret_cast<lathe_pack<T, V> *>(room + (I)(before * V * HELD) * all)[nth * (I)HELD + own];
  }
  //@ end
  __device__ __forceinline__ I shared() const {
    return $(count(step, shared));
  }
  __device__ __forceinline__ I extra() const {
    return $(count(step, extra));
  }
  __device__ __forceinline__ I points() const {
    return shared() * extra();
  }
  __device__ __forceinline__ I terms() const {
    return $(over and not pick and count(step, of.loops) or "1");
  }
  __device__ __forceinline__ void place_shared(I nth) {
    //@ decode(step, shared)
  }
  __device__ __forceinline__ void place_extra(I nth) {
    //@ decode(step, extra)
  }
  __device__ __forceinline__ void place(I point) {
    //@ if #extra == 0 then
    place_shared(point);
    //@ elseif #shared == 0 then
    place_extra(point);
    //@ elseif has(about.shared, of.along) then
    place_shared(point % shared());
    place_extra(point / shared());
    //@ else
    place_extra(point % extra());
    place_shared(point / extra());
    //@ end
  }
  //@ if not of.scanned and of.kind ~= "list" then
  /* Takes terms from one on, each so many after the one before. */
  template <bool WHOLE> __device__ __forceinline__ void take(gathered (&mine)[MINE], I from, I to, I apart) const {
    (void)mine, (void)from, (void)to, (void)apart;
    //@ if #of.gathered > 0 then
    //@ begin(step)
    //@ local vector = by_points and "i" .. of.along or of.along and "(I)V * at.index[" .. #of.loops - 1 .. "]"
    //@ local body = {
    //@   before = function() bring(step, step.terms) end,
    //@   each = function()
    //@   P.call(step.terms.point, input(step))
    //@   for _, r in ipairs(of.gathered) do
    //@   if r.kind == "sum" and not pick then
    $r.name$_plain.at[$(by_points and "e" or "0")] += $r.name$_term;
    //@   else
    //@   take({ kind = r.kind, name = r.name, places = step.places }, by_points and "mine[e]" or "mine[0]")
    //@   end
    //@   end
    //@   end,
    //@ }
    //@ if pick then
    const long long index = $(pick.index.name)[$(at(step, S.operand_of(pick.index.name)))];
    if (from < to && (unsigned long long)index < dim[$(of.loops[1] - 1)]) {
      const I i$(of.loops[1]) = (I)index;
      //@ if by_points then
      //@ each(step, vector, body)
      //@ else
      constexpr int e = 0;
      (void)e;
      //@ read_plainly(step, step.terms)
      //@ body.each()
      //@ end
    }
    //@ else
    //@ local listed, loops = of.listed, S.loops_besides(step)
    //@ local extents, has_spans = {}, false
    //@ for i, place in ipairs(loops) do
    //@ extents[i] = of.spans[place] and "within" .. place or extent(step, place)
    //@ has_spans = has_spans or of.spans[place]
    //@ if of.spans[place] then
    //@ local low, high = span(step, place)
    const I from$place$ = lathe_within($low$, dim[$(place - 1)]);
    const I end$place$ = lathe_within($high$ + 1, dim[$(place - 1)]);
    const I within$place$ = from$place$ < end$place$ ? end$place$ - from$place$ : 0;
    //@ end
    //@ end
    //@ if listed then
    //@ local target, each = listed.target, listed.target == of.along and "V" or "1"
    //@ table.insert(extents, 1, "listed")
    //@ local ends_at, places_at = at(step, listed.ends, { [target] = "0" }), at(step, listed.places, S.first_of(listed, "0"))
    const uint32_t *const ends = $listed.ends.name$ + $ends_at$, *const places = $listed.places.name$ + $places_at$;
    const I last = dim[$(target - 1)] - i$target$ < (I)$each$ ? dim[$(target - 1)] : i$target$ + $each$;
    const I skipped = i$target$ > 0 ? ends[i$target$ - 1] : 0, listed = ends[last - 1] - skipped;
    //@ end
    //@ if listed or has_spans then
    const I all = $(table.concat(extents, " * "));
    to = to < all ? to : all;
    //@ end
    if (from >= to)
      return;
    lathe_odometer<$(#loops + (listed and 1 or 0)), I> at(from, {$(table.concat(extents, ", "))});
    //@ local sums = {}
    //@ for _, r in ipairs(of.gathered) do
    //@ sums[#sums + 1] = r.kind == "sum" and r.name or nil
    //@ end
    //@ local function carry()
    //@ for _, name in ipairs(sums) do
#pragma unroll
    for (int e = 0; e < MINE; e++)
      mine[e].$name$.take($name$_plain.at[e]);
    //@ end
    //@ end
    //@ local function plain()
    //@ for _, name in ipairs(sums) do
    lathe_plain<$k.number$, MINE> $name$_plain;
    //@ end
    //@ end
    for (I begin = from; begin < to;) {
      const I end = to - begin > LATHE_PLAIN_TERMS * apart ? begin + LATHE_PLAIN_TERMS * apart : to;
      //@ if by_points then
      //@ plain()
      //@ end
      lathe_each_of(begin, end, apart, [&](I) {
        //@ if not by_points then
        //@ plain()
        //@ end
        //@ if listed then
        const I nth_place = places[skipped + at.index[0]];
        //@ S.decode_listed(listed, "nth_place", function(place, text)
        const I i$place$ = $(own(text));
        //@ end)
        //@ end
        //@ for i, place in ipairs(loops) do
        //@ if place ~= of.along then
        const I i$place$ = at.index[$(listed and i or i - 1)]$(of.spans[place] and " + from" .. place or "");
        //@ end
        //@ end
        //@ each(step, vector, body)
        //@ if not by_points then
        //@ carry()
        //@ end
        at.advance(apart);
      });
      //@ if by_points then
      //@ carry()
      //@ end
      begin = end;
    }
    //@ end
    //@ end
  }
  //@ end
  //@ if of.scanned then
  //@ scan(step)
  //@ elseif of.kind == "list" then
  //@ L.list_places(step, decode)
  //@ else
  /* Stores what follows at the points. */
  template <bool WHOLE> __device__ __forceinline__ void finish(const gathered (&mine)[MINE]) const {
    (void)mine;
    //@ begin(step)
    //@ store(step)
  }
  //@ end
  //@ local across = about.across
  //@ if across then
  //@ local along, axis, turned, rest, made = of.along, across.axis, {}, {}, {}
  //@ for _, value in ipairs(of.values) do
  //@ made[value.operand] = true
  //@ end
  //@ for _, operand in ipairs(across.operands) do
  //@ turned[operand] = true
  //@ end
  //@ for _, place in ipairs(of.keep) do
  //@ rest[#rest + 1] = place ~= along and place ~= axis and place or nil
  //@ end
  /* A square of points along two axes, for what lies along one of them and is wanted along the other. */
  static constexpr int SIDE = $across.side$, ACROSS = SIDE / V;
  struct square {
    //@ for _, operand in ipairs(across.operands) do
    $(type_of(operand)) $operand.name$[SIDE][SIDE + 4 / sizeof($(type_of(operand))) + (sizeof($(type_of(operand))) > 4)];
    //@ end
  };
  __device__ __forceinline__ I squares() const {
    return $(count(step, rest)) * (I)lathe_times(dim[$(along - 1)], SIDE) * (I)lathe_times(dim[$(axis - 1)], SIDE);
  }
  __device__ __forceinline__ void place_square(I nth) {
    i$axis$ = nth % (I)lathe_times(dim[$(axis - 1)], SIDE) * (I)SIDE;
    nth /= (I)lathe_times(dim[$(axis - 1)], SIDE);
    i$along$ = nth % (I)lathe_times(dim[$(along - 1)], SIDE) * (I)SIDE;
    nth /= (I)lathe_times(dim[$(along - 1)], SIDE);
    //@ decode(step, rest)
  }
  //@ local function move(inputs)
  //@ for _, operand in ipairs(across.operands) do
  //@ if not made[operand] == inputs then
  for (int nth = (int)threadIdx.x; nth < SIDE * ACROSS; nth += (int)blockDim.x) {
    const int row = nth / ACROSS, column = nth % ACROSS * V;
    const I i$along$ = this->i$along$ + (I)row, i$axis$ = this->i$axis$ + (I)column;
    if (i$along$ < dim[$(along - 1)] && i$axis$ < dim[$(axis - 1)]) {
      $(made[operand] and "" or "const ")$(type_of(operand)) *const element = $operand.name$ + $(at(step, operand));
      const long long there = (long long)(dim[$(axis - 1)] - i$axis$);
      const bool aligned = (uintptr_t)element % sizeof(lathe_pack<$(type_of(operand)), V>) == 0;
      lathe_pack<$(type_of(operand)), V> some;
      //@ if inputs then
      lathe_load_some<false>(some, element, there, aligned);
      //@ end
#pragma unroll
      for (int e = 0; e < V; e++)
        $(inputs and "tile." .. operand.name .. "[row][column + e] = some.at[e]" or "some.at[e] = tile." .. operand.name .. "[row][column + e]");
      //@ if not inputs then
      lathe_store_some(element, some, 1, there, aligned);
      //@ end
    }
  }
  //@ end
  //@ end
  //@ end
  __device__ __forceinline__ void bring(square &tile) const {
    //@ begin(step)
    //@ move(true)
  }
  __device__ __forceinline__ void turn(square &tile) {
    //@ begin(step)
    const I from$along$ = i$along$, from$axis$ = i$axis$;
    constexpr bool WHOLE = false;
    for (int nth = (int)threadIdx.x; nth < SIDE * ACROSS; nth += (int)blockDim.x) {
      const int row = nth % ACROSS * V, column = nth / ACROSS;
      i$along$ = from$along$ + (I)row;
      i$axis$ = from$axis$ + (I)column;
      if (i$along$ < dim[$(along - 1)] && i$axis$ < dim[$(axis - 1)]) {
        //@ store(step, turned)
      }
    }
    i$along$ = from$along$;
    i$axis$ = from$axis$;
  }
  __device__ __forceinline__ void put(const square &tile) const {
    (void)tile;
    //@ begin(step)
    //@ move(false)
  }
  //@ end
};

//@ end
//@ local made = {}
//@ local function kernel_of(name, shape)
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$) $name$(const __grid_constant__ lathe_args args) {
  lathe_begin();
//@ end
//@ for _, kernel in ipairs(schedule.kernels) do
//@ local shape, step = kernel.shape, k.steps[kernel.first]
//@ local prefix = kernel.last > kernel.first and part.stem .. "_steps" .. kernel.first or step.name
//@ local args = ("%s, %d, %d"):format(shape.large and "size_t" or "unsigned", shape.vector, shape.held and shape.points
//@   or 0)
//@ kernel_of(prefix .. shape.name, shape)
  //@ if kernel.last > kernel.first then
  //@ local list = {}
  //@ for nth = kernel.first, kernel.last do
  //@ list[#list + 1] = ("%s<%s>"):format(k.steps[nth].name, args)
  //@ end
  lathe_fused<$shape.points$, $shape.lanes$, $(tostring(shape.together)), $(shape.held or -1), $(table.concat(list, ", "))>(args);
  //@ elseif shape.turned then
  lathe_turned<$step.name$<$args$>>(args);
  //@ elseif step.of.kind == "list" then
  lathe_list_places<$step.name$<$args$>, $shape.threads$, $shape.places$>(args);
  //@ elseif step.of.scanned then
  lathe_scan<$step.name$<$args$>, LATHE_SCAN_$(shape.cut:upper()), $shape.points$, $shape.lanes$, $shape.chunks$, $shape.each$>(args, (unsigned *)args.workspace, (char *)args.workspace + $schedule.counts$ + $temporaries$);
  //@ else
  lathe_nest<$step.name$<$args$>, $shape.points$, $shape.lanes$>(args, (unsigned *)args.workspace, (char *)args.workspace + $schedule.counts$ + $temporaries$);
  //@ end
}

//@ end
