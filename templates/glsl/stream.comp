/* Products of operands whose results are reduced over their rows or columns alone (gen/program/stream.lua): a launch
 * for each pass. A workgroup has some rows, and columns of the products of keys; the keys, which are the columns of the
 * first products, come some at a time, so that nothing of their number is in memory.
 *
 * The sums of a tile of the first products are in registers. What follows of them at each point goes to shared memory,
 * a line for each key. There a few invocations of each row find its largest power so far, and make what was gathered
 * smaller where that has grown; what they leave at the points are the left factors of the products of keys. */

//@ use "kernel.comp"
//@ use "../c/places.h"
//@ local P = use "parts.comp"
//@ local S = use "../c/contract_step.c"
//@ local C = use "contract_step.comp"
//@ local T = use "contract_tile.comp"
//@ local Matrix = use "stream_matrix.comp"
//@ local Masks = use "../c/stream_masks.c"
//@ local W, vec = C.W, C.vec
//@ for _, step in ipairs(k.steps) do
//@ C.define(step)
//@ end
#define INFINITY uintBitsToFloat(0x7f800000u)

//@ -- C's text of arguments, in GLSL.
//@ local function own(c)
//@   return (c:gsub("args%->scalar%[(%d+)%]", function(at)
//@     return "args." .. op.scalars[at + 1].name
//@   end):gsub("args%->", "args."))
//@ end
//@ local has = {
//@   fields = "", loop = "", rows = "m_count", keys = "n_count", own = own, language = C.language,
//@   element = function(operand, at)
//@     return ("lathe_number(%s_at + (%s) * %dul).at"):format(operand.name, at, k.spelling.bits // 8)
//@   end,
//@ }
//@ -- e^(power - peak), a function of that name; near: of what is rounded to 16 bits later, which has other errors.
//@ local function define_power(first, name, near)
$k.number$ $name$($k.number$ power, $k.number$ peak) {
  //@ if near then
  return exp2((power - peak) * $(k:literal(math.log(math.exp(1), 2))));
  //@ else
  $(first.powers.k:uniforms("call"))
  //@ P.call(first.powers.point, function(x) return x.name end)
  return powers_;
  //@ end
}

/* By how much what was gathered below one peak is larger than below the next. */
$k.number$ $(name)_shrink($k.number$ from, $k.number$ to) {
  return from == to ? $k.number$(1) : $name$(from, to);
}

//@ end
//@ -- Adds the products of some terms of a step to sums; what is declared for that is gone after it. a: the left factor
//@ -- where it is in shared memory, else nil.
//@ local function add(step, side, shape, own, sums, terms, base, a)
//@ local b = T.factor(step, side, shape, "b", base)
{
  //@ C.begin(step)
  //@ C.place_results(step)
  const uint64_t $terms$;
  //@ local left = a or T.factor(step, side, shape, "a")
  //@ T.add(step, a and { b } or { left, b }, left, b, shape, own, sums)
}
//@ end
//@ -- The line of a key among those of the nth number.
//@ local function line_of(nth, key, shape) return ("(%du + %s) * %du"):format((nth - 1) * shape.keys, key, shape.line) end
//@ -- What follows of the first products' sums, at each point to shared memory: of the points of an access along keys,
//@ -- from `row` and `column` on.
//@ local function follow(first, part, pass, shape, points)
//@ local nth_of = {}
//@ for i, step in ipairs(pass.firsts) do
//@   nth_of[step.of.name] = i
//@ end
  const uint64_t m = cut.m + row, n = key + column;
  const uint there = $(C.there({ m = "m", n = "n" }, "n", "m"));
  //@ C.make(first, part, first.of.values, { m = "m", n = "n" }, "n", W, function(point, x)
  //@   return ("some%d.%s"):format(nth_of[x.name], C.component(point))
  //@ end)
  //@ for i, value in ipairs(first.of.values) do
  [[unroll]] for (uint point = 0u; point < $W$u; point++)
    $points$[$(line_of(i, "column + point", shape)) + row / $W$u][row % $W$u] = $(value.operand.name)_of[point];
  //@ end
//@ end
//@ local function leave(first, part, pass, shape, own, names)
//@ if shape.subgroups then
//@ Matrix.begin_points(pass, shape, names)
  //@ follow(first, part, pass, shape, names.points)
}
//@ else
//@ local arrays, m, n = {}, T.place_of(own, "nth")
//@ for i in ipairs(pass.firsts) do
//@   arrays[i] = i
//@ end
//@ C.begin_each(own.many, arrays)
  const uint row = $m$, column = $n$;
  //@ follow(first, part, pass, shape, names.points)
