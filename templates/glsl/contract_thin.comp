//@ -- Sums of products of a matrix with few rows or columns: bound by the memory that the other factor is read from,
//@ -- each element of which is read once, straight to registers. What there is little of goes through shared memory by
//@ -- slices. Groups of 32 neighbouring invocations share the work: where the large factor's elements lie side by side
//@ -- along k, a group has a few of its rows, and its invocations neighbouring terms; elsewhere each invocation has
//@ -- neighbouring rows, and each group every eighth term. In the end their sums are added up in one order, in shared
//@ -- memory.
//@ local C = use "contract_step.comp"
//@ local P = use "parts.comp"
//@ local W, vec = C.W, C.vec
//@ local LANES, READS = 32, 4 -- READS: that an invocation has in flight
//@ local across_of = { a = "m", b = "n" }
//@ local function factor(step, made, letter)
//@   return {
//@     part = step[letter], letter = letter, across = across_of[letter], along = made[letter].along,
//@     V = made[letter].count, along_k = made[letter].along == "k",
//@   }
//@ end
//@ -- Reads V elements of a factor from the row and term on, GLSL.
//@ local function load(step, f, row, term, nth)
const uint64_t $f.across$ = cut.$f.across$ + $row$, k = first + $term$;
const uint there = $(C.there({ [f.across] = f.across, k = "k" }, f.along, f.along_k and f.across or "k"));
//@ C.read(step, f.part, { [f.across] = f.across, k = "k" }, f.along, f.V, nth, "whole_" .. f.letter)
//@ end
//@ -- Where the slice of the few rows has an element, GLSL; terms of several rows are side by side where each is for
//@ -- all. Along k invocations read V neighbouring terms by accesses of W, which lie a plane of the slice apart, so
//@ -- that neighbours read from different banks.
//@ local function place(many, shape, row, term)
//@   if not many.along_k then
//@     return ("(%s) * %du + %s"):format(term, shape.few, row)
//@   end
//@   local planes = many.V // W
//@   return ("((%s) * %du + (%s) / %du %% %du * %du + (%s) / %du) * %du + (%s) %% %du"):format(row, shape.bk // W,
//@     term, W,
//@     planes, shape.bk // many.V, term, many.V, W, term, W)
//@ end
//@ -- The slice of what there is few of. All that the others are multiplied with is there: zero past the last term,
//@ -- whatever the factor is computed of.
//@ local function keep(step, few, many, shape, slice)
//@ local lines = few.along_k and shape.few or (shape.few + few.V - 1) // few.V
//@ local each = few.along_k and shape.bk // few.V or shape.bk
for (uint at = thread; at < $(lines * each)u; at += $shape.threads$u) {
  const uint row = at / $each$u$(few.along_k and "" or (" * %du"):format(few.V)), term = at % $each$u$(few.along_k and (" * %du"):format(few.V) or "");
  if (term >= left + $(many.V)u)
    continue;
  //@ load(step, few, "row", "term", "0u")
  //@ C.compute(step, few.part, few.along, few.V, "0u", function(point)
    //@ local term, row = few.along_k and "term + " .. point .. "u" or "term", few.along_k and "row" or "row + "
    //@   .. point .. "u"
    //@ local guard = not few.along_k and shape.few % few.V ~= 0
    //@ if guard then
    if ($row$ < $shape.few$u) {
    //@ end
    const uint to_place = $(place(many, shape, row, term));
    $slice$[to_place / $W$u][to_place % $W$u] = $term$ < left ? packed : $(k:literal(0));
    //@ if guard then
    }
    //@ end
  //@ end)
}
//@ end
//@ local function add_along_k(step, many, shape, slice)
for (uint term = lane * $many.V$u; term < left; term += $(LANES * many.V)u) {
  [[unroll]] for (uint nth = 0u; nth < $W$u; nth++) {
    //@ load(step, many, ("group * %du + nth"):format(W), "term", "nth")
  }
  //@ for row = 0, W - 1 do
  {
    $k.number$ x[$many.V$];
    //@ C.compute(step, many.part, "k", many.V, row .. "u", function(point)
      x[$point$] = term + $point$u < left ? packed : $(k:literal(0));
    //@ end)
    [[unroll]] for (uint row = 0u; row < $shape.few$u; row++) {
      //@ for plane = 0, many.V // W - 1 do
      const $vec$ few$plane$ = $slice$[row * $(shape.bk // W)u + $(plane * (shape.bk // many.V))u + term / $many.V$u];
      //@ for lane = 0, W - 1 do
      partial[row].$(C.component(row)) = fma(few$plane$.$(C.component(lane)), x[$(plane * W + lane)], partial[row].$(C.component(row)));
      //@ end
      //@ end
    }
  }
  //@ end
}
//@ end
//@ local function add_along(step, many, shape, slice, columns)
for (uint begin = group; begin < left; begin += $(shape.groups * READS)u) {
  [[unroll]] for (uint nth = 0u; nth < $READS$u; nth++)
    if (begin + nth * $shape.groups$u < left) {
      //@ load(step, many, ("lane * %du"):format(many.V), ("begin + nth * %du"):format(shape.groups), "nth")
    }
  [[unroll]] for (uint nth = 0u; nth < $READS$u; nth++) {
    const uint term = begin + nth * $shape.groups$u;
    if (term < left) {
      $k.number$ x[$many.V$];
      //@ C.compute(step, many.part, many.along, many.V, "nth", function(point)
        x[$point$] = packed;
      //@ end)
      //@ for row = 0, shape.few - 1 do
      {
        const uint from_place = $(place(many, shape, row .. "u", "term"));
        const $k.number$ few = $slice$[from_place / $W$u][from_place % $W$u];
        //@ for column = 0, columns - 1 do
        //@ local list = {}
        //@ for lane = 0, many.V // columns - 1 do
        //@   list[lane + 1] = "x[" .. column * W + lane .. "]"
        //@ end
        //@ if many.V < W then
        partial[$row$] = fma(few, x[0], partial[$row$]);
        //@ else
        partial[$(row * columns + column)] = fma($vec$(few), $vec$($(table.concat(list, ", "))), partial[$(row * columns + column)]);
        //@ end
        //@ end
      }
      //@ end
    }
  }
}
//@ end
//@ local known = {}
//@ function define(step, made, shape)
//@ local few, many = factor(step, made, shape.few_of), factor(step, made, shape.few_of == "a" and "b" or "a")
//@ local slice = "lathe_thin" .. shape.room
//@ if not known[slice] then
//@ known[slice] = true
shared $vec$ $slice$[$shape.room$];
//@ end
//@ local single = not many.along_k and many.V < W -- an invocation has a number for each of the few, not vecs
//@ local columns = many.along_k and 1 or math.max(1, many.V // W)
//@ local vecs = shape.few * shape.many // W -- of the results
//@ local each = (vecs + shape.threads - 1) // shape.threads
//@ -- What a row of the few takes of the room while it is added up, and how many do at a time.
//@ local width = single and shape.threads // W or shape.threads * columns
//@ local at_once = math.min(shape.few, shape.room // width)

/* $(step.of.name): $shape.few$ $(few.across == "m" and "rows" or "columns") at most */
//@ P.begin_kernel(shape.number)
  //@ C.begin_cut(step, shape)
  const uint lane = thread % $LANES$u, group = thread / $LANES$u;
  //@ C.declare(step, few.part, few.along, few.V, 1)
  //@ C.declare(step, many.part, many.along, many.V, many.along_k and W or READS)
  $k.precise$$(single and k.number or vec) partial[$(shape.few * columns)];
  [[unroll]] for (uint nth = 0u; nth < $(shape.few * columns)u; nth++)
    partial[nth] = $(single and k.number or vec)(0);
  //@ C.begin_terms(step)
    const bool whole_$few.letter$ = $(C.is_whole(step, few.part, few.along, few.V)), whole_$many.letter$ = $(C.is_whole(step, many.part, many.along, many.V));
    for (uint64_t first = from; first < to; first += $shape.bk$ul) {
      const uint left = uint(min(to - first, $shape.bk$ul));
      barrier();
      //@ keep(step, few, many, shape, slice)
      barrier();
      //@ if many.along_k then
      //@ add_along_k(step, many, shape, slice)
      //@ else
      //@ add_along(step, many, shape, slice, columns)
      //@ end
    }
  //@ C.end_terms(step)
  $k.precise$$vec$ sums[$each$];
  [[unroll]] for (uint nth = 0u; nth < $each$u; nth++)
    sums[nth] = $vec$(0);
  //@ for from = 0, shape.few - 1, at_once do
  barrier();
  //@ for row = from, math.min(from + at_once, shape.few) - 1 do
  //@ if single then
  $slice$[$((row - from) * width)u + thread / $W$u][thread % $W$u] = partial[$row$];
  //@ else
  //@ for column = 0, columns - 1 do
  $slice$[$((row - from) * width)u + thread * $columns$u + $column$u] = partial[$(row * columns + column)];
  //@ end
  //@ end
  //@ end
  barrier();
  [[unroll]] for (uint nth = 0u; nth < $each$u; nth++) {
    const uint at = nth * $shape.threads$u + thread, row = at / $(shape.many // W)u, column = at % $(shape.many // W)u;
    if (row >= $from$u && row < $(math.min(from + at_once, shape.few))u)
      //@ if many.along_k then
      for (uint of = 0u; of < $LANES$u; of++)
        sums[nth] += $slice$[(row - $from$u) * $width$u + column * $LANES$u + of];
      //@ else
      for (uint of = 0u; of < $shape.groups$u; of++)
        sums[nth] += $slice$[(row - $from$u) * $width$u + of * $(shape.many // W)u + column];
      //@ end
  }
  //@ end
  //@ C.gather(shape, each, vecs)
  //@ local along = many.across
  //@ C.finish(step, each, along, few.across, function(nth)
  //@   local at = ("(%s * %du + thread)"):format(nth, shape.threads)
  //@   local row, column = at .. " / " .. shape.many // W .. "u", at .. " % " .. shape.many // W .. "u * " .. W .. "u"
  //@   if along == "n" then
  //@     return row, column
  //@   end
  //@   return column, row
  //@ end, vecs % shape.threads ~= 0 and ("nth * %du + thread < %du"):format(shape.threads, vecs) or nil)
//@ P.end_kernel()
//@ end
