//@ -- What the CUDA templates share.
//@ call = use("../gpu/parts.c").call

//@ -- The definition of a point function.
//@ function define(point)
$point.comment$
static __device__ __forceinline__ $point.type$ $point.name$($point.parameters$) {
  $point.body$
}

//@ end
//@ -- What is gathered together, of one type: each reduction under its name.
//@ function define_gatherer(name, reductions)
struct $name$ {
  //@ for _, r in ipairs(reductions) do
  $(k:gatherer(r.kind)) $r.name$;
  //@ end

  __device__ __forceinline__ void clear() {
    //@ for _, r in ipairs(reductions) do
    $r.name$.clear();
    //@ end
  }
  __device__ __forceinline__ void merge(const $name$ &other) {
    //@ for _, r in ipairs(reductions) do
    $r.name$.merge(other.$r.name$);
    //@ end
  }
  template <int T> __device__ __forceinline__ void merge_lanes() {
    //@ for _, r in ipairs(reductions) do
    $r.name$.template merge_lanes<T>();
    //@ end
  }
  template <int T> __device__ __forceinline__ void merge_copies() {
    //@ for _, r in ipairs(reductions) do
    $r.name$.template merge_copies<T>();
    //@ end
  }
};

//@ end
//@ -- The results of reductions as plain numbers.
//@ function results(reductions, from)
//@ for _, r in ipairs(reductions) do
const $(k:result_type(r.kind)) $r.name$ = $from$.$r.name$.result();
//@ if r.second then
const $k.number$ $r.second$ = $from$.$r.name$.second();
//@ end
//@ end
//@ end
