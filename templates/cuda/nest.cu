//@ if first then
/* Nests of loops, a launch each (nest.h): a block has some points, each of which a few neighbouring threads or none share,
 * who take terms in turn. Limited by how far apart elements are that neighbouring threads read. */
#include "nest.h"

//@ end
//@ local P = use "parts.cu"
//@ local S = use "../c/nest_step.c"
//@ local function at(step, operand) return S.at(operand.dim_index) end
//@ -- The words of places.
//@ local function whole(name) return ("%s[%s]"):format(name, S.at(S.operand_of(name).dim_index)) end
//@ local words = S.words(function(place) return "(int64_t)i" .. place end, whole, "(size_t)")
//@ -- The text of each input of a point function.
//@ local function input(step)
//@   return function(x)
//@     if x.kind == "column" and step.of.scanned then
//@       return x.name .. "_now"
//@     elseif x.kind == "column" then
//@       return "gathered." .. x.name .. ".result()"
//@     elseif x.kind == "hit" then
//@       return ("%s == (long long)i%d"):format(whole(x.index), x.place)
//@     elseif x.kind == "position" then
//@       return ("(%s)i%d"):format(k.number, x.place)
//@     elseif x.kind == "whole" then
//@       return ("(%s)%s"):format(k.number, whole(x.index))
//@     elseif x.of then
//@       return S.elsewhere(x, words, function(operand, instead)
//@         return ("(%s)%s[%s]"):format(k.number, operand.name, S.at(operand.dim_index, nil, nil, instead))
//@       end)
//@     elseif x.kind == "random" then
//@       return ("lathe_random_at<%s, %s>(%s[0], %s[0], %s)"):format(tostring(k.dtype ~= k.compute), k.number, x.seed, x.offset, S.at(x.places))
//@     end
//@     return ("(%s)%s[%s]"):format(k.number, x.operand.name, at(step, x.operand))
//@   end
//@ end
//@ local function take(step, r)
//@ if r.kind == "sum" or r.kind == "pick" then
gathered.$r.name$.take($r.name$_term);
//@ else
{
  const $k.number$ one[1] = {$r.name$_term};
  gathered.$r.name$.take(one, [&](int) { return $(S.at(step.places)); });
}
//@ end
//@ end
//@ local function store(step)
//@ if #step.values.results > 0 then
//@ P.call(step.values.point, input(step))
//@ end
//@ for _, value in ipairs(step.of.values) do
$value.operand.name$[$(at(step, value.operand))] = $(value.name and "gathered." .. value.name .. ".result()" or value.operand.name .. "_");
//@ end
//@ end
//@ -- A step's own of what scans have come to: takes what the nth place adds, and stores what follows there.
//@ local function scan(step)
//@ local place = step.of.scanned
  __device__ __forceinline__ size_t places() const {
    return args->dim[$(place - 1)];
  }
  __device__ __forceinline__ void take_place(gathered &gathered, size_t nth) const {
    //@ S.pointers(step, "(char *)args->workspace + " .. schedule.counts)
    //@ S.prelude(step)
    const size_t i$place$ = $(S.scanned_index(step));
    //@ P.call(step.terms.point, input(step))
    //@ for _, r in ipairs(step.of.scans) do
    //@ local next = S.next_scanned(r, "gathered." .. r.name)
    //@ if next then
    gathered.$r.name$ = $next$;
    //@ else
    //@ take(step, r)
    //@ end
    //@ end
  }
  /* before: without the place itself. */
  __device__ __forceinline__ void store_place(const gathered &now, const gathered &before, size_t nth) const {
    (void)now, (void)before;
    //@ S.pointers(step, "(char *)args->workspace + " .. schedule.counts)
    //@ S.prelude(step)
    const size_t i$place$ = $(S.scanned_index(step));
    //@ for _, r in ipairs(step.of.scans) do
    const $k.number$ $r.name$_now = $(r.exclusive and "before" or "now").$r.name$$(S.next_scanned(r, "") and "" or ".result()");
    //@ end
    //@ store(step)
  }
