-- The template engine. A template is source text with two marks:
--   //@ lua           a whole line of Lua
--   $name$  $(expr)   the value of a name or an expression; $$ is a dollar sign
-- Every template line becomes one line of one Lua chunk, loaded under the template's own name, so
-- that Lua's messages name the template's line. A name that is not defined is an error. A paste
-- alone on its line may have many lines, which take on its indentation; an empty one leaves no
-- line. use "other.c" runs another template, once for each file that is made, and gives its functions.

local text = require "text"

local template = {}

local function compile_error(name, number, line, what)
  text.fail(name .. ":" .. number, "%s, in: %s", what, line:match "^%s*(.-)%s*$")
end

-- Splits a line into literal strings and Lua expressions { code }.
local function split(name, number, line)
  local pieces, at = {}, 1
  while true do
    local mark = line:find("$", at, true)
    if not mark then
      pieces[#pieces + 1] = line:sub(at)
      return pieces
    end
    pieces[#pieces + 1] = line:sub(at, mark - 1)
    local following = line:sub(mark + 1, mark + 1)
    if following == "$" then
      pieces[#pieces + 1] = "$"
      at = mark + 2
    elseif following == "(" then
      local parens = line:match("^%b()", mark + 1)
      if not parens then
        compile_error(name, number, line, "unclosed '$(': expected its ')' on the same line")
      end
      pieces[#pieces + 1] = { parens }
      at = mark + 1 + #parens
    else
      local path = line:match("^([%a_][%w_.]*)%$", mark + 1)
      if not path then
        compile_error(name, number, line, "unclosed '$': expected $name$, $(expression) or $$")
      end
      pieces[#pieces + 1] = { path }
      at = mark + #path + 2
    end
  end
end

-- The Lua source of a template, one line for each of its lines.
local function translate(name, source)
  local lines, number = {}, 0
  local continued = false
  for line in (source .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    -- Whether a compiler may have something to say of it; inside a macro there is no #line.
    local sync = line:find "[^%s{}]" ~= nil and not continued
    continued = line:sub(-1) == "\\"
    local indent, directive = line:match "^(%s*)//@(.*)$"
    if directive and directive:match "^%s*[%w_.:]+%b()%s*$" then
      -- A call: what the function writes takes on the indentation of the call.
      lines[number] = string.format("_push(%q) %s _pop()", indent, directive)
    elseif directive then
      lines[number] = directive
    else
      local pieces = split(name, number, line)
      local code = {}
      for _, piece in ipairs(pieces) do
        if type(piece) == "table" then
          code[#code + 1] = "_paste(" .. piece[1] .. ")"
        elseif piece ~= "" then
          code[#code + 1] = string.format("%q", piece)
        end
      end
      if #pieces == 3 and type(pieces[2]) == "table" and pieces[1]:match "^%s*$" and pieces[3] == "" then
        lines[number] = string.format('_block(%d, %q, "" .. _paste(%s))', number, pieces[1], pieces[2][1])
      else
        local line_code = #code > 0 and table.concat(code, " .. ") or '""'
        lines[number] = string.format("_line(%d, %s, %s)", number, sync, line_code)
      end
    end
  end
  if source:sub(-1) == "\n" then
    lines[number] = "" -- nothing stands behind the last line break
  end
  return table.concat(lines, "\n")
end

local function paste(value)
  if type(value) == "string" or math.type(value) == "integer" then
    return value
  end
  error("expected a string or a whole number to paste, found "
    .. (value == nil and "nil" or "a " .. (math.type(value) or type(value))), 2)
end

-- One line for the user from Lua's message, with the template's line shown.
local function explain(message, sources)
  local name, number, what = message:match "^(.-):(%d+): (.*)$"
  if not name or not sources[name] then
    return nil
  end
  local opened = what:match "%(to close '.-' at line (%d+)%)"
  if opened then
    number, what = opened, "unclosed directive: expected its 'end'"
  else
    what = what:gsub(" near <eof>", " at the end of the template")
  end
  local at = 0
  for line in (sources[name] .. "\n"):gmatch "(.-)\n" do
    at = at + 1
    if at == tonumber(number) and line:match "%S" then
      what = what .. ", in: " .. line:match "^%s*(.-)%s*$"
    end
  end
  return name .. ":" .. number .. ": " .. what
end

-- The path of a template that another names, as seen from its own folder.
local function sibling(from, other)
  local path = from:gsub("[^/]*$", "") .. other
  local longer
  repeat
    longer, path = path, path:gsub("[^/.][^/]*/%.%./", "", 1)
  until path == longer
  return path
end

-- An engine over read(name), which gives a template's text, or nil and why not. options.line = false
-- leaves #line out.
function template.engine(read, options)
  local compiled, sources, line_marks = {}, {}, options.line ~= false

  -- The chunk of a template, a function of its environment.
  local function load_template(name)
    if not compiled[name] then
      local source, problem = read(name)
      if not source then
        return nil, string.format("%s: %s", name, problem)
      end
      sources[name] = source
      local chunk, message = load("local _ENV = ... " .. translate(name, source), "@" .. name, "t", {})
      if not chunk then
        error(text.problem(explain(message, sources) or message), 0)
      end
      compiled[name] = chunk
    end
    return compiled[name]
  end

  local undefined = {
    __index = function(env, key)
      error(string.format("undefined template variable '%s'%s", key,
        text.did_you_mean(key, text.sorted_keys(env))), 2)
    end,
  }

  -- Expands a template with the names in values; returns its text, which starts with prelude.
  local function expand(name, values, prelude)
    local out, count, indents, margin = { prelude }, 1, {}, ""
    local expected_name, expected_line -- where the compiler thinks the next line comes from
    local environments = {} -- by name: of the templates that were run here; false of one that is running

    local function put(from, number, sync, line)
      if expected_line == number and expected_name == from then
        expected_line = number + 1
      elseif sync and line_marks then
        count = count + 1
        out[count] = string.format('#line %d "%s"', number, from)
        expected_name, expected_line = from, number + 1
      elseif expected_line then
        expected_line = expected_line + 1
      end
      count = count + 1
      out[count] = line == "" and "" or margin .. line
    end

    local run
    local function env_for(from)
      local env
      env = {
        _push = function(indent)
          indents[#indents + 1] = margin
          margin = margin .. indent
        end,
        _pop = function()
          margin = table.remove(indents)
        end,
        _line = function(number, sync, line)
          return put(from, number, sync, line)
        end,
        _block = function(number, indent, block)
          if block ~= "" then
            for line in (block .. "\n"):gmatch "([^\n]*)\n" do
              put(from, number, true, line == "" and "" or indent .. line)
              number = number + 1
            end
          end
        end,
        _paste = paste,
        assert = function(condition, message)
          if not condition then
            error(message or "assertion failed", 2)
          end
          return condition
        end,
        -- Runs another template here, unless that was done; returns the functions it defines, and with them the
        -- state they share.
        use = function(other)
          local path = sibling(from, other)
          if environments[path] == false then
            error(path .. " is used by what it uses; expected no circle: move what both need to a third template", 2)
          elseif not environments[path] then
            local made, problem = load_template(path)
            if not made then
              error(problem, 2)
            end
            run(path, made)
          end
          return environments[path]
        end,
        pairs = text.sorted_pairs, ipairs = ipairs, tostring = tostring, tonumber = tonumber,
        type = type, error = error, string = string, table = table, math = math,
      }
      for key, value in pairs(values) do
        env[key] = value
      end
      return setmetatable(env, undefined)
    end

    function run(path, made)
      environments[path] = false
      local env = env_for(path)
      made(env)
      environments[path] = env
    end

    local ok, message = xpcall(function()
      local made, problem = load_template(name)
      if not made then
        error(text.problem(problem), 0)
      end
      run(name, made)
    end, function(message)
      if type(message) == "string" then
        local explained = explain(message, sources)
        return explained and text.problem(explained) or debug.traceback(message, 2)
      end
      return text.is_problem(message) and message
        or text.problem(name .. ": the template raised " .. text.show(message) .. "; expected a message")
    end)
    if not ok then
      error(message, 0)
    end
    out[count + 1] = ""
    return table.concat(out, "\n")
  end

  return expand
end

return template
