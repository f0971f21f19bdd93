//@ -- Sums of products over tiles of the result, by plain arithmetic: of any types and strides, whatever is computed of
//@ -- the factors before they are multiplied; or sums of what else two values come to. A workgroup has a tile of bm x bn
//@ -- sums, of which each invocation has tm x tn in registers. Slices of bk terms of both factors go through shared
//@ -- memory; while one is multiplied, the next is on its way, as it is in memory.
//@ local C = use "contract_step.comp"
//@ local P = use "parts.comp"
//@ local W, vec = C.W, C.vec
//@ local known = {}
//@ -- A factor of a step: how it is read, and where its slice is. base: GLSL, the first of the tile's rows or columns;
//@ -- those of the workgroup where it is left out.
//@ function factor(step, made, shape, letter, base)
//@   local made_here, across = made[letter], letter == "a" and "m" or "n"
//@   local f = {
//@     part = step[letter], letter = letter, across = across, along = made_here.along, V = made_here.count,
//@     rows = shape["b" .. across], along_k = made_here.along == "k", base = base or "cut." .. across, term = "term",
//@   }
//@   f.line = f.rows // W + 1 -- accesses from one term to the next: one apart, so that neighbours are in other banks
//@   f.slice = ("lathe_slice_%s%dx%d"):format(letter, shape.bk, f.rows)
//@   f.all = f.rows * shape.bk // f.V
//@   f.reads = (f.all + shape.threads - 1) // shape.threads
//@   return f
//@ end
//@ -- Declares the slices of some factors.
//@ function define_slices(factors, shape)
//@ for _, f in ipairs(factors) do
//@ if not known[f.slice] then
//@ known[f.slice] = true
shared $vec$ $f.slice$[$(shape.bk * f.line)];
//@ end
//@ end
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
  const uint64_t $f.across$ = $f.base$ + row, k = first + term;
  const uint there = $(fast and f.V .. "u" or C.there({ [f.across] = f.across, k = "k" }, f.along, f.along_k and f.across or "k"));
  //@ C.read(step, f.part, { [f.across] = f.across, k = "k" }, f.along, f.V, "nth", fast and "true" or "whole_"
  //@   .. f.letter)
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
//@ -- Where an invocation's sums are in a tile: so many accesses of shared memory down and across, of rows and columns
//@ -- that lie `lanes` apart.
//@ function layout(shape)
//@   local own = { across = shape.tn // W, down = shape.tm // W }
//@   own.lanes_n = math.min(shape.tn > shape.tm and 4 or 8, shape.bn // shape.tn)
//@   own.lanes_m, own.many = 32 // own.lanes_n, shape.tm * own.across
//@   own.columns = shape.bn // (own.lanes_n * shape.tn) -- groups of 32 invocations side by side
//@   return own
//@ end
//@ -- Declares own_m and own_n, the first of an invocation's accesses. Of four neighbouring invocations two share rows
//@ -- and two columns, which some devices' shared memory serves faster.
//@ function begin_own(own)
const uint lane = thread % 32u,
           own_m = thread / $(32 * own.columns)u * $(own.lanes_m * own.down)u + lane % 2u + lane / $(2 * own.lanes_n)u * 2u,
           own_n = thread / 32u % $own.columns$u * $(own.lanes_n * own.across)u + lane / 2u % $own.lanes_n$u;
//@ end
//@ -- GLSL of where in the tile the sums of access `nth` are, along m and n.
//@ function place_of(own, nth)
//@   local row = ("%s / %du"):format(nth, own.across)
//@   return ("(own_m + %s / %du * %du) * %du + %s %% %du"):format(row, W, own.lanes_m, W, row, W),
//@     ("(own_n + %s %% %du * %du) * %du"):format(nth, own.across, own.lanes_n, W)
//@ end
//@ -- What terms that are no products have of each result: reads it into met_own.
//@ local function bring_own(step, own)
$vec$ met_own[$own.many$];
[[unroll]] for (uint nth = 0u; nth < $own.many$u; nth++) {
  //@ local m, n = place_of(own, "nth")
  const uint64_t m = cut.m + $m$, n = cut.n + $n$;
  const uint there = $(C.there({ m = "m", n = "n" }, "n", "m"));
  //@ C.declare(step, step.own, "n", W, 1)
  //@ C.read(step, step.own, { m = "m", n = "n" }, "n", W, "0u", "false")
  //@ C.compute(step, step.own, "n", W, "0u", function(point)
    met_own[nth].$(C.component(point)) = packed;
  //@ end)
}
//@ end
//@ -- Adds terms that are no products to the sums of access `at`, in row i of those of an invocation.
//@ local function meet(step, sums, at, i, group)
//@ local of = step.of.meet
//@ C.compute(step, step.meet, "n", W, "0u", function(point)
  $sums$[$at$].$(C.component(point)) += packed;
