/* y[i] = f(x0[i], x1[i], ...). Limited by bytes moved, and in the types of 16 bits nearly by
 * instructions: a thread has `unroll` accesses of 16 bytes to each operand in flight before it
 * computes anything, and the block's tile is whole, so that none of them needs a condition. The
 * last tile, and all of them in a kernel of its own where an operand is not at a multiple of 16
 * bytes, goes by accesses of one element each. One tile for each block: the hardware deals them
 * out better than a loop in as many blocks as fit, which took 5 to 20 % longer on an H200. */
//@ local P = use "parts.cu"
//@ local outputs, V = k.program.points, k.width
//@ local point = k.last
//@ local random = k:random_input(point)
//@ P.define(point)
//@ local elements = {}
//@ for _, x in ipairs(point.inputs) do
//@   elements[#elements + 1] = x.pointer and x or nil
//@ end
//@ -- What a kernel has before it reads the elements.
//@ function begin()
$(k:pointers())
$(k:scalars(op))
const size_t count = $(k:product("args.dim", 1, #op.dims));
//@ end
//@ -- What it has before it computes: single values are waited for beside the elements.
//@ function ready()
$(k:row_values())
$(k:uniforms("call"))
$(k:uniforms("row"))
//@ if random then
const lathe_keys keys($random.seed$_value);
//@ end
//@ end
//@ for _, v in ipairs(variants) do
//@ local B, U = v.shape.block, v.shape.unroll
//@ local once = v.params.cache == "once" and "_once" or ""
/* The tile that starts at element `first`, element by element: $v.params_text$ */
static __device__ __forceinline__ void $v.name$_tile(const lathe_args &args, size_t first) {
  //@ begin()
  const size_t start = first + threadIdx.x;
  //@ for _, x in ipairs(elements) do
  $(k:element_type(x.operand)) $x.pointer$_at[$(U * V)] = {};
#pragma unroll
  for (int nth = 0; nth < $(U * V); nth++)
    if (start + nth * $B$ < count)
      $x.pointer$_at[nth] = $x.pointer$[start + nth * $B$];
  //@ end
  //@ ready()
#pragma unroll
  for (int nth = 0; nth < $(U * V); nth++) {
    //@ if random then
    $k.number$ numbers[1];
    lathe_random<$(k.dtype ~= k.compute and "true" or "false")>(numbers, keys, $random.offset$_value, start + nth * $B$);
    //@ end
    //@ P.call(point, function(x) return x.pointer and x.pointer .. "_at[nth]" or "numbers[0]" end)
    if (start + nth * $B$ < count) {
      //@ for _, y in ipairs(outputs) do
      $y.operand.name$[start + nth * $B$] = $y.operand.name$_;
      //@ end
    }
  }
}

extern "C" __global__ void __launch_bounds__($B$)
    $v.name$_apart(const __grid_constant__ lathe_args args) {
  lathe_begin();
  $v.name$_tile(args, blockIdx.x * (size_t)$v.shape.each$);
}

/* All operands at multiples of 16 bytes. */
extern "C" __global__ void __launch_bounds__($B$)
    $v.name$(const __grid_constant__ lathe_args args) {
  lathe_begin();
  //@ begin()
  const size_t first = blockIdx.x * (size_t)$v.shape.each$;

  if (first + $v.shape.each$ > count) {
    $v.name$_tile(args, first);
    return;
  }
  //@ for _, x in ipairs(elements) do
  lathe_pack<$(k:element_type(x.operand)), $V$> $x.pointer$_pack[$U$];
#pragma unroll
  for (int slot = 0; slot < $U$; slot++)
    $x.pointer$_pack[slot] = lathe_load$once$<$V$>($x.pointer$ + first + (slot * $B$ + threadIdx.x) * $V$);
  //@ end
  //@ ready()
#pragma unroll
  for (int slot = 0; slot < $U$; slot++) {
    const size_t at = first + (slot * $B$ + threadIdx.x) * $V$;
    //@ if random then
    $k.number$ numbers[$V$];
    lathe_random<$(k.dtype ~= k.compute and "true" or "false")>(numbers, keys, $random.offset$_value, at);
    //@ end
    //@ for _, y in ipairs(outputs) do
    lathe_pack<$(k:element_type(y.operand)), $V$> $y.operand.name$_pack;
    //@ end
#pragma unroll
    for (int lane = 0; lane < $V$; lane++) {
      //@ P.call(point, function(x) return x.pointer and "lathe_number(" .. x.pointer .. "_pack[slot], lane)"
      //@   or "numbers[lane]" end)
      //@ for _, y in ipairs(outputs) do
      $y.operand.name$_pack.at[lane] = $y.operand.name$_;
      //@ end
    }
    //@ for _, y in ipairs(outputs) do
    lathe_store$once$($y.operand.name$ + at, $y.operand.name$_pack);
    //@ end
  }
}

//@ end
