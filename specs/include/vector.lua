-- What the ops on vectors share: the sizes of interest and the variants to make.

local wide = { "sse2", "avx2", "avx512" }

local function sizes(dims)
  local list = {}
  for _, size in ipairs { { "100", 100 }, { "1K", 1000 }, { "10K", 10000 }, { "100K", 100000 }, { "1M", 1000000 } } do
    list[#list + 1] = dims(size[1], size[2])
  end
  return list
end

return {
  dtypes = { "f32", "f64" },
  sizes = sizes(function(name, n)
    return { name, n = n }
  end),
  row_sizes = sizes(function(name, n)
    return { name, rows = 1, cols = n }
  end),
  -- The first row that fits is the one that dispatch calls.
  map = {
    { backend = wide, unroll = 4, store = "streaming", prefer = { from = 2 ^ 25 } },
    { backend = wide, unroll = { 4, 1 } },
    { backend = "scalar", unroll = { 1, 4 } },
  },
  reduce = {
    { backend = wide, accumulators = { 8, 4 } },
    { backend = "scalar", accumulators = { 8, 1 } },
  },
  rows = {
    { backend = wide, accumulators = 4, unroll = { 4, 1 } },
    { backend = "scalar", accumulators = 4, unroll = 1 },
  },
}
