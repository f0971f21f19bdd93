//@ -- Layers of a batch's rows, of which a workgroup takes some through all: by matrices of f16 that subgroups multiply
//@ -- and add up in f32. Slices of a layer's rows and of its matrix go through shared memory, of which the next is on
//@ -- its way while one is multiplied. What a layer leaves is in the workspace in f32, where the workgroup reads what
//@ -- it wrote itself, and goes to the next one's slices as two numbers of f16, what is nearest and what is left, each
//@ -- row times a power of two: products are as good as those of f32, and have its range. Few rows are bound by each
//@ -- workgroup reading all matrices, many by the products.
//@ local C = use "contract_step.comp"
//@ local P = use "parts.comp"
//@ local V = 8 -- elements of an access
//@ -- What layers leave for later ones: the number of each by the operand's name, and how many.
//@ local kept, many = {}, 0
//@ for _, kernel in ipairs(schedule.kernels) do
//@ for _, i in ipairs(kernel.shape.layers or {}) do
//@   local name = k.steps[i].of.a.name
//@   if not schedule.steps[i].a.plain and not kept[name] then
//@     kept[name], many = many, many + 1
//@   end
//@ end
//@ end
//@ -- Where the bits of a row's largest number are, of what layers leave for a step.
//@ local function largest(name, shape, row)
//@   return ("lathe_largest%dx%d[%du + %s]"):format(shape.bm, shape.bn, kept[name] * shape.bm, row)
//@ end
//@ -- A factor of a layer; room: where its slice begins in shared memory, which has two parts where it is computed.
//@ local room -- the name of a kernel's shared memory
//@ local function factor(step, made, shape, letter, room)
//@   local across = letter == "a" and "m" or "n"
//@   local f = {
//@     part = step[letter], letter = letter, across = across, shape = shape, rows = shape["b" .. across], room = room,
//@     along = letter == "a" and "k" or made.b.along, plain = made[letter].plain,
//@   }
//@   f.along_k = f.along == "k"
//@   f.width = (f.along_k and shape.bk or f.rows) // V -- accesses of a line, a row's terms or a term's rows
//@   f.line = f.width + 1 -- one apart, so that neighbouring lines are in other banks
//@   f.all = (f.along_k and f.rows or shape.bk) * f.width
//@   f.reads = ("((%du + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x)"):format(f.all)
//@   f.part_size = (f.along_k and f.rows or shape.bk) * f.line -- accesses from one part to the other
//@   return f
//@ end
//@ local function load(step, f)
[[unroll]] for (uint nth = 0u; nth < $f.reads$; nth++) {
  const uint at = nth * gl_WorkGroupSize.x + thread, line = at / $f.width$u, within = at % $f.width$u * $V$u;
  //@ local row, term = f.along_k and "line" or "within", f.along_k and "within" or "line"
  const uint64_t $f.across$ = $(f.letter == "a" and "top" or "left") + $row$, k = first + $term$;
  const uint there = at < $f.all$u && $(C.there({ [f.across] = f.across, k = "k" }, f.along, f.along_k and f.across or "k"));
  //@ C.read(step, f.part, { [f.across] = f.across, k = "k" }, f.along, V, "nth", "whole_" .. f.letter)
}
//@ end
//@ local function keep(step, f)
[[unroll]] for (uint nth = 0u; nth < $f.reads$; nth++) {
  const uint at = nth * gl_WorkGroupSize.x + thread, place = $f.room$u + at / $f.width$u * $f.line$u + at % $f.width$u;
  if (at < $f.all$u) {
    //@ if f.plain then
    $room$[place] = $(f.part.point.inputs[1].pointer)_raw[nth];
    //@ if f.checked then
    const uvec4 words = $(f.part.point.inputs[1].pointer)_raw[nth];
    if (any(equal(words & 0x7c00u, uvec4(0x7c00u))) || any(equal(words & 0x7c000000u, uvec4(0x7c000000u))))
      lathe_special = 1u;
    //@ end
    //@ else
    float made[$V$];
    //@ C.compute(step, f.part, f.along, V, "nth", function(point)
      made[$point$] = packed;
    //@ end)
    const float scale = lathe_scale($(largest(step.of.a.name, f.shape, ("at / %du"):format(f.width))));
    uvec4 near, rest;
    [[unroll]] for (uint pair = 0u; pair < $(V // 2)u; pair++) {
      const vec2 both = vec2(made[2u * pair], made[2u * pair + 1u]) * scale;
      /* Rounded as bits: of conversions to f16 and back a compiler may think that nothing is lost. */
      const uvec2 bits = floatBitsToUint(both);
      const bvec2 finite = lessThan(abs(both), vec2(1e38)); /* NaN, which may be all ones, would become 0 */
      const vec2 kept = mix(both, uintBitsToFloat(bits + 0xfffu + (bits >> 13u & 1u) & 0xffffe000u), finite);
      const vec2 lost = mix(vec2(0.0), both - kept, finite);
      near[pair] = packFloat2x16(f16vec2(kept));
      rest[pair] = packFloat2x16(f16vec2(lost));
    }
    $room$[place] = near;
    $room$[place + $f.part_size$u] = rest;
    //@ end
  }
}
//@ end
//@ -- Loads a matrix of a factor's slice, of the rows from `row` on; part: of which of its parts.
//@ local function fragment(f, to, row, part)
//@ local place = f.along_k and ("(%s) * %du + term / %du"):format(row, f.line, V)
//@   or ("term * %du + (%s) / %du"):format(f.line, row, V)
coopMatLoad($to$, $room$, $(f.room + part * f.part_size)u + $place$, $f.line$u, gl_CooperativeMatrixLayout$(f.along_k == (f.letter == "a") and "Row" or "Column")Major);
//@ end
//@ -- Multiplies a slice: some parts of the left factor.
//@ local function multiply(a, b, from, to)
[[unroll]] for (uint term = 0u; term < $a.shape.bk$u; term += MATRIX_K) {
  //@ for part = from, to do
  coopmat<float16_t, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> rows$part$[DOWN];
  [[unroll]] for (uint i = 0u; i < DOWN; i++) {
    //@ fragment(a, ("rows%d[i]"):format(part), "own_m + i * MATRIX_M", part)
  }
  //@ end
  [[unroll]] for (uint j = 0u; j < ACROSS; j++)
    if (own_n + j * MATRIX_N < columns) {
      coopmat<float16_t, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB> column;
      //@ fragment(b, "column", "own_n + j * MATRIX_N", 0)
      //@ for part = from, to do
      [[unroll]] for (uint i = 0u; i < DOWN; i++)
        sums[i * ACROSS + j] = coopMatMulAdd(rows$part$[i], column, sums[i * ACROSS + j]);
      //@ end
    }
}
//@ end
//@ -- Puts zeros in the place of a slice's infinities and NaN.
//@ local function clean(f)
for (uint at = thread; at < $f.all$u; at += gl_WorkGroupSize.x) {
  const uint place = $f.room$u + at / $f.width$u * $f.line$u + at % $f.width$u;
  const uvec4 words = $room$[place];
  const uvec4 low = mix(words & 0xffffu, uvec4(0u), equal(words & 0x7c00u, uvec4(0x7c00u)));
  const uvec4 high = mix(words & 0xffff0000u, uvec4(0u), equal(words & 0x7c000000u, uvec4(0x7c000000u)));
  $room$[place] = low | high;
}
//@ end
//@ local function layer(step, made, shape, is_last)
//@ local a = factor(step, made, shape, "a", 0)
//@ local b = factor(step, made, shape, "b", a.part_size * (made.a.plain and 1 or 2))
//@ local parts = a.plain and 1 or 2
//@ b.checked = parts == 2
{ /* $(step.of.name) */
  //@ C.begin(step)
  //@ C.place(step, {})
  //@ C.declare(step, step.a, a.along, V, a.reads)
  //@ C.declare(step, step.b, b.along, V, b.reads)
  const bool whole_a = $(C.is_whole(step, step.a, a.along, V)), whole_b = $(C.is_whole(step, step.b, b.along, V));
  const bool whole_values = $(C.are_stored_whole(step, "n"));
  //@ if parts == 2 then
  lathe_special = 0u;
  //@ end
  for (uint64_t left = 0ul; left < n_count; left += $shape.bn$ul) {
    const uint columns = uint(min(n_count - left, $shape.bn$ul));
    [[unroll]] for (uint nth = 0u; nth < DOWN * ACROSS; nth++)
      sums[nth] = coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(0.0);
    for (uint64_t first = 0ul;; first += $shape.bk$ul) {
      if (first < k_count) {
        //@ load(step, a)
        //@ load(step, b)
      }
      if (first > 0ul) {
        //@ if parts == 2 then
        /* An infinity is multiplied once: what is left of a number may be 0, or of the other sign. */
        if (lathe_special > 0u) {
          //@ multiply(a, b, 0, 0)
          barrier();
          //@ clean(b)
          barrier();
          //@ multiply(a, b, 1, 1)
        } else {
          //@ multiply(a, b, 0, 1)
        }
        //@ else
        //@ multiply(a, b, 0, 0)
        //@ end
      }
      if (first >= k_count)
        break;
      barrier();
      //@ keep(step, a)
      //@ keep(step, b)
      barrier();
    }
    /* The sums of MATRIX_M rows at a time through shared memory, in which each subgroup has room of its own. */
    const uint base = gl_SubgroupID * (MATRIX_M * $(shape.wn // 4)u);
    barrier();
    [[unroll]] for (uint i = 0u; i < DOWN; i++) {
      [[unroll]] for (uint j = 0u; j < ACROSS; j++)
        coopMatStore(sums[i * ACROSS + j], $room$, base + j * (MATRIX_N / 4u), $(shape.wn // 4)u, gl_CooperativeMatrixLayoutRowMajor);
      subgroupBarrier();
      for (uint at = gl_SubgroupInvocationID; at < MATRIX_M * $(shape.wn // 4)u; at += SUBGROUP) {
        const uint row = own_m + i * MATRIX_M + at / $(shape.wn // 4)u;
        //@ local scaled = a.plain and "" or (" * lathe_unscale(%s)"):format(largest(step.of.a.name, shape, "row"))
        const vec4 some = uintBitsToFloat($room$[base + at])$scaled$;
        const uint64_t m = top + row, n = left + own_n + at % $(shape.wn // 4)u * 4u;
        if (m < m_count && n < n_count) {
          //@ C.store(step, { m = "m", n = "n" }, "n", "m")
          //@ for _, value in ipairs(step.of.values) do
          //@ if kept[value.operand.name] then
          uint bits = 0u;
          [[unroll]] for (uint point = 0u; point < $C.W$u; point++)
            if (point < there)
              bits = max(bits, floatBitsToUint($(value.operand.name)_of[point]) & 0x7fffffffu);
          atomicMax($(largest(value.operand.name, shape, "row")), bits);
          //@ end
          //@ end
        }
      }
      subgroupBarrier();
    }
    barrier();
  }
  //@ if not is_last then
  memoryBarrierBuffer(); /* what the layer left is read by others of the workgroup */
  barrier();
  //@ end
}
//@ end
//@ local begun = false
//@ function define(shape)
//@ if not begun then
//@ begun = true
layout(constant_id = 5) const uint MATRIX_M = 16; /* rows, columns and terms of a product of matrices */
layout(constant_id = 6) const uint MATRIX_N = 16;
layout(constant_id = 7) const uint MATRIX_K = 16;
shared uint lathe_special; /* not 0: a matrix of this layer has an infinity or NaN */

/* A row's power of two, of which the largest number is in the upper half of f16's range, and one by it; 1 where that
 * number is zero or none. */
uint lathe_scale_bits(uint largest) {
  const uint exponent = largest >> 23u;
  return exponent == 0u || exponent == 255u ? 127u : min(268u - exponent, 253u);
}

float lathe_scale(uint largest) {
  return uintBitsToFloat(lathe_scale_bits(largest) << 23u);
}

float lathe_unscale(uint largest) {
  return uintBitsToFloat(254u - lathe_scale_bits(largest) << 23u);
}
//@ end
//@ local ending = shape.bm .. "x" .. shape.bn
//@ room = "lathe_room" .. ending
shared uvec4 $room$[$shape.room$]; /* slices; sums on their way out */
//@ if many > 0 then
shared uint lathe_largest$ending$[$(many * shape.bm)]; /* the bits of each row's largest number */
//@ end
//@ local down = shape.bm // shape.wm -- subgroups one below the other

/* All layers of $shape.bm$ rows. */
//@ P.begin_kernel(shape.number)
  const uint DOWN = $shape.wm$u / MATRIX_M, ACROSS = $shape.wn$u / MATRIX_N;
  const uint thread = gl_LocalInvocationID.x;
  //@ if many > 0 then
  for (uint at = thread; at < $(many * shape.bm)u; at += gl_WorkGroupSize.x)
    lathe_largest$ending$[at] = 0u;
  //@ end
  const uint64_t top = lathe_group() * $shape.bm$ul;
  const uint own_m = gl_SubgroupID % $down$u * $shape.wm$u, own_n = gl_SubgroupID / $down$u * $shape.wn$u;
  coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> sums[DOWN * ACROSS];
  //@ for nth, i in ipairs(shape.layers) do
  //@ layer(k.steps[i], schedule.steps[i], shape, nth == #shape.layers)
  //@ end
//@ P.end_kernel()
//@ end