//@ C.end_each()
//@ end
//@ end
//@ -- How many invocations share a row.
//@ local function lanes_of(shape)
//@   return shape.subgroups and ("(gl_WorkGroupSize.x / %du)"):format(shape.bm) or shape.lanes .. "u"
//@ end
//@ -- Gathers a tile's keys, and leaves the factors of products of keys.
//@ local function gather(pass, shape, names)
//@ local lanes = lanes_of(shape)
//@ local of, nth_of = pass.of, {}
//@ for i, value in ipairs(of.values) do
//@   nth_of[value.operand.name] = i
//@ end
//@ local function point(i)
//@   local first = (i - 1) * shape.keys
//@   return ("%s[(%du + key) * %du + row / %du][row %% %du]"):format(names.points, first, shape.line, W, W)
//@ end
//@ -- What a name comes to at a point, times the power there.
//@ local function value(name, powered)
//@   local list = {}
//@   list[1] = powered and "power" or nil
//@   list[#list + 1] = nth_of[name] and "of" .. nth_of[name] or nil
//@   return #list > 0 and table.concat(list, " * ") or k:literal(1)
//@ end
//@ if of.peak then
{
  $k.number$ mine = peak;
  for (uint key = lane; key < keys; key += $lanes$)
    mine = lathe_larger(mine, $(point(1)));
  $names.part$[thread] = mine;
  barrier();
  for (uint other = 0u; other < $lanes$; other++)
    mine = lathe_larger(mine, $names.part$[other * $shape.bm$u + row]);
  const $k.number$ by = $(names.power)_shrink(peak, mine);
  //@ for i, sum in ipairs(of.sums) do
  //@ if sum.powered then
  sum$i$ *= by;
  //@ end
  //@ end
  peak = mine;
  if (lane == 0u)
    $names.shrink$[row] = by;
}
//@ end
//@ if of.peak then
/* 0 where all powers were -infinity so far, so that they are 0. */
const $k.number$ below = peak == -INFINITY ? $(k:literal(0)) : peak;
//@ end
for (uint key = lane; key < $shape.keys$u; key += $lanes$) {
  const bool is_there = key < keys;
  //@ for i in ipairs(of.values) do
  const $k.number$ of$i$ = $(point(i));
  //@ end
  //@ if of.peak then
  const $k.number$ power = $names.power$(of1, below);
  //@ end
  //@ for i, sum in ipairs(of.sums) do
  sum$i$ += is_there ? $(value(sum.name, sum.powered)) : $(k:literal(0));
  //@ end
  //@ for i, last in ipairs(of.lasts) do
  //@ local to, as = point(i), "%s"
  //@ if shape.subgroups then
  //@   to, as = Matrix.factor_at(names, shape, i)
  //@ end
  $to$ = $(as:format(("is_there ? %s : %s"):format(value(last.weight, last.powered), k:literal(0))));
  //@ end
}
barrier();
//@ end
//@ -- Makes the sums of keys that are below a peak smaller.
//@ local function shrink(pass, own, names)
//@ for i, last in ipairs(pass.of.lasts) do
//@ if last.powered then
[[unroll]] for (uint nth = 0u; nth < $own.many$u; nth++)
  //@ local m = T.place_of(own, "nth")
  last$i$[nth] *= $names.shrink$[$m$];
