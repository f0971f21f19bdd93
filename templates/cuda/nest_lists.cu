//@ -- What a step that lists places has (nest_lists.h).

//@ local S = use "../c/nest_step.c"
//@ local N = use "nest_points.cu"
//@ -- Whether an index lies as some loops go through it, one after the other.
//@ local function lies_as(index, loops)
//@   local order = index.op == "whole" and S.operand_of(index[1].name).dim_index or {}
//@   local same = #order == #loops
//@   for i, place in ipairs(loops) do
//@     same = same and order[i] == place
//@   end
//@   return same
//@ end
//@ local function loops_of(of)
//@   local list = {}
//@   for i, place in ipairs(of.loops) do
//@     list[i] = "i" .. place
//@   end
//@   return table.concat(list, ", ")
//@ end
//@ -- decode(step, places): what says where a step is of some of its places, by the number `nth`.
//@ function list_places(step, decode)
//@ local of, around = step.of, S.around(step.of)
  __device__ __forceinline__ I extent() const {
    return dim[$(of.target - 1)];
  }
  __device__ __forceinline__ I first() const {
    return i$of.target$;
  }
  __device__ __forceinline__ I lists(unsigned each) const {
    return $(N.count(step, around)) * (I)lathe_times(extent(), each);
  }
  __device__ __forceinline__ void place_list(I nth, unsigned each) {
    const I blocks = (I)lathe_times(extent(), each);
    i$of.target$ = nth % blocks * (I)each;
    nth /= blocks;
    //@ decode(step, around)
  }
  __device__ __forceinline__ I places() const {
    return $(N.count(step, of.loops));
  }
  __device__ __forceinline__ unsigned long long index_at(I nth) const {
    //@ N.begin(step)
    //@ if lies_as(of.index, of.loops) then
    return (unsigned long long)$(of.index[1].name)[nth];
    //@ else
    I $(loops_of(of));
    //@ decode(step, of.loops)
    return (unsigned long long)$(k.place(of.index, N.words));
    //@ end
  }
  __device__ __forceinline__ unsigned *ends() const {
    //@ N.begin(step)
    return $of.ends.name$ + $(N.at(step, of.ends, { [of.target] = "0" }));
  }
  __device__ __forceinline__ unsigned *listed() const {
    //@ N.begin(step)
    return $of.places.name$ + $(N.at(step, of.places, S.first_of(of, "0")));
  }
//@ end
