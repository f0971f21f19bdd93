//@ if first then
/* Nests of loops, one after the other: any axes in any order, for ops that no faster template has a place for. The
 * innermost vectors go along the axis that most operands have side by side; where that is one of the points, each
 * lane is a point, else lanes gather together. Limited by how far apart the elements of the other operands are. A sum adds
 * TERMS at a time, and carries the rounding errors of the rest along. A scan goes along its axis at each point. */
#include "nest.h"

//@ end
//@ local add_exactly = use("parts.c").add_exactly
//@ local S = use "nest_step.c"
//@ -- TERMS: that a sum adds up before it carries what rounding takes of them; of scans, each of whose results is judged.
//@ local L, own, TERMS, SCANNED = k.lanes, k.own, 64, 16
//@ local function at(step, operand, more) return S.at(operand.dim_index, step.of.along, more) end
//@ -- How an operand's elements lie along the step's `along`: "none", "unit" or "apart".
//@ local function lie(step, operand)
//@   local order, how = operand.dim_index, "none"
//@   for i, place in ipairs(order) do
//@     if place == step.of.along then
//@       how = i == #order and "unit" or "apart"
//@     end
//@   end
//@   return how
//@ end
//@ local function element(part, step, operand, more, instead)
//@   local at = S.at(operand.dim_index, step.of.along, more, instead)
//@   return part.k:access(operand, operand.dtype and "load_index" or "load_number", ("(%s + %s)"):format(operand.name, at))
//@ end
//@ -- The text of an input of a point function that is no element there, a number or a condition.
//@ local function text_of(step, part, x, more)
//@   local function index(place) return "i" .. place .. (more and place == step.of.along and " + " .. more or "") end
//@   local function whole(name) return element(part, step, S.operand_of(name), more) end
//@   if x.kind == "hit" then
//@     return whole(x.index) .. " == (int64_t)(" .. index(x.place) .. ")"
//@   elseif x.kind == "position" then
//@     return "(" .. k.number .. ")(" .. index(x.place) .. ")"
//@   elseif x.kind == "whole" then
//@     return "(" .. k.number .. ")" .. whole(x.index)
//@   elseif x.kind == "random" then
//@     local narrow = tostring(k.spelling.bits == 32 and k.dtype ~= k.compute)
//@     return ("(%s)lathe_random(%s[0], %s[0], %s, %s)"):format(k.number, x.seed, x.offset, S.at(x.places, step.of.along, more), narrow)
//@   end
//@   return S.elsewhere(x, S.words(function(place) return "(int64_t)(" .. index(place) .. ")" end, whole, "(size_t)"), function(operand, instead)
//@     return element(part, step, operand, more, instead)
//@   end)
//@ end
//@ -- A number at each lane of a vector, by a text of it at `lane`; of the first `lanes`.
//@ local function by_lane(variable, lanes, text)
$k.number$ $variable$of[$L$] = {0};
for (size_t lane = 0; lane < $lanes$; lane++)
  $variable$of[lane] = $text$;
