//@ -- Layers of a batch's rows, an invocation a row: slices of a layer's matrix go through shared memory, from which
//@ -- all rows of a workgroup are multiplied with them. What is between layers is in the workspace, where each
//@ -- invocation reads what it wrote itself. Bound by what all invocations read of a slice, an access for each four
//@ -- products.
//@ local C = use "contract_step.comp"
//@ local P = use "parts.comp"
//@ local W, vec = C.W, C.vec
//@ -- Of the slice's elements, which are read along an axis, V at once: that of read `at`.
//@ local function keep(step, b, shape)
//@ local along_k = b.along == "k"
//@ local across = (along_k and shape.terms or shape.columns) // b.count -- reads of a line
for (uint at = thread; at < $(shape.terms * shape.columns // b.count)u; at += $shape.threads$u) {
  const uint line = at / $across$u, within = at % $across$u * $b.count$u;
  //@ local column, term = along_k and "line" or "within", along_k and "within" or "line"
  const uint64_t n = left + $column$, k = first + $term$;
  const uint there = $(C.there({ n = "n", k = "k" }, b.along, along_k and "n" or "k"));
  //@ C.read(step, step.b, { n = "n", k = "k" }, b.along, b.count, "0u", "whole_b")
  //@ C.compute(step, step.b, b.along, b.count, "0u", function(point)
  //@   local by = " + " .. point .. "u"
    lathe_layer[($term$$(along_k and by or "")) * $shape.line$u + ($column$$(along_k and "" or by)) / $W$u][($column$$(along_k and "" or by)) % $W$u] = packed;
  //@ end)
}
//@ end
//@ local function layer(step, made, shape)
//@ local vecs = shape.columns // W
//@ local V = made.a.along == "k" and made.a.count or 1
{ /* $(step.of.name) */
  //@ C.begin(step)
  //@ C.place(step, {})
  //@ C.declare(step, step.a, "k", V, 1)
  //@ C.declare(step, step.b, made.b.along, made.b.count, 1)
  const bool whole_a = $(C.is_whole(step, step.a, "k", V)), whole_b = $(C.is_whole(step, step.b, made.b.along, made.b.count));
  const bool whole_values = $(C.are_stored_whole(step, "n"));
  for (uint64_t left = 0ul; left < n_count; left += $shape.columns$ul) {
    $k.precise$$vec$ sums[$vecs$];
    [[unroll]] for (uint nth = 0u; nth < $vecs$u; nth++)
      sums[nth] = $vec$(0);
    for (uint64_t first = 0ul; first < k_count; first += $shape.terms$ul) {
      const uint terms = uint(min(k_count - first, $shape.terms$ul));
      barrier();
      //@ keep(step, made.b, shape)
      barrier();
      for (uint term = 0u; term < terms && m < m_count; term += $V$u) {
        const uint64_t k = first + term;
        const uint there = $(C.there({ m = "m", k = "k" }, "k", "m"));
        $k.number$ x[$V$];
        //@ C.read(step, step.a, { m = "m", k = "k" }, "k", V, "0u", "whole_a")
        //@ C.compute(step, step.a, "k", V, "0u", function(point)
          x[$point$] = packed;
        //@ end)
        [[unroll]] for (uint nth = 0u; nth < $V$u; nth++)
          if ($(V == 1 and "true" or "nth < there"))
            [[unroll]] for (uint column = 0u; column < $vecs$u; column++)
              sums[column] = fma($vec$(x[nth]), lathe_layer[(term + nth) * $shape.line$u + column], sums[column]);
      }
    }
    if (m < m_count)
      [[unroll]] for (uint nth = 0u; nth < $vecs$u; nth++) {
        const $k.precise$$vec$ some = sums[nth];
        const uint64_t n = left + nth * $W$u;
        //@ C.store(step, { m = "m", n = "n" }, "n", "m")
      }
  }
}
//@ end
//@ function define(shape)
shared $vec$ lathe_layer[$(shape.terms * shape.line)];

/* All layers of $shape.threads$ rows. */
//@ P.begin_kernel(shape.number)
  const uint thread = gl_LocalInvocationID.x;
  const uint64_t m = lathe_group() * $shape.threads$ul + thread;
  //@ for _, i in ipairs(shape.layers) do
  //@ layer(k.steps[i], schedule.steps[i], shape)
  //@ end
//@ P.end_kernel()
//@ end
