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
//@ -- How a place goes along a step's `along`: 0, where it stays, 1, where it goes along, or nil of others.
//@ local slope_of
//@ function slope_of(step, place)
//@   local a, b = place[1] and slope_of(step, place[1]), place[2] and slope_of(step, place[2])
//@   if not varies(step, place) then
//@     return 0
//@   elseif place.op == "position" then
//@     return 1
//@   end
//@   return a and b and (place.op == "add" and a + b or place.op == "sub" and a - b) or nil
//@ end
//@ -- An input elsewhere as a vector: when it has all that it reads side by side, and its text; when nothing of it is
//@ -- there, and what it is then; or nil where it never has.
//@ local function vector_of(step, part, x, lanes)
//@   local node, instead, holds, none = x.of, {}, {}, {}
//@   if not node or node.op == "same" then
//@     return nil
//@   end
//@   local words = S.words(function(place) return "(int64_t)i" .. place end,
//@     function(name) return element(part, step, S.operand_of(name)) end)
//@   local function inside(place, axis, slope)
//@     local text, extent = k.place(place, words), "args->dim[" .. axis - 1 .. "]"
//@     local last = slope == 1 and ("(%s + %s)"):format(text, lanes and "(int64_t)lanes - 1" or L - 1) or text
//@     holds[#holds + 1] = ("(size_t)%s < %s"):format(text, extent)
//@     holds[#holds + 1] = slope == 1 and ("(size_t)%s < %s"):format(last, extent) or nil
//@     none[#none + 1] = ("%s < 0 || %s >= (int64_t)%s"):format(last, text, extent)
//@     return "(size_t)" .. text
//@   end
//@   if node.op == "inside" then
//@     local goes_along = slope_of(step, node[1]) == 1
//@     if goes_along then
//@       inside(node[1], S.places_of(node.k)[1], 1)
//@     end
//@     return goes_along and {
//@       holds = table.concat(holds, " && "), vector = k:constant(1), none = none[1], otherwise = k:constant(0),
//@     }
//@   end
//@   local operand = S.operand_of(node[1].name)
//@   local last, slopes = operand.dim_index[#operand.dim_index], {}
//@   for _, place in ipairs(operand.dim_index) do
//@     slopes[place] = place == step.of.along and 1 or 0
//@   end
//@   for i, axis in ipairs(S.places_of(node.k)) do
//@     slopes[axis] = slope_of(step, node[i + 1])
//@     if not slopes[axis] then
//@       return nil
//@     end
//@     instead[axis] = inside(node[i + 1], axis, slopes[axis])
//@   end
//@   for _, place in ipairs(operand.dim_index) do
//@     if slopes[place] ~= (place == last and 1 or 0) then
//@       return nil
//@     end
//@   end
//@   local at = S.at(operand.dim_index, step.of.along, nil, instead)
//@   return {
//@     holds = table.concat(holds, " && "), none = table.concat(none, " || "), otherwise = k:constant(0 / 0),
//@     vector = part.k:access(operand, lanes and "load_part" or "load", operand.name, at, nil, lanes),
//@   }
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
//@ local whole = more and varies(step, x.node) and vector_of(step, part, x, lanes)
//@ if whole then
$k.vector$ $numbers$;
if ($whole.holds$) {
  $numbers$ = $whole.vector$;
} else if ($whole.none$) {
  $numbers$ = $whole.otherwise$;
} else {
  //@ by_lane(numbers .. "one", lanes or L, number)
  $numbers$ = $numbers$one;
}
//@ elseif more and varies(step, x.node) then
//@ by_lane(numbers, lanes or L, number)
//@ else
const $k.vector$ $numbers$ = $(own:text("splat", "(" .. k.number .. ")(" .. text_of(step, part, x) .. (is_mask and " ? 1 : 0" or "") .. ")"));
//@ end
//@ if is_mask then
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