const $k.vector$ $variable$ = $(own:text("load_own", variable .. "of", "0"));
//@ end
//@ -- What a part's point function reads, and its call. lanes: nil for a whole vector, "1" for one point in all lanes, or how
//@ -- many of a vector there are.
//@ local function call(step, part, lanes)
//@ local single = lanes == "1" or L == 1
//@ local more = not single and "lane" or nil
//@ for _, x in ipairs(part.point.inputs) do
//@ local variable = x.variable
//@ if x.kind == "column" then
//@ elseif x.kind ~= "element" then
//@ local is_mask = x.node.type == "m"
//@ local numbers, number = variable .. (is_mask and "numbers" or ""), text_of(step, part, x, more) .. (is_mask and " ? 1 : 0" or "")
//@ if more and step.of.along and x.node.axes >> step.of.along - 1 & 1 ~= 0 then
//@ by_lane(numbers, lanes or L, number)
//@ else
const $k.vector$ $numbers$ = $(own:text("splat", "(" .. k.number .. ")(" .. text_of(step, part, x) .. (is_mask and " ? 1 : 0" or "") .. ")"));
//@ end
//@ if is_mask then
const $k.mask$ $variable$ = $(own:text("ne", numbers, k:constant(0)));
//@ end
//@ else
//@ local how = lie(step, x.operand)
//@ if single or how == "none" then
const $k.vector$ $variable$ = $(own:text("splat", element(part, step, x.operand)));
//@ elseif how == "unit" then
const $k.vector$ $variable$ = $(part.k:access(x.operand, lanes and "load_part" or "load", x.operand.name, at(step, x.operand), nil, lanes));
//@ else
//@ by_lane(variable, lanes or L, element(part, step, x.operand, more))
//@ end
//@ end
//@ end
$part.point.call$
//@ end
//@ local function store(step, part, operand, value, lanes)
//@ local how, single = lie(step, operand), lanes == "1" or L == 1
//@ local function number(more) return ("(%s + %s)"):format(operand.name, at(step, operand, more)) end
//@ if single then
$(part.k:access(operand, "store_number", number(), own:text("first_lane", value)));
//@ elseif how == "unit" then
$(part.k:access(operand, lanes and "store_part" or "store", operand.name, at(step, operand), value, lanes));
//@ else
{
  $k.number$ of[$L$];
  $(own:text("store_own", "of", "0", value));
  for (size_t lane = 0; lane < $(lanes or L); lane++)
    $(part.k:access(operand, "store_number", number("lane"), "of[lane]"));
}
//@ end
//@ end
//@ -- box: that loops go through a part's share alone.
//@ local function open(list, skip, box)
//@ for _, place in ipairs(list) do
//@ if place ~= skip then
//@ local of = place - 1
for (size_t i$place$ = $(box and "box.from[" .. of .. "]" or "0"); i$place$ < $(box and "box.to[" .. of .. "]" or "args->dim[" .. of .. "]"); i$place$++) {
//@ end
//@ end
//@ end
//@ local function close(list, skip)
//@ for _, place in ipairs(list) do
//@ if place ~= skip then
}
//@ end
//@ end
//@ end
//@ -- What is gathered, as nothing: r_acc, what the last terms come to; of sums r_total and r_lost besides, of indexes r_at.
//@ local function begin(step, suffix)
//@ for _, r in ipairs(step.of.gathered) do
//@ local name = r.name .. suffix
//@ if r.kind == "pick" then
$k.vector$ $name$_acc = $(k:constant(0 / 0));
//@ else
$k.vector$ $name$_acc = $(k:neutral(r.kind));
//@ end
//@ if r.kind == "sum" then
$k.vector$ $name$_total = $(k:neutral(r.kind)), $name$_lost = $(k:constant(0));
//@ elseif k:is_index(r.kind) then
int64_t $name$_at = -1;
//@ end
//@ end
//@ end
//@ -- A vector of terms, r_term, of which `inside` counts where that is given. The place of an index is among all points of
//@ -- the loops.
//@ local function take(step, suffix, inside)
//@ for _, r in ipairs(step.of.gathered) do
//@ local name, term = r.name .. suffix, r.name .. "_term"
//@ if inside then
const $k.vector$ $name$_inside = $(own:text("select", inside, term, k:neutral(r.kind)));
//@ term = name .. "_inside"
//@ end
//@ if r.kind == "pick" then
$name$_acc = $term$;
//@ elseif r.kind == "sum" then
$name$_acc = $(own:text("add", name .. "_acc", term));
//@ elseif k:is_index(r.kind) then
{
  const $k.number$ term = $(own:text("first_lane", term)), best = $(own:text("first_lane", name .. "_acc"));
  if ($name$_at < 0 || term $(k:better(r.kind) == "gt" and ">" or "<") best || (term != term && best == best)) {
    $name$_acc = $term$;
    $name$_at = (int64_t)($(S.at(step.places)));
  }
}
//@ else
{
  const $k.vector$ term = $term$;
  $name$_acc = $(k:combine_columns(r.kind, name .. "_acc", "term"));
}
//@ end
//@ end
//@ end
//@ local function carry(step, suffix)
//@ for _, r in ipairs(step.of.gathered) do
//@ if r.kind == "sum" then
//@ local name = r.name .. suffix
//@ add_exactly(name .. "_total", name .. "_lost", name .. "_acc")
$name$_acc = $(k:neutral(r.kind));
//@ end
//@ end
//@ end
//@ -- A sum with the errors that it carries, but for infinite ones, where infinity less infinity is NaN.
//@ local function total(name)
//@   local is_finite = own:text("eq", name .. "_lost", name .. "_lost")
//@   return own:text("select", "(" .. is_finite .. ")", own:text("add", name .. "_total", name .. "_lost"), name .. "_total")
//@ end
//@ -- The results, vectors of the names that what was gathered has: of sums that have carried errors with these.
//@ local function results(step, suffix)
//@ for _, r in ipairs(step.of.gathered) do
//@ local name, result = r.name .. suffix, r.name .. "_"
//@ if r.kind == "sum" then
const $k.vector$ $result$ = carries ? $(total(name)) : $name$_acc;
//@ elseif not k:is_index(r.kind) then
const $k.vector$ $result$ = $name$_acc;
//@ end
//@ end
//@ end
//@ local function store_values(step, suffix, lanes)
//@ if #step.values.results > 0 then
//@ call(step, step.values, lanes)
//@ end
//@ for _, value in ipairs(step.of.values) do
//@ if value.name then
$(k:access(value.operand, "store_index", ("(%s + %s)"):format(value.operand.name, at(step, value.operand)), value.name .. suffix .. "_at"));
//@ else
//@ store(step, step.values, value.operand, value.operand.name .. "_", lanes)
//@ end
//@ end
//@ end
//@ -- Stores what follows at a point or at a vector of points.
//@ local function finish(step, suffix, lanes)
//@ results(step, suffix)
//@ store_values(step, suffix, lanes)
//@ end
//@ -- After each term: sums of TERMS of them are added to what they come to in all.
//@ local function count_terms(step, suffixes)
//@ if S.gathers(step, "sum") then
if (++taken == $TERMS$) {
  //@ for _, suffix in ipairs(suffixes) do
  //@ carry(step, suffix)
  //@ end
  carries = true;
  taken = 0;
}
//@ end
//@ end
//@ local function end_terms(step, suffixes)
//@ if S.gathers(step, "sum") then
if (carries) {
  //@ for _, suffix in ipairs(suffixes) do
  //@ carry(step, suffix)
  //@ end
}
//@ end
//@ end
//@ local function begin_terms(step)
//@ if S.gathers(step, "sum") then
size_t taken = 0;
bool carries = false;
//@ end
//@ end
//@ -- What is scanned at a place, name_, and what is kept for the next one. A sum of some places is added to `base`, what all
//@ -- before them come to.
//@ local function scan(r, suffix)
//@ local name, term = r.name .. suffix, r.name .. "_term"
//@ local acc = name .. "_acc"
//@ local function now()
//@ if r.kind == "sum" then
$r.name$_ = $(own:text("add", name .. "_base", acc));
//@ else
$r.name$_ = $acc$;
//@ end
//@ end
//@ if r.exclusive then
//@ now()
//@ end
//@ if r.kind == "recurrence" then
$acc$ = $(own:text("mad", r.name .. "_factor", acc, term));
//@ elseif k:is_extremum(r.kind) then
$acc$ = $(k:combine_columns(r.kind, acc, term));
//@ else
$acc$ = $(k:combine(r.kind, acc, term));
//@ end
//@ if not r.exclusive then
//@ now()
//@ end
//@ end
//@ -- Points that go along an axis, as points() has them: at each place the scans, and what is stored there.
//@ local function scan_points(step, each, suffixes, lanes)
//@ local axis = step.of.scanned
//@ local sums = {}
//@ for _, suffix in ipairs(suffixes) do
//@ for _, r in ipairs(step.of.scans) do
//@ local name = r.name .. suffix
$k.vector$ $name$_acc = $(k:neutral(r.kind));
//@ if r.kind == "sum" then
//@ sums[#sums + 1] = name
$k.vector$ $name$_base = $(k:neutral(r.kind)), $name$_total = $name$_base, $name$_lost = $(k:constant(0));
//@ end
//@ end
//@ end
for (size_t nth = 0; nth < args->dim[$(axis - 1)]; nth++) {
  const size_t i$axis$ = $(S.scanned_index(step));
  //@ for u, suffix in ipairs(suffixes) do
  //@ each(u, function()
  //@ for _, r in ipairs(step.of.scans) do
  $k.vector$ $r.name$_;
  //@ end
  {
    //@ call(step, step.terms, lanes)
    //@ for _, r in ipairs(step.of.scans) do
    //@ scan(r, suffix)
    //@ end
  }
  //@ store_values(step, "", lanes)
  //@ end)
  //@ end
  //@ if #sums > 0 then
  if (nth % $SCANNED$ == $(SCANNED - 1)) {
    //@ for _, name in ipairs(sums) do
    //@ add_exactly(name .. "_total", name .. "_lost", name .. "_acc")
    $name$_acc = $(k:neutral("sum"));
    $name$_base = $(total(name));
    //@ end
  }
  //@ end
}
//@ end
//@ -- Vectors of points, `many` of them: lanes as call() has them.
//@ local function points(step, many, lanes)
//@ local along, suffixes = step.of.along, {}
//@ for u = 1, many do
//@   suffixes[u] = many > 1 and tostring(u) or ""
//@ end
//@ local function each(u, body)
//@ if many > 1 then
{
  const size_t i$along$ = first + $((u - 1) * L);
  //@ body()
}
//@ else
//@ body()
//@ end
//@ end
//@ if step.of.scanned then
//@ return scan_points(step, each, suffixes, lanes)
//@ end
//@ begin_terms(step)
//@ for _, suffix in ipairs(suffixes) do
//@ begin(step, suffix)
//@ end
//@ local pick = step.of.gathered[1] and step.of.gathered[1].index
//@ if pick then
{
  const int64_t index = $(element(step.terms, step, S.operand_of(pick.name)));
  if ((uint64_t)index < args->dim[$(step.of.loops[1] - 1)]) {
    const size_t i$(step.of.loops[1]) = (size_t)index;
    //@ call(step, step.terms, lanes)
    //@ take(step, "")
  }
}
//@ elseif step.of.over ~= 0 then
//@ open(step.of.loops)
//@ for u, suffix in ipairs(suffixes) do
//@ each(u, function()
//@ call(step, step.terms, lanes)
//@ take(step, suffix)
//@ end)
//@ end
//@ count_terms(step, suffixes)
//@ close(step.of.loops)
//@ end
//@ end_terms(step, suffixes)
//@ for u, suffix in ipairs(suffixes) do
//@ each(u, function() finish(step, suffix, lanes) end)
//@ end
//@ end
//@ -- Lanes gather together along the innermost of the loops.
//@ local function together(step, unroll)
//@ local along, suffixes = step.of.along, {}
//@ for u = 1, unroll do
//@   suffixes[u] = tostring(u)
//@ end
//@ begin_terms(step)
//@ for _, suffix in ipairs(suffixes) do
//@ begin(step, suffix)
//@ end
//@ open(step.of.loops, along)
size_t i$along$ = 0;
//@ for _, width in ipairs(unroll > 1 and { unroll, 1 } or { 1 }) do
for (; args->dim[$(along - 1)] - i$along$ >= $(width * L); i$along$ += $(width * L)) {
  //@ for u = 1, width do
  //@ if width > 1 then
  {
    const size_t first = i$along$, i$along$ = first + $((u - 1) * L);
    //@ end
    //@ call(step, step.terms)
    //@ take(step, suffixes[u])
    //@ if width > 1 then
  }
  //@ end
  //@ end
  //@ count_terms(step, suffixes)
}
//@ end
//@ if L > 1 then
if (i$along$ < args->dim[$(along - 1)]) {
  const size_t lanes = args->dim[$(along - 1)] - i$along$;
  const $k.mask$ inside = $(own:text("mask_part", "lanes"));
  //@ call(step, step.terms, "lanes")
  //@ take(step, suffixes[1], "inside")
  //@ count_terms(step, suffixes)
}
//@ end
//@ close(step.of.loops, along)
//@ -- All as one: what is gathered becomes one lane's.
$k.number$ of[$L$];
(void)of;
//@ for _, r in ipairs(step.of.gathered) do
//@ local name = r.name
//@ if r.kind == "sum" then
$k.vector$ $name$_total = $(k:constant(0)), $name$_lost = $(k:constant(0)), $name$_acc = $(k:neutral(r.kind));
{
  //@ for u, suffix in ipairs(suffixes) do
  //@ add_exactly(name .. suffix .. "_total", name .. suffix .. "_lost", name .. suffix .. "_acc")
  $k.number$ total$u$[$L$], lost$u$[$L$];
  $(own:text("store_own", "total" .. u, "0", name .. suffix .. "_total"));
  $(own:text("store_own", "lost" .. u, "0", name .. suffix .. "_lost"));
  //@ end
  $k.number$ sum = $(k:neutral_number(r.kind)), error = 0;
  for (size_t lane = 0; lane < $L$; lane++) {
    //@ for u = 1, unroll do
    {
      const $k.number$ term = total$u$[lane], old = sum;
      sum = old + term;
      const $k.number$ taken_up = sum - old;
      error += (old - (sum - taken_up)) + (term - taken_up) + lost$u$[lane];
    }
    //@ end
  }
  $name$_acc = $(own:text("splat", "error == error && error != 0 ? sum + error : sum"));
}
//@ else
$k.vector$ $name$_acc = $(k:neutral(r.kind));
//@ for _, suffix in ipairs(suffixes) do
$(own:text("store_own", "of", "0", name .. suffix .. "_acc"));
for (size_t lane = 0; lane < $L$; lane++) {
  const $k.vector$ term = $(own:text("splat", "of[lane]"));
  $name$_acc = $(k:combine_columns(r.kind, name .. "_acc", "term"));
}
//@ end
//@ end
//@ end
//@ if S.gathers(step, "sum") then
carries = false;
//@ end
{
  //@ finish(step, "", "1")
}
//@ end
//@ for _, step in ipairs(k.steps) do
//@ for _, part in ipairs { step.terms, step.values } do
//@ if #part.results > 0 then
$part.point.comment$
static inline $part.point.type$ $part.point.name$($part.point.parameters$) {
  $part.point.body$
}

