-- Kernels in CUDA C: one device image (a fatbin) for each op and precision, with a kernel or more
-- for every variant.
local tensor = use "tensor_shape.lua"

local MOST_SHARED = 227 * 1024 - 2048 -- bytes that a block may have besides what a kernel declares, on the largest GPUs
local REGISTERS, OTHERS = 65536, 64 -- of a multiprocessor; those of a thread besides its sums

-- Why products cannot be rounded to tf32, or nil.
local function refused_rounding(p, dtypes)
  for _, dtype in ipairs(p.products == "tf32" and dtypes or {}) do
    if dtype ~= "f32" then
      return "products = tf32: expected the dtype f32 alone, found " .. dtype
    end
  end
end

-- Why what is between products cannot be rounded, or nil.
local function refused_narrowing(p, op, dtypes)
  local of = op.stream or op.sequence or op.steps
  if p.products == "narrow" and of and #of.products == 0 then
    return "products = narrow: expected a product of what another one comes to, found none"
  end
  for _, dtype in ipairs(p.products == "narrow" and dtypes or {}) do
    if dtype ~= "f16" and dtype ~= "bf16" then
      return "products = narrow: expected the dtypes f16 and bf16 alone, found " .. dtype
    end
  end
end

-- Why tensor cores cannot have a tile, or nil.
local function refused_tile(p, dtypes)
  for _, dtype in ipairs(dtypes) do
    if p.products ~= "tf32" and dtype ~= "f16" and dtype ~= "bf16" then
      return "unit = " .. p.unit .. ": expected the dtypes f16 and bf16 alone, or products = tf32, found " .. dtype
    end
  end
  if p.unit == "wgmma" and p.bn == 64 then
    return "unit = wgmma: expected bn = 128, 256 or auto, found " .. p.bn
  elseif p.unit == "wgmma" and p.stages < 3 then
    return "unit = wgmma: expected stages of at least 3, one of which is read while one is copied, found "
      .. p.stages
  end
  local shape = tensor.copied(p)
  local sums, most = shape.numbers // shape.threads, math.min(255, REGISTERS // shape.threads)
  if sums + OTHERS > most then
    return ("bm = %d, bn = %d: expected at most %d registers in each of %d threads, found %d sums, %d others"):format(
      shape.bm, shape.bn, most, shape.threads, sums, OTHERS)
  elseif shape.shared > MOST_SHARED then
    return ("bm = %d, bn = %d, stages = %d: expected at most the %d bytes of shared memory that a block has, found %d")
      :format(shape.bm, shape.bn, p.stages, MOST_SHARED, shape.shared)
  end
end

return {
  kind = "cuda",
  lowering = "lower_cuda",
  extension = ".cu",
  rule = "nvcc",
  schedule = use "schedule.lua",
  defaults = use "defaults.lua",
  keeps_exact = true, -- temporaries that hold what operands have are of the op's type
  backends = {
    { name = "cuda", features = { "SM80" } },
  },
  -- What not all architectures have; configure says what those of --cuda-arch lack. A variant that needs it is a row
  -- with the reason.
  tried_extensions = { "wgmma" },
  -- block: threads of a block; unroll: 16-byte accesses of a thread in flight at once; waves: most
  -- blocks for each multiprocessor; cache: what is read and written `once` leaves the caches first;
  -- threads: most of a block that shares a row, hold: 16-byte accesses that a thread holds of a row; ahead: whether
  -- blocks stay for many rows and read them before their turn.
  templates = {
    map = {
      { "block", range = { 32, 1024 }, default = 256, short = "b" },
      { "unroll", range = { 1, 16 }, default = 2, short = "u" },
      { "cache", names = { "keep", "once" }, default = "once", short = { keep = "keep" } },
    },
    reduce = {
      { "block", range = { 32, 1024 }, default = 512, short = "b" },
      { "unroll", range = { 1, 16 }, default = 4, short = "u" },
      { "waves", range = { 1, 32 }, default = 4, short = "w" },
    },
    -- products: of factors as they are, or of f32 rounded to tf32, or of what is between them rounded to the operands'
    -- type, both of which dispatch leaves to ops that allow it;
    -- unit: what multiplies, where factors allow it: registers or tensor cores; bm, bn: rows and columns of
    -- a block's tile, of which auto leaves the columns to the size of a call; stages: slices of the factors in
    -- shared memory at once where threads copy them.
    contract = {
      {
        "unit", names = { "vector", "mma", "wgmma" }, default = "vector", short = { mma = "mma", wgmma = "wgmma" },
        needs = { wgmma = { "wgmma" } }, features = { wgmma = { "SM90A" } },
      },
      { "bm", names = { 64, 128, 256 }, default = 128, short = "m" },
      {
        "bn", names = { "auto", 64, 128, 256 }, default = 128,
        short = { [64] = "n64", [128] = "n128", [256] = "n256" },
      },
      { "stages", range = { 2, 6 }, default = 3, short = "s" },
      {
        "products", names = { "exact", "tf32", "narrow" }, default = "exact",
        short = { tf32 = "tf32", narrow = "narrow" },
      },
    },
    nest = {},
    -- products: narrow ones are of what is between them rounded to the operands' type, by tensor cores.
    stream = {
      { "products", names = { "exact", "narrow" }, default = "exact", short = { narrow = "narrow" } },
    },
    chain = {},
    -- products: as those of contract.
    chain_matrix = {
      { "products", names = { "exact", "tf32" }, default = "exact", short = { tf32 = "tf32" } },
    },
    rows = {
      {
        "threads", names = { 128, 256, 512, 1024 }, default = 512,
        short = { [128] = "t128", [256] = "t256", [1024] = "t1024" },
      },
      {
        "hold", names = { "auto", 1, 2, 4, 8 }, default = "auto",
        short = { [1] = "h1", [2] = "h2", [4] = "h4", [8] = "h8" },
      },
      {
        "ahead", names = { "auto", "never", "always" }, default = "auto",
        short = { never = "once", always = "ahead" },
      },
    },
  },
  implementations = {
    for_loop = { template = "chain" },
    coopmat = { template = "chain_matrix" },
    stream = { template = "stream" },
    -- Sums of products as products of matrices, and values of no sum for themselves; each sum of what is stored before.
    product = { template = "contract", steps = { points = true } },
    unfused = { template = "contract", steps = { points = true, stored = true } },
  },
  constraint = function(params, _, op, dtypes)
    local block, unroll = params.block, params.unroll
    if params.products == "tf32" and params.unit == "vector" then
      return "products = tf32: expected unit = mma or wgmma, found vector"
    end
    local refused = refused_rounding(params, dtypes) or refused_narrowing(params, op, dtypes)
    if refused or params.unit == "mma" or params.unit == "wgmma" then
      return refused or refused_tile(params, dtypes)
    end
    if block and block & (block - 1) ~= 0 then
      return "block = " .. block .. ": expected a power of two"
    elseif unroll and unroll & (unroll - 1) ~= 0 then
      return "unroll = " .. unroll .. ": expected a power of two"
    elseif params.waves and block * params.waves > 2048 then
      return "block * waves = " .. block * params.waves .. ": expected at most the 2048 threads of a multiprocessor"
    end
  end,
}
