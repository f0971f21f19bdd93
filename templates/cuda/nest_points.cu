//@ -- What a thread of a nest does at its points and terms: where elements are, how they are read, gathered and stored.

//@ local P = use "parts.cu"
//@ local S = use "../c/nest_step.c"
//@ -- Text in the step's own extents, which are of its own type.
//@ function own(text) return (text:gsub("args%->dim", "dim")) end
//@ function at(step, operand, instead) return own(S.at(operand.dim_index, nil, nil, instead)) end
//@ -- The same at the beginning of a thread's vector.
//@ function at_first(step, operand) return at(step, operand, step.of.along and { [step.of.along] = "first" }) end
//@ has = S.has
//@ -- How an operand's elements lie along a step's vectors, and how far apart.
//@ function lie(step, operand)
//@   local how, within = S.lie(step, operand)
//@   return how, within and own(within)
//@ end
//@ -- The words of places.
//@ local function whole(name) return ("%s[%s]"):format(name, own(S.at(S.operand_of(name).dim_index))) end
//@ words = S.words(function(place) return "(int64_t)i" .. place end, whole, "(size_t)")
//@ -- The first and the last place of a loop that has a span, which its thread's points along the vectors share.
//@ function span(step, place)
//@   local function ends(node, last)
//@     return own(k.place(node, S.words(function(axis)
//@       local of_vector = last and axis == step.of.along and has(step.of.axes, axis)
//@       return ("(int64_t)(i%d%s)"):format(axis, of_vector and " + (I)(MINE - 1)" or "")
//@     end)))
//@   end
//@   return ends(step.of.spans[place].low), ends(step.of.spans[place].high, true)
//@ end
//@ -- The text of each input of a point function at the place `e` of a vector. turned: operands that are in a tile.
//@ function input(step, turned)
//@   return function(x)
//@     if x.kind == "column" and step.of.scanned then
//@       return x.name .. "_now"
//@     elseif x.kind == "column" then
//@       return "gathered." .. x.name .. ".result()"
//@     elseif x.kind == "hit" then
//@       return ("%s == (long long)i%d"):format(whole(x.index), x.place)
//@     elseif x.kind == "position" then
//@       return ("(%s)i%d"):format(k.number, x.place)
//@     elseif x.kind == "whole" then
//@       return ("(%s)%s"):format(k.number, whole(x.index))
//@     elseif x.of then
//@       return own(S.elsewhere(x, words, function(operand, instead)
//@         return ("(%s)%s[%s]"):format(k.number, operand.name, at(step, operand, instead))
//@       end))
//@     elseif x.kind == "random" then
//@       return ("lathe_random_at<%s, %s>(%s[0], %s[0], %s)"):format(tostring(k.dtype ~= k.compute), k.number, x.seed,
//@         x.offset, own(S.at(x.places)))
//@     elseif turned and turned[x.operand] then
//@       return ("(%s)tile.%s[row + e][column]"):format(k.number, x.operand.name)
//@     end
//@     local how = lie(step, x.operand)
//@     return ("(%s)%s_read%s"):format(k.number, x.operand.name, how == "none" and "" or ".at[e]")
//@   end
//@ end
//@ function type_of(operand) return k:element_type(operand) end
//@ -- How many there are of a place, of which a thread may have vectors, and of some together.
//@ function extent(step, place)
//@   return place == step.of.along and ("(I)lathe_times(dim[%d], V)"):format(place - 1)
//@     or ("dim[%d]"):format(place - 1)
//@ end
//@ function count(step, places)
//@   local list = {}
//@   for i, place in ipairs(places) do
//@     list[i] = extent(step, place)
//@   end
//@   return #list > 0 and table.concat(list, " * ") or "1"
//@ end
//@ local abouts = {}
//@ for nth, step in ipairs(k.steps) do
//@   abouts[step] = schedule.steps[nth]
//@ end
//@ -- What the step's blocks may hold of an operand for the steps of its group, and which of a point's vectors is read.
//@ local function held_at(step)
//@   local text
//@   for _, place in ipairs(S.places_of(abouts[step].outside)) do
//@     local index = place == step.of.along and "first / (I)V" or "i" .. place
//@     text = text and ("(%s) * %s + %s"):format(text, extent(step, place), index) or index
//@   end
//@   return text
//@ end
//@ -- Whether an operand's elements stay the same while a thread takes terms, or goes over points besides shared ones.
//@ function stays(step, operand)
//@   local set, shared = 0, abouts[step].shared
//@   for _, place in ipairs(operand.dim_index) do
//@     set = set | 1 << place - 1
//@   end
//@   return set & ~shared == 0 and step.of.stored | step.of.over ~= shared and operand.dtype ~= "i64"
//@ end
//@ function of_vector(step, operand)
//@   return (lie(step, operand) == "none" and "%s" or "lathe_pack<%s, V>"):format(type_of(operand))
//@ end
//@ -- Reads into `name` what a thread's vector at `first` has of an operand; there: how many of it there are.
//@ function read_vector(step, operand, name)
//@ local how, apart = lie(step, operand)
//@ local from = operand.name .. " + " .. at_first(step, operand)
//@ if how == "none" then
$name$ = $operand.name$[$(at(step, operand))];
//@ elseif how == "unit" then
lathe_load_some<WHOLE>($name$, $from$, there, WHOLE);
//@ else
lathe_load_apart<WHOLE>($name$, $from$, $apart$, there);
//@ end
//@ end
//@ -- Reads what a part's vector at `first` has of operands.
//@ function bring(step, part, turned)
//@ for _, x in ipairs(part.point.inputs) do
//@ if x.kind == "element" and not (turned and turned[x.operand]) then
//@ local name, type = x.operand.name .. "_read", of_vector(step, x.operand)
//@ if stays(step, x.operand) and not turned then
const $type$ &$name$ = $x.operand.name$_kept;
//@ else
$type$ $name$;
//@ local held = abouts[step].holds[x.operand.name]
//@ local room = held and ("held<%s>(%d, %s)"):format(type_of(x.operand), held.before, held_at(step))
//@ if held and not held.first then
if constexpr (HELD > 0)
  $name$ = $room$;
