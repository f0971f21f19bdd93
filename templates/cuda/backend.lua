-- Kernels in CUDA C: one device image (a fatbin) for each op and precision, with a kernel or more
-- for every variant.
return {
  kind = "cuda",
  lowering = "lower_cuda",
  extension = ".cu",
  rule = "nvcc",
  backends = {
    { name = "cuda", features = { "SM80" } },
  },
  -- block: threads of a block; unroll: 16-byte accesses of a thread in flight at once; waves: most
  -- blocks for each multiprocessor, 0 for as many as there is work.
  families = {
    map = {
      { "block", range = { 32, 1024 }, default = 256, short = "b" },
      { "unroll", range = { 1, 16 }, default = 4, short = "u" },
      { "waves", range = { 0, 64 }, default = 0, short = "w" },
    },
    reduce = {
      { "block", range = { 32, 1024 }, default = 512, short = "b" },
      { "unroll", range = { 1, 16 }, default = 4, short = "u" },
      { "waves", range = { 1, 64 }, default = 4, short = "w" },
    },
    rows = {
      { "threads", names = { "few", "many" }, default = "few", short = { few = "few", many = "many" } },
    },
  },
  workspace = { reduce = true }, -- families whose variants have a function NAME_workspace
  constraint = function(params)
    local block, unroll = params.block, params.unroll
    if block and block & (block - 1) ~= 0 then
      return "block = " .. block .. ": expected a power of two"
    elseif unroll and unroll & (unroll - 1) ~= 0 then
      return "unroll = " .. unroll .. ": expected a power of two"
    end
  end,
}
