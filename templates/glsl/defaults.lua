-- The rows of variants that ops have on Vulkan where their specs do not say: by the kinds of gen/trace/kind.lua.
-- Dispatch calls the first that prefers the size, in bytes of all operands together, and that a device can run.

local chain = {
  { backend = "vulkan", implementation = "coopmat", dtypes = "f16" },
  { backend = "vulkan" },
  { backend = "vulkan", implementation = "for_loop" },
}

-- Matrices first.
local contract = {
  { backend = "vulkan", unit = "matrix", bm = 128, bn = 128, bk = 32, dtypes = "f16" },
  { backend = "vulkan", bn = 128 },
}

-- As on CUDA.
local function streams(implementation)
  return {
    { backend = "vulkan", implementation = implementation, unit = "matrix", products = "narrow", dtypes = "f16" },
    { backend = "vulkan", implementation = implementation },
  }
end

return {
  map = { { backend = "vulkan", block = { 128, 256 }, unroll = 1 } },
  -- As on CUDA.
  reduce = {
    { backend = "vulkan", block = 512, unroll = 2, waves = 4, prefer = { to = 2 ^ 24 } },
    { backend = "vulkan", block = 512, unroll = 4, waves = 2 },
  },
  reduce_to_index = { { backend = "vulkan", block = 256, unroll = 4, waves = 4 } },
  rows = { { backend = "vulkan" } },
  rows_to_totals = { { backend = "vulkan" } },
  contract = contract,
  -- As on CUDA.
  contract_stream = {
    {
      backend = "vulkan", implementation = "stream", unit = "matrix", products = "narrow", dtypes = "f16",
      prefer = { width = 256 },
    },
    { backend = "vulkan", implementation = "stream", dtypes = { "f32", "f64" }, prefer = { width = 256 } },
    table.unpack(contract),
  },
  contract_typed = { { backend = "vulkan", bn = 128 } },
  chain = chain,
  chain_to_totals = chain,
  stream = streams "stream",
  stream_sequence = streams "sequence",
  sequence = {
    {
      backend = "vulkan", implementation = "sequence", unit = "matrix", bm = 128, bn = 128, bk = 32, dtypes = "f16",
    },
    { backend = "vulkan", implementation = "sequence", bn = 128 },
  },
  nest = { { backend = "vulkan" } },
}
