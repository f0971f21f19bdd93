//@ -- What the contract templates share: a step's sizes and where its operands are, what of them is read at once, and
//@ -- what is computed of it and stored. Indexes and addresses are uint64_t; `whole` is whether accesses of several
//@ -- elements are aligned, `there` how many elements from the first one on exist.
//@ local P = use "parts.comp"
//@ local S = use "../c/contract_step.c"
//@ local E = use "../c/elsewhere.c"
//@ W = 128 // k.spelling.bits -- numbers of an access to shared memory
//@ vec = k.spelling.bits == 64 and "dvec2" or "vec4"
//@ core, kind, loops_of, field = S.core, S.kind, S.loops_of, S.field
//@ function component(nth) return ("xyzw"):sub(nth % W + 1, nth % W + 1) end
//@
//@ -- Elements of so many bytes in memory, `count` of them in a uvec4.
//@ local words = { [1] = "lathe_byte", [2] = "lathe_half", [4] = "lathe_pack4", [8] = "lathe_pack8" }
//@ local wholes = { [4] = { "lathe_pack4", "x" }, [8] = { "lathe_pack8", "xy" }, [16] = { "lathe_pack", "xyzw" } }
//@ local elements = {
//@   [1] = {
//@     get = "words[nth / 4u] |= uint(%s) << nth %% 4u * 8u;",
//@       put = "%s = uint8_t(words[nth / 4u] >> nth %% 4u * 8u & 0xffu);",
//@   },
//@   [2] = {
//@     get = "words[nth / 2u] |= uint(%s) << nth %% 2u * 16u;",
//@       put = "%s = uint16_t(words[nth / 2u] >> nth %% 2u * 16u);",
//@   },
//@   [4] = { get = "words[nth] = %s;", put = "%s = words[nth];" },
//@   [8] = {
//@     get = "{ const uvec2 both = %s; words[2u * nth] = both.x; words[2u * nth + 1u] = both.y; }",
//@     put = "%s = uvec2(words[2u * nth], words[2u * nth + 1u]);",
//@   },
//@ }
//@ function piece.lathe_half()
layout(buffer_reference, std430, buffer_reference_align = 2) buffer lathe_half {
  uint16_t at;
};
//@ end

//@ function piece.lathe_byte()
layout(buffer_reference, std430, buffer_reference_align = 1) buffer lathe_byte {
  uint8_t at;
};
//@ end

//@ for bytes, element in pairs(elements) do
//@ local at = words[bytes] .. "(from + nth * apart).at"
//@ for count = 1, 16 // bytes do
//@ local whole = wholes[bytes * count]
//@ piece["lathe_load" .. bytes .. "x" .. count] = function()
/* $count$ elements of $bytes$ bytes that are `apart` bytes apart; what is not there is 0. */
uvec4 lathe_load$bytes$x$count$(uint64_t from, uint64_t apart, uint there, bool whole) {
  uvec4 words = uvec4(0u);
  //@ if whole and count > 1 then
  if (whole && there >= $count$u) {
    words.$(whole[2]) = $(whole[1])(from).at;
    return words;
  }
  //@ end
  [[unroll]] for (uint nth = 0u; nth < $count$u; nth++)
    if (nth < there)
      $(element.get:format(at))
  return words;
}
//@ end

//@ piece["lathe_store" .. bytes .. "x" .. count] = function()
void lathe_store$bytes$x$count$(uint64_t from, uint64_t apart, uvec4 words, uint there, bool whole) {
  //@ if whole and count > 1 then
  if (whole && there >= $count$u) {
    $(whole[1])(from).at = words.$(whole[2]);
    return;
  }
  //@ end
  [[unroll]] for (uint nth = 0u; nth < $count$u; nth++)
    if (nth < there)
      $(element.put:format(at))
}
//@ end
//@ end

