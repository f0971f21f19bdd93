-- Which part of all there is gets built: the ops and precisions that configure's --ops and --dtypes name. What is
-- left out stays in the table, with that as its reason, and has no files. Ops of specs/library are built by name alone:
-- those that --ops names, and each into a bench program of its own (`ninja OP`).

local text = require "text"
local types = require "types"

local parts = {}

-- A glob over names, of which only * and ? are special, as a pattern of Lua's.
local function pattern_of(glob)
  return "^" .. glob:gsub("[^%w_*?]", "%%%0"):gsub("[*?]", { ["*"] = ".*", ["?"] = "." }) .. "$"
end

-- Whether one of the words of a list, names or globs, is a name: a function of that.
function parts.matcher(list)
  return function(name)
    for glob in list:gmatch "[^,]+" do
      if name:find(pattern_of(glob)) then
        return true
      end
    end
  end
end

local function is_of_library(op)
  return op.files[1]:sub(1, 14) == "specs/library/"
end

-- The ops that a list such as softmax*,-softmax_backward leaves, as a set: those that its words name, or all where
-- none does, less those after a -. A gradient goes with its op where no word names it. whole: whether these are
-- all ops that there are, so that every word has to name one.
local function listed_ops(list, ops, whole)
  local named, excluded, any = {}, {}, false
  for word in list:gmatch "[^,]+" do
    local glob = word:gsub("^%-", "")
    local set, pattern, found = glob == word and named or excluded, pattern_of(glob), false
    any = any or set == named
    for _, op in ipairs(ops) do
      if op.name:find(pattern) then
        set[op], found = true, true
      end
    end
    if whole and not found then
      text.refuse("--ops: no op is called '%s'%s", glob, text.did_you_mean(glob:gsub("[*?]", ""),
        text.map(ops, function(op)
          return op.name
        end)))
    end
  end
  local left = {}
  for _, op in ipairs(ops) do
    local by_name = not any and not is_of_library(op) or named[op]
    local with_forward = named[op.forward] and not excluded[op.forward]
    local forward_excluded = excluded[op.forward] and not named[op]
    left[op] = not excluded[op] and not forward_excluded and (by_name or with_forward) or nil
  end
  return left
end

local function listed_dtypes(list)
  local left = {}
  for word in list:gmatch "[^,]+" do
    if not text.contains(types.of_variants, word) then
      text.refuse("--dtypes: expected %s, found '%s'%s", text.one_of(types.of_variants), word,
        text.did_you_mean(word, types.of_variants))
    end
    left[word] = true
  end
  return left
end

-- The reason for what an option leaves out, on a line of its own in tables.
local function reason(option, list)
  local longest = 50
  return ("left out by configure --%s=%s"):format(option, #list > longest and list:sub(1, longest - 3) .. "..." or list)
end

-- Of ops, and whether these are all that there are: marks what is left out, op.left_out where all of an op is, and its
-- planned variants as disabled; and op.aside, what is in no program but its own.
function parts.choose(ops, op_list, dtype_list, whole)
  local wanted_ops = op_list and listed_ops(op_list, ops, whole)
  local wanted_dtypes = dtype_list and listed_dtypes(dtype_list)
  local any = false
  for _, op in ipairs(ops) do
    local is_named = wanted_ops and wanted_ops[op]
    op.aside = is_of_library(op) and not is_named
    local by_ops = wanted_ops and not is_named and not op.aside and reason("ops", op_list) or nil
    local built = false
    for _, v in ipairs(op.planned) do
      local by_dtypes = wanted_dtypes and not wanted_dtypes[v.dtype] and reason("dtypes", dtype_list) or nil
      v.left_out = by_ops or by_dtypes
      v.disabled = v.left_out or v.disabled
      built = built or not v.left_out
    end
    op.left_out = not built and op.planned[1].left_out -- false: a gradient has not that of its op
    any = any or built and not op.aside
  end
  if any or not whole then
    return
  elseif not next(wanted_ops or { true }) then
    text.refuse("--ops: %s leaves no op", op_list)
  else
    local of = op_list and " in --ops=" .. op_list or ""
    text.refuse("--dtypes: no op%s has %s", of, (dtype_list or ""):gsub(",", " or "))
  end
end

-- Says what bench programs of one op there are: op.alone.ops are in it, the op and its gradient, and its table
-- is at op.alone.table below the output folder. A gradient has one of its own only where its op is left out.
function parts.group(ops)
  for _, op in ipairs(ops) do
    op.alone = false
  end
  for _, op in ipairs(ops) do
    local head = op.forward and not op.forward.left_out and op.forward or op
    if not op.left_out then
      head.alone = head.alone or { table = head.name .. "/table.c", ops = {} }
      table.insert(head.alone.ops, op)
    end
  end
end

return parts
