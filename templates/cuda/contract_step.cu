//@ -- What the contract templates of CUDA share: the struct of a step, as tiles.h wants it, and tiles.
//@ local S = use "../c/contract_step.c"
//@ local E = use "../c/elsewhere.c"

//@ -- The product of some numbered variables.
//@ function times(count, name)
//@   local list = {}
//@   for i = 1, count do
//@     list[i] = name .. i
//@   end
//@   return count > 0 and table.concat(list, " * ") or "1"
//@ end
//@ -- The workspace: how many blocks of each tile's partial sums have arrived, temporaries, and partial sums; copies of
//@ -- operands whose rows no tensor map can have follow.
//@ local COUNTS = schedule.counts
//@ function partials()
//@   return COUNTS .. " + " .. S.bytes_of_temporaries()
//@ end
//@ -- How many rows, and elements of one, a copy has.
//@ function extents_of(copy)
//@   local places = {}
//@   for i = 2, #copy.runs do
//@     table.move(copy.runs[i], 1, #copy.runs[i], #places + 1, places)
//@   end
//@   return S.size(places) .. ", " .. S.size(copy.runs[1])
//@ end
//@ -- C: whether all whole accesses, of `count` elements, to some operands of a part along an axis are aligned.
//@ local function aligned(step, operands, along, count)
//@   local list, seen = {}, {}
//@   for _, operand in ipairs(operands) do
//@     if not seen[operand] and S.kind(step, operand, along) == "unit" then
//@       seen[operand] = true
//@       list[#list + 1] = string.format("(size_t)%s %% sizeof(lathe_pack<%s, %d>) == 0", operand.name,
//@         k:element_type(operand), count)
//@       for _, letter in ipairs { "m", "n", "k" } do
//@         if S.kind(step, operand, letter) == "strided" then
//@           list[#list + 1] = S.field(operand, letter) .. " % " .. count .. " == 0"
//@         end
//@       end
//@     end
//@   end
//@   return #list > 0 and table.concat(list, " && ") or "true"
//@ end
//@ -- An element's place from that of the operand.
//@ local function offset(step, operand, at)
//@   return (S.offset(step, operand, at):gsub("here%->", ""))
//@ end
//@ -- What a part's point function is given that stays the same.
//@ local function prelude(part)
//@   for _, scalar in ipairs(part.scalars) do
const $k.number$ $scalar.name$ = ($k.number$)args->scalar[$(scalar.place - 1)];
//@   end
//@   for _, points in ipairs(part.points) do
const $k.number$ $points.name$ = ($k.number$)($(S.size(points.places)));
//@   end
$(part.k:uniforms("call"))
//@ end
//@ local function operands_of(part)
//@   local list = {}
//@   for _, x in ipairs(part.point.inputs) do
//@     list[#list + 1] = x.operand
//@   end
//@   return list
//@ end
//@ -- What the values of a step read and store.
//@ local function stored_of(step)
//@   local list = operands_of(step.values)
//@   for _, value in ipairs(step.of.values) do
//@     list[#list + 1] = (value.operand.output or value.operand.temporary) and value.operand or nil
//@   end
//@   return list
//@ end
//@ -- Reads what a part's point function takes, `count` points of it along an axis, into a struct `raw`.
//@ local function load(step, part, at, along, count, whole, flag)
//@ for _, x in ipairs(part.point.inputs) do
//@ local how = x.operand and S.kind(step, x.operand, along)
//@ local from = x.operand and x.operand.name .. " + " .. offset(step, x.operand, at)
//@ if how == "none" then
raw.$x.pointer$.at[0] = $whole$ || there > 0 ? *($from$) : $(k:element_type(x.operand))(0.0f);
//@ elseif how == "unit" then
//@ if flag == "true" then
raw.$x.pointer$ = lathe_load_kept<$count$>($from$);
//@ else
lathe_load_some<$whole$>(raw.$x.pointer$, $from$, there, $flag$);
//@ end
//@ elseif how == "strided" then
lathe_load_apart<$whole$>(raw.$x.pointer$, $from$, $(S.field(x.operand, along)), there);
//@ end
//@ end
//@ end
//@ local function raw(step, part, name, along, count)
struct $name$ {
  //@ for _, x in ipairs(part.point.inputs) do
  //@ if x.operand then
  lathe_pack<$(k:element_type(x.operand)), $(S.kind(step, x.operand, along) == "none" and "1" or count)> $x.pointer$;
  //@ end
  //@ end
};
//@ end
//@ -- Where a point is along an axis.
//@ local function position(step, place)
//@   local index, within, extent = S.index_of(step, place)
//@   return S.place_of(index == "n" and "(n + nth)" or index, within, extent)
//@ end
//@ -- What is elsewhere, where it is there.
//@ language = {
//@   number = k.number, signed = "(long long)", unsigned = "(size_t)",
//@   random = function(seed, offset, nth)
//@     local narrow = tostring(k.dtype ~= k.compute)
//@     return ("lathe_random_at<%s, %s>(%s, %s, %s)"):format(narrow, k.number, seed, offset, nth)
//@   end,
//@   element = function(operand, nth)
//@     local home = S.home(operand):gsub("%(temporaries", "((char *)args->workspace + " .. COUNTS)
//@     local element = ("(%s)[%s]"):format(home, nth)
//@     return operand.dtype and element or ("%s(%s)"):format(k.number, element)
//@   end,
//@ }
//@ local function elsewhere(step, x)
//@   local text = E.number(x, function(place) return position(step, place) end, language)
//@   return ("nth < there ? %s : %s"):format(text, x.node.type == "m" and "false" or k.number .. "(0)")
//@ end
//@ -- What a stream's values find by places, in two structs, so that it is found once for a row and once for a key:
//@ -- fields { type, name, text } of both, and by node the text of what is one. Of what differs with both, the fields are
//@ -- the places that it is found by.
//@ local function found_by_places(step)
//@   local found = { row = {}, keys = {}, text_of = {} }
//@   local known = {}
//@   local function is_in(letter, place) return (S.index_of(step, place)) == letter end
//@   local function field(side, type, name, text)
//@     if not known[side .. name] then
//@       known[side .. name] = true
//@       table.insert(found[side], { type = type, name = name, text = text })
//@     end
//@     return side .. "." .. name .. (side == "keys" and "[nth]" or "")
//@   end
//@   for _, part in ipairs { step.values, step.free } do
//@     for i, x in ipairs(part.point.inputs) do
//@       local of_row, of_key, node = false, false, x.node
//@       for _, place in ipairs(E.places_of(node.axes)) do
//@         of_row, of_key = of_row or is_in("m", place), of_key or is_in("n", place)
//@       end
//@       local side, mask = of_key and "keys" or "row", node.type == "m"
//@       if (x.kind == "position" or E.is_elsewhere(x)) and not found.text_of[node] then
//@         local function index(place)
//@           local at = position(step, place)
//@           return of_row and of_key and field(is_in("n", place) and "keys" or "row", "size_t", "i" .. place, at) or at
//@         end
//@         local text = x.kind == "position" and ("(%s)%s"):format(k.number, position(step, x.place))
//@           or E.number(x, index, language)
//@         found.text_of[node] = of_row and of_key
//@           and ("nth < there ? %s : %s"):format(text, mask and "false" or k.number .. "(0)")
//@           or field(side, mask and "bool" or k.number, "found" .. i .. (part == step.free and "_free" or ""), text)
//@       end
//@     end
//@   end
//@   return found
//@ end
//@ local function define_found(step, found)
struct row_found {
  //@ for _, of in ipairs(found.row) do
  $of.type$ $of.name$;
  //@ end
};
template <int COUNT> struct keys_found {
  //@ for _, of in ipairs(found.keys) do
  $of.type$ $of.name$[COUNT];
  //@ end
};

