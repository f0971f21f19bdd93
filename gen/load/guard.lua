-- What Lua answers in a spec without asking the values. A symbolic value equals no number, is true where a branch
-- asks, and is found under no key of a table: the answer would stand for every point of every call. So before a
-- spec is compiled, marks are put into its text where Lua would answer, and those are ours.
--
--   a == b         a |lathe_equal| b            and so for ~=
--   a and b        a |lathe_and and b           and so for or
--   not a          lathe_not^ a
--   if a then      if a |lathe_if then          and so for elseif, while, until
--   t[a]           t[lathe_key(a)]              and so in { [a] = b }
--
-- | binds tighter than a comparison, and ^ tighter than anything, as `not` does: what surrounds them is read as
-- before. (A comparison of a comparison, or of what | itself makes, needs parentheses; without them it is an error,
-- as `1 < 2 == true` is.) `a < b |lathe_if then` asks b alone, but then `<` has refused a symbolic a already.
-- A mark gives back what it is given. Specs cannot name the marks, which are locals of a function around theirs.

local symbol = require "symbol"
local text = require "text"

local guard = {}

local function is_traced(value)
  return symbol.is(value) or type(value) == "number"
end

-- Stands between the operands: `a | mark` keeps a, and that `| b` is the answer.
local function equality(negated)
  local meta = {
    __bor = function(kept, b)
      local a = kept[1]
      symbol.expect_no_comparison(b ~= nil and a, "select(condition, a, b)")
      symbol.expect_no_comparison(a ~= nil and b, "select(condition, a, b)")
      if (symbol.is(a) or symbol.is(b)) and is_traced(a) and is_traced(b) then
        symbol.refuse_comparison()
      end
      return (a == b) ~= negated
    end,
  }
  return setmetatable({}, {
    __bor = function(a)
      return setmetatable({ a }, meta)
    end,
  })
end

-- Stands behind what is asked for its truth.
local function truth(instead)
  return setmetatable({}, {
    __bor = function(value)
      symbol.expect_no_comparison(value, instead)
      return value
    end,
  })
end

local negation = setmetatable({}, {
  __pow = function(_, value)
    symbol.expect_no_comparison(value, "negate(a) for 'not a'")
    return not value
  end,
})

local function key(value)
  if symbol.is(value) then
    symbol.fail "a symbolic value is no key of a table: where it points to is not known before the op runs"
  end
  return value
end

local names = { "lathe_equal", "lathe_unequal", "lathe_and", "lathe_or", "lathe_if", "lathe_not", "lathe_key" }
local is_mark = {}
for _, name in ipairs(names) do
  is_mark[name] = true
end
local marks = {
  equality(false), equality(true),
  truth "all_of(a, b) for 'a and b', or select(condition, a, b)",
  truth "any_of(a, b) for 'a or b', or select(condition, a, b)",
  truth "select(condition, a, b)",
  negation, key,
}

-- What takes the place of a token.
local instead_of = {
  ["=="] = "|lathe_equal|", ["~="] = "|lathe_unequal|", ["and"] = "|lathe_and and", ["or"] = "|lathe_or or",
  ["not"] = "lathe_not^", ["then"] = "|lathe_if then", ["["] = "[lathe_key(", ["]"] = ")]",
}

local find, match, sub = string.find, string.match, string.sub -- an include is read with few methods of strings

local function set_of(words)
  local set = {}
  for word in string.gmatch(words, "%S+") do
    set[word] = true
  end
  return set
end
local keywords = set_of [[and break do else elseif end false for function goto if in local nil not or repeat return
  then true until while]]
local ends_operand = set_of ") ] } ... end nil true false"
local opens = set_of "( { [ function if repeat while for"
local closes = set_of ") } ] end"

local function long_end(source, from)
  local level = match(source, "^%[(=*)%[", from)
  return level and select(2, find(source, "]" .. level .. "]", from, true))
end

-- What a token is that begins with a letter, and how it goes on.
local kinds = {}
for code = 0, 255 do
  local letter = string.char(code)
  kinds[letter] = find(letter, "[%a_]") and { "name", "^[%w_]+" } or find(letter, "%s") and { "space", "^%s+" }
    or find(letter, "%d") and { "value", "^[%w_.]+" } or nil
end

-- The kind of the token that begins at a position, and where it ends: "space" (comments too), "name" (keywords
-- too), "value" (a number or a string) or "sign".
local function token(source, at)
  local two = sub(source, at, at + 1)
  local one = sub(two, 1, 1)
  local kind = kinds[one]
  if kind then
    return kind[1], select(2, find(source, kind[2], at))
  elseif two == "--" then
    return "space", long_end(source, at + 2) or find(source, "\n", at, true) or #source
  elseif one == '"' or one == "'" then
    local stop = at + 1
    while sub(source, stop, stop) ~= one do
      stop = stop + (sub(source, stop, stop) == "\\" and 2 or 1)
    end
    return "value", stop
  end
  local stop = one == "[" and long_end(source, at)
  if stop then
    return "value", stop
  elseif two == "==" or two == "~=" or two == "::" then
    return "sign", at + 1
  end
  return "sign", two == ".." and sub(source, at + 2, at + 2) == "." and at + 2 or at
end

-- The text of a chunk that compiles, with the marks in it. Refuses the names of marks.
local function put_marks(source, path)
  local parts, open, ended, at = {}, {}, false, 1
  local function put(part)
    parts[#parts + 1] = part
  end
  while at <= #source do
    local kind, stop = token(source, at)
    local word = sub(source, at, stop)
    if kind == "space" then
      put(word)
    else
      local top = open[#open]
      local begins = kind == "name" and word ~= "and" and word ~= "or" or word == ";" or word == "::"
      if top == "until" and ended and begins then -- the next statement, or the end of a block
        put "|lathe_if "
        open[#open] = nil
        top = open[#open]
      end
      if is_mark[word] then
        local _, lines = string.gsub(sub(source, 1, at), "\n", "")
        text.fail(path .. ":" .. lines + 1, "%s: a name that the generator puts into specs itself; expected another",
          word)
      end
      put(top == "while" and word == "do" and "|lathe_if do" or instead_of[word] or word)
      if word == "do" and (top == "while" or top == "for") then
        open[#open] = word
      elseif word == "until" then
        open[#open] = word
      elseif closes[word] then
        open[#open] = nil
      elseif opens[word] or word == "do" then
        open[#open + 1] = word
      end
      ended = kind == "value" or ends_operand[word] or kind == "name" and not keywords[word]
    end
    at = stop + 1
  end
  return table.concat(parts) .. (open[#open] == "until" and "\n|lathe_if" or "")
end

-- The text of a chunk that compiles, with the marks in it, in a function around it; and that function's result, the
-- chunk itself.
function guard.mark(source, path)
  return string.format("local %s = ... return function(...) %s\nend", table.concat(names, ", "),
    put_marks(source, path))
end

function guard.open(chunk)
  return chunk(table.unpack(marks))
end

return guard