else
//@ end
  //@ read_vector(step, x.operand, name)
//@ if held and held.first then
if constexpr (HELD > 0)
  $room$ = $name$;
//@ end
//@ end
//@ end
//@ end
//@ end
//@ -- Opens a loop over the vector that begins at `begin`, an element at a time.
//@ function each(step, begin, body)
//@ local along = step.of.along
//@ if along then
const I first = $begin$;
const int there = WHOLE || dim[$(along - 1)] - first >= (I)V ? V : (int)(dim[$(along - 1)] - first);
(void)there;
//@ body.before()
#pragma unroll
for (int e = 0; e < V; e++) {
  if (!WHOLE && e >= there)
    continue;
  const I i$along$ = first + (I)e;
  (void)i$along$;
  //@ body.each()
}
//@ else
constexpr int e = 0, there = 1;
(void)e, (void)there;
//@ body.before()
{
  //@ body.each()
}
//@ end
//@ end
//@ function take(r, gathered)
//@ if r.kind == "sum" or r.kind == "pick" then
$gathered$.$r.name$.take($r.name$_term);
//@ else
{
  const $k.number$ one[1] = {$r.name$_term};
  $gathered$.$r.name$.take(one, [&](int) { return (long long)($(own(S.at(r.places)))); });
}
//@ end
//@ end
//@ -- Stores what follows at a vector of points, or at a point whose terms are vectors.
//@ function store(step, turned)
//@ local by_points = has(step.of.axes, step.of.along)
//@ local function values(is_each)
//@ return {
//@   before = function()
//@   if #step.values.results > 0 then
//@   bring(step, step.values, turned)
//@   end
//@   for _, value in ipairs(step.of.values) do
//@   if is_each and not (turned and turned[value.operand]) then
lathe_pack<$(type_of(value.operand)), V> $value.operand.name$_made;
//@   end
//@   end
//@   end,
//@   each = function()
//@   if #step.of.gathered > 0 then
const gathered &gathered = mine[$(is_each and "e" or "0")];
//@   end
//@   if #step.values.results > 0 then
//@   P.call(step.values.point, input(step, turned))
//@   end
//@   for _, value in ipairs(step.of.values) do
//@   local result = value.name and "gathered." .. value.name .. ".result()" or value.operand.name .. "_"
//@   if turned and turned[value.operand] then
tile.$value.operand.name$[row + e][column] = $result$;
//@   elseif is_each then
$value.operand.name$_made.at[e] = $result$;
//@   else
$value.operand.name$[$(at(step, value.operand))] = $result$;
//@   end
//@   end
//@   end,
//@ }
//@ end
//@ if by_points then
//@ each(step, "i" .. step.of.along, values(true))
//@ for _, value in ipairs(step.of.values) do
//@ if not (turned and turned[value.operand]) then
//@ local how, apart = lie(step, value.operand)
lathe_store_some($value.operand.name$ + $(at_first(step, value.operand)), $value.operand.name$_made, $(how == "unit" and "1" or apart), there, $(how == "unit" and not value.name and "WHOLE" or "false"));
//@ end
//@ end
//@ else
constexpr int e = 0;
(void)e;
//@ local plain = values(false)
//@ plain.before()
{
  //@ plain.each()
}
//@ end
//@ end
//@ -- Reads what a part has of operands at a point.
//@ function read_plainly(step, part)
//@ for _, x in ipairs(part.point.inputs) do
//@ if x.kind == "element" then
//@ if lie(step, x.operand) ~= "none" then
const lathe_pack<$(type_of(x.operand)), 1> $x.operand.name$_read = {{$x.operand.name$[$(at(step, x.operand))]}};
//@ else
const $(type_of(x.operand)) $x.operand.name$_read = $x.operand.name$[$(at(step, x.operand))];
//@ end
//@ end
//@ end
//@ end
//@ function begin(step)
//@ S.pointers(step, "(char *)args->workspace + " .. schedule.counts)
//@ S.prelude(step)
//@ end
