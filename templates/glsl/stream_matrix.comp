//@ -- How matrices of f16 that subgroups multiply and add up in f32 (KHR_cooperative_matrix) do the products of a
//@ -- stream's pass: what stream.comp calls at each place of it. A subgroup has 16 rows, whose terms it keeps, and sums
//@ -- of columns. Slices of keys and values go through shared memory, of which the next is on its way while one is
//@ -- multiplied. What is between the products is there too: the first ones' sums in f32, a line for each key, and the
//@ -- left factors of those of keys in f16.
//@ local S = use "../c/contract_step.c"
//@ local C = use "contract_step.comp"
//@ local M = use "contract_matrix.comp"
//@ local ROWS, OWN, LINE = 64, 16, 72 -- rows of a workgroup and of a subgroup, and from one key's factors to the next
//@ local COLUMNS = "gl_CooperativeMatrixLayoutColumnMajor"
//@ local function matrix(type, use)
//@   local sides = { A = "MATRIX_M, MATRIX_K", B = "MATRIX_K, MATRIX_N", Accumulator = "MATRIX_M, MATRIX_N" }
//@   return ("coopmat<%s, gl_ScopeSubgroup, %s, gl_MatrixUse%s>"):format(type, sides[use], use)
//@ end
//@ local A, B, SUM = matrix("float16_t", "A"), matrix("float16_t", "B"), matrix("float", "Accumulator")
//@ -- A slice of a factor: of so many rows from `base` on, and so many terms.
//@ local function slice(step, made, shape, names, letter, base, first, rows, terms)
//@   local f = M.factor(step, made, { bm = rows, bn = rows, bk = terms }, letter, base)
//@   f.halves, f.at, f.first, f.step = names.slice, "", first, step
//@   return f
//@ end
//@ local function load(f)
{
  //@ C.begin(f.step)
  //@ C.place_results(f.step)
  const bool whole_$f.letter$ = $(C.is_whole(f.step, f.part, f.along, 8));
  const uint64_t first = $f.first$;
  //@ M.load(f.step, f)
}
//@ end
//@ local function keep(f)
barrier();
//@ M.keep(f)
barrier();
//@ end
//@ function declare(pass, sides, shape, names)
//@ M.declare_sizes()
shared uvec4 $names.slice$[$(ROWS * (64 // 8 + 1))];
//@ if #pass.lasts > 0 then
shared float16_t $names.factors$[$(#pass.lasts * shape.keys * LINE)];
shared float $names.scale$[$(ROWS * 16)];
//@ end
//@ end
//@ -- Reads the rows' terms; declares the sums of products of keys.
//@ function begin(pass, sides, shape, names)
const uint DOWN = $OWN$u / MATRIX_M, own_m = gl_SubgroupID * $OWN$u;
//@ local declared = {}
//@ local function raw(f)
//@ local operand = f.part.point.inputs[1].pointer
//@ if not declared[operand] then
//@ declared[operand] = true
//@ C.declare(f.step, f.part, f.along, 8, ("((%du + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x)"):format(ROWS * 8))
//@ end
//@ end
//@ for i, step in ipairs(pass.firsts) do
$A$ rows$i$[DOWN * $shape.depth_of_first$u / MATRIX_K];
//@ for chunk = 0, shape.depth_of_first // 64 - 1 do
//@ local f = slice(step, sides[step], shape, names, "a", "cut.m", chunk * 64 .. "ul", ROWS, 64)
//@ raw(f)
if ($(chunk * 64)ul < $(C.size(S.core(step, "k")))) {
  //@ load(f)
  //@ keep(f)
  [[unroll]] for (uint term = 0u; term < 64u; term += MATRIX_K)
    [[unroll]] for (uint i = 0u; i < DOWN; i++) {
      //@ M.fragment(f, ("rows%d[(%du + term) / MATRIX_K * DOWN + i]"):format(i, chunk * 64), "own_m + i * MATRIX_M")
    }
}
//@ end
//@ raw(slice(step, sides[step], shape, names, "b", "key", "0ul", shape.keys, 64))
//@ end
//@ for i, step in ipairs(pass.lasts) do
//@ raw(slice(step, sides[step], shape, names, "b", "cut.n", "key", 64, shape.keys))
const uint ACROSS$i$ = $shape.bn$u / MATRIX_N;
$SUM$ last$i$[DOWN * ACROSS$i$];
[[unroll]] for (uint nth = 0u; nth < DOWN * ACROSS$i$; nth++)
  last$i$[nth] = $SUM$(0.0);
//@ end
//@ end
//@ -- The slices of a tile of keys, in their order.
//@ local function slices_of(pass, sides, shape, names)
//@   local list = {}
//@   for i, step in ipairs(pass.firsts) do
//@     for chunk = 0, shape.depth_of_first // 64 - 1 do
//@       local f = slice(step, sides[step], shape, names, "b", "key", chunk * 64 .. "ul", shape.keys, 64)
//@       f.nth, f.chunk, f.is_there = i, chunk, ("%dul < %s"):format(chunk * 64, C.size(S.core(step, "k")))
//@       list[#list + 1] = f
//@     end
//@   end
//@   local firsts = #list
//@   for i, step in ipairs(pass.lasts) do
//@     for chunk = 0, shape.bn // 64 - 1 do
//@       local base = ("(cut.n + %dul)"):format(chunk * 64)
//@       local f = slice(step, sides[step], shape, names, "b", base, "key", 64, shape.keys)
//@       f.nth, f.chunk = i, chunk
//@       list[#list + 1] = f
//@     end
//@   end
//@   return list, firsts
//@ end
//@ local function fetch(f)
//@ if f and f.is_there then
if ($f.is_there$)
  //@ load(f)
//@ elseif f then
//@ load(f)
//@ end
//@ end
//@ -- The first products at a tile of keys, whose sums go to shared memory.
//@ function multiply_rows(pass, sides, shape, names)
//@ local list, firsts = slices_of(pass, sides, shape, names)
const uint KEYS = $shape.keys$u / MATRIX_N;
//@ for i in ipairs(pass.firsts) do
$SUM$ first$i$[DOWN * KEYS];
[[unroll]] for (uint nth = 0u; nth < DOWN * KEYS; nth++)
  first$i$[nth] = $SUM$(0.0);
//@ end
//@ fetch(list[1])
//@ for nth = 1, firsts do
//@ local f = list[nth]
if ($f.is_there$) {
  //@ keep(f)
}
//@ if nth < firsts then
//@ fetch(list[nth + 1])
//@ end
if ($f.is_there$) {
  [[unroll]] for (uint term = 0u; term < 64u; term += MATRIX_K)
    [[unroll]] for (uint j = 0u; j < KEYS; j++) {
      $B$ column;
      //@ M.fragment(f, "column", "j * MATRIX_N")
      [[unroll]] for (uint i = 0u; i < DOWN; i++) {
        const uint of_row = ($(f.chunk * 64)u + term) / MATRIX_K * DOWN + i, at = i * KEYS + j;
        first$f.nth$[at] = coopMatMulAdd(rows$f.nth$[of_row], column, first$f.nth$[at]);
      }
    }
}
//@ end
//@ for i in ipairs(pass.firsts) do
[[unroll]] for (uint nth = 0u; nth < DOWN * KEYS; nth++) {
  const uint line = $((i - 1) * shape.keys)u + nth % KEYS * MATRIX_N, at = own_m + nth / KEYS * MATRIX_M;
  coopMatStore(first$i$[nth], $names.points$, line * $shape.line$u + at / 4u, $shape.line$u, $COLUMNS$);
}
//@ end
//@ end
//@ -- Opens a loop over what is at four keys of a row: their sums, some1 and some2, of keys from `column` on.
//@ function begin_points(pass, shape, names)
for (uint nth = thread; nth < $(ROWS * shape.keys // 4)u; nth += gl_WorkGroupSize.x) {
  const uint row = nth % $ROWS$u, column = nth / $ROWS$u * 4u;
  //@ for i in ipairs(pass.firsts) do
  vec4 some$i$;
  [[unroll]] for (uint point = 0u; point < 4u; point++)
    some$i$[point] = $names.points$[($((i - 1) * shape.keys)u + column + point) * $shape.line$u + row / 4u][row % 4u];
  //@ end
//@ end
//@ -- Where the left factor of a product of keys goes, at `key` and `row`.
//@ function factor_at(names, shape, i)
//@   return ("%s[(%du + key) * %du + row]"):format(names.factors, (i - 1) * shape.keys, LINE), "float16_t(%s)"
//@ end
//@ -- The products of a tile's keys.
//@ function multiply_keys(pass, sides, shape, names)
//@ local list, firsts = slices_of(pass, sides, shape, names)
//@ fetch(list[firsts + 1])
for (uint at = thread; at < $(ROWS * 16)u; at += gl_WorkGroupSize.x)
  $names.scale$[at] = $names.shrink$[at / 16u];
barrier();
//@ for i, last in ipairs(pass.of.lasts) do
//@ if last.powered then
[[unroll]] for (uint i = 0u; i < DOWN; i++) {
  $SUM$ by;
  coopMatLoad(by, $names.scale$, (own_m + i * MATRIX_M) * 16u, 16u, gl_CooperativeMatrixLayoutRowMajor);
  [[unroll]] for (uint j = 0u; j < ACROSS$i$; j++)
    [[unroll]] for (uint nth = 0u; nth < by.length(); nth++)
      last$i$[i * ACROSS$i$ + j][nth] *= by[nth];
}
//@ end
//@ end
//@ for nth = firsts + 1, #list do
//@ local f = list[nth]
{
  //@ keep(f)
  //@ fetch(list[nth + 1])
  [[unroll]] for (uint term = 0u; term < $shape.keys$u; term += MATRIX_K) {
    $A$ between[DOWN];
    [[unroll]] for (uint i = 0u; i < DOWN; i++) {
      const uint line = $((f.nth - 1) * shape.keys)u + term;
      coopMatLoad(between[i], $names.factors$, line * $LINE$u + own_m + i * MATRIX_M, $LINE$u, $COLUMNS$);
    }
    [[unroll]] for (uint j = 0u; j < 64u / MATRIX_N; j++) {
      $B$ column;
      //@ M.fragment(f, "column", "j * MATRIX_N")
      [[unroll]] for (uint i = 0u; i < DOWN; i++) {
        const uint at = i * ACROSS$f.nth$ + $(f.chunk * 64)u / MATRIX_N + j;
        last$f.nth$[at] = coopMatMulAdd(between[i], column, last$f.nth$[at]);
      }
    }
  }
}
//@ end
//@ end
//@ -- Stores what follows of the sums of columns.
//@ function finish(pass, names, gathered)
//@ for i, step in ipairs(pass.lasts) do
{
  //@ C.begin(step)
  //@ C.place_results(step)
  const bool whole_values = $(C.are_stored_whole(step, "n"));
  const uint base = gl_SubgroupID * (MATRIX_M * MATRIX_N / 4u);
  [[unroll]] for (uint nth = 0u; nth < DOWN * ACROSS$i$; nth++) {
    coopMatStore(last$i$[nth], $names.points$, base, MATRIX_N / 4u, gl_CooperativeMatrixLayoutRowMajor);
    subgroupBarrier();
    for (uint at = gl_SubgroupInvocationID; at < MATRIX_M * MATRIX_N / 4u; at += SUBGROUP) {
      const uint row = at / (MATRIX_N / 4u), column = at % (MATRIX_N / 4u) * 4u;
      const vec4 some = $names.points$[base + at];
      const uint64_t m = cut.m + own_m + nth / ACROSS$i$ * MATRIX_M + row;
      const uint64_t n = cut.n + nth % ACROSS$i$ * MATRIX_N + column;
      //@ C.store(step, { m = "m", n = "n" }, "n", "m", nil, gathered)
    }
    subgroupBarrier();
  }
}
//@ end
//@ end
