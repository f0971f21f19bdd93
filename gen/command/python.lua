-- A Python package of exported ops: templates/c/export_python.c over their functions, what Python has beside it, and
-- what builds a wheel of both. Files: pyproject.toml, setup.py, src/ with all C, and NAME/ with all Python.

local capacity = require "capacity"
local interface = require "interface"
local text = require "text"
local types = require "types"

local python = {}

local widest = 115 -- of lines of text

-- What no parameter and no op may be called: it is a word of Python's, or of ours.
local function spelt(name, ...)
  return (text.is_word_of_python(name) or text.contains({ ... }, name)) and name .. "_" or name
end

-- Refuses what is no name for a package.
function python.check_name(name)
  if not text.is_name(name) or text.is_word_of_python(name) or text.contains({ "numpy", "torch" }, name) then
    text.refuse("--python: expected %s, which is no word of Python's, found %s", text.a_name, text.show(name))
  end
end

-- The axis that stands for any number of them: each point along it is computed by itself, of the gradient too; or all
-- of an op is points of that one axis, which may be random. 0: none.
local function folded_axis(op)
  local of = op.forward or op
  local name = of.dims[of.cut] or of.template == "map" and #of.dims == 1 and of.dims[1]
  for _, operand in ipairs(name and op.operands or {}) do
    local place
    for i, axis in ipairs(operand.dims) do
      place = axis == name and i or place
    end
    if place and place > 1 or operand.index == name then
      return 0
    end
  end
  for place, axis in ipairs(op.dims) do
    if axis == name then
      return place
    end
  end
  return 0
end

