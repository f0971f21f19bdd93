//@ -- Layers of a batch's rows, of which an invocation has one: a row's elements, some at a time, are a vector of
//@ -- NV_cooperative_vector, which the device multiplies with a part of a layer's matrix as that lies in memory.
//@ -- Invocations that have the same rows share a layer's columns. Slices of the rows go through shared memory, and so
//@ -- do the sums on their way out; what is between layers is in the workspace in f32. A factor that is multiplied is
//@ -- rounded to f16, and so is each sum, for devices list no products of f16 that are added up in anything else.
//@ --
//@ -- The device's training functions would make the sums over a batch. They add by atomic operations, in another order
//@ -- each time: of 16384 rows 2039 of 2048 sums differed from one run to the next on an H200. So these sums are
//@ -- contractions.
//@ local C = use "contract_step.comp"
//@ local P = use "parts.comp"
//@ local V = 8 -- elements of an access
//@ local TERMS = 64 -- of a vector: longer ones take registers that there are not
//@ local room -- the name of a kernel's shared memory
//@ local line -- accesses from one of its rows to the next
//@ -- Accesses of an invocation for a slice of its workgroup's rows.
//@ local function reads_of(shape) return shape.bk // V // shape.across end
//@ -- The terms of the workgroup's rows from `first` on: reads them, and brings them to shared memory.
//@ local function load(step, shape)
//@ local width = shape.bk // V
[[unroll]] for (uint nth = 0u; nth < $(reads_of(shape))u; nth++) {
  const uint at = nth * $shape.threads$u + thread;
  const uint64_t m = top + at / $width$u, k = first + at % $width$u * $V$u;
  const uint there = $(C.there({ m = "m", k = "k" }, "k", "m"));
  //@ C.read(step, step.a, { m = "m", k = "k" }, "k", V, "nth", "whole_a")
}
//@ end
//@ local function keep(step, made, shape)
//@ local width = shape.bk // V
[[unroll]] for (uint nth = 0u; nth < $(reads_of(shape))u; nth++) {
  const uint at = nth * $shape.threads$u + thread, place = at / $width$u * $line$u + at % $width$u;
  //@ if made.a.plain then
  $room$[place] = $(step.a.point.inputs[1].pointer)_raw[nth];
  //@ else
  float made[$V$];
  //@ C.compute(step, step.a, "k", V, "nth", function(point)
    made[$point$] = packed;
  //@ end)
  [[unroll]] for (uint pair = 0u; pair < $(V // 2)u; pair++)
    $room$[place][pair] = packFloat2x16(f16vec2(made[2u * pair], made[2u * pair + 1u]));
  //@ end
}
//@ end
//@ -- Adds what the device does not multiply to the sums in `some`: the terms from `from` on.
//@ local function add_others(step)
for (uint64_t k = from; k < k_count; k++) {
  float x;
  {
    const uint there = 1u;
    //@ C.declare(step, step.a, "k", 1, 1)
    //@ C.read(step, step.a, { m = "m", k = "k" }, "k", 1, "0u", "false")
    //@ C.compute(step, step.a, "k", 1, "0u", function()
      x = packed;
    //@ end)
  }
  const uint there = $(C.there({ n = "n", k = "k" }, "n", "k"));
  //@ C.declare(step, step.b, "n", C.W, 1)
  //@ C.read(step, step.b, { n = "n", k = "k" }, "n", C.W, "0u", "false")
  //@ C.compute(step, step.b, "n", C.W, "0u", function(point)
    some[$point$] = fma(x, packed, some[$point$]);
  //@ end)
}
//@ end
//@ -- All columns of a layer, of which each invocation has so many at once.
//@ local function columns(step, made, shape, wide)
//@ local b = step.b.point.inputs[1].operand
//@ local bn = wide * shape.across
//@ local by_row = made.b.along == "k"
for (uint64_t left = 0ul; left < n_count; left += $bn$ul) {
  const uint64_t own = left + thread / $shape.bm$u * $wide$u;
  coopvecNV<float16_t, $wide$> sums;
  [[unroll]] for (uint nth = 0u; nth < $wide$u; nth++)
    sums[nth] = float16_t(0.0);
  for (uint64_t first = 0ul; first < terms; first += $shape.bk$ul) {
    //@ load(step, shape)
    barrier();
    //@ keep(step, made, shape)
    barrier();
    if (own + $wide$ul <= n_count)
      for (uint term = 0u; term < $shape.bk$u && first + term < terms; term += $TERMS$u) {
        const uint64_t matrix = $(b.name)_at + $(by_row and "(own * apart + first + term)" or "((first + term) * apart + own)") * 2ul;
        coopvecNV<float16_t, $TERMS$> row;
        coopvecNV<float16_t, $wide$> made;
        coopVecLoadNV(row, $room$, (thread % $shape.bm$u * $line$u + term / $V$u) * 16u);
        coopVecMatMulNV(made, row, gl_ComponentTypeFloat16NV, lathe_halves(matrix).at, 0u, gl_ComponentTypeFloat16NV, $wide$u, $TERMS$u, gl_CooperativeVectorMatrixLayout$(by_row and "Row" or "Column")MajorNV, false, uint(apart) * 2u);
        sums += made;
      }
  }
  barrier();
  coopVecStoreNV(sums, $room$, (thread % $shape.bm$u * $line$u + thread / $shape.bm$u * $(wide // V)u) * 16u);
  barrier();
  for (uint at = thread; at < $(shape.bm * bn // C.W)u; at += $shape.threads$u) {
    const uint row = at / $(bn // C.W)u, column = at % $(bn // C.W)u * $C.W$u;
    const uint64_t m = top + row, n = left + column;
    if (m < m_count && n < n_count) {
      const uvec4 pack = $room$[row * $line$u + column / $V$u];
      const uvec2 halves = column % $V$u == 0u ? pack.xy : pack.zw;
      const uint64_t from = left + column / $wide$u * $wide$u + $wide$ul <= n_count ? terms : 0ul;
      vec4 some = vec4(unpackFloat2x16(halves.x), unpackFloat2x16(halves.y));
      //@ add_others(step)
      //@ C.store(step, { m = "m", n = "n" }, "n", "m")
    }
  }
  barrier();
}
//@ end
//@ local function layer(step, made, shape, is_last)
//@ local b = step.b.point.inputs[1].operand
{ /* $(step.of.name) */
  //@ C.begin(step)
  //@ C.place(step, {})
  //@ C.declare(step, step.a, "k", V, reads_of(shape))
  const bool whole_a = $(C.is_whole(step, step.a, "k", V)), whole_values = $(C.are_stored_whole(step, "n"));
  /* From a line of the matrix to the next, and the terms that the device multiplies: vectors whose parts of the matrix
   * lie at multiples of 64 bytes, in lines of 16. */
  const uint64_t apart = $(C.field(b, made.b.along == "k" and "n" or "k"));
  const uint64_t terms = $(b.name)_at % 64ul == 0ul && apart % 8ul == 0ul ? k_count / $TERMS$ul * $TERMS$ul : 0ul;
  //@ -- Of a matrix that lies across, 16 columns are 32 bytes.
  //@ local wides = { table.unpack(shape.wide, made.b.along == "k" and 1 or 2) }
  //@ for nth, wide in ipairs(wides) do
  //@ local next = wides[nth + 1]
  $(nth > 1 and "else " or "")$(next and ("if (n_count <= %dul || n_count %% %dul != 0ul)"):format(wide * shape.across, next) or "")
  {
    //@ columns(step, made, shape, wide)
  }
  //@ end
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
layout(buffer_reference, std430, buffer_reference_align = 64) buffer lathe_halves {
  float16_t at[];
};
//@ end
//@ room, line = "lathe_room" .. shape.bm, shape.line
shared uvec4 $room$[$(shape.bm * line)]; /* slices; sums on their way out */

/* All layers of $shape.bm$ rows. */
//@ P.begin_kernel(shape.number)
  const uint thread = gl_LocalInvocationID.x;
  const uint64_t top = lathe_group() * $shape.bm$ul;
  //@ for nth, i in ipairs(shape.layers) do
  //@ layer(k.steps[i], schedule.steps[i], shape, nth == #shape.layers)
  //@ end
//@ P.end_kernel()
//@ end
