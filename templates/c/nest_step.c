//@ -- What the nest templates share: where an element is, and what point functions are given that stays the same.

//@ -- The number of points of some places.
//@ function size(places)
//@   local list = {}
//@   for i, place in ipairs(places) do
//@     list[i] = "args->dim[" .. place - 1 .. "]"
//@   end
//@   return #list > 0 and table.concat(list, " * ") or "1"
//@ end
//@ function size_list(places)
//@   local list = {}
//@   for i, place in ipairs(places) do
//@     list[i] = size { place }
//@   end
//@   return table.concat(list, ", ")
//@ end
//@ -- The bytes of the temporaries, or of those before one.
//@ function bytes_of_temporaries(before)
//@   local list = {}
//@   for _, operand in ipairs(k.record.temporaries) do
//@     if operand == before then
//@       break
//@     end
//@     list[#list + 1] = string.format("(%s * sizeof(%s) + 63) / 64 * 64", size(operand.dim_index), k.number)
//@   end
//@   return #list > 0 and table.concat(list, " + ") or "0"
//@ end
//@ -- Where an element is at the indexes i<place> of some places, outermost first; more: added to that of one of them.
//@ function at(places, along, more)
//@   local text
//@   for _, place in ipairs(places) do
//@     local index = "i" .. place .. (more and place == along and " + " .. more or "")
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
//@ -- What a step gathers of a kind: "index" stands for both kinds of these.
//@ function gathers(step, kind)
//@   for _, r in ipairs(step.of.gathered) do
//@     if r.kind == kind or kind == "index" and r.kind ~= "pick" and k:is_index(r.kind) then
//@       return r
//@     end
//@   end
//@ end
//@ -- The kind of gatherer that a reduction has on a GPU.
//@ function gathered_as(r)
//@   return r.kind == "sum" and "carried" or r.kind
//@ end
//@ -- Pointers to a step's operands; temporaries: C for where those are.
//@ function pointers(step, temporaries)
//@ for _, operand in ipairs(step.of.operands) do
//@ if operand.temporary then
$k.number$ *$operand.name$ = ($k.number$ *)($temporaries$ + $(bytes_of_temporaries(operand)));
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