__device__ __forceinline__ row_found find_row(size_t m) const {
  row_found row;
  (void)m;
  //@ for _, of in ipairs(found.row) do
  row.$of.name$ = $of.text$;
  //@ end
  return row;
}

template <int COUNT> __device__ __forceinline__ keys_found<COUNT> find_keys(size_t n, long long there) const {
  keys_found<COUNT> keys;
  (void)n, (void)there;
#pragma unroll
  for (int nth = 0; nth < COUNT; nth++) {
    //@ for _, of in ipairs(found.keys) do
    keys.$of.name$[nth] = nth < there ? $of.text$ : $of.type$(0);
    //@ end
  }
  return keys;
}
//@ end
//@ -- The point function of a part at point `nth` of what was read. result: the text of what the step's sum comes to
//@ -- there, or a function that gives it by the step's name; found: of a stream's values, see above.
//@ local function compute(step, part, along, count, P, result, found)
//@ P.call(part.point, function(x)
//@   if x.kind == "result" then
//@     return type(result) == "function" and result(x.name) or result
//@   elseif found and found.text_of[x.node] then
//@     return found.text_of[x.node]
//@   elseif x.kind == "position" then
//@     return ("(%s)%s"):format(k.number, position(step, x.place))
//@   elseif x.kind == "column" then
//@     return ("gathered[(m - first_m) * %d + %d]"):format(#step.gathered, step.gathered[x.name] - 1)
//@   elseif E.is_elsewhere(x) then
//@     return elsewhere(step, x)
//@   end
//@   local single = count == 1 or S.kind(step, x.operand, along) == "none"
//@   return (single and "raw.%s.at[0]" or "lathe_number(raw.%s, nth)"):format(x.pointer)
//@ end)
//@ end
//@ -- The index of a loop around the matrix products that goes over a run.
//@ local function loop_of(loops, run)
//@   for _, loop in ipairs(loops) do
//@     if loop.run == run then
//@       return loop.index
//@     end
//@   end
//@ end
//@ -- The left factor of a second product, which is in shared memory: stream.h.
//@ local function factor_between()
static constexpr int VA = 1;
static constexpr bool A_ALONG_K = false;
struct raw_a {
  number at;
};
const number *between, *gathered; /* of the tile's rows: of each term a line, and of each row what was gathered */
int line;
size_t first_m, first_k;