local function shape_of(operand)
  return "(" .. table.concat(operand.dims, ", ") .. (#operand.dims == 1 and ",)" or ")")
end

-- The first input that has an axis, and at which place from its end.
local function has_axis(operands, place)
  for _, operand in ipairs(operands) do
    for i, axis in ipairs(operand.output and {} or operand.places) do
      if axis == place then
        return operand, #operand.places - i + 1
      end
    end
  end
end

-- The shape of an output, of the inputs' shapes, in Python; nil where these do not say it.
local function shape_in_python(row, output)
  local pieces = {}
  for _, operand in ipairs(row.operands) do
    if not operand.output and #operand.places > 0
      and table.concat(operand.places, " ") == table.concat(output.places, " ") then
      return operand.python .. ".shape"
    end
  end
  for i, place in ipairs(output.places) do
    local from, at = has_axis(row.operands, place)
    if not from then
      return nil
    elseif place == row.folded + 1 then
      pieces[i] = "*" .. from.python .. ".shape" .. (at > 1 and "[:-" .. at - 1 .. "]" or "")
    else
      pieces[i] = from.python .. ".shape[-" .. at .. "]"
    end
  end
  return "(" .. table.concat(pieces, ", ") .. (#pieces == 1 and ",)" or ")")
end

local function joined(list, separator, f)
  return table.concat(text.map(list, f), separator)
end

-- What Python calls a type that an operand has of its own.
local function name_of(own)
  return own == "computed" and "float64 of float64, else float32" or types[own].python.name
end

-- What Python says of an op: a line of how it is called, its doc, its operands.
local function doc_of(op, row)
  local lines = text.wrap(op.doc, widest, "")
  lines[#lines + 1] = ""
  for _, operand in ipairs(row.operands) do
    local own = operand.type and ", " .. name_of(operand.type) or ""
    lines[#lines + 1] = (operand.output and "returns " or "") .. operand.python .. ": "
      .. (operand.is_integer and "an integer" or shape_of(operand.operand) .. own)
      .. (operand.operand.index and ", places along " .. operand.operand.index or "")
      .. (row.in_place and operand == row.results[1] and "; out= may be " .. row.operands[1].python .. " itself" or "")
  end
  for _, scalar in ipairs(row.scalars) do
    lines[#lines + 1] = string.format("%s: a number, such as %.6g", scalar.python, scalar.value)
  end
  lines[#lines + 1] = ""
  local says_type = false
  for _, operand in ipairs(row.operands) do
    says_type = says_type or operand.type and not operand.is_integer
  end
  table.move(text.wrap("Elements are of " .. joined(row.functions, ", ", function(t)
    return types[t.dtype].python.name
  end) .. (says_type and ", where no type is named" or "") .. ". They lie without gaps."
    .. (row.folded >= 0 and " In place of " .. op.dims[row.folded + 1] .. " there may be any number of axes." or ""),
    widest, ""), 1, 9, #lines + 1, lines)
  return lines
end

-- What templates/c/export_ops.h calls a kind of devices.
local places = { cpu = "ON_PROCESSOR", cuda = "ON_CUDA" }

-- What an op's functions are, by element type in the order of the first kind of devices: ways, how each kind has it.
-- exported: of each kind { kind, op, functions }.
local function functions_of(exported)
  local list, by_dtype = {}, {}
  for _, way in ipairs(exported) do
    for _, t in ipairs(way.functions) do
      local f = by_dtype[t.dtype] or { dtype = t.dtype, TYPE = t.dtype:upper(), ways = {} }
      list[#list + 1] = not by_dtype[t.dtype] and f or nil
      by_dtype[t.dtype] = f
      f.ways[#f.ways + 1] = {
        PLACE = places[way.kind], name = t.name, workspace = t.workspace,
        of = way.op.name .. "_" .. t.dtype .. interface.ending(way.kind), dims = interface.extents(way.op),
        call = interface.arguments(way.op, t, "at", "scalar[%d]"),
      }
    end
  end
  return list
end

-- A record of an op for the templates. exported: { kind, op, name, functions }, of C; cuda: the same of the kernels for
-- CUDA, or nil.
local function record_of(exported)
  local op, functions = exported.op, functions_of { exported, exported.cuda }
  local row = {
    op = op.name, python = spelt(op.name, "torch"), c = exported.name, inputs = 0, outputs = 0,
    results = {}, in_place = op.in_place, usual = 0, folded = folded_axis(op) - 1, forward = op.forward,
    functions = functions,
  }
  row.operands = text.map(op.operands, function(operand)
    local own = operand.dtype or operand.storage
    return {
      operand = operand, python = spelt(operand.name, "out", "torch"), output = operand.output,
      places = operand.dim_index, type = own, TYPE = own and own:upper() or "OWN",
      is_integer = own == "i64" and #operand.dims == 0 and not operand.output,
      axis = #operand.dims == 0 and "0" or joined(operand.dim_index, ", ", function(place)
        return tostring(place - 1)
      end),
    }
  end)
  for _, operand in ipairs(row.operands) do
    row.inputs, row.outputs = row.inputs + (operand.output and 0 or 1), row.outputs + (operand.output and 1 or 0)
    row.results[#row.results + 1] = operand.output and operand or nil
    row.typed = row.typed or not operand.output and not operand.type and operand or nil
    if operand.type == "computed" and not row.typed then
      text.refuse("--python: %s: expected an input of the op's own type before '%s', whose type depends on it", op.name,
        operand.python)
    end
  end
  row.scalars = text.map(op.scalars, function(scalar)
    return { python = spelt(scalar.name, "out", "torch"), name = scalar.name, value = scalar.value }
  end)
  for i, t in ipairs(functions) do
    row.usual = t.dtype == "f32" and i - 1 or row.usual
  end
  row.scalar_names = joined(row.scalars, "", function(scalar)
    return '"' .. scalar.python .. '", '
  end)
  row.axis_names = joined(op.dims, "", function(axis)
    return '"' .. axis .. '", '
  end)
  local doc = doc_of(op, row)
  row.doc_text = table.concat(doc, "\n"):gsub('[\\"]', "\\%0")
  local parameters = {}
  for _, operand in ipairs(row.operands) do
    parameters[#parameters + 1] = not operand.output and operand or nil
  end
  row.parameters = table.move(row.scalars, 1, #row.scalars, #parameters + 1, parameters)
  row.names = joined(row.parameters, ", ", function(parameter)
    return parameter.python
  end)
  row.tvm_names = joined(row.operands, ", ", function(operand)
    return operand.python
  end) .. joined(row.scalars, "", function(scalar)
    return ", " .. scalar.python
  end)
  row.doc_lines = { text.c_string(row.python .. "(" .. row.names .. ", *, out=None)") .. ' "\\n--\\n\\n"' }
  for _, line in ipairs(doc) do
    row.doc_lines[#row.doc_lines + 1] = text.c_string(line) .. ' "\\n"'
  end
  return row
end

-- What torch.py has of an op: the types of its arguments, and how its results look without being computed. Left out is
-- what has results whose shapes no input says.
local function add_torch(row)
  row.schema = "(" .. joined(row.parameters, ", ", function(p)
    return (p.value and "float " or p.is_integer and "int " or "Tensor ") .. p.python
  end) .. ") -> " .. (row.outputs == 1 and "Tensor" or "(" .. joined(row.results, ", ", function()
    return "Tensor"
  end) .. ")")
  row.given = joined(row.parameters, ", ", function(p)
    return (p.value or p.is_integer) and p.python or "_dense(" .. p.python .. ")"
  end)
  row.fakes = {}
  local first
  for _, p in ipairs(row.parameters) do
    first = first or not p.value and not p.is_integer and p or nil
  end
  for i, output in ipairs(row.results) do
    local shape, like = shape_in_python(row, output), not output.type and row.typed or first
    local dtype = output.type or not row.typed and row.functions[row.usual + 1].dtype
    local named = dtype == "computed" and "_computed(" .. row.typed.python .. ")"
      or dtype and "torch." .. types[dtype].python.name
    row.computes = row.computes or dtype == "computed"
    row.fakes[i] = shape and like.python .. ".new_empty(" .. shape .. (named and ", dtype=" .. named or "") .. ")"
      or nil
  end
  row.in_torch = #row.fakes == row.outputs
end

-- How the gradient of an op is put together of the ops that compute it: calls { needs, results, text }, in which saved
-- are tensors, numbers the other arguments, and slopes what came; what is returned, for each argument; and the results
-- through which no gradient goes. nil where the package lacks one of these ops. all: the ops that there are.
local function gradient_of(row, rows, all)
  local saved, numbers, calls, by_name, returned, is_asked = {}, {}, {}, {}, {}, {}
  for i, p in ipairs(row.parameters) do
    by_name[p.operand and p.operand.name or p.name] = { at = i - 1, is_number = p.value or p.is_integer }
    returned[i] = "None"
  end
  for i, output in ipairs(row.results) do
    by_name["d" .. output.operand.name] = { text = "slopes[" .. i - 1 .. "]" }
    by_name[output.operand.name] = { is = row.outputs == 1 and "output" or "output[" .. i - 1 .. "]" }
  end
  local function argument(name)
    local from = by_name[name]
    if not from.text then
      local list = from.is_number and numbers or saved
      list[#list + 1] = from.is or "inputs[" .. from.at .. "]"
      from.text = (from.is_number and "numbers[" or "saved[") .. #list - 1 .. "]"
    end
    return from.text
  end
  local lacking = 0
  for _, op in ipairs(all) do
    lacking = lacking + (op.forward and op.forward.name == row.op and 1 or 0)
  end
  for _, other in ipairs(rows) do
    if other.forward and other.forward.name == row.op and other.in_torch then
      lacking = lacking - 1
      local needs = {}
      local given = joined(other.parameters, ", ", function(p)
        local named = p.operand and p.operand.name or p.name
        is_asked[named] = true
        return argument(named)
      end)
      local results = joined(other.results, ", ", function(result)
        local by = by_name[result.operand.name:sub(2)]
        needs[#needs + 1] = "ctx.needs_input_grad[" .. by.at .. "]"
        returned[by.at + 1] = "_" .. result.python
        return "_" .. result.python
      end)
      calls[#calls + 1] = {
        results = results, none = results:gsub(",", " ="), needs = table.concat(needs, " or "),
        text = other.python .. "(" .. given .. ")",
      }
    end
  end
  local fixed = {}
  for _, output in ipairs(row.results) do
    fixed[#fixed + 1] = not is_asked["d" .. output.operand.name] and by_name[output.operand.name].is or nil
  end
  return #calls > 0 and lacking == 0 and {
    fixed = #fixed > 0 and table.concat(fixed, ", ") or nil,
    calls = calls, saved = table.concat(saved, ", "), numbers = joined(numbers, "", function(number)
      return number .. ", "
    end), returned = table.concat(returned, ", "), several = #calls > 1,
  }
end

-- The files of a package: calls write(path, text). exported: of each op { op, name, functions, cuda }, see record_of;
-- all: the ops that there are; command: what makes the files again; tvm_ffi: whether it has functions for TVM-FFI too.
function python.package(engine, name, exported, all, command, tvm_ffi, write)
  local ops, cuda = text.map(exported, record_of), exported[1].cuda ~= nil
  for _, row in ipairs(ops) do
    add_torch(row)
  end
  local computes = false
  for _, row in ipairs(ops) do
    computes = computes or row.in_torch and row.computes or false
    row.gradient = row.in_torch and gradient_of(row, ops, all)
  end
  local function pour(template, path)
    local values = {
      package = name, ops = ops, types = text.map(types.rows, function(row)
        return {
          NAME = row.name:upper(), COMPUTED = types.compute(row.name):upper(), bytes = row.bytes, python = row.python,
        }
      end), computes = computes, limits = capacity, tostring = tostring, command = command,
      tvm_ffi = tvm_ffi or false, cuda = cuda,
      torch_devices = cuda and '("cpu", "cuda")' or '"cpu"',
      places = cuda and "of the processor or a GPU" or "in the processor's memory",
    }
    if path:find "%.[ch]$" then
      values.command = text.in_comment(command)
    end
    local content = engine("templates/c/export_" .. template, values).text("", { path = path, lines = 0 })
    if path:sub(-3) == ".py" then
      for _, begin in ipairs { "@", "def ", "%l[%w_]*%.register_autograd" } do -- two lines between functions
        content = content:gsub("\n\n+(" .. begin .. ")", "\n\n\n%1")
      end
    end
    write(path, (content:gsub("^\n+", "")))
  end
  pour("ops.h", "src/_ops.h")
  pour("python.c", "src/_kernels.c")
  pour("python_arrays.h", "src/_arrays.h")
  if cuda then
    pour("cuda.h", "src/_cuda.h")
  end
  pour("init.py", name .. "/__init__.py")
  pour("init.pyi", name .. "/__init__.pyi")
  pour("arrays.py", name .. "/_arrays.py")
  pour("torch.py", name .. "/torch.py")
  pour("setup.py", "setup.py")
  pour("pyproject.toml", "pyproject.toml")
  if tvm_ffi then
    pour("tvm_ffi.c", "src/_tvm_ffi.c")
    pour("tvm_ffi.py", name .. "/tvm_ffi.py")
  end
  write(name .. "/py.typed", "")
end

return python
