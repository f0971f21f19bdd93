//@ -- Sums of products over tiles of the result, by matrices of f16 that all of a workgroup has
//@ -- (NV_cooperative_matrix2). The factors are elements as they are in memory, from where the device takes them
//@ -- itself: what lies outside is 0.
//@ local C = use "contract_step.comp"
//@ local P = use "parts.comp"
//@ local function matrix(type, rows, columns,
//@   use) return ("coopmat<%s, gl_ScopeWorkgroup, %d, %d, gl_MatrixUse%s>"):format(type, rows, columns, use) end
//@ -- A factor's matrix of a slice, of so many rows and terms: in memory an axis of lines, and the one along which
//@ -- these lie.
//@ local function factor(step, made, shape, letter)
//@   local f = { letter = letter, operand = step[letter].point.inputs[1].operand, across = letter == "a" and "m"
//@     or "n" }
//@   local along_k = made[letter].along == "k"
//@   f.line, f.along = along_k and f.across or "k", made[letter].along
//@   f.lines, f.width = shape["b" .. f.line] or shape.bk, shape["b" .. f.along] or shape.bk
//@   f.turned = along_k == (letter == "b")
//@   f.type = letter == "a" and matrix("float16_t", shape.bm, shape.bk, "A")
//@     or matrix("float16_t", shape.bk, shape.bn, "B")
//@   return f
//@ end
//@ local function begin(step, f)
tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> $f.letter$_layout = createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
//@ local left = { m = "m_count - cut.m", n = "n_count - cut.n", k = "to - from" }
$f.letter$_layout = setTensorLayoutDimensionNV($f.letter$_layout, lathe_extent($(left[f.line])), lathe_extent($(left[f.along])));
$f.letter$_layout = setTensorLayoutStrideNV($f.letter$_layout, $(C.kind(step, f.operand, f.line) == "strided" and ("uint(%s)"):format(C.field(f.operand, f.line)) or "0u"), 1u);
const uint64_t $f.letter$_from = $(C.address(step, f.operand, { [f.across] = "cut." .. f.across, k = "from" }));
//@ end
//@ local function load(f, halves)
//@ local first = { [f.across] = "0u", k = "first" }
$f.type$ $f.letter$;
coopMatLoadTensorNV($f.letter$, $halves$($f.letter$_from).at, 0u, sliceTensorLayoutNV($f.letter$_layout, $(first[f.line]), $f.lines$u, $(first[f.along]), $f.width$u)$(f.turned and ", turned" or ""));
//@ end
//@ function piece.lathe_halves()
layout(buffer_reference, std430, buffer_reference_align = 2) buffer lathe_halves {
  float16_t at[];
};
//@ end

//@ function piece.lathe_whole_halves()
layout(buffer_reference, std430, buffer_reference_align = 16) buffer lathe_whole_halves {
  float16_t at[];
};
//@ end

//@ function piece.lathe_extent()
/* An extent of a layout, which has 32 bits: of a larger one a tile is only the beginning. */
uint lathe_extent(uint64_t count) {
  return uint(min(count, 0x7ffffffful));
}
//@ end

//@ function define(step, made, shape)
//@ local a, b = factor(step, made, shape, "a"), factor(step, made, shape, "b")
//@ local float = matrix("float", shape.bm, shape.bn, "Accumulator")
//@ local sum = matrix(shape.sum, shape.bm, shape.bn, "Accumulator")
//@ local given, loops = { "cut.m", "cut.n" }, { "const in uint64_t tile_m", "const in uint64_t tile_n" }
//@ for i = 1, #C.loops_of(step) do
//@   given[#given + 1], loops[#loops + 1] = "loop" .. i .. "_", "const in uint64_t loop" .. i .. "_"
//@ end
/* Computes and stores a result of a tile, of which it is in this row and column. */
float lathe_result_$shape.number$(const in uint row, const in uint column, const in float sum, $(table.concat(loops, ", "))) {
  //@ C.begin(step)
  //@ C.place_results(step)
  const bool whole_values = false;
  const vec4 some = vec4(sum);
  const uint64_t m = tile_m + row, n = tile_n + column;
  //@ C.store(step, { m = "m", n = "n" }, "n", "m", 1)
  return sum;
}

/* $(step.of.name): tiles of $shape.bm$ x $shape.bn$, $shape.bk$ terms at a time, by matrices of workgroups */
//@ P.begin_kernel(shape.number)
  //@ C.begin_cut(step, shape)
  const tensorViewNV<2, false, 1, 0> turned = createTensorViewNV(2, false, 1, 0);
  $sum$ sums = $sum$(0.0);
  //@ C.begin_terms(step)
    const bool whole = $(C.is_whole(step, step.a, made.a.along, 8)) && $(C.is_whole(step, step.b, made.b.along, 8));
    //@ begin(step, a)
    //@ begin(step, b)
    if (whole)
      for (uint first = 0u; first < to - from; first += $shape.bk$u) {
        //@ load(a, "lathe_whole_halves")
        //@ load(b, "lathe_whole_halves")
        sums = coopMatMulAdd(a, b, sums);
      }
    else
      for (uint first = 0u; first < to - from; first += $shape.bk$u) {
        //@ load(a, "lathe_halves")
        //@ load(b, "lathe_halves")
        sums = coopMatMulAdd(a, b, sums);
      }
  //@ C.end_terms(step)
  $float$ results = $float$(sums);
  coopMatPerElementNV(results, results, lathe_result_$shape.number$, $(table.concat(given, ", ")));
//@ P.end_kernel()
//@ end