template <bool WHOLE> __device__ __forceinline__ void load_a(raw_a &raw, size_t m, size_t k) const {
  raw.at = between[(k - first_k) * line + (m - first_m)];
}

__device__ __forceinline__ void make_a(const raw_a &raw, number (&x)[1]) const {
  x[0] = raw.at;
}
//@ return "m", 1
//@ end
//@ -- What a step's terms are where they are no products: of a value of either side, and one of the result.
//@ local function meeting(step, P)
//@ local count = 128 // k.spelling.bits

__device__ __forceinline__ number meet(number a, number b, number own) const {
  (void)own;
  //@ prelude(step.meet)
  //@ P.call(step.meet.point, function(x)
  //@   return x.name == step.of.meet.a and "a" or x.name == step.of.meet.b and "b" or "own"
  //@ end)
  return packed;
}
//@ if step.own then
//@ raw(step, step.own, "raw_own", "n", count)

/* The values of neighbouring results; 0 where there is none. */
__device__ __forceinline__ void load_own(size_t m, size_t n, number (&x)[$count$]) const {
  raw_own raw;
  const long long there = m < m_count && n < n_count ? (long long)(n_count - n) : 0;
  (void)raw, (void)there;
  //@ load(step, step.own, { m = "m", n = "n" }, "n", count, "false", "false")
  //@ prelude(step.own)
#pragma unroll
  for (int nth = 0; nth < $count$; nth++) {
    //@ compute(step, step.own, "n", count, P)
    x[nth] = packed;
  }
}
//@ end
//@ end
//@ local function factor(step, made, part, letter, across, P, loops, maps)
//@ if step.of[letter].op == "column" then
//@   return factor_between()
//@ end
//@ local along, count = made[letter].along, made[letter].count
//@ local L = letter:upper()
static constexpr int V$L$ = $count$;
static constexpr bool $L$_ALONG_K = $(along == "k" and "true" or "false");
//@ raw(step, part, "raw_" .. letter, along, count)
bool whole_$letter$;