//@ end
//@ local temporaries = S.bytes_of_temporaries():gsub("args%->", "args.")
//@ for nth, step in ipairs(k.steps) do
//@ for _, part in ipairs { step.terms, step.values } do
//@ if #part.results > 0 then
//@ P.define(part.point)
//@ end
//@ end
//@ local over, pick = step.of.over ~= 0, S.gathers(step, "pick")
/* $(step.of.name) */
struct $step.name$ {
  struct gathered {
    //@ for _, r in ipairs(S.phase_of(step).reductions) do
    $(k:gatherer(r.kind)) $r.name$;
    //@ end
    //@ for _, r in ipairs(step.of.scans) do
    //@ if S.next_scanned(r, "") then
    $k.number$ $r.name$;
    //@ end
    //@ end

    __device__ __forceinline__ void clear() {
      //@ for _, r in ipairs(S.phase_of(step).reductions) do
      $r.name$.clear();
      //@ end
      //@ for _, r in ipairs(step.of.scans) do
      //@ if S.next_scanned(r, "") then
      $r.name$ = $(k:neutral_number(r.kind));
      //@ end
      //@ end
    }
    __device__ __forceinline__ void merge(const gathered &other) {
      (void)other;
      //@ for _, r in ipairs(S.phase_of(step).reductions) do
      $r.name$.merge(other.$r.name$);
      //@ end
    }
  };
  static constexpr bool TOGETHER = $(tostring(schedule.steps[nth].together)); /* terms lie side by side, not points */
  const lathe_args *const args;
  //@ for _, place in ipairs(step.of.keep) do
  size_t i$place$;
  //@ end

  __device__ __forceinline__ explicit $step.name$(const lathe_args &given) : args(&given) {}
  __device__ __forceinline__ size_t points() const {
    return $(S.size(step.of.keep));
  }
  __device__ __forceinline__ size_t terms() const {
    return $(over and not pick and S.size(step.of.loops) or "1");
  }
  __device__ __forceinline__ void place(size_t point) {
    (void)point;
    //@ for i = #step.of.keep, 1, -1 do
    //@ local place = step.of.keep[i]
    i$place$ = point$(i > 1 and " % args->dim[" .. place - 1 .. "]" or "");
    //@ if i > 1 then
    point /= args->dim[$(place - 1)];
    //@ end
    //@ end
  }
  //@ if not step.of.scanned then
  /* Takes terms from one on, each so many after the one before. */
  __device__ __forceinline__ void take(gathered &gathered, size_t from, size_t to, size_t apart) const {
    (void)gathered, (void)from, (void)to, (void)apart;
    //@ if #step.of.gathered > 0 then
    //@ S.pointers(step, "(char *)args->workspace + " .. schedule.counts)
    //@ S.prelude(step)
    //@ if pick then
    const long long index = $(pick.index.name)[$(at(step, S.operand_of(pick.index.name)))];
    if (from < to && (unsigned long long)index < args->dim[$(step.of.loops[1] - 1)]) {
      const size_t i$(step.of.loops[1]) = (size_t)index;
    //@ else
    if (from >= to)
      return;
    lathe_odometer<$(#step.of.loops)> at(from, {$(S.size_list(step.of.loops))});
#pragma unroll 4
    for (size_t nth = from; nth < to; nth += apart, at.advance(apart)) {
      //@ for i, place in ipairs(step.of.loops) do
      const size_t i$place$ = at.index[$(i - 1)];
      //@ end
    //@ end
      //@ P.call(step.terms.point, input(step))
      //@ for _, r in ipairs(step.of.gathered) do
      //@ take(step, r)
      //@ end
    }
    //@ end
  }
  //@ end
  //@ if step.of.scanned then
  //@ scan(step)
  //@ else
  /* Stores what follows at the point. */
  __device__ __forceinline__ void finish(const gathered &gathered) const {
    (void)gathered;
    //@ S.pointers(step, "(char *)args->workspace + " .. schedule.counts)
    //@ S.prelude(step)
    //@ store(step)
  }
  //@ end
};

//@ local made = {}
//@ for _, v in ipairs(variants) do
//@ for _, shape in ipairs(v.shape.shapes[nth]) do
//@ if not made[shape.name] then
//@ made[shape.name] = true
extern "C" __global__ void __launch_bounds__($shape.threads$, $shape.at_once$)
    $step.name$$shape.name$(const __grid_constant__ lathe_args args) {
  //@ if step.of.scanned then
  lathe_scan<$step.name$, $shape.points$, $shape.lanes$>(args);
  //@ else
  lathe_nest<$step.name$, $shape.points$, $shape.lanes$>(args, (unsigned *)args.workspace, (char *)args.workspace + $schedule.counts$ + $temporaries$);
  //@ end
}

//@ end
//@ end
//@ end
//@ end
