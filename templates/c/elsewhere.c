//@ -- What points read elsewhere, and find by their places (gen/program/reads.lua), in nests and in tiles.

//@ -- The number of points of some places.
//@ function size(places)
//@   local list = {}
//@   for i, place in ipairs(places or {}) do
//@     list[i] = "args->dim[" .. place - 1 .. "]"
//@   end
//@   return #list > 0 and table.concat(list, " * ") or "1"
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
//@   if node.op == "same" or node.op == "below" then
//@     return of(node[1]) .. (node.op == "same" and " == " or " < ") .. of(node[2])
//@   elseif node.op == "inside" then
//@     return is_inside(node[1], places_of(node.k)[1])
//@   end
//@   for i, axis in ipairs(places_of(node.k)) do
//@     inside[i], instead[axis] = is_inside(node[i + 1], axis), words.unsigned .. "(" .. of(node[i + 1]) .. ")"
//@   end
//@   return ("%s ? %s : %s"):format(table.concat(inside, " && "), load(operand_of(node[1].name), instead),
//@     k:literal(0 / 0))
//@ end
//@ -- Whether an input is such a one.
//@ function is_elsewhere(x) return x.kind == "whole" or x.kind == "random" or x.of ~= nil end
//@ -- The text of one as a number: index(place) is that of a point's place along an axis. language:
//@ --   number, signed, unsigned  casts to the type computed in, to that of places, and to that of addresses
//@ --   random(seed, offset, nth) the random number of a point
//@ --   element(operand, nth)     an element by its number
//@ --   words(index, whole)       those of places, where they are not C's
//@ function number(x, index, language)
//@   local function nth(places, instead)
//@     local all = {}
//@     for _, place in ipairs(places) do
//@       all[place] = instead and instead[place] or ("%s(%s)"):format(language.unsigned, index(place))
//@     end
//@     return at(places, nil, nil, all)
//@   end
//@   local function load(operand, instead) return language.element(operand, nth(operand.dim_index, instead)) end
//@   local function whole(name) return load(operand_of(name)) end
//@   if x.kind == "whole" then
//@     return ("%s(%s)"):format(language.number, whole(x.index))
//@   elseif x.kind == "random" then
//@     return language.random(whole(x.seed), whole(x.offset), nth(x.places))
//@   end
//@   local text = elsewhere(x, (language.words or words)(function(place)
//@     return ("%s(%s)"):format(language.signed, index(place))
//@   end, whole, language.unsigned), load)
//@   return x.node.type == "m" and text or ("%s(%s)"):format(language.number, text)
//@ end
