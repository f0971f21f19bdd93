-- Device code in files that another program can take: the images that the build has made, and which variants of an op
-- have their kernels there.

local interface = require "interface"
local text = require "text"

local device_code = {}

-- What a source file says below its first comment and without #line, for an image's must say what is poured now: how
-- often each of its words stands there. The order of some, and the numbers of values, depend on what was poured before.
local function told(source)
  local counts, lines = {}, {}
  source = source:gsub("^/%*.-%*/\n", ""):gsub("#line [^\n]*\n", "")
  for word in source:gmatch "[%w_.]+" do
    word = word:find "^[tu]%d+[%d_]*$" and "a value" or word
    counts[word] = (counts[word] or 0) + 1
  end
  for word, count in text.sorted_pairs(counts) do
    lines[#lines + 1] = word .. " " .. count
  end
  return table.concat(lines, "\n")
end

-- Bytes as the initializers of words.
local function words_of(bytes, size, each)
  local lines, format = {}, "<I" .. size
  bytes = bytes .. ("\0"):rep(-#bytes % size)
  for at = 1, #bytes, size * each do
    local cells = {}
    for i = at, math.min(at + size * each, #bytes + 1) - size, size do
      local word = string.unpack(format, bytes, i)
      cells[#cells + 1] = word == 0 and "0," or ("0x%x,"):format(word)
    end
    lines[#lines + 1] = "  " .. table.concat(cells, " ")
  end
  return table.concat(lines, "\n")
end

-- The images that an op's variants have their kernels in: { name, part, bytes, place, size, loose }, those of a part's
-- runs side by side; part.first is the place of its first. folder: where the build makes them; read: a file there.
function device_code.images(op, poured, folder, read)
  local by_image, list, target = {}, {}, op.forward and op.forward.name or op.name
  for _, file in ipairs(op.sources) do
    for _, part in ipairs(file.image and file.parts or {}) do
      by_image[part] = file
    end
  end
  for _, v in ipairs(op.planned) do
    local devices = v.part.runs or { v.part }
    for _, device in ipairs(not v.part.first and devices or {}) do
      local file = by_image[device]
      local source, bytes = read(folder .. "/" .. file.path), read(folder .. "/" .. device.image)
      if not source or not bytes then
        text.fail(folder .. "/" .. device.image, "expected device code, found none; 'ninja export-%s' in a build's "
          .. "folder makes it", target)
      elseif told(source) ~= told(poured[file]) then
        text.fail(folder .. "/" .. file.path, "expected what is generated now, found another; 'ninja export-%s' in the "
          .. "build's folder brings it up to date", target)
      end
      v.part.first = v.part.first or #list
      list[#list + 1] = {
        name = "lathe_code_" .. #list, bytes = bytes, size = #bytes, loose = device.loose,
        place = "\2" .. #list .. "\2", part = device,
      }
    end
  end
  return list
end

-- Puts images where a text names their places: after all that changes names, which has nothing to do there.
function device_code.poured(source, images, size, each)
  return (source:gsub("\2(%d+)\2", function(nth)
    local image = images[tonumber(nth) + 1]
    return ("static const uint%d_t %s[] = {\n%s\n};"):format(8 * size, image.name, words_of(image.bytes, size, each))
  end))
end

-- Of each function the rows of variants that dispatch looks through, and how many kernels they have in all.
function device_code.choices(op, functions)
  local rows, kernels = {}, 0
  for _, t in ipairs(functions) do
    rows[t] = {}
    for _, v in ipairs(op.planned) do
      if v.dtype == t.dtype then
        local needs = { "LATHE_ON_" .. v.backend.kind:upper() }
        for _, feature in ipairs(v.backend.features) do
          needs[#needs + 1] = "LATHE_" .. feature
        end
        for _, feature in ipairs(v.features) do
          needs[#needs + 1] = "LATHE_" .. feature
        end
        table.insert(rows[t], {
          name = v.name, prefer = interface.prefer(v.prefer), first = kernels,
          features = table.concat(needs, " | "), code = v.part.first, codes = v.part.runs and #v.part.runs or 1,
        })
        kernels = kernels + v.launching.kernels
      end
    end
  end
  return rows, kernels
end

return device_code
