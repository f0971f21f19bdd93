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
      { "values", names = { "computed", "table" }, default = "computed", short = { table = "table" } },
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
  -- What a combination must satisfy for an op in some precisions; returns the reason where it does not.
  constraint = function(params, backend, op, dtypes)
    if params.store == "streaming" and backend == "scalar" then
      return "store = 'streaming' needs vectors: expected backend 'sse2', 'avx2' or 'avx512'"
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
