-- What several machines compile of a build, each its share: as ninja's dynamic dependencies of the targets shard-1/N to
-- shard-N/N.

local cost = require "cost"
local text = require "text"

local shards = {}

shards.most = 64 -- that build.ninja has targets for

-- Of the bench program what is the same whatever the ops are, which build.ninja.in names so, and the table.
local RUNTIME, TABLE = "out/runtime.objects", "table.o"

-- Seconds of a kernel's compilation by its rule, where no log tells: of the first build of everything.
local guessed = { cc_kernel = 0.3, cc_reference = 0.15, nvcc = 1.5, glsl = 0.1 }
local guessed_runtime = 25

local function by_cost(a, b)
  if a.seconds ~= b.seconds then
    return a.seconds > b.seconds
  end
  return a.path < b.path
end

-- What there is to compile and to keep in a cache, the dearest first. seconds: of the last build, by path.
local function files_of(ops, out, seconds)
  local runtime = 0
  for path, taken in text.sorted_pairs(seconds) do
    runtime = runtime + (path:find "^out/obj/runtime/" and taken or 0)
  end
  local files = { { path = RUNTIME, seconds = runtime > 0 and runtime or guessed_runtime } }
  files[2] = { path = out .. "/" .. TABLE, seconds = seconds[out .. "/" .. TABLE] or 1 }
  for _, op in ipairs(ops) do
    for _, file in ipairs(not op.left_out and op.sources or {}) do
      if not file.host then
        local path = out .. "/" .. file.made
        local rule = file.image and file.backend.rule or file.reference and "cc_reference" or "cc_kernel"
        local kernels = 0
        for _, part in ipairs(file.parts or {}) do
          kernels = kernels + #part.variants
        end
        files[#files + 1] = { path = path, seconds = seconds[path] or guessed[rule] * math.max(kernels, 1) }
      end
    end
  end
  table.sort(files, by_cost)
  return files
end

-- The text of the file for so many shards: each file goes to the shard that has least to do so far. log: ninja's.
function shards.write(ops, out, log, count)
  local files = files_of(ops, out, (cost.read_log(log)))
  local shares = {}
  for nth = 1, count do
    shares[nth] = { seconds = 0, paths = {} }
  end
  for _, file in ipairs(files) do
    local least = shares[1]
    for _, share in ipairs(shares) do
      least = share.seconds < least.seconds and share or least
    end
    least.seconds = least.seconds + file.seconds
    table.insert(least.paths, (file.path:gsub("[$ :]", "$%0")))
  end
  local lines = { "ninja_dyndep_version = 1" }
  for nth, share in ipairs(shares) do
    lines[#lines + 1] = ("build shard-%d/%d: dyndep%s%s"):format(nth, count, share.paths[1] and " | $\n    " or "",
      table.concat(share.paths, " $\n    "))
  end
  return table.concat(lines, "\n") .. "\n"
end

-- The edges of all such targets. folder: where their files are, from the build's.
function shards.edges(folder)
  local lines = {}
  for count = 1, shards.most do
    local file = folder .. "/" .. count
    lines[#lines + 1] = ("build %s: shards | out/lathe-gen out/generator-flags out/gen/kernels.ninja"):format(file)
    lines[#lines + 1] = "  count = " .. count
    for nth = 1, count do
      lines[#lines + 1] = ("build shard-%d/%d: phony || %s\n  dyndep = %s"):format(nth, count, file, file)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

-- How many shards a word asks for.
function shards.count_of(word)
  local count = math.tointeger(tonumber(word))
  if not count or count < 1 or count > shards.most then
    text.refuse("shards: expected a number from 1 to %d, found '%s'", shards.most, word)
  end
  return count
end

return shards
