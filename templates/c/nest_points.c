//@ -- What the points of a nest read, compute and store: elements, and vectors of these where they lie side by side.
//@ local S = use "nest_step.c"
//@ local L, own, lie = k.lanes, k.own, S.lie
//@ function at(step, operand, more) return S.at(operand.dim_index, step.of.along, more) end
//@ function element(part, step, operand, more, instead)
//@   local at = S.at(operand.dim_index, step.of.along, more, instead)
//@   return part.k:access(operand, operand.dtype and "load_index" or "load_number",
//@     ("(%s + %s)"):format(operand.name, at))
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
//@     return ("(%s)lathe_random(%s[0], %s[0], %s, %s)"):format(k.number, x.seed, x.offset,
//@       S.at(x.places, step.of.along, more), narrow)
//@   end
//@   return S.elsewhere(x, S.words(function(place) return "(int64_t)(" .. index(place) .. ")" end, whole, "(size_t)"),
//@     function(operand, instead)
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
//@ local function varies(step, node) return step.of.along and node.axes >> step.of.along - 1 & 1 ~= 0 end
//@ -- Of the floor of a quotient by a whole number what is divided, and by what; of another place itself, and 1.
//@ local function divided(place)
//@   if place.op ~= "floor" then
//@     return place, 1
//@   end
//@   local whole, by = k.quotient(place[1])
//@   return whole, math.tointeger(by)
//@ end
//@ -- An input elsewhere at a vector of points whose places go by equal steps, or are floors of what does: `places`,
//@ -- { first, slope, extent } of each. Of a read besides the operand, whether its elements lie side by side (is_unit),
//@ -- and where they begin (from), and the text of one (at_lane). Nil where there are no such steps.
//@ local function vector_of(step, part, x, lanes)
//@   local node, made, first, at_lane, slopes = x.of, { places = {} }, {}, {}, {}
//@   if not node or node.op == "same" or node.op == "below" then
//@     return nil
//@   end
//@   local function words(more)
//@     local function index(place) return "i" .. place .. (more and place == step.of.along and " + lane" or "") end
//@     return S.words(function(place) return "(int64_t)(" .. index(place) .. ")" end,
//@       function(name) return element(part, step, S.operand_of(name)) end)
//@   end
//@   for i, axis in ipairs(S.places_of(node.k)) do
//@     local place = node.op == "inside" and node[1] or node[i + 1]
//@     local whole, by = divided(place)
//@     local slope = k.slope(whole, 1 << step.of.along - 1)
//@     if not slope then
//@       return nil
//@     end
//@     slopes[axis] = by > 1 and slope ~= 0 and "floor" or slope
//@     first[axis], at_lane[axis] = "(size_t)" .. k.place(place, words()), "(size_t)" .. k.place(place, words(true))
//@     made.places[i] = {
//@       first = k.place(whole, words()), slope = slope, extent = ("args->dim[%d] * %d"):format(axis - 1, by),
//@     }
//@   end
//@   if node.op == "inside" then
//@     return made
//@   end
//@   local operand = S.operand_of(node[1].name)
//@   made.operand, made.is_unit = operand, true
//@   for i, place in ipairs(operand.dim_index) do
//@     local slope = slopes[place] or place == step.of.along and 1 or 0
//@     made.is_unit = made.is_unit and slope == (i == #operand.dim_index and 1 or 0)
//@   end
//@   made.from = S.at(operand.dim_index, step.of.along, nil, first)
//@   made.at_lane = element(part, step, operand, "lane", at_lane)
//@   return made
//@ end
//@ -- Defines a variable as such a vector: the lanes from _lo to before _hi are there.
//@ local function bring_vector(part, variable, found, lanes)
//@ local all = lanes or L
int64_t $variable$_lo = 0, $variable$_hi = (int64_t)$all$;
//@ for _, place in ipairs(found.places) do
lathe_narrow_lanes($place.first$, $place.slope$, (int64_t)($place.extent$), &$variable$_lo, &$variable$_hi);
//@ end
//@ local within = own:text("all_of", own:text("mask_part", "(size_t)" .. variable .. "_hi"),
//@   own:text("negate", own:text("mask_part", "(size_t)" .. variable .. "_lo")))
//@ if not found.operand then
const $k.mask$ $variable$ = $within$;
//@ return
//@ end
//@ local nothing = k:constant(0 / 0)
//@ local function load(from, lanes)
//@   local operand = found.operand
//@   return part.k:access(operand, lanes and "load_part" or "load", operand.name, from, nil, lanes)
//@ end
$k.vector$ $variable$ = $nothing$;
//@ if found.is_unit then
if ($variable$_hi - $variable$_lo == (int64_t)$all$) {
  $variable$ = $(load(found.from, lanes));
} else if ($variable$_lo < $variable$_hi) {
  const size_t some = (size_t)($variable$_hi - $variable$_lo);
  const $k.vector$ first = $(load("(" .. found.from .. " + (size_t)" .. variable .. "_lo)", "some"));
  $k.number$ of[$(2 * L)];
  $(own:text("store_own", "of", "0", nothing));
  $(own:text("store_own", "of + " .. variable .. "_lo", "0", "first"));
  $variable$ = $(own:text("select", "(" .. within .. ")", own:text("load_own", "of", "0"), nothing));
}
//@ else
if ($variable$_lo < $variable$_hi) {
  $k.number$ of[$L$];
  $(own:text("store_own", "of", "0", nothing));
  for (size_t lane = (size_t)$variable$_lo; lane < (size_t)$variable$_hi; lane++)
    of[lane] = $found.at_lane$;
  $variable$ = $(own:text("load_own", "of", "0"));
}
//@ end
//@ end
//@ -- What a part's point function reads, and its call. lanes: nil for a whole vector, "1" for one point in all lanes,
//@ -- or how many of a vector there are. turned: by operand, the array whose row `nth` has the elements at such a
//@ -- vector.
//@ function call(step, part, lanes, turned)
//@ local single = lanes == "1" or L == 1
//@ local more = not single and "lane" or nil
//@ for _, x in ipairs(part.point.inputs) do
//@ local variable = x.variable
//@ if x.kind == "column" then
//@ elseif x.kind ~= "element" then
//@ local is_mask = x.node.type == "m"
//@ local numbers, number = variable .. (is_mask and "numbers" or ""), text_of(step, part, x, more)
//@   .. (is_mask and " ? 1 : 0" or "")
//@ local found = more and varies(step, x.node) and vector_of(step, part, x, lanes)
//@ if found then
//@ bring_vector(part, variable, found, lanes)
//@ elseif more and varies(step, x.node) then
//@ by_lane(numbers, lanes or L, number)
//@ else
const $k.vector$ $numbers$ = $(own:text("splat", "(" .. k.number .. ")(" .. text_of(step, part, x) .. (is_mask and " ? 1 : 0" or "") .. ")"));
//@ end
//@ if is_mask and not found then
const $k.mask$ $variable$ = $(own:text("ne", numbers, k:constant(0)));
//@ end
//@ else
//@ local how = lie(step, x.operand)
//@ if turned and turned[x.operand] then
const $k.vector$ $variable$ = $(own:text("load_own", turned[x.operand], "nth * " .. L));
//@ elseif single or how == "none" then
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
//@ function store(step, part, operand, value, lanes, turned)
//@ local how, single = lie(step, operand), lanes == "1" or L == 1
//@ local function number(more) return ("(%s + %s)"):format(operand.name, at(step, operand, more)) end
//@ if turned and turned[operand] then
$(own:text("store_own", turned[operand], "nth * " .. L, value));
//@ elseif single then
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
//@ function open(list, skip, box)
//@ for _, place in ipairs(list) do
//@ if place ~= skip then
//@ local of = place - 1
for (size_t i$place$ = $(box and "box.from[" .. of .. "]" or "0"); i$place$ < $(box and "box.to[" .. of .. "]" or "args->dim[" .. of .. "]"); i$place$++) {
//@ end
//@ end
//@ end
//@ function close(list, skip)
//@ for _, place in ipairs(list) do
//@ if place ~= skip then
}
//@ end
//@ end
//@ end
//@ -- The loops over a step's terms, those of spans from place to place; last: the last of the points along `along`.
//@ function open_loops(step, skip, first, last)
//@ local function at(where)
//@   return S.words(function(place)
//@     return "(int64_t)(" .. (place == step.of.along and where or "i" .. place) .. ")"
//@   end)
//@ end
//@ for _, place in ipairs(step.of.loops) do
//@ local span = step.of.spans[place]
//@ if span then
//@ local low, high = k.place(span.low, at(first)), k.place(span.high, at(last))
for (size_t i$place$ = lathe_within($low$, args->dim[$(place - 1)]),
            end$place$ = lathe_within($high$ + 1, args->dim[$(place - 1)]); i$place$ < end$place$; i$place$++) {
//@ elseif place ~= skip then
//@ open { place }
//@ end
//@ end
//@ end
//@ -- Whether a step goes point by point; else whether its vectors are of points.
//@ function is_by_points(step) return not step.of.along or step.of.axes >> step.of.along - 1 & 1 ~= 0 end
//@ function is_scalar(step)
//@   return S.gathers(step, "index") and not (step.of.along and is_by_points(step)) or S.gathers(step, "pick")
//@     or step.of.along and step.of.scanned == step.of.along
//@ end
//@ -- Whether it finds the indexes of a vector of points at once.
//@ function finds_many(step) return L > 1 and S.gathers(step, "index") and not is_scalar(step) end
//@ function store_values(step, suffix, lanes, turned)
//@ if #step.values.results > 0 then
//@ call(step, step.values, lanes, turned)
//@ end
//@ for _, value in ipairs(step.of.values) do
//@ if value.name and finds_many(step) then
//@ local to = S.at(value.operand.dim_index, step.of.along, "lane")
for (size_t lane = 0; lane < $(lanes or L); lane++)
  $(k:access(value.operand, "store_index", ("(%s + %s)"):format(value.operand.name, to), value.name .. suffix .. "_at[lane]"));
//@ elseif value.name then
$(k:access(value.operand, "store_index", ("(%s + %s)"):format(value.operand.name, at(step, value.operand)), value.name .. suffix .. "_at"));
//@ else
//@ store(step, step.values, value.operand, value.operand.name .. "_", lanes, turned)
//@ end
//@ end
//@ end