template <bool WHOLE>
__device__ __forceinline__ void load_$letter$(raw_$letter$ &raw, size_t $across$, size_t k) const {
  //@ local other = along == "k" and across or "k"
  const long long there = $other$ < $(other)_count && $along$ < $(along)_count ? (long long)($(along)_count - $along$) : 0;
  (void)there, (void)raw;
  //@ load(step, part, { [across] = across, k = "k" }, along, count, "WHOLE", "whole_" .. letter)
}

__device__ __forceinline__ void make_$letter$(const raw_$letter$ &raw, number (&x)[V$L$]) const {
  (void)raw;
  //@ prelude(part)
#pragma unroll
  for (int nth = 0; nth < V$L$; nth++) {
    //@ compute(step, part, along, count, P)
    x[nth] = packed;
  }
}
//@ if not made.layer then

//@ raw(step, part, "one_of_" .. letter, along, "1")

/* One factor, 0 where there is none. */
__device__ __forceinline__ number one_$letter$(size_t $across$, size_t k) const {
  const bool is_there = $across$ < $(across)_count && k < k_count;
  const long long there = is_there ? 1 : 0;
  const int nth = 0;
  one_of_$letter$ raw;
  (void)there, (void)nth, (void)raw;
  //@ load(step, part, { [across] = across, k = "k" }, along, 1, "false", "false")
  //@ prelude(part)
  //@ compute(step, part, along, 1, P)
  return is_there ? packed : number(0);
}
//@ end
//@ if made.plain or made.layer and made[letter].plain then
//@ local operand = part.point.inputs[1].operand

__device__ __forceinline__ const $k.storage$ *from_$letter$(size_t $across$, size_t k) const {
  return $operand.name$ + $(offset(step, operand, { [across] = across, k = "k" }));
}
//@ end
//@ if maps and made[letter].runs then
//@ local indexes = {}
//@ for i, run in ipairs(made[letter].runs) do
//@   indexes[i] = run == step.of.k[#step.of.k] and "k"
//@     or run == step.of[across][#step.of[across]] and across .. " + line"
//@     or loop_of(loops, run) .. "_"
//@ end

