//@ -- Sums of products over tiles of the result, by plain arithmetic: of any types and strides, whatever is computed of the
//@ -- factors before they are multiplied. A workgroup has a tile of bm x bn sums, of which each invocation has tm x tn in
//@ -- registers. Slices of bk terms of both factors go through shared memory; while one is multiplied, the next is on its
//@ -- way, as it is in memory.
//@ local C = use "contract_step.comp"
//@ local P = use "parts.comp"
//@ local W, vec = C.W, C.vec
//@ -- A factor of a step: how it is read, and where its slice is.
//@ local function factor(step, made, shape, letter)
//@   local made_here, across = made[letter], letter == "a" and "m" or "n"
//@   local f = {
//@     part = step[letter], letter = letter, across = across, along = made_here.along, V = made_here.count,
//@     rows = shape["b" .. across], along_k = made_here.along == "k",
//@   }
//@   f.line = f.rows // W + 1 -- accesses from one term to the next: one apart, so that neighbours are in other banks
//@   f.slice = ("lathe_slice_%s%dx%d"):format(letter, shape.bk, f.rows)
//@   f.all = f.rows * shape.bk // f.V
//@   f.reads = (f.all + shape.threads - 1) // shape.threads
//@   return f
//@ end
//@ -- Of read `nth` the row and term in the slice.
//@ local function where(f, shape)
const uint at = nth * $shape.threads$u + thread;
//@ if f.along_k then
//@ local across = shape.bk // f.V < 2 and 1 or 2 -- reads that are side by side in one row
const uint row = at / $across$u % $f.rows$u, term = (at / $(across * f.rows)u * $across$u + at % $across$u) * $f.V$u;
//@ else
const uint row = at % $(f.rows // f.V)u * $f.V$u, term = at / $(f.rows // f.V)u;
//@ end
//@ if f.all % shape.threads ~= 0 then
if (at >= $f.all$u)
  continue;
//@ end
//@ end
//@ -- fast: all of the slice exists, and is aligned.
//@ local function load(step, f, shape, fast)
[[unroll]] for (uint nth = 0u; nth < $f.reads$u; nth++) {
  //@ where(f, shape)
  const uint64_t $f.across$ = cut.$f.across$ + row, k = first + term;
  const uint there = $(fast and f.V .. "u" or C.there({ [f.across] = f.across, k = "k" }, f.along, f.along_k and f.across or "k"));
  //@ C.read(step, f.part, { [f.across] = f.across, k = "k" }, f.along, f.V, "nth", fast and "true" or "whole_" .. f.letter)
}
//@ end
//@ -- Terms from `left` on are none: both factors are zero there, whatever they are computed of.
//@ local function keep(step, f, shape)
[[unroll]] for (uint nth = 0u; nth < $f.reads$u; nth++) {
  //@ where(f, shape)
  $k.number$ made[$f.V$];
  //@ C.compute(step, f.part, f.along, f.V, "nth", function(point)
    made[$point$] = term$(f.along_k and (" + %du"):format(point) or "") < left ? packed : $(k:literal(0));
  //@ end)
  //@ if f.along_k or f.V < W then
  //@ for point = 0, f.V - 1 do
  //@ if f.along_k then
  $f.slice$[(term + $point$u) * $f.line$u + row / $W$u][row % $W$u] = made[$point$];
  //@ else
  $f.slice$[term * $f.line$u + (row + $point$u) / $W$u][(row + $point$u) % $W$u] = made[$point$];
  //@ end
  //@ end
  //@ else
  //@ for point = 0, f.V - 1, W do
  //@ local list = {}
  //@ for lane = 0, W - 1 do
  //@   list[lane + 1] = "made[" .. point + lane .. "]"
  //@ end
  $f.slice$[term * $f.line$u + row / $W$u + $(point // W)u] = $vec$($(table.concat(list, ", ")));
  //@ end
  //@ end
}
//@ end
//@ local known = {}
//@ function define(step, made, shape)
//@ local a, b = factor(step, made, shape, "a"), factor(step, made, shape, "b")
//@ for _, f in ipairs { a, b } do
//@ if not known[f.slice] then
//@ known[f.slice] = true
shared $vec$ $f.slice$[$(shape.bk * f.line)];
//@ end
//@ end
//@ local across, down = shape.tn // W, shape.tm // W -- accesses of an invocation's sums
//@ local lanes_n = shape.tn > shape.tm and 4 or 8
//@ local lanes_m = 32 // lanes_n
//@ local columns = shape.bn // (lanes_n * shape.tn) -- groups of 32 invocations side by side
//@ local many = shape.tm * across

/* $(step.of.name): tiles of $shape.bm$ x $shape.bn$, of $shape.bk$ terms at a time */
//@ P.begin_kernel(shape.number)
  //@ C.begin_cut(step, shape)
  /* Of four neighbouring invocations two share rows and two columns, which some devices' shared memory serves faster. */
  const uint lane = thread % 32u,
             own_m = thread / $(32 * columns)u * $(lanes_m * down)u + lane % 2u + lane / $(2 * lanes_n)u * 2u,
             own_n = thread / 32u % $columns$u * $(lanes_n * across)u + lane / 2u % $lanes_n$u;
  //@ C.declare(step, step.a, a.along, a.V, a.reads)
  //@ C.declare(step, step.b, b.along, b.V, b.reads)
  $k.precise$$vec$ sums[$many$];
  [[unroll]] for (uint nth = 0u; nth < $many$u; nth++)
    sums[nth] = $vec$(0);
  //@ C.begin_terms(step)
    const bool whole_a = $(C.is_whole(step, step.a, a.along, a.V)), whole_b = $(C.is_whole(step, step.b, b.along, b.V));
    const bool fast = whole_a && whole_b && cut.m + $shape.bm$ul <= m_count && cut.n + $shape.bn$ul <= n_count;
    for (uint64_t first = from;; first += $shape.bk$ul) {
      if (fast && first < to && to - first >= $shape.bk$ul) {
        //@ load(step, a, shape, true)
        //@ load(step, b, shape, true)
      } else if (first < to) {
        //@ load(step, a, shape)
        //@ load(step, b, shape)
      }
      if (first > from)
        [[unroll]] for (uint term = 0u; term < $shape.bk$u; term++) {
          //@ for group = 0, down - 1 do
          const $vec$ a$group$ = $a.slice$[term * $a.line$u + own_m + $(group * lanes_m)u];
          //@ end
          //@ for group = 0, across - 1 do
          const $vec$ b$group$ = $b.slice$[term * $b.line$u + own_n + $(group * lanes_n)u];
          //@ end
          //@ for i = 0, shape.tm - 1 do
          //@ for group = 0, across - 1 do
          //@ local at = i * across + group
          sums[$at$] = fma($vec$(a$(i // W).$(C.component(i))), b$group$, sums[$at$]);
          //@ end
          //@ end
        }
      if (first >= to)
        break;
      const uint left = uint(min(to - first, $shape.bk$ul));
      barrier();
      //@ keep(step, a, shape)
      //@ keep(step, b, shape)
      barrier();
    }
  //@ C.end_terms(step)
  //@ C.gather(shape, many, many * shape.threads)
  //@ C.finish(step, many, "n", "m", function(nth)
  //@   local row = ("%s / %du"):format(nth, across)
  //@   return ("(own_m + %s / %du * %du) * %du + %s %% %du"):format(row, W, lanes_m, W, row, W),
  //@     ("(own_n + %s %% %du * %du) * %du"):format(nth, across, lanes_n, W)
  //@ end)
//@ P.end_kernel()
//@ end