//@ end
//@ end
//@ end
//@ -- Whether a step goes point by point; else whether its vectors are of points.
//@ local function is_scalar(step)
//@   return S.gathers(step, "index") or S.gathers(step, "pick") or step.of.along and step.of.scanned == step.of.along
//@ end
//@ local function is_by_points(step) return not step.of.along or step.of.axes >> step.of.along - 1 & 1 ~= 0 end
//@ -- The arguments of lathe_longest and lathe_box_of: how parts share a step's points.
//@ local function shared_points(v, step)
//@   local axes, along = 0, step.of.along
//@   for _, place in ipairs(step.of.keep) do
//@     axes = axes | 1 << place - 1
//@   end
//@   return ("%d, %d, %d"):format(axes, along and is_by_points(step) and not is_scalar(step) and along - 1 or -1, v.params.unroll * L)
//@ end
//@ for _, v in ipairs(variants) do
//@ for _, step in ipairs(k.steps) do
//@ local along, unroll = step.of.along, v.params.unroll
//@ local scalar, by_points = is_scalar(step), is_by_points(step)
static void $v.name$_$step.of.name$(const lathe_args *args, char *temporaries) {
  (void)temporaries;
  //@ S.pointers(step, "temporaries")
  //@ S.prelude(step)
  //@ if #step.of.keep > 0 then
  const lathe_box box = lathe_box_of(args, $(shared_points(v, step)));
  //@ end
  //@ if scalar or not by_points and L == 1 and unroll == 1 then
  //@ open(step.of.keep, nil, true)
  //@ points(step, 1, "1")
  //@ close(step.of.keep)
  //@ elseif by_points then
  //@ open(step.of.keep, along, true)
  //@ if along then
  size_t first = box.from[$(along - 1)];
  //@ for _, width in ipairs(unroll > 1 and { unroll, 1 } or { 1 }) do
  for (; box.to[$(along - 1)] - first >= $(width * L); first += $(width * L)) {
    //@ if width == 1 then
    const size_t i$along$ = first;
    //@ end
    //@ points(step, width)
  }
  //@ end
  //@ if L > 1 then
  if (first < box.to[$(along - 1)]) {
    const size_t i$along$ = first, lanes = box.to[$(along - 1)] - first;
    //@ points(step, 1, "lanes")
  }
  //@ end
  //@ else
  //@ points(step, 1, "1")
  //@ end
  //@ close(step.of.keep, along)
  //@ else
  //@ open(step.of.keep, nil, true)
  //@ together(step, unroll)
  //@ close(step.of.keep)
  //@ end
}

//@ end
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  const lathe_args sizes = {.dim = {$(S.dims())}}, *args = &sizes;
  (void)args;
  return (double)($(S.bytes_of_temporaries()));
}

//@ if is_tried then
static size_t $v.name$_parts(const size_t *dim, int phase) {
  size_t most = 1;
  //@ for i, step in ipairs(k.steps) do
  //@ if #step.of.keep > 0 then
  if (phase == $(i - 1))
    lathe_longest(dim, $(shared_points(v, step)), &most);
  //@ end
  //@ end
  (void)dim, (void)phase;
  return most;
}

//@ end
//@ S.define_sharing(v, #k.steps, S.bytes_of_temporaries())
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  //@ for i, step in ipairs(k.steps) do
  if (args->parts == 0 || args->phase == $(i - 1))
    $v.name$_$step.of.name$(args, (char *)args->workspace);
  //@ end
}

//@ end
