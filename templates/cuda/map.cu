/* y[i] = f(x0[i], x1[i], ...). Limited by bytes moved: a thread has `unroll` accesses of 16 bytes
 * to each operand in flight before it computes anything. Where the operands' addresses differ
 * within 16 bytes, accesses are of one element each. One tile for each block: the hardware deals them
 * out better than a loop in as many blocks as fit, which took 5 to 20 % longer on an H200. */
//@ local P = use "parts.cu"
//@ local point = k:point("point", k:results(k.program.points))
//@ P.define(point)
//@ local outputs = k.program.points
//@ for _, v in ipairs(variants) do
//@ local B, U, V = v.params.block, v.params.unroll, k.width
//@ local once = v.params.cache == "once" and "_once" or ""
/* $v.params_text$ */
extern "C" __global__ void __launch_bounds__($B$)
    $v.name$(const __grid_constant__ lathe_args args) {
  $(k:pointers())
  $(k:scalars(op))
  const size_t count = $(k:product("args.dim", 1, #op.dims));
  $(k:row_values())
  $(k:uniforms("call"))
  $(k:uniforms("row"))
  const unsigned thread = threadIdx.x;
  const size_t to_aligned = lathe_head($(outputs[1].operand.name));
  const size_t head = to_aligned < count ? to_aligned : count;
  bool aligned = true;
  //@ for _, operand in ipairs(k.operands) do
  aligned = aligned && lathe_aligned($operand.name$ + head);
  //@ end

  if (aligned) {
    const size_t packs = (count - head) / $V$, tail = (count - head) % $V$;
    for (size_t tile = blockIdx.x; tile * $(B * U) < packs; tile += gridDim.x) {
      const size_t first = tile * $(B * U) + thread;
      //@ for _, x in ipairs(point.inputs) do
      lathe_pack<$k.storage$, $V$> $x.pointer$_pack[$U$] = {};
#pragma unroll
      for (int slot = 0; slot < $U$; slot++)
        if (first + slot * $B$ < packs)
          $x.pointer$_pack[slot] = lathe_load$once$<$V$>($x.pointer$ + head + (first + slot * $B$) * $V$);
      //@ end
#pragma unroll
      for (int slot = 0; slot < $U$; slot++) {
        //@ for _, y in ipairs(outputs) do
        lathe_pack<$k.storage$, $V$> $y.operand.name$_pack;
        //@ end
#pragma unroll
        for (int lane = 0; lane < $V$; lane++) {
          //@ for _, x in ipairs(point.inputs) do
          const $k.number$ $x.variable$ = $x.pointer$_pack[slot].at[lane];
          //@ end
          $point.call$
          //@ for _, y in ipairs(outputs) do
          $y.operand.name$_pack.at[lane] = $y.operand.name$_;
          //@ end
        }
        if (first + slot * $B$ < packs) {
          //@ for _, y in ipairs(outputs) do
          lathe_store$once$($y.operand.name$ + head + (first + slot * $B$) * $V$, $y.operand.name$_pack);
          //@ end
        }
      }
    }
    if (blockIdx.x == gridDim.x - 1 && thread < head + tail) {
      const size_t i = thread < head ? thread : count - tail + (thread - head);
      //@ for _, x in ipairs(point.inputs) do
      const $k.number$ $x.variable$ = $x.pointer$[i];
      //@ end
      $point.call$
      //@ for _, y in ipairs(outputs) do
      $y.operand.name$[i] = $y.operand.name$_;
      //@ end
    }
  } else {
    for (size_t tile = blockIdx.x; tile * $(B * U * V) < count; tile += gridDim.x) {
      const size_t first = tile * $(B * U * V) + thread;
      //@ for _, x in ipairs(point.inputs) do
      $k.number$ $x.pointer$_at[$(U * V)] = {};
#pragma unroll
      for (int nth = 0; nth < $(U * V); nth++)
        if (first + nth * $B$ < count)
          $x.pointer$_at[nth] = $x.pointer$[first + nth * $B$];
      //@ end
#pragma unroll
      for (int nth = 0; nth < $(U * V); nth++) {
        //@ P.call(point)
        if (first + nth * $B$ < count) {
          //@ for _, y in ipairs(outputs) do
          $y.operand.name$[first + nth * $B$] = $y.operand.name$_;
          //@ end
        }
      }
    }
  }
}

//@ end
