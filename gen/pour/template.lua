-- The template engine. A template is source text with two marks:
--   //@ lua           a whole line of Lua
--   $name$  $(expr)   the value of a name or an expression; $$ is a dollar sign
-- Every template line becomes one line of one Lua chunk, loaded under the template's own name, so
-- that Lua's messages name the template's line. A name that is not defined is an error. A paste may
-- have many lines, which take on the indentation of its own; an empty one, alone on its line, leaves no
-- line. use "other.c" runs another template, once for each file that is made, and gives its functions.
--
-- A function's text is indented as the line that calls it: a line that stands as far in as its `//@ function` comes
-- out where the caller's does. indent() and outdent() move all that follows by two columns, for blocks that one call
-- opens and another closes.
--
-- `//@ function piece.lathe_sum()` defines a piece of a library: where the template says `//@ pieces()` come those that
-- the file names, and those that these name, in the order in which they are defined.
--
-- #line says where a line is from. A template line that becomes several is named as the generated file's own: what
-- is in them is written by no template.

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

-- The Lua source of a template, one line for each of its lines, and how far in each of these begins.
local function translate(name, source)
  local code, indents, number = {}, {}, 0
  local continued = false
  for line in (source .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    -- Whether a compiler may have something to say of it; inside a macro there is no #line.
    local sync = line:find "[^%s{}]" ~= nil and not continued
    continued = line:sub(-1) == "\\"
    local indent, rest = line:match "^( *)(.*)$"
    local directive = rest:match "^//@(.*)$"
    indents[number] = #indent
    if directive and directive:match "%f[%w_]function%s*[%w_.:]*%s*%b()%s*$" then
      code[number] = string.format("%s local _margin <close> = _enter(%d)", directive, #indent)
    elseif directive then
      code[number] = directive
    else
      local pieces = split(name, number, rest)
      local parts = {}
      for _, piece in ipairs(pieces) do
        if type(piece) == "table" then
          parts[#parts + 1] = piece[1]
        elseif piece ~= "" then
          parts[#parts + 1] = string.format("%q", piece)
        end
      end
      if #pieces == 1 then
        code[number] = string.format("_line(%d, %d, %s, %q)", number, #indent, sync, rest)
      else
        local alone = #pieces == 3 and pieces[1] == "" and pieces[3] == ""
        code[number] = string.format("_lines(%d, %d, %s, %s, %s)", number, #indent, sync, alone,
          table.concat(parts, ", "))
      end
    end
  end
  if source:sub(-1) == "\n" then
    code[number] = "" -- nothing stands behind the last line break
  end
  return table.concat(code, "\n"), indents
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


-- An engine over read(name), which gives a template's text, or nil and why not. options.line: names a template's file
-- for #line; false: without #line.
function template.engine(read, options)
  local compiled, sources = {}, {}
  local indents = {} -- by a chunk's name for Lua: of each line

  -- The chunk of a template, a function of its environment.
  local function load_template(name)
    if not compiled[name] then
      local source, problem = read(name)
      if not source then
        return nil, string.format("%s: %s", name, problem)
      end
      sources[name] = source
      local code
      code, indents["@" .. name] = translate(name, source)
      local chunk, message = load("local _ENV = ... " .. code, "@" .. name, "t", {})
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

  -- By function: how far in the lines of its template begin, or false of one that is of none.
  local indents_in = setmetatable({}, { __mode = "k", __index = function(known, f)
    known[f] = indents[debug.getinfo(f, "S").source] or false
    return known[f]
  end })

  -- Expands a template with the names in values. Returns a record:
  --   templates             the paths of all that were run, the template's own first
  --   text(prelude, file)   the text, which starts with the prelude, whole lines. file: { path, lines }, the generated
  --                         file's name and how many lines of it there are already, which is kept up to date
  local function expand(name, values)
    local lines = host.lines(indents_in)
    local environments = {} -- by name: of the templates that were run here; false of one that is running
    local names_of_pieces, pieces = {}, {}
    local has_place, serial = false, 0

    local run
    local function env_for(from)
      serial = serial + 1
      local put_line, put_lines, enter = lines:writers(serial, options.line and options.line(from) or nil)
      local env
      env = {
        _line = put_line, _lines = put_lines, _enter = enter,
        indent = function()
          lines:indent(2)
        end,
        outdent = function()
          lines:indent(-2)
        end,
        piece = setmetatable({}, { __newindex = function(_, piece, pour)
          names_of_pieces[#names_of_pieces + 1], pieces[piece] = piece, pour
        end }),
        pieces = function()
          has_place = true
          lines:leave_place()
        end,
        assert = function(condition, message)
          if not condition then
            error(message or "assertion failed", 2)
          end
          return condition
        end,
        -- Runs another template here, unless that was done; returns the functions it defines, and with them the
        -- state they share.
        use = function(other)
          local path = text.sibling(from, other)
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

    -- Pours the pieces that a piece of the text names, and those that these name; poured: their numbers by name.
    local function pour_pieces(by, poured)
      for piece in text.sorted_pairs(lines:names(by)) do
        if pieces[piece] and not poured[piece] then
          poured[piece] = lines:piece()
          pieces[piece]()
          pour_pieces(poured[piece], poured)
        end
      end
    end

    local poured = {}
    local ok, message = xpcall(function()
      local made, problem = load_template(name)
      if not made then
        error(text.problem(problem), 0)
      end
      run(name, made)
      if has_place then
        pour_pieces(1, poured)
      end
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
    local named, others = {}, {}
    for _, piece in ipairs(names_of_pieces) do
      named[#named + 1] = poured[piece]
    end
    for path in text.sorted_pairs(environments) do
      others[#others + 1] = path ~= name and path or nil
    end
    return {
      templates = { name, table.unpack(others) },
      text = function(prelude, file)
        local joined
        joined, file.lines = lines:join(prelude, file.path, file.lines, named)
        return joined
      end,
    }
  end

  return expand
end

return template