//@ end
//@ -- The product of the sizes of some places, or of some numbered variables.
//@ function size(places)
//@   return (S.size(places):gsub("args%->", "args."))
//@ end
//@ -- Bytes of the temporaries, or of those before one.
//@ function bytes_of_temporaries(before)
//@   local list = {}
//@   for _, operand in ipairs(k.record.temporaries) do
//@     if operand == before then
//@       break
//@     end
//@     list[#list + 1] = string.format("(%s * %dul + 63ul) / 64ul * 64ul", size(operand.dim_index),
//@       k.spelling.bits // 8)
//@   end
//@   return #list > 0 and table.concat(list, " + ") or "0ul"
//@ end
//@ local function home(operand)
//@   return operand.temporary
//@     and string.format("args.workspace + %dul + %s", schedule.counts, bytes_of_temporaries(operand))
//@     or "args." .. operand.name
//@ end
//@ -- The address of an element; at: the indexes along m, n and k.
//@ function address(step, operand, at)
//@   local indexes = {}
//@   for letter, index in pairs(at) do
//@     indexes[letter] = index:find " " and "(" .. index .. ")" or index
//@   end
//@   return string.format("%s_at + (%s) * %dul", operand.name, (S.offset(step, operand, indexes):gsub("here%->", "")),
//@     k:bytes_of(operand))
//@ end
//@ -- The points of a step's parts.
//@ function define(step)
//@ for _, name in ipairs { "a", "b", "own", "meet", "values", "free", "rows", "powers" } do
//@ if step[name] then
//@ P.define(step[name].point)
//@ end
//@ end
//@ end
//@ -- What a kernel has of a step ahead of all: extents, strides, and room for where its operands are.
//@ function begin(step)
//@ for _, letter in ipairs { "m", "n", "k" } do
const uint64_t $(letter)_count = $(size(core(step, letter)));
//@ end
//@ for _, operand in ipairs(step.of.operands) do
uint64_t $(operand.name)_at;
//@ for _, letter in ipairs { "m", "n", "k" } do
//@ local how, places = kind(step, operand, letter)
//@ if how == "strided" then
const uint64_t $(field(operand, letter)) = $(size(places));
//@ end
//@ end
//@ end
//@ end
//@ -- Points at what the operands have at the indexes of some loops, { run, index }.
//@ function place(step, loops)
//@   for _, operand in ipairs(step.of.operands) do
//@     local at = {}
//@     for _, loop in ipairs(loops) do
//@       local places = k.stride(operand, loop.run)
//@       at[#at + 1] = places and loop.index .. (#places > 0 and " * " .. size(places) or "") or nil
//@     end
$(operand.name)_at = $(home(operand))$(#at > 0 and (" + (%s) * %dul"):format(table.concat(at, " + "), k:bytes_of(operand)) or "");
//@   end
//@ end
//@ local function operands_of(part)
//@   local list = {}
//@   for _, x in ipairs(part.point.inputs) do
//@     list[#list + 1] = x.operand
//@   end
//@   return list
//@ end
//@ -- How many accesses it takes to read `count` elements, and how many one has.
//@ local function accesses(operand, how, count)
//@   local each = how == "none" and 1 or math.min(count, 16 // k:bytes_of(operand))
//@   return how == "none" and 1 or count // each, each
//@ end
//@ -- GLSL: whether all accesses of `count` elements to some operands along an axis are aligned.
//@ local function aligned(step, operands, along, count)
//@   local list, seen = {}, {}
//@   for _, operand in ipairs(operands) do
//@     if not seen[operand] and kind(step, operand, along) == "unit" then
//@       local _, each = accesses(operand, "unit", count)
//@       seen[operand] = true
//@       list[#list + 1] = string.format("%s_at %% %dul == 0ul", operand.name, each * k:bytes_of(operand))
//@       for _, letter in ipairs { "m", "n", "k" } do
//@         if kind(step, operand, letter) == "strided" then
//@           list[#list + 1] = string.format("%s %% %dul == 0ul", field(operand, letter), each)
//@         end
//@       end
//@     end
//@   end
//@   return #list > 0 and table.concat(list, " && ") or "true"
//@ end
//@ function is_whole(step, part, along, count) return aligned(step, operands_of(part), along, count) end
//@ function are_stored_whole(step, along)
//@   local list = operands_of(step.values)
//@   for _, value in ipairs(step.of.values) do
//@     list[#list + 1] = value.operand
//@   end
//@   return aligned(step, list, along, W)
//@ end
//@ -- GLSL: how many elements there are from the indexes `at` on along an axis, of which there are no more than that of
//@ -- the other one.
//@ function there(at, along, other)
//@   return string.format("%s < %s_count && %s < %s_count ? uint(min(%s_count - (%s), 64ul)) : 0u", at[other], other,
//@     at[along], along, along, at[along])
//@ end
//@ -- What a part reads is kept in uvec4s, NAME_raw, of `many` reads, a number or GLSL.
//@ function declare(step, part, along, count, many)
//@ for _, x in ipairs(part.point.inputs) do
//@ if x.operand then
//@ local each = accesses(x.operand, kind(step, x.operand, along), count)
uvec4 $(x.pointer)_raw[$(type(many) == "string" and many .. " * " .. each .. "u" or many * each)];
//@ end
//@ end
//@ end
//@ -- Reads `count` points from the indexes `at` on along an axis; nth: GLSL, which of many.
//@ function read(step, part, at, along, count, nth, whole)
//@ for _, x in ipairs(part.point.inputs) do
//@ if x.operand then
//@ local how, bytes = kind(step, x.operand, along), k:bytes_of(x.operand)
//@ local many, each = accesses(x.operand, how, count)
//@ local apart = how == "strided" and ("%s * %dul"):format(field(x.operand, along), bytes) or bytes .. "ul"
//@ for access = 0, many - 1 do
//@ local first = access * each
$(x.pointer)_raw[$nth$ * $many$u + $access$u] = lathe_load$bytes$x$each$($(address(step, x.operand, at))$(first > 0 and (" + %dul * %s"):format(first, apart) or ""), $apart$, $(first > 0 and ("there - min(there, %du)"):format(first) or "there"), $(how == "unit" and whole or "false"));
//@ end
//@ end
//@ end
//@ end
//@ -- What a part's point function is given that stays the same.
//@ local function prelude(part)
//@   for _, scalar in ipairs(part.scalars) do
const $k.number$ $scalar.name$ = args.$scalar.name$;
//@   end
//@   for _, points in ipairs(part.points) do
const $k.number$ $points.name$ = $k.number$($(size(points.places)));
//@   end
$(part.k:uniforms("call"))
//@ end
//@ -- Where a point is along an axis.
//@ local function position(step, place, along, point)
//@   local index, within, extent = S.index_of(step, place)
//@   local at = index == along and ("(%s + %du)"):format(index, point) or index
//@   return (S.place_of(at, within, extent):gsub("args%->", "args."))
//@ end
//@ -- How elsewhere.c spells GLSL.
//@ language = {
//@   number = k.number, signed = "int64_t", unsigned = "uint64_t",
//@   element = function(operand, nth)
//@     local bytes = operand.temporary and k.spelling.bits // 8 or k:bytes_of(operand)
//@     local read = operand.dtype and "lathe_integer(%s).at" or operand.temporary and "lathe_number(%s).at"
//@       or k:get(operand) .. "(%s)"
//@     return read:format(("%s + uint64_t(%s) * %dul"):format(home(operand), nth, bytes))
//@   end,
//@   random = function(seed, offset, nth)
//@     local each = k.bytes == 2 and 8 or 4
//@     local words = ("lathe_philox(%s, %s, (%s) / %dul)"):format(seed, offset, nth, each)
//@     return ("lathe_random(%s, uint((%s) %% %dul))"):format(words, nth, each)
//@   end,
//@   words = function(index, whole)
//@     return {
//@       unsigned = "uint64_t", number = function(value) return ("%dl"):format(value) end,
//@       position = function(axis) return index(E.places_of(axis)[1]) end,
//@       points = function(set) return "int64_t(" .. size(E.places_of(set)) .. ")" end,
//@       whole = function(leaf) return whole(leaf.name) end, min = "min", max = "max",
//@     }
//@   end,
//@ }
//@ local function elsewhere(step, x, along, point)
//@   local text = E.number(x, function(place) return position(step, place, along, point) end, language)
//@   return ("%du < there ? %s : %s"):format(point, text:gsub("args%->", "args."),
//@     x.node.type == "m" and "false" or k:literal(0))
//@ end
//@ -- Calls the point function of a part at each of `count` points that were read; each(point) writes what is done with
//@ -- the results there, sum(point, x) is GLSL for the step's sum, or for an input of a stream's that is one or was
//@ -- gathered.
//@ function compute(step, part, along, count, nth, each, sum)
{
  //@ prelude(part)
  //@ for point = 0, count - 1 do
  {
    //@ P.call(part.point, function(x)
    //@   if x.kind == "result" or x.kind == "column" then
    //@     return sum(point, x)
    //@   elseif x.kind == "position" then
    //@     return ("%s(%s)"):format(k.number, position(step, x.place, along, point))
    //@   elseif E.is_elsewhere(x) then
    //@     return elsewhere(step, x, along, point)
    //@   end
    //@   local how = kind(step, x.operand, along)
    //@   local many, one = accesses(x.operand, how, count)
    //@   local at = how == "none" and 0 or point
    //@   return k:unpack(("%s_raw[%s * %du + %du]"):format(x.pointer, nth, many, at // one), at % one, x.operand)
    //@ end)
    //@ each(point)
  }
  //@ end
}
//@ end
//@ -- Computes the values of a part at `count` points from the indexes `at` on along an axis, NAME_of[count], of which
//@ -- `there` exist. sum: as compute has it.
//@ function make(step, part, values, at, along, count, sum)
//@ declare(step, part, along, count, 1)
//@ read(step, part, at, along, count, "0u", "whole_values")
//@ for _, value in ipairs(values) do
$k.number$ $(value.operand.name)_of[$count$];
//@ end
//@ compute(step, part, along, count, "0u", function(point)
  //@ for _, value in ipairs(values) do
  $(value.operand.name)_of[$point$] = $(value.operand.name)_;
  //@ end
//@ end, sum)
//@ end
//@ -- Stores values that were made so.
//@ function put(step, values, at, along, count)
//@ for _, value in ipairs(values) do
//@ local operand, list = value.operand, {}
//@ local how, bytes = kind(step, operand, along), k:bytes_of(operand)
//@ for point = 0, W - 1 do
//@   list[point + 1] = operand.name .. "_of[" .. math.min(point, count - 1) .. "]"
//@ end
//@ local apart = how == "strided" and ("%s * %dul"):format(field(operand, along), bytes) or bytes .. "ul"
lathe_store$bytes$x$count$($(address(step, operand, at)), $apart$, $(k:pack_some(list, operand)), $(how == "none" and "min(there, 1u)" or "there"), $(how == "unit" and "whole_values" or "false"));
//@ end
//@ end
//@ -- Computes and stores the results of the sums in `some`, a vec, from the indexes `at` on along an axis: all of its,
//@ -- or the first `count`. gathered(name): GLSL for what a stream gathered of the row.
//@ function store(step, at, along, other, count, gathered)
//@ local count = count or W
const uint there = $(there(at, along, other));
//@ make(step, step.values, step.of.values, at, along, count, function(point, x)
//@   return x.kind == "column" and gathered(x.name) or "some." .. component(point)
//@ end)
//@ put(step, step.of.values, at, along, count)
//@ end
//@
//@ function piece.lathe_left()
/* What workgroups leave for others of the same launch. */
layout(buffer_reference, std430, buffer_reference_align = 16) coherent buffer lathe_left {
  uvec4 at;
};
//@ end

//@ function piece.lathe_times()
uint64_t lathe_times(uint64_t count, uint64_t each) {
  return count / each + (count % each != 0ul ? 1ul : 0ul);
}
//@ end

//@ function piece.lathe_cut()
/* What a workgroup has of a launch: a tile of one of the matrices, from (m, n) on, and a part of its terms; tiles: how
 * many there are of all matrices, nth: which one it is. Tiles go in groups of a few rows, down each column of a group,
 * so that those of workgroups that run at the same time share rows and columns, which stay in the cache. */
struct lathe_cut {
  uint64_t m, n;
  uint tiles, nth, matrix, part, parts;
};

/* Where workgroups are dealt out in two dimensions, some may have nothing to do: there are `shared_by` parts of each
 * tile's terms, of no more than `most` tiles. */
lathe_cut lathe_cut_of(uint bm, uint bn, uint64_t m_count, uint64_t n_count, uint64_t matrices, uint most, uint64_t shared_by) {
  const uint HEIGHT = 8u;
  const uint rows = uint(lathe_times(m_count, bm)), columns = uint(lathe_times(n_count, bn));
  const uint group = uint(lathe_group()), tiles = rows * columns, all = tiles * uint(matrices);
  const uint at = group % tiles, above = at / (HEIGHT * columns) * HEIGHT;
  const uint within = at % (HEIGHT * columns), height = min(rows - above, HEIGHT);
  const uint parts = gl_NumWorkGroups.y == 1u ? gl_NumWorkGroups.x / all : all <= most ? uint(shared_by) : 1u;
  const uint nth = group % all;
  return lathe_cut(uint64_t(above + within % height) * bm, uint64_t(within / height) * bn, all, nth, nth / tiles,
                   group / all, parts);
}
//@ end

//@ -- The beginning of a kernel: what the workgroup has to do, `cut`. columns: GLSL, how many its tiles are of in all.
//@ function begin_tile(step, shape, columns)
//@ local loops, matrices = loops_of(step), {}
const uint thread = gl_LocalInvocationID.x;
//@ begin(step)
//@ for i, run in ipairs(loops) do
//@ matrices[i] = "loops" .. i
const uint64_t loops$i$ = $(size(run));
//@ end
const uint64_t matrices = $(#loops > 0 and table.concat(matrices, " * ") or "1ul");
//@ local shared_by = shape.depth and ("max(lathe_times(k_count, %dul), 1ul)"):format(shape.depth) or "1ul"
$(step.rules_out and "" or "const ")lathe_cut cut = lathe_cut_of($shape.bm$u, $shape.bn$u, m_count, $columns$, matrices, $schedule.most_shared$u, $shared_by$);
if (cut.part >= cut.parts)
  return;
//@ if step.rules_out then
/* Of masks by places the last rows most often have most keys: those begin first. */
cut.m = (lathe_times(m_count, $shape.bm$ul) - 1ul) * $shape.bm$ul - cut.m;
//@ end
//@ if #loops > 0 then
uint64_t rest = cut.matrix;
//@ end
//@ for i = #loops, 1, -1 do
const uint64_t loop$i$_ = rest % loops$i$;
rest /= loops$i$;
//@ end
//@ end
//@ -- The same with the terms of that, `from` to `to`.
//@ function begin_cut(step, shape)
//@ begin_tile(step, shape, "n_count")
const uint64_t each = lathe_times(lathe_times(k_count, $shape.bk$ul), cut.parts) * $shape.bk$ul;
const uint64_t from = min(cut.part * each, k_count), to = min(from + each, k_count);
//@ end
//@ -- Around what a workgroup does with the terms of each of the outer runs of k, then with the sums.
//@ local function outer_loops(step, index)
//@   local list = {}
//@   for i, run in ipairs(loops_of(step)) do
//@     list[i] = { run = run, index = "loop" .. i .. "_" }
//@   end
//@   for i = 1, #step.of.k - 1 do
//@     list[#list + 1] = { run = step.of.k[i], index = index(i) }
//@   end
//@   return list
//@ end
//@ function begin_terms(step)
//@ for i = 1, #step.of.k - 1 do
for (uint64_t outer$i$ = 0ul; outer$i$ < $(size(step.of.k[i])); outer$i$++)
//@ end
{
  //@ place(step, outer_loops(step, function(i) return "outer" .. i end))
//@ end
//@ -- Points at what the results of the sums have, and what they are computed with.
//@ function place_results(step)
//@   place(step, outer_loops(step, function() return "0ul" end))
//@ end
//@ function end_terms(step)
}
//@ place_results(step)
//@ end
//@
//@ function piece.lathe_order()
shared uint lathe_order; /* how many workgroups of the tile have come before this one */
//@ end

//@ -- Where workgroups have parts of the same tile's terms, all but the last to come here leave their sums behind and
//@ -- are done. That one adds up all in the order of the parts, so that results are the same in every run. sums[many]:
//@ -- each invocation's, of which there are `all` in the workgroup.
//@ function gather(shape, many, all)
//@ local function words(of) return (k.spelling.bits == 64 and "uvec4(unpackDouble2x32(%s.x), unpackDouble2x32(%s.y))"
//@   or "floatBitsToUint(%s)"):gsub("%%s", of) end
//@ local numbers = k.spelling.bits == 64 and "dvec2(packDouble2x32(words.xy), packDouble2x32(words.zw))"
//@   or "uintBitsToFloat(words)"
//@ local guard = all % shape.threads ~= 0
if (cut.parts > 1u) {
  const uint64_t arrived = args.workspace + cut.nth * 4ul;
  const uint64_t left = args.workspace + $schedule.counts$ul + $(bytes_of_temporaries()) + thread * 16ul;
  [[unroll]] for (uint nth = 0u; nth < $many$u; nth++)
    $(guard and ("if (nth * %du + thread < %du)"):format(shape.threads, all) or "")
    lathe_left(left + ((cut.nth + cut.part * cut.tiles) * $all$ul + nth * $shape.threads$u) * 16ul).at = $((words "sums[nth]"));
  memoryBarrierBuffer();
  barrier();
  if (thread == 0u)
    lathe_order = atomicAdd(lathe_word(arrived).at, 1u);
  barrier();
  if (lathe_order + 1u < cut.parts)
    return;
  memoryBarrierBuffer();
  if (thread == 0u)
    lathe_word(arrived).at = 0u;
  for (uint part = 0u; part < cut.parts; part++)
    [[unroll]] for (uint nth = 0u; nth < $many$u; nth++)
      $(guard and ("if (nth * %du + thread < %du)"):format(shape.threads, all) or "")
      {
        const uvec4 words = lathe_left(left + ((cut.nth + part * cut.tiles) * $all$ul + nth * $shape.threads$u) * 16ul).at;
        const $vec$ partial = $numbers$;
        sums[nth] = part == 0u ? partial : sums[nth] + partial;
      }
}
//@ end
//@ -- Around what is done with each of arrays of sums[many], in turn `some` of its name, NAME or "": they move up, for
//@ -- that is too long to be there for each.
//@ function begin_each(many, arrays)
[[dont_unroll]] for (uint nth = 0u; nth < $many$u; nth++) {
  //@ for _, array in ipairs(arrays) do
  const $k.precise$$vec$ some$array$ = sums$array$[0];
  //@ end
  //@ if many > 1 then
  [[unroll]] for (uint next = 1u; next < $many$u; next++) {
    //@ for _, array in ipairs(arrays) do
    sums$array$[next - 1u] = sums$array$[next];
    //@ end
  }
  //@ end
//@ end
//@ function end_each()
}
//@ end
//@ -- Computes and stores the results of sums[many]. at(nth): the GLSL of where in the tile those of one are, along m
//@ -- and n; has: of whether it has any, or nil; gathered: as of store.
//@ function finish(step, many, along, other, at, has, gathered)
//@ local m, n = at "nth"
const bool whole_values = $(are_stored_whole(step, along));
//@ begin_each(many, { "" })
  const uint64_t m = cut.m + $m$, n = cut.n + $n$;
  //@ if has then
  if (!($has$))
    continue;
  //@ end
  //@ store(step, { m = "m", n = "n" }, along, other, nil, gathered)
//@ end_each()
//@ end
