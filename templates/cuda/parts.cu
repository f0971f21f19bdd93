//@ -- What the CUDA templates share.

//@ -- The definition of a point function.
//@ function define(point)
static __device__ __forceinline__ $point.type$ $point.name$($point.parameters$) {
  $point.body$
}

//@ end
//@ -- What a phase gathers, all its reductions together.
//@ function define_gatherer(phase, p)
struct $k.name$_gathered$p$ {
  //@ for _, r in ipairs(phase.reductions) do
  $(k:gatherer(r.kind)) $r.name$;
  //@ end

  __device__ __forceinline__ void clear() {
    //@ for _, r in ipairs(phase.reductions) do
    $r.name$.clear();
    //@ end
  }
  __device__ __forceinline__ void merge(const $k.name$_gathered$p$ &other) {
    //@ for _, r in ipairs(phase.reductions) do
    $r.name$.merge(other.$r.name$);
    //@ end
  }
  template <int T> __device__ __forceinline__ void merge_lanes() {
    //@ for _, r in ipairs(phase.reductions) do
    $r.name$.template merge_lanes<T>();
    //@ end
  }
  template <int T> __device__ __forceinline__ void merge_copies() {
    //@ for _, r in ipairs(phase.reductions) do
    $r.name$.template merge_copies<T>();
    //@ end
  }
};

//@ end
//@ -- The results of a phase as plain numbers.
//@ function results(phase, from)
//@ for _, r in ipairs(phase.reductions) do
const $(k:result_type(r.kind)) $r.name$ = $from$.$r.name$.result();
//@ end
//@ end
//@ -- Calls a point function on elements [nth] of arrays named after the operands.
//@ function call(point)
//@ for _, x in ipairs(point.inputs) do
const $k.number$ $x.variable$ = $x.pointer$_at[nth];
//@ end
$point.call$
//@ end
//@ -- Declares such an array for everything that a point function reads or that is in outputs and
//@ -- not in known; adds them there.
//@ function arrays(names, count, known)
//@ for _, name in ipairs(names) do
//@ if not known[name] then
//@ known[name] = true
$k.number$ $name$_at[$count$];
//@ end
//@ end
//@ end
