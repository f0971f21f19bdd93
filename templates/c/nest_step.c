//@ -- What the nest templates share: where an element is, and what point functions are given that stays the same.

//@ local S = use "contract_step.c"
//@ size, bytes_of_temporaries = S.size, S.bytes_of_temporaries
//@ function size_list(places)
//@   local list = {}
//@   for i, place in ipairs(places) do
//@     list[i] = size { place }
//@   end
//@   return table.concat(list, ", ")
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
//@ -- What a step gathers as a GPU does, in the form that its templates have a phase: sums carry their errors.
//@ function phase_of(step)
//@   local list = {}
//@   for i, r in ipairs(step.of.gathered) do
//@     list[i] = { name = r.name, kind = r.kind == "sum" and "carried" or r.kind }
//@   end
//@   return { reductions = list }
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
