//@ -- What the nest templates share: where an element is, and what point functions are given that stays the same.

//@ local S = use "contract_step.c"
//@ size, dims, bytes_of_temporaries, define_sharing = S.size, S.dims, S.bytes_of_temporaries, S.define_sharing
//@ function size_list(places)
//@   local list = {}
//@   for i, place in ipairs(places) do
//@     list[i] = size { place }
//@   end
//@   return table.concat(list, ", ")
//@ end
//@ -- Where an element is at the indexes i<place> of some places, outermost first; more: added to that of one of them;
//@ -- instead: by place, the text of other indexes.
//@ function at(places, along, more, instead)
//@   local text
//@   for _, place in ipairs(places) do
//@     local index = instead and instead[place] or "i" .. place .. (more and place == along and " + " .. more or "")
//@     text = text and ("(%s) * args->dim[%d] + %s"):format(text, place - 1, index) or index
//@   end
//@   return text or "0"
//@ end
//@ function operand_of(name)
//@   for _, operand in ipairs(k.record.operands) do
//@     if operand.name == name then
//@       return operand
//@     end
//@   end
//@ end
//@ function has(set, place) return place ~= nil and set >> place - 1 & 1 ~= 0 end
//@ -- How an operand's elements lie along a step's vectors, "none", "unit" or "apart", and how far apart.
//@ function lie(step, operand)
//@   for i, place in ipairs(operand.dim_index) do
//@     if place == step.of.along then
//@       local within = size { table.unpack(operand.dim_index, i + 1) }
//@       return within == "1" and "unit" or "apart", within
//@     end
//@   end
//@   return "none"
//@ end
//@ -- The places of a set's axes.
//@ function places_of(set)
//@   local list = {}
//@   for place = 1, #op.dims do
//@     list[#list + 1] = set >> place - 1 & 1 ~= 0 and place or nil
//@   end
//@   return list
//@ end
//@ -- The words of places in C, where a point is at `index` of an axis' place and whole(name) is an operand's index.
//@ function words(index, whole, unsigned)
//@   return {
//@     unsigned = unsigned, number = function(value) return ("(int64_t)%d"):format(value) end,
//@     position = function(axis) return index(places_of(axis)[1]) end,
//@     points = function(set) return "(int64_t)(" .. size(places_of(set)) .. ")" end,
//@     whole = function(leaf) return whole(leaf.name) end, min = "lathe_lesser", max = "lathe_greater",
//@   }
//@ end
//@ -- The text of an input that reads.lua sets apart. words: those of places (gen/pour/points.lua), and `unsigned`, the
//@ -- type of addresses; load(operand, instead): an element at other indexes, as at() has them.
//@ function elsewhere(x, words, load)
//@   local node, instead, inside = x.of, {}, {}
//@   local function of(place) return k.place(place, words) end
//@   local function is_inside(place, axis)
//@     return ("%s(%s) < args->dim[%d]"):format(words.unsigned, of(place), axis - 1)
//@   end
//@   if node.op == "same" then
//@     return of(node[1]) .. " == " .. of(node[2])
//@   elseif node.op == "inside" then
//@     return is_inside(node[1], places_of(node.k)[1])
//@   end
//@   for i, axis in ipairs(places_of(node.k)) do
//@     inside[i], instead[axis] = is_inside(node[i + 1], axis), words.unsigned .. "(" .. of(node[i + 1]) .. ")"
//@   end
//@   return ("%s ? %s : %s"):format(table.concat(inside, " && "), load(operand_of(node[1].name), instead),
//@     k:literal(0 / 0))
//@ end
//@ -- What a step gathers of a kind: "index" stands for both kinds of these.
//@ function gathers(step, kind)
//@   for _, r in ipairs(step.of.gathered) do
//@     if r.kind == kind or kind == "index" and r.kind ~= "pick" and k:is_index(r.kind) then
//@       return r
//@     end
//@   end
//@ end
//@ -- The index of a scanned axis at the `nth` place on the way.
//@ function scanned_index(step)
//@   return step.of.reverse and "args->dim[" .. step.of.scanned - 1 .. "] - 1 - nth" or "nth"
//@ end
//@ -- A scan's next number, of what it was, on a GPU; nil of kinds that have gatherers.
//@ function next_scanned(r, was)
//@   if r.kind == "recurrence" then
//@     return k:text("mad", r.name .. "_factor", was, r.name .. "_term")
//@   elseif r.kind == "product" then
//@     return k:combine(r.kind, was, r.name .. "_term")
//@   end
//@ end
//@ -- What a step gathers or scans as a GPU does, in the form that its templates have a phase: sums carry their errors.
//@ function phase_of(step)
//@   local list = {}
//@   for _, r in ipairs(step.of.scanned and step.of.scans or step.of.gathered) do
//@     list[#list + 1] = not next_scanned(r, "") and { name = r.name, kind = r.kind == "sum" and "carried" or r.kind }
//@       or nil
//@   end
//@   return { reductions = list }
//@ end
//@ function type_of_temporary(operand)
//@   return operand.integers and "uint32_t" or k:element_type(operand)
//@ end
//@ -- The places of a list's loops from the number that each has in it; declare(place, text).
//@ function decode_listed(list, number, declare)
//@   for i = #list.loops, 1, -1 do
//@     local extent = "args->dim[" .. list.loops[i] - 1 .. "]"
//@     declare(list.loops[i], i > 1 and number .. " % " .. extent or number)
//@     number = i > 1 and ("(%s / %s)"):format(number, extent) or number
//@   end
//@ end
//@ -- By the places of a list's loops the index of what is first there; zero: its text.
//@ function first_of(list, zero)
//@   local instead = {}
//@   for _, place in ipairs(list.loops) do
//@     instead[place] = zero
//@   end
//@   return instead
//@ end
//@ -- The places of a list's points but its target.
//@ function around(list)
//@   local places = {}
//@   for _, place in ipairs(list.keep) do
//@     places[#places + 1] = place ~= list.target and place or nil
//@   end
//@   return places
//@ end
//@ -- Of a step's loops those that its list does not go through.
//@ function loops_besides(step)
//@   local list = {}
//@   for _, place in ipairs(step.of.loops) do
//@     list[#list + 1] = not (step.of.listed and has(step.of.listed.over, place)) and place or nil
//@   end
//@   return list
//@ end
//@ -- Pointers to a step's operands; temporaries: C for where those are.
//@ function pointers(step, temporaries)
//@ for _, operand in ipairs(step.of.operands) do
//@ if operand.temporary then
//@ local type = type_of_temporary(operand)
$type$ *$operand.name$ = ($type$ *)($temporaries$ + $(bytes_of_temporaries(operand)));
//@ end
//@ for i, given in ipairs(op.operands) do
//@ if given == operand then
//@ local type = (operand.output and "" or "const ") .. k:element_type(operand) .. " *"
$type$$operand.name$ = ($type$)args->buf[$(i - 1)];
//@ end
//@ end
//@ end
//@ end
//@ -- What the point functions of a step are given that stays the same: scalars, with the place of each, and numbers of
//@ -- points, with those of axes.
//@ function given(step)
//@   local list, known = {}, {}
//@   for _, part in ipairs { step.terms, step.values } do
//@     for _, of in ipairs { part.scalars, part.points } do
//@       for _, item in ipairs(of) do
//@         list[#list + 1] = not known[item.name] and item or nil
//@         known[item.name] = true
//@       end
//@     end
//@   end
//@   return list
//@ end
//@ function prelude(step)
//@ for _, item in ipairs(given(step)) do
const $k.number$ $item.name$ = ($k.number$)$(item.place and "args->scalar[" .. item.place - 1 .. "]" or "(" .. size(item.places) .. ")");
//@ end
$(step.k:uniforms("call"))
//@ end