template <int ROWS>
__device__ __forceinline__ void fetch_$letter$(uint4 *to, const lathe_map &map, int $across$, int k, unsigned long long *barrier) const {
#pragma unroll
  for (int line = 0; line < ROWS; line += $(along == "k" and "ROWS" or 128 // k:bytes_of(part.point.inputs[1].operand)))
    lathe_fetch(to + line * 8, map, barrier, $(table.concat(indexes, ", ")));
}
//@ end
//@ return along, count
//@ end
//@ -- The values that follow `count` sums along n: finish stores them; finish_layer, of a layer, those that go to
//@ -- memory, and gives the others that later layers read, and so does finish_free, of values without some masks;
//@ -- finish_whole, all of them, of a tile whose results are all there and aligned, whole_values for a few at once, and
//@ -- wide_values for WHOLE_COUNT.
//@ local function finish(step, P, count, layer, whole, free, found)
//@ local part, values = free or step.values, step.of.values
//@ local given = {}
//@ for _, value in ipairs(values) do
//@   given[#given + 1] = layer and layer.next[value.operand.name]
//@     and (", number (&%s_next)[%d]"):format(value.operand.name, count)
//@ end
//@ local name = free and "finish_free" or layer and "finish_layer" or whole and "finish_whole" or "finish"
//@ local several = layer and layer.results
//@ local flag = whole and "true" or several and "(ALIGNED || (!WHOLE && whole_values))" or "whole_values"
//@ local sums = several and ("(&sums)[%d][%d]"):format(#several, count) or ("(&sums)[%d]"):format(count)
//@ local function result(of)
//@   for i, name in ipairs(several or {}) do
//@     if name == of then
//@       return ("sums[%d][nth]"):format(i - 1)
//@     end
//@   end
//@   return "sums[nth]"
//@ end
$(several and "template <bool WHOLE = false, bool ALIGNED = false> " or "")__device__ __forceinline__ void $name$($(several and ("const row_found &row, const keys_found<%d> &keys, "):format(count) or "")size_t m, size_t n, const number $sums$, long long there$(table.concat(given))) const {
  raw_values<$count$> raw;
  (void)raw, (void)m$(several and ", (void)row, (void)keys" or "");
  //@ load(step, part, { m = "m", n = "n" }, "n", count, whole and "true" or several and "WHOLE" or "false", flag)
  //@ local function is_stored(value)
  //@   return not layer or layer.stored[value.operand.name]
  //@ end
  //@ for _, value in ipairs(values) do
  //@ if is_stored(value) then
  lathe_pack<$(k:element_type(value.operand)), $count$> $value.operand.name$_pack;
  //@ end
  //@ end
  //@ prelude(part)
#pragma unroll
  for (int nth = 0; nth < $count$; nth++) {
    //@ compute(step, part, "n", count, P, result, found)
    //@ for _, value in ipairs(values) do
    //@ if is_stored(value) then
    $value.operand.name$_pack.at[nth] = $value.operand.name$_;
    //@ end
    //@ if layer and layer.next[value.operand.name] then
    $value.operand.name$_next[nth] = $value.operand.name$_;
    //@ end
    //@ end
  }
  //@ for _, value in ipairs(values) do
  //@ local how = is_stored(value) and S.kind(step, value.operand, "n")
  //@ if how then
  lathe_store_some($value.operand.name$ + $(offset(step, value.operand, { m = "m", n = "n" })), $value.operand.name$_pack,
      $(how == "strided" and S.field(value.operand, "n") or "1"), there, $(how == "unit" and flag or "false"));
  //@ end
  //@ end
}
//@ end
//@ -- The values of a row, of what was gathered of it.
//@ local function finish_rows(step, P)
//@ local part = step.rows
//@ raw(step, part, "raw_rows", "n", "1")

__device__ __forceinline__ void finish_rows(size_t m) const {
  raw_rows raw;
  const size_t n = 0;
  const long long there = 1;
  const int nth = 0;
  (void)raw, (void)n, (void)there, (void)nth;
  //@ load(step, part, { m = "m" }, "n", 1, "true", "false")
  //@ prelude(part)
  //@ compute(step, part, "n", 1, P)
  //@ for _, value in ipairs(step.pass.rows_of) do
  $value.operand.name$[$(offset(step, value.operand, { m = "m" }))] = $value.operand.name$_;
  //@ end
}
//@ end
//@ -- How many values of a whole tile are computed and stored at once that tensor cores have added up: the widest
//@ -- access along n has 16 bytes.
//@ local function whole_count(step, made)
//@   local count, widest = 128 // k.spelling.bits, nil
//@   for _, operand in ipairs(made.plain and not made.layer and stored_of(step) or {}) do
//@     local bytes = S.kind(step, operand, "n") == "unit" and k:bytes_of(operand) or 0
//@     widest = math.max(widest or 0, bytes)
//@   end
//@   return widest == 2 and 8 or count
//@ end
//@ local function results(step, made, P, maps)
//@ local count, wide = 128 // k.spelling.bits, whole_count(step, made)
static constexpr int WHOLE_COUNT = $wide$;
template <int COUNT>
//@ raw(step, step.values, "raw_values", "n", "COUNT")
bool whole_values, wide_values;

//@ if not made.layer or not made.layer.unstored then
//@ finish(step, P, count)
//@ if k.spelling.bits == 32 and k.storage == k.number then

//@ finish(step, P, 1)
//@ end
//@ end
//@ if step.rows then

//@ finish_rows(step, P)
//@ end
//@ local found = made.layer and made.layer.results and found_by_places(step)
//@ if found then

//@ define_found(step, found)
//@ end
//@ for _, few in ipairs(made.layer and made.layer.counts or {}) do

//@ finish(step, P, few, made.layer, nil, nil, found)
//@ if step.free then

//@ finish(step, P, few, made.layer, nil, step.free, found)
//@ end
//@ end
//@ if not made.layer or maps and not made.layer.unstored then

//@ finish(step, P, count, nil, true)
//@ if wide > count then

//@ finish(step, P, wide, nil, true)
//@ end
//@ end
//@ end
//@ -- maps: whether the copy engine may bring factors, and results go to memory by whole lines.
//@ function define(step, made, P, maps)
//@ for _, name in ipairs { "a", "b", "own", "meet", "values", "free", "rows" } do
//@ if step[name] and (name ~= "a" or step.of.a.op ~= "column") then
//@ P.define(step[name].point)
//@ end
//@ end
//@ local loops, names = {}, {}
//@ for i, run in ipairs(S.loops_of(step)) do
//@   loops[i] = { run = run, index = "loop" .. i }
//@ end
//@ for i = 1, #step.of.k - 1 do
//@   loops[#loops + 1] = { run = step.of.k[i], index = "outer" .. i }
//@ end
//@ for i, loop in ipairs(loops) do
//@   names[i] = "size_t " .. loop.index
//@ end
/* $(step.of.name) */
struct $step.name$ {
  using number = $k.number$;
  using element = $k.storage$;
  const lathe_args *args;
  size_t m_count, n_count, k_count;
  //@ for _, loop in ipairs(loops) do
  int $loop.index$_;
  //@ end
  //@ for _, operand in ipairs(step.of.operands) do
  $(k:element_type(operand)) *$operand.name$;
  //@ for _, letter in ipairs { "m", "n", "k" } do
  //@ if S.kind(step, operand, letter) == "strided" then
  size_t $(S.field(operand, letter));
  //@ end
  //@ end
  //@ end
  //@ local along_a, count_a = factor(step, made, step.a, "a", "m", P, loops, maps)
  //@ local along_b, count_b = factor(step, made, step.b, "b", "n", P, loops, maps)
  static constexpr bool MEETS = $(tostring(step.meet ~= nil)), OWN = $(tostring(step.own ~= nil));
  //@ if step.meet then
  //@ meeting(step, P)
  //@ end
  //@ if made.layer and made.layer.results then
  const number *gathered; /* of the tile's rows: of each row what was gathered */
  size_t first_m;
  //@ end
  //@ results(step, made, P, maps)

  __device__ __forceinline__ $step.name$(const lathe_args &given) {
    args = &given;
    //@ for _, letter in ipairs { "m", "n", "k" } do
    $(letter)_count = $(S.size(S.core(step, letter)));
    //@ end
    //@ for _, operand in ipairs(step.of.operands) do
    //@ for _, letter in ipairs { "m", "n", "k" } do
    //@ local how, places = S.kind(step, operand, letter)
    //@ if how == "strided" then
    $(S.field(operand, letter)) = $(S.size(places));
    //@ end
    //@ end
    //@ end
  }

  /* Points at what the operands have at the indexes of loops around the matrix products. */
  __device__ __forceinline__ void place($(table.concat(names, ", "))) {
    $step.name$ &here = *this;
    //@ for _, loop in ipairs(loops) do
    $loop.index$_ = (int)$loop.index$;
    //@ end
    char *const temporaries = (char *)args->workspace + $COUNTS$;
    (void)temporaries;
    //@ S.place(step, loops)
    //@ if step.of.a.op ~= "column" then
    whole_a = $(aligned(step, operands_of(step.a), along_a, count_a));
    //@ end
    whole_b = $(aligned(step, operands_of(step.b), along_b, count_b));
    whole_values = $(aligned(step, stored_of(step), "n", 128 // k.spelling.bits));
    wide_values = $(aligned(step, stored_of(step), "n", whole_count(step, made)));
  }
};

//@ end
