-- The lines of a generated file: how far in they begin, blank lines, and #line, which says where each is from. The
-- preprocessor's lines begin in the first column. Of blank lines one is left, and none inside of a brace.

local lines = {}

local hash, opening_brace, closing_brace = ("#{}"):byte(1, 3)
local own = {} -- stands for the #line of a line that is named as the generated file's own

-- So many spaces.
local spaces = setmetatable({}, { __index = function(known, count)
  known[count] = (" "):rep(count)
  return known[count]
end })

local methods = {}
local meta = { __index = methods }

-- Lines to be put one after the other. marks: by template, its file as #line names it, so that it is found from where
-- the compiler runs; nil: without #line.
function lines.new(marks)
  return setmetatable({ marks = marks, count = 0, blank = false, alone = true }, meta)
end

-- Puts a line that begins so far in. from, number: the template and its line, or nil for the generated file's own;
-- sync: whether a #line may come before it.
function methods:put(from, number, indent, sync, content)
  if content == "" then
    self.blank = not self.alone -- nothing above, or a brace that opens
    return
  end
  local count, first = self.count, content:byte(1)
  if self.blank and first ~= closing_brace then
    count = count + 1
    self[count] = ""
    self.expected = self.expected and self.expected + 1
  end
  self.blank, self.alone = false, content:byte(-1) == opening_brace
  -- from and expected: where the compiler thinks that this line is from.
  if not (sync and self.marks) or self.from == from and (from == own or self.expected == number) then
    self.expected = self.expected and self.expected + 1
  else
    count = count + 1
    self[count] = from == own and own or string.format('#line %d "%s"', number, self.marks[from])
    self.from, self.expected = from, number and number + 1
  end
  self[count + 1] = first == hash and content or spaces[indent] .. content
  self.count = count + 1
end

-- The same for what is the generated file's own.
function methods:put_own(indent, sync, content)
  self:put(own, nil, indent, sync, content)
end

-- Leaves a place here, for what join() puts there.
function methods:leave_place()
  self.place, self.blank, self.alone, self.from = self.count, false, true, nil
end

-- The names in these lines that begin with lathe_, as a set.
function methods:names()
  local names = {}
  for i = 1, self.count do
    if self[i] ~= own then
      for name in self[i]:gmatch "lathe_[%w_]+" do
        names[name] = true
      end
    end
  end
  return names
end

-- The text of these lines below a prelude of whole lines, with others, a list of such lists, in the place left for
-- them, blank lines between. file: { path, lines }, the generated file's name and how many lines it has; the latter is
-- kept up to date.
function methods:join(prelude, others, file)
  local out = { prelude ~= "" and prelude:gsub("\n$", "") or nil }
  local number = file.lines + select(2, prelude:gsub("\n", "")) -- of the last line
  local function append(list, from, to)
    if from <= to then
      out[#out + 1], number = "", number + 1
    end
    for i = from, to do
      number = number + 1
      out[#out + 1] = list[i] == own and string.format('#line %d "%s"', number + 1, file.path) or list[i]
    end
  end
  append(self, 1, self.place or self.count)
  for _, other in ipairs(others) do
    append(other, 1, other.count)
  end
  append(self, (self.place or self.count) + 1, self.count)
  out[#out + 1], file.lines = "", number
  return table.concat(out, "\n")
end

return lines
