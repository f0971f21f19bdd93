//@ -- What the templates of rows share on any GPU: the programs that kernels are written from, and what of a row
//@ -- their point functions read.
//@
//@ -- What a kernel is written from, a lowered program of which the point functions are defined here:
//@ --   phases, active           of the program, see gen/program/passes.lua
//@ --   outputs                  its points
//@ --   passes, point            the point functions of the phases, false for one without a pass, and of the outputs
//@ --   all                      both in one list
//@ --   totals, uniforms(step)   statements, see gen/pour/lower.lua
//@ --   gathered(p)              the type of what phase p gathers
//@ -- define(point) and define_gatherer(type, phase) write definitions. Programs with reductions of the same kinds
//@ -- share gatherers.
//@ local gatherers = {} -- their types' names, by the kinds of what they gather
//@ function program_of(lowered, define, define_gatherer)
//@   local made, kinds = lowered.program, lowered.program.kinds
//@   local program = { phases = made.phases, active = made.active, outputs = made.points, all = {} }
//@   program.passes, program.point, program.totals = lowered.passes, lowered.last, lowered.totals
//@   for _, point in ipairs(lowered.points) do
//@     define(point)
//@   end
//@   for i, p in ipairs(program.active) do
//@     program.all[i] = program.passes[p]
//@   end
//@   table.insert(program.all, program.point)
//@   function program.uniforms(step) return lowered:uniforms(step) end
//@   local stem = gatherers[kinds] or lowered.name
//@   function program.gathered(p) return stem .. "_gathered" .. p end
//@   for _, p in ipairs(gatherers[kinds] and {} or program.active) do
//@     define_gatherer(program.gathered(p), program.phases[p])
//@   end
//@   gatherers[kinds] = stem
//@   return program
//@ end
//@
//@ -- The inputs of point functions that are elements of operands not in known, or of one place; stashed:
//@ -- also those that an earlier pass has kept there.
//@ function elements(points, known, stashed, place)
//@   local list, taken = {}, {}
//@   for _, point in ipairs(points) do
//@     for _, x in ipairs(point.inputs) do
//@       local wanted = x.kind == "element" or stashed and x.kind == "stash"
//@       wanted = wanted and (not place or x.operand.place == place)
//@       if wanted and not known[x.pointer] and not taken[x.pointer] then
//@         taken[x.pointer] = true
//@         list[#list + 1] = x
//@       end
//@     end
//@   end
//@   return list
//@ end
//@
//@ -- Where a row's data is in an operand, from its start; nil where it starts there.
//@ local offsets = { whole = "row * count", row = "row" }
//@ function offset(operand)
//@   return offsets[operand.place]
//@ end
//@ -- The first operand with whole rows: those of all others lie as its own, where any lie alike. Nil where rows have
//@ -- values alone.
//@ function first_whole()
//@   for _, operand in ipairs(k.operands) do
//@     if operand.place == "whole" then
//@       return operand
//@     end
//@   end
//@ end
