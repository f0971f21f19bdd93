-- How far off kernels were found to be, of rows that the bench program wrote as CSV.

local text = require "text"

local found = {}

-- The fields of a line: words, or texts in quotation marks, in which two of these stand for one.
local function fields_of(line)
  local fields, at = {}, 1
  while at <= #line + 1 do
    local first, last = line:match('^"()[^"]*()"', at)
    while first and line:sub(last + 1, last + 1) == '"' do
      last = line:match('^[^"]*()"', last + 2)
    end
    if first and last then
      fields[#fields + 1] = line:sub(first, last - 1):gsub('""', '"')
      at = last + 2
    else
      fields[#fields + 1] = line:match("^[^,]*", at)
      at = at + #fields[#fields] + 1
    end
  end
  return fields
end

-- By a variant's name: { ulp, rows }, the most that a right result was off, in how many rows. path: for messages.
function found.read(content, path)
  local place, by_variant
  for line in content:gmatch "[^\r\n]+" do
    local fields = fields_of(line)
    if not place then
      place, by_variant = {}, {}
      for i, name in ipairs(fields) do
        place[name] = i
      end
      if not (place.variant and place.status and place.ulp) then
        text.fail(path, "expected a file of 'out/bench --csv', with columns variant, status and ulp")
      end
    else
      local name, ulp = fields[place.variant], tonumber(fields[place.ulp])
      if ulp and fields[place.status] == "right" then
        by_variant[name] = by_variant[name] or { ulp = 0, rows = 0 }
        by_variant[name].ulp, by_variant[name].rows = math.max(by_variant[name].ulp, ulp), by_variant[name].rows + 1
      end
    end
  end
  return by_variant or text.fail(path, "expected a file of 'out/bench --csv', found nothing in it")
end

-- What was found of an op's planned variants in some precisions, as a sentence; empty for nothing.
function found.sentence(by_variant, op, dtypes)
  local most, rows = {}, 0
  for _, dtype in ipairs(dtypes) do
    local ulp
    for _, v in ipairs(op.planned) do
      local row = v.dtype == dtype and by_variant[v.name]
      if row then
        ulp, rows = math.max(ulp or 0, row.ulp), rows + row.rows
      end
    end
    most[#most + 1] = ulp and ("%s %.3g"):format(dtype, ulp) or nil
  end
  return #most == 0 and ""
    or (" In %d rows of the bench program it was at most %s."):format(rows, table.concat(most, ", "))
end

return found
