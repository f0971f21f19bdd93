-- The rows of variants that ops have on the CPU where their specs do not say: by the kinds of gen/trace/kind.lua.
--
-- Of the rows for the widest instruction set that a processor has, dispatch calls the first that prefers the size;
-- sizes here are bytes of all operands together.

local reductions = {
  -- Folding many accumulators and wide vectors costs more than a short input saves by them.
  { backend = "avx512", accumulators = { 8, 4 }, prefer = { from = 2048 } },
  { backend = { "simd", "-avx512" }, accumulators = 8, prefer = { from = 2048 } },
  { backend = { "simd", "-avx512" }, accumulators = 4 },
  -- With one alone a hundred roundings in a row add up to more than the bound, once in a while.
  { backend = "scalar", accumulators = { 8, 4 } },
}

-- Tiles for the registers of each instruction set, by an implementation or the op's own template.
local function tiles(implementation, prefer)
  return {
    { backend = "avx512", implementation = implementation, mr = 14, nv = 2, prefer = prefer },
    { backend = "avx2", implementation = implementation, mr = 6, nv = 2, prefer = prefer },
    { backend = { "simd", "-avx512", "-avx2" }, implementation = implementation, mr = 4, nv = 2, prefer = prefer },
    { backend = "scalar", implementation = implementation, mr = 4, nv = 2, prefer = prefer },
  }
end
local contractions = tiles()
local contract = { { backend = "amx", mr = 14, nv = 2, dtypes = "bf16" }, table.unpack(contractions) }

-- Of matrices of a few hundred rows it takes longer to pack rows for them, and to write and read what is between two
-- layers, than to take some rows through all layers at once: of 64 inputs, 64 hidden and 16 outputs it takes 25 us on
-- an EPYC (Zen 4) in place of 30, of 256, 256 and 64 374 of 395.
local chain = {
  { backend = "avx512", implementation = "simd", mr = 8, nv = 2 },
  { backend = "avx512", mr = 14, nv = 2 },
  { backend = "avx2", implementation = "simd", mr = 6, nv = 2 },
  { backend = "avx2", mr = 6, nv = 2 },
  { backend = { "simd", "-avx512", "-avx2" }, implementation = "simd", mr = 6, nv = 2 },
  { backend = { "simd", "-avx512", "-avx2" }, mr = 4, nv = 2 },
  { backend = "scalar", implementation = "simd", mr = 4, nv = 2 },
  { backend = "scalar", mr = 4, nv = 2 },
}

-- A list and another one after it.
local function joined(list, more)
  return table.move(more, 1, #more, #list + 1, list)
end

return {
  map = {
    -- Past the caches an output need not be read before it is written. Measured at 8 to 16 MB: a
    -- Xeon with 2 MB of its own gains a quarter by streaming, an EPYC with 32 MB nothing, and it
    -- loses on plain copies that its third level holds.
    { backend = "simd", unroll = 4, store = "streaming", prefer = { from = 2 ^ 23 } },
    { backend = "simd", unroll = { 4, 1 } },
    { backend = "scalar", unroll = { 1, 4 } },
  },
  reduce = reductions,
  reduce_to_index = reductions,
  rows = {
    { backend = "simd", accumulators = 4, unroll = { 4, 1 } },
    { backend = "scalar", accumulators = 4, unroll = 1 },
  },
  -- There are no points to unroll.
  rows_to_totals = { { backend = "cpu", accumulators = 4 } },
  contract = contract,
  contract_typed = contractions,
  -- Of what is wider a stream would make products again for the columns that it has no room for.
  contract_stream = joined(tiles("stream", { width = 256 }), contract),
  chain = chain,
  chain_to_totals = chain,
  stream = tiles "stream",
  stream_sequence = tiles "sequence",
  sequence = tiles "sequence",
  nest = { { backend = "cpu", unroll = 4 } },
}
