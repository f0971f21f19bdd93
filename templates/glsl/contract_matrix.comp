//@ -- Sums of products over tiles of the result, by matrices of f16 that subgroups multiply (KHR_cooperative_matrix),
//@ -- of the size that the device has. The factors are elements as they are in memory, which go to shared memory as
//@ -- they lie: by slices, of which the next is on its way while one is multiplied.
//@ local C = use "contract_step.comp"
//@ local P = use "parts.comp"
//@ local V = 8 -- elements of an access
//@ -- base: GLSL, the first of the tile's rows or columns; those of the workgroup where it is left out.
//@ function factor(step, made, shape, letter, base)
//@   local across = letter == "a" and "m" or "n"
//@   local f = {
//@     part = step[letter], letter = letter, across = across, along = made[letter].along, rows = shape["b" .. across],
//@     along_k = made[letter].along == "k", terms = shape.bk, base = base or "cut." .. across,
//@   }
//@   f.width = (f.along_k and shape.bk or f.rows) // V -- accesses of a line, a row's terms or a term's rows
//@   f.line = f.width + 1 -- one apart, so that neighbouring lines are in other banks
//@   f.lines = f.along_k and f.rows or shape.bk
//@   f.all, f.room = f.lines * f.width, f.lines * f.line
//@   f.reads = ("((%du + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x)"):format(f.all)
//@   f.raw = f.part.point.inputs[1].pointer .. "_raw[nth]"
//@   return f
//@ end
//@ -- GLSL: whether the nth access of an invocation is one of a slice's.
//@ local function is_of(f) return ("(%du %% gl_WorkGroupSize.x == 0u || nth * gl_WorkGroupSize.x + thread < %du)"):format(f.all, f.all) end
//@ -- Which line of a slice an invocation's nth access is of, and the first of its elements there; its row and its
//@ -- term.
//@ local function place(f)
const uint at = nth * gl_WorkGroupSize.x + thread, line = at / $f.width$u, within = at % $f.width$u * $V$u;
//@ local row, term = f.along_k and "line" or "within", f.along_k and "within" or "line"
const uint64_t $f.across$ = $f.base$ + $row$, k = first + $term$;
//@ end
//@ -- Of slices of which all exists and is aligned: the address of an invocation's first access, how far apart its
//@ -- accesses are, and how far those of the next slice.
//@ local function begin_fast(step, f)
uint64_t $f.letter$_from, $f.letter$_apart, $f.letter$_next;
{
  const uint nth = 0u;
  const uint64_t first = from;
  //@ place(f)
  //@ local lines = ("gl_WorkGroupSize.x / %du"):format(f.width)
  //@ local function address(more, more_k) return C.address(step, f.part.point.inputs[1].operand,
  //@   { [f.across] = f.across .. more, k = "k" .. more_k }) end
  $f.letter$_from = $(address("", ""));
  $f.letter$_apart = $(f.along_k and address(" + " .. lines, "") or address("", " + " .. lines)) - $f.letter$_from;
  $f.letter$_next = $(address("", (" + %du"):format(f.terms))) - $f.letter$_from;
}
//@ end
//@ local function load_fast(f)
[[unroll]] for (uint nth = 0u; nth < $f.reads$; nth++)
  if $(is_of(f))
    $f.raw$ = lathe_pack($f.letter$_from + nth * $f.letter$_apart).at;