//@ end, function(point, x)
//@   return x.name == of.a and ("a%d.%s"):format(i // W, C.component(i))
//@     or (x.name == of.b and "b%d.%s" or "met_own[%d].%s"):format(x.name == of.b and group or at, C.component(point))
//@ end)
//@ end
//@ -- Adds the terms `from` to `to` to sums. factors: a and b, or b alone where a is in shared memory.
//@ function add(step, factors, a, b, shape, own, sums)
//@ local whole = {}
//@ for i, f in ipairs(factors) do
//@ whole[i] = ("whole_%s && %s + %dul <= %s_count"):format(f.letter, f.base, f.rows, f.across)
//@ C.declare(step, f.part, f.along, f.V, f.reads)
const bool whole_$f.letter$ = $(C.is_whole(step, f.part, f.along, f.V));
//@ end
const bool fast = $(table.concat(whole, " && "));
//@ if step.own then
//@ bring_own(step, own)
//@ end
//@ local unroll, terms = "[[unroll]]", shape.bk .. "u"
//@ if step.meet then
//@ unroll, terms = "[[dont_unroll]]", "kept"
uint kept = 0u; // terms in shared memory: what zeros come to may be another number
//@ end
for (uint64_t first = from;; first += $shape.bk$ul) {
  if (fast && first < to && to - first >= $shape.bk$ul) {
    //@ for _, f in ipairs(factors) do
    //@ load(step, f, shape, true)
    //@ end
  } else if (first < to) {
    //@ for _, f in ipairs(factors) do
    //@ load(step, f, shape)
    //@ end
  }
  if (first > from)
    $unroll$ for (uint term = 0u; term < $terms$; term++) {
      //@ for group = 0, own.down - 1 do
      const $vec$ a$group$ = $a.slice$[$a.term$ * $a.line$u + own_m + $(group * own.lanes_m)u];
      //@ end
      //@ for group = 0, own.across - 1 do
      const $vec$ b$group$ = $b.slice$[term * $b.line$u + own_n + $(group * own.lanes_n)u];
      //@ end
      //@ for i = 0, shape.tm - 1 do
      //@ for group = 0, own.across - 1 do
      //@ local at = i * own.across + group
      //@ if step.meet then
      //@ meet(step, sums, at, i, group)
      //@ else
      $sums$[$at$] = fma($vec$(a$(i // W).$(C.component(i))), b$group$, $sums$[$at$]);
      //@ end
      //@ end
      //@ end
    }
  if (first >= to)
    break;
  const uint left = uint(min(to - first, $shape.bk$ul));
  barrier();
  //@ for _, f in ipairs(factors) do
  //@ keep(step, f, shape)
  //@ end
  //@ if step.meet then
  kept = left;
  //@ end
  barrier();
}
//@ end
//@ -- Declares sums, which are 0.
//@ function begin_sums(own, sums)
$k.precise$$vec$ $sums$[$own.many$];
[[unroll]] for (uint nth = 0u; nth < $own.many$u; nth++)
  $sums$[nth] = $vec$(0);
//@ end
//@ function define(step, made, shape)
//@ local a, b, own = factor(step, made, shape, "a"), factor(step, made, shape, "b"), layout(shape)
//@ define_slices({ a, b }, shape)

/* $(step.of.name): tiles of $shape.bm$ x $shape.bn$, of $shape.bk$ terms at a time */
//@ P.begin_kernel(shape.number)
  //@ C.begin_cut(step, shape)
  //@ begin_own(own)
  //@ begin_sums(own, "sums")
  //@ C.begin_terms(step)
    //@ add(step, { a, b }, a, b, shape, own, "sums")
  //@ C.end_terms(step)
  //@ C.gather(shape, own.many, own.many * shape.threads)
  //@ C.finish(step, own.many, "n", "m", function(nth) return place_of(own, nth) end)
//@ P.end_kernel()
//@ end
