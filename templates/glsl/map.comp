/* y[i] = f(x0[i], x1[i], ...). Limited by bytes moved, and in the types of 16 bits nearly by
 * instructions: an invocation has `unroll` accesses of 16 bytes to each operand in flight before it
 * computes anything, and the workgroup's tile is whole, so that none of them needs a condition. The last
 * tile, and all of them where an operand is not at a multiple of 16 bytes, goes by accesses of one
 * element each. One tile for each workgroup, as in templates/cuda/map.cu. */

//@ use "kernel.comp"
//@ local P = use "parts.comp"
//@ local point = k.last
//@ P.define(point)
//@ local outputs, V = k.program.points, k.width
//@ local random = k:random_input(point)
//@ local EACH = k.bytes == 2 and 8 or 4 -- points of a counter
//@ -- What a kernel has before it computes: single values are waited for beside the elements.
//@ function ready()
$(k:row_values())
$(k:uniforms("call"))
$(k:uniforms("row"))
//@ end
//@ -- Computes a point; value(x) is the text of an input that is an element, number that of a random one.
//@ function compute(value, number)
//@ P.call(point, function(x) return x.pointer and value(x) or number end)
//@ end
//@ local unrolls = schedule.unrolls
//@ for i, U in ipairs(unrolls) do
//@ local function slots(by, slot) return slot > 0 and (" + BLOCK * %dul"):format(by * slot) or "" end
/* unroll=$U$, whatever the block */
//@ P.begin_kernel(i - 1)
  const uint BLOCK = gl_WorkGroupSize.x;
  $(k:pointers())
  $(k:scalars(op))
  const uint64_t count = $(k:product("args.dim", 1, #op.dims));
  const uint64_t first = lathe_group() * (BLOCK * $(U * V)u);
  const uint thread = gl_LocalInvocationID.x;

  if (MODE != LATHE_APART && first + BLOCK * $(U * V)u <= count) {
    const uint64_t at = first + thread * $V$u;
    //@ for _, x in ipairs(point.inputs) do
    //@ for slot = 0, x.pointer and U - 1 or -1 do
    const uvec4 $x.pointer$_pack$slot$ = $(k:load_pack(x.operand, x.pointer .. " + at * " .. k:bytes_of(x.operand) .. "ul" .. slots(k:access_bytes(x.operand), slot)));
    //@ end
    //@ end
    //@ ready()
    //@ for slot = 0, U - 1 do
    {
      //@ for lane = 0, V - 1 do
      //@ if random and lane % EACH == 0 then
      const uvec4 random$lane$ = lathe_philox($random.seed$_value, $random.offset$_value, (at + $lane$ul$(slots(V, slot))) / $EACH$ul);
      //@ end
      //@ for _, y in ipairs(outputs) do
      $k.number$ $y.operand.name$_at$lane$;
      //@ end
      {
        //@ local nth = V < EACH and "uint(at) % " .. EACH .. "u + " .. lane .. "u" or lane % EACH .. "u"
        //@ compute(function(x)
        //@   return k:unpack(x.pointer .. "_pack" .. slot, lane, x.operand)
        //@ end, ("lathe_random(random%d, %s)"):format(lane // EACH * EACH, nth))
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
      $(k:store_pack(y.operand, y.operand.name .. " + at * " .. k:bytes_of(y.operand) .. "ul" .. slots(k:access_bytes(y.operand), slot), k:pack(values, y.node, y.operand)));
      //@ end
    }
    //@ end
  } else if (first < count) {
    const uint64_t at = first + thread;
    //@ for _, x in ipairs(point.inputs) do
    //@ for nth = 0, x.pointer and U * V - 1 or -1 do
    $k.number$ $x.pointer$_at$nth$ = 0;
    if (at$(slots(1, nth)) < count)
      $x.pointer$_at$nth$ = $(k:get(x.operand))($x.pointer$ + (at$(slots(1, nth))) * $(k:bytes_of(x.operand))ul);
    //@ end
    //@ end
    //@ ready()
    //@ for nth = 0, U * V - 1 do
    if (at$(slots(1, nth)) < count) {
      const uint64_t i = at$(slots(1, nth));
      //@ if random then
      const uvec4 words = lathe_philox($random.seed$_value, $random.offset$_value, i / $EACH$ul);
      //@ end
      //@ compute(function(x)
      //@   return x.pointer .. "_at" .. nth
      //@ end, ("lathe_random(words, uint(i) %% %du)"):format(EACH))
      //@ for _, y in ipairs(outputs) do
      $(k:put(y.operand))($y.operand.name$ + i * $(k:bytes_of(y.operand))ul, $y.operand.name$_);
      //@ end
    }
    //@ end
  }
//@ P.end_kernel()

//@ end
//@ P.main(#unrolls)