$f.letter$_from += $f.letter$_next;
//@ end
//@ function load(step, f)
[[unroll]] for (uint nth = 0u; nth < $f.reads$; nth++) {
  //@ place(f)
  const uint there = at < $f.all$u && $(C.there({ [f.across] = f.across, k = "k" }, f.along, f.along_k and f.across or "k"));
  //@ C.read(step, f.part, { [f.across] = f.across, k = "k" }, f.along, V, "nth", "whole_" .. f.letter)
}
//@ end
//@ function keep(f)
[[unroll]] for (uint nth = 0u; nth < $f.reads$; nth++) {
  const uint at = nth * gl_WorkGroupSize.x + thread;
  if $(is_of(f))
    $f.halves$[$f.at$at / $f.width$u * $f.line$u + at % $f.width$u] = $f.raw$;
}
//@ end
//@ -- Loads a matrix of a factor's slice, of the rows from `row` on.
//@ function fragment(f, to, row)
//@ local place = f.along_k and ("(%s) * %du + term / %du"):format(row, f.line, V)
//@   or ("term * %du + (%s) / %du"):format(f.line, row, V)
coopMatLoad($to$, $f.halves$, $f.at$$place$, $f.line$u, gl_CooperativeMatrixLayout$(f.along_k == (f.letter == "a") and "Row" or "Column")Major);
//@ end
//@ local are_known = false
//@ function declare_sizes()
//@ if not are_known then
//@ are_known = true
layout(constant_id = 5) const uint MATRIX_M = 16; /* rows, columns and terms of a product of matrices */
layout(constant_id = 6) const uint MATRIX_N = 16;
layout(constant_id = 7) const uint MATRIX_K = 16;
//@ end
//@ end
//@ function define(step, made, shape)
//@ local a, b = factor(step, made, shape, "a"), factor(step, made, shape, "b")
//@ local columns = shape.bn // shape.wn -- subgroups side by side
//@ local room, halves = a.room + b.room, "lathe_halves_" .. shape.number
//@ a.halves, b.halves = halves, halves
//@ a.at, b.at = "", a.room .. "u + "
//@ local float = "coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>"
//@ local sum = ("coopmat<%s, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>"):format(shape.sum)
//@ declare_sizes()
/* A slice of both factors; of the results what each subgroup is to store. */
const uint RESULTS_$shape.number$ = $(shape.bm // shape.wm * columns)u * MATRIX_M * MATRIX_N / 4u;
shared uvec4 $halves$[RESULTS_$shape.number$ > $room$u ? RESULTS_$shape.number$ : $room$u];

/* $(step.of.name): tiles of $shape.bm$ x $shape.bn$, $shape.bk$ terms at a time, by matrices */
//@ P.begin_kernel(shape.number)
  //@ C.begin_cut(step, shape)
  const uint DOWN = $shape.wm$u / MATRIX_M, ACROSS = $shape.wn$u / MATRIX_N;
  const uint own_m = gl_SubgroupID / $columns$u * $shape.wm$u, own_n = gl_SubgroupID % $columns$u * $shape.wn$u;
  //@ C.declare(step, step.a, a.along, V, a.reads)
  //@ C.declare(step, step.b, b.along, V, b.reads)
  $sum$ sums[DOWN * ACROSS];
  [[unroll]] for (uint nth = 0u; nth < DOWN * ACROSS; nth++)
    sums[nth] = $sum$(0.0);
  //@ C.begin_terms(step)
    const bool whole_a = $(C.is_whole(step, step.a, a.along, V)), whole_b = $(C.is_whole(step, step.b, b.along, V));
    const bool fast = whole_a && whole_b && cut.m + $shape.bm$ul <= m_count && cut.n + $shape.bn$ul <= n_count;
    //@ begin_fast(step, a)
    //@ begin_fast(step, b)
    for (uint64_t first = from;; first += $shape.bk$ul) {
      if (fast && first < to && to - first >= $shape.bk$ul) {
        //@ load_fast(a)
        //@ load_fast(b)
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
  const uint base = gl_SubgroupID * (MATRIX_M * MATRIX_N / 4u);
  barrier();
  [[unroll]] for (uint nth = 0u; nth < DOWN * ACROSS; nth++) {
    coopMatStore($(shape.sum == "float" and "sums[nth]" or float .. "(sums[nth])"), $halves$, base, MATRIX_N / 4u, gl_CooperativeMatrixLayoutRowMajor);
    subgroupBarrier();
    for (uint at = gl_SubgroupInvocationID; at < MATRIX_M * MATRIX_N / 4u; at += SUBGROUP) {
      const uint row = at / (MATRIX_N / 4u), column = at % (MATRIX_N / 4u) * 4u;
      const vec4 some = uintBitsToFloat($halves$[base + at]);
      const uint64_t m = cut.m + own_m + nth / ACROSS * MATRIX_M + row, n = cut.n + own_n + nth % ACROSS * MATRIX_N + column;
      //@ C.store(step, { m = "m", n = "n" }, "n", "m")
    }
    subgroupBarrier();
  }
//@ P.end_kernel()
//@ end
