//@ -- Sums of products over tiles of the result, by matrices of f16 that subgroups multiply and add up in f32
//@ -- (KHR_cooperative_matrix), of the size that the device has. The factors are elements as they are in memory, which go
//@ -- to shared memory as they lie: by slices, of which the next is on its way while one is multiplied.
//@ local C = use "contract_step.comp"
//@ local P = use "parts.comp"
//@ local V = 8 -- elements of an access
//@ local function factor(step, made, shape, letter)
//@   local across = letter == "a" and "m" or "n"
//@   local f = {
//@     part = step[letter], letter = letter, across = across, along = made[letter].along, rows = shape["b" .. across],
//@     along_k = made[letter].along == "k",
//@   }
//@   f.width = (f.along_k and shape.bk or f.rows) // V -- accesses of a line, a row's terms or a term's rows
//@   f.line = f.width + 1 -- one apart, so that neighbouring lines are in other banks
//@   f.lines = f.along_k and f.rows or shape.bk
//@   f.all = f.lines * f.width
//@   f.reads = ("((%du + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x)"):format(f.all)
//@   f.slice = ("lathe_halves_%s%dx%d"):format(letter, f.lines, f.line)
//@   return f
//@ end
//@ -- fast: all of the slice exists, and is aligned.
//@ local function load(step, f, fast)
[[unroll]] for (uint nth = 0u; nth < $f.reads$; nth++) {
  const uint at = nth * gl_WorkGroupSize.x + thread, line = at / $f.width$u, within = at % $f.width$u * $V$u;
  //@ local row, term = f.along_k and "line" or "within", f.along_k and "within" or "line"
  const uint64_t $f.across$ = cut.$f.across$ + $row$, k = first + $term$;
  //@ if fast then
  const uint there = $V$u;
  if ($f.all$u % gl_WorkGroupSize.x == 0u || at < $f.all$u)
  //@ else
  const uint there = at < $f.all$u && $(C.there({ [f.across] = f.across, k = "k" }, f.along, f.along_k and f.across or "k"));
  //@ end
  //@ C.read(step, f.part, { [f.across] = f.across, k = "k" }, f.along, V, "nth", fast and "true" or "whole_" .. f.letter)
}
//@ end
//@ local function keep(f)
[[unroll]] for (uint nth = 0u; nth < $f.reads$; nth++) {
  const uint at = nth * gl_WorkGroupSize.x + thread;
  if ($f.all$u % gl_WorkGroupSize.x == 0u || at < $f.all$u)
    $f.slice$[at / $f.width$u * $f.line$u + at % $f.width$u] = $(f.part.point.inputs[1].pointer)_raw[nth];
}
//@ end
//@ -- Loads a matrix of a factor's slice, of the rows from `row` on.
//@ local function fragment(f, to, row)
//@ local place = f.along_k and ("(%s) * %du + term / %du"):format(row, f.line, V) or ("term * %du + (%s) / %du"):format(f.line, row, V)
coopMatLoad($to$, $f.slice$, $place$, $f.line$u, gl_CooperativeMatrixLayout$(f.along_k == (f.letter == "a") and "Row" or "Column")Major);
//@ end
//@ local known = {}
//@ function define(step, made, shape)
//@ local a, b = factor(step, made, shape, "a"), factor(step, made, shape, "b")
//@ if not known.sizes then
//@ known.sizes = true
layout(constant_id = 5) const uint MATRIX_M = 16; /* rows, columns and terms of a product of matrices */
layout(constant_id = 6) const uint MATRIX_N = 16;
layout(constant_id = 7) const uint MATRIX_K = 16;
shared float lathe_results[$shape.subgroups$u * MATRIX_M * MATRIX_N];
//@ end
//@ for _, f in ipairs { a, b } do
//@ if not known[f.slice] then
//@ known[f.slice] = true
shared uvec4 $f.slice$[$(f.lines * f.line)];
//@ end
//@ end
//@ local columns = shape.bn // shape.wn -- subgroups side by side

/* $(step.of.name): tiles of $shape.bm$ x $shape.bn$, $shape.bk$ terms at a time, by matrices */
//@ P.begin_kernel(shape.number)
  //@ C.begin_cut(step, shape)
  const uint DOWN = $shape.wm$u / MATRIX_M, ACROSS = $shape.wn$u / MATRIX_N;
  const uint own_m = gl_SubgroupID / $columns$u * $shape.wm$u, own_n = gl_SubgroupID % $columns$u * $shape.wn$u;
  //@ C.declare(step, step.a, a.along, V, a.reads)
  //@ C.declare(step, step.b, b.along, V, b.reads)
  coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> sums[DOWN * ACROSS];
  [[unroll]] for (uint nth = 0u; nth < DOWN * ACROSS; nth++)
    sums[nth] = coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(0.0);
  //@ C.begin_terms(step)
    const bool whole_a = $(C.is_whole(step, step.a, a.along, V)), whole_b = $(C.is_whole(step, step.b, b.along, V));
    const bool fast = whole_a && whole_b && cut.m + $shape.bm$ul <= m_count && cut.n + $shape.bn$ul <= n_count;
    for (uint64_t first = from;; first += $shape.bk$ul) {
      if (fast && first < to && to - first >= $shape.bk$ul) {
        //@ load(step, a, true)
        //@ load(step, b, true)
      } else if (first < to) {
        //@ load(step, a)
        //@ load(step, b)
      }
      if (first > from)
        [[unroll]] for (uint term = 0u; term < $shape.bk$u; term += MATRIX_K) {
          coopmat<float16_t, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> rows[DOWN];
          [[unroll]] for (uint i = 0u; i < DOWN; i++) {
            //@ fragment(a, "rows[i]", "own_m + i * MATRIX_M")
          }
          [[unroll]] for (uint j = 0u; j < ACROSS; j++) {
            coopmat<float16_t, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB> column;
            //@ fragment(b, "column", "own_n + j * MATRIX_N")
            [[unroll]] for (uint i = 0u; i < DOWN; i++)
              sums[i * ACROSS + j] = coopMatMulAdd(rows[i], column, sums[i * ACROSS + j]);
          }
        }
      if (first >= to)
        break;
      barrier();
      //@ keep(a)
      //@ keep(b)
      barrier();
    }
  //@ C.end_terms(step)
  const bool whole_values = $(C.are_stored_whole(step, "n"));
  [[unroll]] for (uint nth = 0u; nth < DOWN * ACROSS; nth++) {
    const uint base = gl_SubgroupID * (MATRIX_M * MATRIX_N);
    barrier();
    coopMatStore(sums[nth], lathe_results, base, MATRIX_N, gl_CooperativeMatrixLayoutRowMajor);
    barrier();
    for (uint at = gl_SubgroupInvocationID; at < MATRIX_M * MATRIX_N / 4u; at += SUBGROUP) {
      const uint row = at / (MATRIX_N / 4u), column = at % (MATRIX_N / 4u) * 4u, place = base + at * 4u;
      const vec4 some = vec4(lathe_results[place], lathe_results[place + 1u], lathe_results[place + 2u], lathe_results[place + 3u]);
      const uint64_t m = cut.m + own_m + nth / ACROSS * MATRIX_M + row, n = cut.n + own_n + nth % ACROSS * MATRIX_N + column;
      //@ C.store(step, { m = "m", n = "n" }, "n", "m")
    }
  }
//@ P.end_kernel()
//@ end
