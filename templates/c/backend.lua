-- Kernels in C for the CPU: the parameters of each template. The instruction sets are rows of
-- gen/pour/instruction_sets.lua.
--
-- A parameter's values are a range { least, most } of whole numbers or a list of names; short
-- gives the letters that a variant's name carries, or one entry per value. The first that a
-- variant row does not mention is the default.

-- A parameter that a name tells where it is not as usual.
local function unless(usual, letter)
  return setmetatable({}, {
    __index = function(_, value)
      return value ~= usual and letter .. value or nil
    end,
  })
end

-- Registers that a tile's sums, a row of its columns and a factor may take.
local registers = {}
for _, set in ipairs(instruction_sets) do
  registers[set.name] = set.registers
end

-- Why a tile does not fit the registers, or nil.
local function too_wide(params, backend)
  local wanted = params.mr and params.mr * params.nv + params.nv + 1
  if wanted and wanted > (registers[backend] or wanted) then
    return ("a tile of mr = %d rows of nv = %d vectors takes %d registers with what is added to it: expected at most "
      .. "%d for '%s'"):format(params.mr, params.nv, wanted, registers[backend], backend)
  end
end

-- What units multiply: pairs of inputs in memory whose types are of one of these lists.
local multiplies = {
  amx = { { bf16 = true }, { i8 = true, u8 = true }, named = "two inputs of bf16, or two of i8 or u8" },
  vnni = { { i8 = true, u8 = true }, named = "two inputs of i8 or u8" },
}

-- Why a unit has nothing to multiply in one of some precisions of an op, or nil. as: what a spec asks for it by.
local function idle(unit, as, op, dtypes)
  for i = 1, #dtypes do
    local most = 0
    for _, types in ipairs(multiplies[unit]) do
      local count = 0
      for j = 1, #op.operands do
        local operand = op.operands[j]
        local fits = not operand.output and #operand.dims > 0 and types[operand.storage or dtypes[i]]
        count = count + (fits and 1 or 0)
      end
      most = math.max(most, count)
    end
    if most < 2 then
      return ("%s multiplies %s: found %s in %s; a row's dtypes = { ... } names its precisions"):format(as,
        multiplies[unit].named, most == 1 and "one" or "none", dtypes[i])
    end
  end
end

-- The templates of steps, and of runs of these.
local steps = { contract = true, chain = true, stream = true, sequence = true }

return {
  kind = "cpu",
  lowering = "lower_c",
  extension = ".c",
  defaults = use "defaults.lua",
  backends = instruction_sets,
  templates = {
    map = {
      { "unroll", range = { 1, 16 }, default = 1, short = "u" },
      { "store", names = { "temporal", "streaming" }, default = "temporal", short = { streaming = "nt" } },
      { "values", names = { "computed", "table" }, default = "computed", short = { table = "table" } },
    },
    reduce = {
      { "accumulators", range = { 1, 16 }, default = 4, short = "a" },
    },
    rows = {
      { "accumulators", range = { 1, 16 }, default = 4, short = "a" },
      { "unroll", range = { 1, 16 }, default = 1, short = "u" },
    },
    -- Neighbouring vectors that are computed together.
    nest = {
      { "unroll", range = { 1, 16 }, default = 4, short = "u" },
    },
    -- A tile's rows and vectors of columns; terms, rows and columns of a block, 0: as the caches have room; what
    -- multiplies factors of 8 bits as they are in memory.
    contract = {
      {
        "unit", names = { "vector", "vnni" }, default = "vector", short = { vnni = "vnni" },
        features = { vnni = { "AVX512VNNI" } },
      },
      { "mr", range = { 1, 16 }, default = 4, short = "r" },
      { "nv", range = { 1, 8 }, default = 2, short = "v" },
      { "kc", range = { 0, 4096 }, default = 0, short = unless(0, "k") },
      { "mc", range = { 0, 65536 }, default = 0, short = unless(0, "m") },
      { "nc", range = { 0, 65536 }, default = 0, short = unless(0, "n") },
      -- Products of less than this, cubed, read their factors where they are; 0: none does.
      { "direct", range = { 0, 4096 }, default = 100, short = unless(100, "d") },
    },
    -- A tile's rows and vectors of columns; rows of the batch that go through all layers together.
    chain = {
      { "mr", range = { 1, 16 }, default = 6, short = "r" },
      { "nv", range = { 1, 8 }, default = 2, short = "v" },
      { "rows", range = { 1, 4096 }, default = 96, short = "b" },
    },
    -- A tile's rows and vectors of keys or columns; keys of a block, of numbers of 4 bytes.
    stream = {
      { "mr", range = { 1, 16 }, default = 4, short = "r" },
      { "nv", range = { 1, 8 }, default = 2, short = "v" },
      { "keys", range = { 16, 4096 }, default = 256, short = unless(256, "k") },
    },
  },
  implementations = {
    simd = { template = "chain" },
    stream = { template = "stream" },
    -- Sums of products as products of matrices, and values of no sum for themselves; each sum of what is stored before.
    product = { template = "contract", steps = { points = true } },
    unfused = { template = "contract", steps = { points = true, stored = true } },
  },
  -- Whether the variants of an op by a template have a function NAME_workspace: where rows are summed by
  -- column, and of steps.
  workspace = function(op, template)
    return steps[template] or template == "nest" or op.column_reductions > 0
  end,
  -- The templates that define NAME_ways for each variant: of steps.
  ways = steps,
  -- Those that define NAME_sharing.
  sharing = { contract = true, nest = true, stream = true, sequence = true },
  -- What a combination must satisfy for an op in some precisions; returns the reason where it does not.
  constraint = function(params, backend, op, dtypes)
    local reason = too_wide(params, backend)
    if reason then
      return reason
    elseif params.unit == "vnni" and backend ~= "avx512" then
      return "unit = vnni: expected backend 'avx512', found '" .. backend .. "'"
    elseif params.unit == "vnni" then
      return idle("vnni", "unit = vnni", op, dtypes)
    elseif backend == "amx" then
      return idle("amx", "backend 'amx'", op, dtypes)
    elseif params.store == "streaming" and backend == "scalar" then
      return "store = 'streaming' needs vectors: expected backend 'simd'"
    elseif params.values ~= "table" then
      return
    end
    -- A table has the results of all that a number of 16 bits can be (map.c), and of nothing else.
    for i = 1, #dtypes do
      if dtypes[i] ~= "f16" and dtypes[i] ~= "bf16" then
        return "values = 'table' needs numbers of 16 bits: expected dtypes = \"f16\", \"bf16\" or both, found '"
          .. dtypes[i] .. "'"
      end
    end
    local inputs, scalars = 0, #op.scalars
    for i = 1, #op.operands do
      inputs = inputs + (op.operands[i].output and 0 or 1)
      if op.operands[i].storage then
        return ("values = 'table' needs numbers of 16 bits: expected '%s' without a dtype of its own"):format(
          op.operands[i].name)
      end
    end
    local outputs = #op.operands - inputs
    if inputs ~= 1 or outputs ~= 1 or scalars > 0 then
      return ("values = 'table' needs a function of one number alone: expected 1 input, 1 output and no scalars, "
        .. "found %d, %d and %d"):format(inputs, outputs, scalars)
    elseif params.unroll > 1 or params.store ~= "temporal" then
      return "values = 'table' is looked up in one way only: expected no 'unroll' and no 'store' beside it"
    end
  end,
}
