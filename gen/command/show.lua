-- Prints the records of the stages for a person to read.

local axes = require "axes"
local formula = require "formula"
local launches = require "launches"
local template = require "template"
local text = require "text"

local show = {}

-- Outputs as roots of formulas.
local function roots_of(values)
  return text.map(values, function(value)
    return { begins = value.operand.name .. " =", node = value.node }
  end)
end

local function put(lines, indent, ...)
  for _, line in ipairs { ... } do
    lines[#lines + 1] = indent .. line
  end
end

-- ---- trace ----------------------------------------------------------------------------------------

-- The op's operands with their axes, and what its outputs are.
function show.trace(op, lines)
  local inputs, outputs = {}, {}
  for _, operand in ipairs(op.operands) do
    table.insert(operand.output and outputs or inputs, operand.name .. " " .. axes.list(operand.dims))
  end
  put(lines, "  ", "inputs   " .. table.concat(inputs, ", "), "outputs  " .. table.concat(outputs, ", "))
  for _, scalar in ipairs(op.scalars) do
    put(lines, "  ", "scalar   " .. scalar.name .. " = " .. formula.number(scalar.value))
  end
  put(lines, "  ", "kind     " .. op.kind .. ": " .. op.kind_says)
  if op.template == "nest" then
    put(lines, "    ", table.unpack(text.wrap(op.lacking, 110, "  ")))
  end
  put(lines, "  ", table.unpack((formula.lines(roots_of(op.values), op.dims, 0))))
end

-- ---- program --------------------------------------------------------------------------------------

local function reduction_roots(reductions)
  return text.map(reductions, function(reduction)
    local names = reduction.second and reduction.name .. ", " .. reduction.second or reduction.name
    return { begins = names .. " = " .. reduction.kind .. " of", node = reduction.term }
  end)
end

-- One program: its phases, and what follows from them.
local function show_passes(prog, dims, lines)
  local taken = 0
  local function write(title, roots)
    if #roots > 0 then
      local made
      made, taken = formula.lines(roots, dims, taken)
      put(lines, "    ", title)
      put(lines, "      ", table.unpack(made))
    end
  end
  for p, phase in ipairs(prog.phases) do
    local roots = reduction_roots(phase.reductions)
    for _, kept in ipairs(phase.stash) do
      roots[#roots + 1] = { begins = "kept(" .. kept.operand.name .. ") =", node = kept.node }
    end
    for _, pick in ipairs(phase.picks) do
      roots[#roots + 1] = { begins = pick.name .. " = at " .. pick.index .. " of", node = pick.term }
    end
    write("phase " .. p, roots)
  end
  write("points", roots_of(prog.points))
  write("over the rows", reduction_roots(prog.column_reductions))
  write("columns", roots_of(prog.columns))
  write("totals", roots_of(prog.totals))
end

-- A step of products, and how many names its lines took with those before.
local function show_step(step, dims, lines, taken)
  local groups = text.map({ "batch", "m", "n", "k" }, function(group)
    return group .. " = { " .. table.concat(text.map(step[group], function(run)
      return table.concat(text.map(run, function(place)
        return dims[place]
      end), " ")
    end), ", ") .. " }"
  end)
  local meet = step.meet
  put(lines, "    ", step.name .. ": sum of " .. (meet and "term" or "a * b") .. ", " .. table.concat(groups, ", "))
  local roots = {
    { begins = (meet and meet.a or "a") .. " =", node = step.a },
    { begins = (meet and meet.b or "b") .. " =", node = step.b },
  }
  roots[#roots + 1] = meet and meet.own and { begins = "own =", node = meet.own }
  roots[#roots + 1] = meet and { begins = "term =", node = meet.node }
  table.move(roots_of(step.values), 1, #step.values, #roots + 1, roots)
  local made
  made, taken = formula.lines(roots, dims, taken)
  put(lines, "      ", table.unpack(made))
  return taken
end

-- What a contraction's steps are.
local function show_steps(record, dims, lines)
  local taken = 0
  for _, step in ipairs(record.steps) do
    taken = show_step(step, dims, lines, taken)
  end
end

-- What the nests of an op are.
local function show_nests(record, dims, lines)
  local taken = 0
  local function named(places)
    return table.concat(text.map(places, function(place)
      return dims[place]
    end), ", ")
  end
  for _, step in ipairs(record.steps) do
    local over = step.over ~= 0 and ", over { " .. named(step.loops) .. " }" or ""
    over = step.scanned and ", along " .. dims[step.scanned] .. (step.reverse and " from its end" or "") or over
    over = step.listed and over .. ", of which " .. step.listed.name .. " lists the terms that count" or over
    put(lines, "    ", step.name .. ": at { " .. named(step.keep) .. " }" .. over)
    local roots = { step.index and { begins = "places by", node = step.index } or nil }
    for _, r in ipairs(step.gathered) do
      roots[#roots + 1] = { begins = r.name .. " = " .. r.kind .. " of", node = r.term }
    end
    for _, r in ipairs(step.scans) do
      roots[#roots + 1] = r.factor and { begins = r.name .. " by", node = r.factor } or nil
      roots[#roots + 1] = { begins = r.name .. " of", node = r.term }
    end
    for _, value in ipairs(step.values) do
      roots[#roots + 1] = value.node and { begins = value.operand.name .. " =", node = value.node } or nil
      put(lines, "      ", table.unpack(value.name and { value.operand.name .. " = " .. value.name } or {}))
    end
    local made
    made, taken = formula.lines(roots, dims, taken)
    put(lines, "      ", table.unpack(made))
  end
end

-- The passes of a stream: of each the products at rows and columns, what is gathered of those, products over columns.
local function show_stream(record, dims, lines)
  local taken = 0
  for nth, pass in ipairs(record.passes) do
    local power, named = pass.peak and "e^(power - " .. pass.peak .. ")", {}
    for _, value in ipairs(pass.values) do
      named[value.operand.name] = true
    end
    local function term(name, powered)
      local list = { named[name] and name or nil }
      list[#list + 1] = powered and power or nil
      return #list > 0 and table.concat(list, " * ") or "1"
    end
    put(lines, "    ", ("pass %d:"):format(nth))
    for _, step in ipairs(pass.firsts) do
      taken = show_step(step, dims, lines, taken)
    end
    put(lines, "      ", pass.peak and pass.peak .. " = maximum of power" or nil)
    for _, sum in ipairs(pass.sums) do
      put(lines, "      ", sum.name .. " = sum of " .. term(sum.name, sum.powered))
    end
    for i, step in ipairs(pass.lasts) do
      put(lines, "      ", "between = " .. term("weight" .. i, step.powered))
      taken = show_step(step, dims, lines, taken)
    end
    for i, step in ipairs(pass.across.lasts) do
      put(lines, "      ", "between, turned = " .. term(pass.across.weights[i]))
      taken = show_step(step, dims, lines, taken)
    end
    local made
    made, taken = formula.lines(roots_of(pass.rows_of), dims, taken)
    put(lines, "      ", table.unpack(made))
  end
end

local shown_as = { passes = show_passes, steps = show_steps, nest = show_nests, stream = show_stream }

-- The programs of an op's parts, each once with the parts and ways that have it; not that of the references, which is
-- mostly of bounds of errors.
function show.program(programs, lines)
  local list, of = {}, {}
  local function add(kind, prog, who)
    if not of[prog] then
      of[prog] = { kind = kind }
      list[#list + 1] = prog
    end
    table.insert(of[prog], who)
  end
  for _, file in ipairs(programs.op.sources) do
    for _, part in ipairs(not file.host and file.parts or {}) do
      local made = programs.parts[part]
      local seen = {}
      for _, kind in ipairs { "steps", "stream", "nest" } do
        if made[kind] then
          add(kind, made[kind], part.stem)
        end
      end
      for _, way in ipairs(made.again and { "again", "held", "short" } or {}) do
        if not seen[made[way]] then
          seen[made[way]] = true
          add("passes", made[way], part.stem .. (way ~= "again" and " " .. way or ""))
        end
      end
    end
  end
  for _, prog in ipairs(list) do
    put(lines, "  ", of[prog].kind .. " of " .. table.concat(of[prog], ", "))
    shown_as[of[prog].kind](prog, programs.op.dims, lines)
  end
end

-- ---- schedule -------------------------------------------------------------------------------------

local widest = 110

-- A plain record on one line: its list, then its fields by name.
local function one_line(value)
  if type(value) ~= "table" then
    return tostring(value)
  end
  local cells = {}
  for key, field in text.sorted_pairs(value) do
    cells[#cells + 1] = (math.type(key) == "integer" and "" or key .. " = ") .. one_line(field)
  end
  return "{ " .. table.concat(cells, ", ") .. " }"
end

-- Its fields a line each, and those deeper that have no room on one.
local function show_record(record, lines, indent)
  for key, value in text.sorted_pairs(record) do
    local name = math.type(key) == "integer" and "-" or key .. " ="
    local line = indent .. name .. " " .. one_line(value)
    if type(value) ~= "table" or #line <= widest then
      lines[#lines + 1] = line
    else
      put(lines, indent, name)
      show_record(value, lines, indent .. "  ")
    end
  end
end

function show.schedule(scheduled, lines)
  for _, file in ipairs(scheduled.op.sources) do
    for _, part in ipairs(not file.host and file.parts or {}) do
      local made, shared = scheduled.parts[part], {}
      for key, value in next, made do
        shared[key] = key ~= "part" and key ~= "programs" and key ~= "variants" and value or nil
      end
      put(lines, "  ", "part " .. part.stem .. " in " .. file.path)
      show_record(shared, lines, "    ")
      for i, variant in ipairs(part.variants) do
        put(lines, "    ", "variant " .. variant.name, variant.params_text ~= "" and "  " .. variant.params_text or nil)
        show_record(made.variants[i] or {}, lines, "      ")
      end
    end
  end
end

-- ---- launch ---------------------------------------------------------------------------------------

-- The functions that say what calls launch on a GPU.
function show.launch(scheduled, lines, reader)
  local engine = template.engine(reader.read, {})
  for _, file in ipairs(scheduled.op.sources) do
    local function begin(part)
      return "  part " .. part.stem .. " in " .. file.path .. "\n"
    end
    lines[#lines + 1] = file.host and launches.of(engine, scheduled.parts, file, file.path, "", begin) or nil
  end
end

return show
