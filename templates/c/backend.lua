-- Kernels in C for the CPU: the instruction sets, and the parameters of each family's template.
--
-- A parameter's values are a range { least, most } of whole numbers or a list of names; short
-- gives the letters that a variant's name carries, or one entry per value. The first that a
-- variant row does not mention is the default.
return {
  kind = "cpu",
  lowering = "lower_c",
  extension = ".c",
  -- Widest first: dispatch prefers them in this order.
  backends = {
    { name = "avx512", features = { "AVX512F", "AVX512BW", "AVX512DQ", "AVX512VL" } },
    { name = "avx2", features = { "AVX2", "FMA", "F16C" } },
    { name = "sse2", features = { "SSE2" } },
    { name = "scalar", features = {} },
  },
  families = {
    map = {
      { "unroll", range = { 1, 16 }, default = 1, short = "u" },
      { "store", names = { "temporal", "streaming" }, default = "temporal", short = { streaming = "nt" } },
    },
    reduce = {
      { "accumulators", range = { 1, 16 }, default = 4, short = "a" },
    },
    rows = {
      { "accumulators", range = { 1, 16 }, default = 4, short = "a" },
      { "unroll", range = { 1, 16 }, default = 1, short = "u" },
    },
  },
  -- Whether the variants of an op have a function NAME_workspace: where rows are summed by column.
  workspace = function(op)
    return op.column_reductions > 0
  end,
  -- What a combination must satisfy; returns the reason where it does not.
  constraint = function(params, backend)
    if params.store == "streaming" and backend == "scalar" then
      return "store = 'streaming' needs vectors: expected backend 'sse2', 'avx2' or 'avx512'"
    end
  end,
}
