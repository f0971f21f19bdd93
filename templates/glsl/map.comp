/* y[i] = f(x0[i], x1[i], ...). Limited by bytes moved: an invocation has `unroll` accesses of 16 bytes
 * to each operand in flight before it computes anything. Where the operands' addresses differ within
 * 16 bytes, accesses are of one element each. */
//@ use "kernel.comp"
//@ local P = use "parts.comp"
//@ local point = k:last_pass(P.define)
//@ local outputs, V = k.program.points, k.width
//@ local random = k:random_input(point)
//@ local EACH = k.bytes == 2 and 8 or 4 -- points of a counter
//@ -- The random number of the point at index i, where it needs one.
//@ function one_random(i)
//@ if random then
const $k.number$ random_ = lathe_random(lathe_philox($random.seed$_value, $random.offset$_value, $i$ / $EACH$), uint($i$) % $EACH$u);
//@ end
//@ end
//@ local kernels = {}
//@ for _, v in ipairs(variants) do
//@ local B, U = v.params.block, v.params.unroll
//@ kernels[#kernels + 1] = "kernel" .. #kernels
/* $v.params_text$ */
void $(kernels[#kernels])() {
  $(k:pointers())
  $(k:scalars(op))
  const uint64_t count = $(k:product("args.dim", 1, #op.dims));
  $(k:row_values())
  $(k:uniforms("call"))
  $(k:uniforms("row"))
  const uint thread = gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID;
  const uint64_t head = min(lathe_head($(outputs[1].operand.name)), count);
  bool aligned = $(random and "head % " .. EACH .. "ul == 0ul" or "true");
  //@ for _, operand in ipairs(k.operands) do
  //@ if operand.place == "whole" then
  aligned = aligned && lathe_aligned($operand.name$ + head * $k.bytes$ul);
  //@ end
  //@ end

  if (aligned) {
    const uint64_t packs = (count - head) / $V$ul;
    for (uint64_t tile = gl_WorkGroupID.x * $(B * U)ul; tile < packs; tile += gl_NumWorkGroups.x * $(B * U)ul) {
      const uint64_t at = head * $k.bytes$ul + (tile + thread) * 16ul;
      const uint left = uint(min(packs - tile, $(B * U)ul));
      //@ for _, x in ipairs(point.inputs) do
      //@ for slot = 0, x.pointer and U - 1 or -1 do
      uvec4 $x.pointer$_pack$slot$ = uvec4(0u);
      if (thread + $(slot * B)u < left)
        $x.pointer$_pack$slot$ = lathe_pack($x.pointer$ + at + $(slot * B * 16)ul).at;
      //@ end
      //@ end
      //@ for slot = 0, U - 1 do
      if (thread + $(slot * B)u < left) {
        //@ for lane = 0, V - 1 do
        //@ if random and lane % EACH == 0 then
        const uint64_t counted$lane$ = head + (tile + thread + $(slot * B)u) * $V$ul + $lane$ul;
        const uvec4 random$lane$ = lathe_philox($random.seed$_value, $random.offset$_value, counted$lane$ / $EACH$);
        //@ end
        //@ for _, y in ipairs(outputs) do
        $k.number$ $y.operand.name$_at$lane$;
        //@ end
        {
          //@ for _, x in ipairs(point.inputs) do
          //@ if x.pointer then
          const $k.number$ $x.variable$ = $(k:unpack(x.pointer .. "_pack" .. slot, lane));
          //@ end
          //@ end
          //@ if random then
          //@ local nth = V == 2 and "uint(counted0) % 4u + " .. lane .. "u" or lane % EACH .. "u"
          const $k.number$ random_ = lathe_random(random$(lane // EACH * EACH), $nth$);
          //@ end
          $point.call$
          //@ for _, y in ipairs(outputs) do
          $y.operand.name$_at$lane$ = $y.operand.name$_;
          //@ end
        }
        //@ end
        //@ for _, y in ipairs(outputs) do
        //@ local values = {}
        //@ for lane = 0, V - 1 do
        //@   values[lane + 1] = y.operand.name .. "_at" .. lane
        //@ end
        lathe_pack($y.operand.name$ + at + $(slot * B * 16)ul).at = $(k:pack(values));
        //@ end
      }
      //@ end
    }
    /* What is before the first whole access, and after the last. */
    const uint64_t tail = (count - head) % $V$ul;
    if (gl_WorkGroupID.x == gl_NumWorkGroups.x - 1 && thread < head + tail) {
      const uint64_t i = thread < head ? thread : count - tail + (thread - head);
      //@ for _, x in ipairs(point.inputs) do
      //@ if x.pointer then
      const $k.number$ $x.variable$ = lathe_get($x.pointer$ + i * $k.bytes$ul);
      //@ end
      //@ end
      //@ one_random("i")
      $point.call$
      //@ for _, y in ipairs(outputs) do
      lathe_put($y.operand.name$ + i * $k.bytes$ul, $y.operand.name$_);
      //@ end
    }
  } else {
    for (uint64_t tile = gl_WorkGroupID.x * $(B * U * V)ul; tile < count; tile += gl_NumWorkGroups.x * $(B * U * V)ul) {
      const uint64_t at = tile + thread;
      //@ for _, x in ipairs(point.inputs) do
      //@ for nth = 0, x.pointer and U * V - 1 or -1 do
      const $k.number$ $x.pointer$_at$nth$ =
          at + $(nth * B)u < count ? lathe_get($x.pointer$ + (at + $(nth * B)u) * $k.bytes$ul) : 0;
      //@ end
      //@ end
      //@ for nth = 0, U * V - 1 do
      if (at + $(nth * B)u < count) {
        //@ for _, x in ipairs(point.inputs) do
        //@ if x.pointer then
        const $k.number$ $x.variable$ = $x.pointer$_at$nth$;
        //@ end
        //@ end
        //@ one_random("(at + " .. nth * B .. "u)")
        $point.call$
        //@ for _, y in ipairs(outputs) do
        lathe_put($y.operand.name$ + (at + $(nth * B)u) * $k.bytes$ul, $y.operand.name$_);
        //@ end
      }
      //@ end
    }
  }
}

//@ end
//@ P.main(kernels)