//@ end
//@ end
//@ end
//@ -- Each row's sums, of all its invocations.
//@ local function merge(pass, shape, names)
//@ local of, lanes = pass.of, lanes_of(shape)
//@ if of.peak then
if (lane == 0u)
  $names.gathered$[row * $(#of.gathered)u] = peak;
//@ end
//@ for i, sum in ipairs(of.sums) do
barrier();
$names.part$[thread] = sum$i$;
barrier();
if (lane == 0u) {
  $k.number$ all = $(k:literal(0));
  for (uint other = 0u; other < $lanes$; other++)
    all += $names.part$[other * $shape.bm$u + row];
  $names.gathered$[row * $(#of.gathered)u + $(#of.gathered - #of.sums + i - 1)u] = all;
}
//@ end
barrier();
//@ end
//@ -- By plain arithmetic: what stream_matrix.comp does by matrices.
//@ local plain = {}
//@ local function rows_of(shape)
//@   local rows = { tm = shape.tm_first, tn = shape.tn_first, bn = shape.keys }
//@   for name, field in pairs(shape) do
//@     rows[name] = rows[name] or field
//@   end
//@   return rows
//@ end
//@ function plain.declare(pass, sides, shape)
//@ local rows = rows_of(shape)
//@ for _, step in ipairs(pass.firsts) do
//@ T.define_slices({ T.factor(step, sides[step], rows, "a"), T.factor(step, sides[step], rows, "b") }, rows)
//@ end
//@ for _, step in ipairs(pass.lasts) do
//@ T.define_slices({ T.factor(step, sides[step], shape, "b") }, shape)
//@ end
//@ end
//@ function plain.begin(pass, _, shape)
//@ for i in ipairs(pass.lasts) do
//@ T.begin_sums(T.layout(shape), "last" .. i)
//@ end
//@ end
//@ function plain.multiply_rows(pass, sides, shape)
//@ local rows = rows_of(shape)
//@ local own = T.layout(rows)
//@ T.begin_own(own)
//@ for i in ipairs(pass.firsts) do
//@ T.begin_sums(own, "sums" .. i)
//@ end
//@ for i, step in ipairs(pass.firsts) do
//@ add(step, sides[step], rows, own, "sums" .. i, "from = 0ul, to = k_count", "key")
//@ end
//@ return own
//@ end
//@ function plain.multiply_keys(pass, sides, shape, names)
//@ local own = T.layout(shape)
//@ T.begin_own(own)
//@ shrink(pass, own, names)
//@ for i, step in ipairs(pass.lasts) do
//@ local left = {
//@   slice = names.points, line = shape.line,
//@   term = ("(uint(first - from) - %du + term + %du)"):format(shape.bk, (i - 1) * shape.keys),
//@ }
//@ add(step, sides[step], shape, own, "last" .. i, "from = key, to = key + keys", nil, left)
//@ end
//@ end
//@ function plain.finish(pass, _, gathered, shape)
//@ local own = T.layout(shape)
//@ T.begin_own(own)
//@ for i, step in ipairs(pass.lasts) do
{
  $vec$ sums[$own.many$] = last$i$;
  //@ C.begin(step)
  //@ C.place_results(step)
  //@ C.finish(step, own.many, "n", "m", function(nth) return T.place_of(own, nth) end, nil, gathered)
}
//@ end
//@ end
//@ local function define(pass, sides, shape)
//@ local unit, names = shape.subgroups and Matrix or plain, { power = "lathe_power_" .. shape.number }
//@ local first, number, lanes = pass.inner, shape.number, lanes_of(shape)
//@ for _, name in ipairs { "points", "part", "shrink", "gathered", "slice", "factors", "scale" } do
//@   names[name] = ("lathe_%s_%d"):format(name, number)
//@ end
//@ unit.declare(pass, sides, shape, names)
shared $vec$ $names.points$[$(shape.places * shape.keys * shape.line)];
shared $k.number$ $names.part$[$(shape.threads or shape.subgroups .. "u * SUBGROUP")], $names.shrink$[$shape.bm$];
shared $k.number$ $names.gathered$[$(math.max(1, #first.gathered) * shape.bm)];

//@ if first.powers then
//@ define_power(first, names.power, shape.subgroups)
//@ end
//@ local function gathered(name)
//@   return ("%s[uint(m - cut.m) * %du + %du]"):format(names.gathered, #first.gathered, first.gathered[name] - 1)
//@ end
//@ local columns = #pass.lasts > 0 and not first.rows and "0ul" or "1ul"
//@ for _, last in ipairs(pass.lasts) do
//@   columns = ("max(%s, %s)"):format(columns, C.size(S.core(last, "n")))
//@ end
/* $(first.of.name): $shape.bm$ rows, $shape.keys$ keys at a time */
//@ P.begin_kernel(number)
  //@ C.begin_tile(first, shape, columns)
  //@ C.place_results(first)
  const uint row = thread % $shape.bm$u, lane = thread / $shape.bm$u;
  const bool whole_values = $(C.is_whole(first, first.values, "n", W));
  //@ Masks.fields(first)
  {
    const uint64_t m = cut.m;
    const uint rows = $shape.bm$u;
    //@ Masks.rows_of(first, has)
  }
  //@ if pass.of.peak then
  $k.number$ peak = -INFINITY;
  //@ end
  //@ for i in ipairs(pass.of.sums) do
  $k.precise$$k.number$ sum$i$ = $(k:literal(0));
  //@ end
  //@ unit.begin(pass, sides, shape, names)
  for (uint64_t key = 0ul; key < n_count; key += $shape.keys$ul) {
    const uint64_t n = key;
    const uint keys = uint(min(n_count - key, $shape.keys$ul));
    //@ if first.rules_out then
    {
      //@ Masks.skips(first, has)
      if (skips)
        continue;
    }
    //@ end
    {
      //@ local own = unit.multiply_rows(pass, sides, shape, names)
      barrier();
      //@ if first.restricted then
      //@ Masks.is_free(first, has)
      if (is_free) {
        //@ leave(first, first.free, pass, shape, own, names)
      } else {
        //@ leave(first, first.values, pass, shape, own, names)
      }
      //@ else
      //@ leave(first, first.values, pass, shape, own, names)
      //@ end
    }
    barrier();
    //@ gather(pass, shape, names)
    //@ if #pass.lasts > 0 then
    {
      //@ unit.multiply_keys(pass, sides, shape, names)
    }
    //@ end
  }
  //@ merge(pass, shape, names)
  //@ if first.rows then
  if (cut.n == 0ul && lane == 0u && cut.m + row < m_count) {
    const uint64_t m = cut.m + row;
    const uint there = 1u;
    const bool whole_values = false;
    //@ C.make(first, first.rows, pass.of.rows_of, { m = "m" }, "m", 1, function(_, x) return gathered(x.name) end)
    //@ C.put(first, pass.of.rows_of, { m = "m" }, "m", 1)
  }
  //@ end
  {
    //@ unit.finish(pass, names, gathered, shape)
  }
//@ P.end_kernel()
//@ end
//@ local side_of = {}
//@ for i, step in ipairs(k.steps) do
//@ side_of[step] = schedule.steps[i]
//@ end
//@ for _, kernel in ipairs(schedule.kernels) do

//@ define(k.passes[kernel.step], side_of, kernel.shape)
//@ end
//@ P.main(#schedule.kernels)
