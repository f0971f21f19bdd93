//@ -- What the nest templates share: where an element is, and what point functions are given that stays the same.

//@ local S = use "contract_step.c"
//@ local E = use "elsewhere.c"
//@ dims, bytes_of_temporaries, define_sharing = S.dims, S.bytes_of_temporaries, S.define_sharing
//@ size, at, operand_of, places_of, words, elsewhere = E.size, E.at, E.operand_of, E.places_of, E.words, E.elsewhere
//@ function size_list(places)
//@   local list = {}
//@   for i, place in ipairs(places) do
//@     list[i] = size { place }
//@   end
//@   return table.concat(list, ", ")
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
