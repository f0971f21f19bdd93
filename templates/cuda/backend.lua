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
  -- blocks for each multiprocessor; cache: what is read and written `once` leaves the caches first;
  -- threads: most of a block that shares a row, hold: 16-byte accesses that a thread holds of a row; ahead: whether
  -- blocks stay for many rows and read them before their turn.
  families = {
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
  -- Whether the variants of an op have a function NAME_workspace.
  workspace = function(op)
    return op.family ~= "map"
  end,
  constraint = function(params)
    local block, unroll = params.block, params.unroll
    if block and block & (block - 1) ~= 0 then
      return "block = " .. block .. ": expected a power of two"
    elseif unroll and unroll & (unroll - 1) ~= 0 then
      return "unroll = " .. unroll .. ": expected a power of two"
    elseif params.waves and block * params.waves > 2048 then
      return "block * waves = " .. block * params.waves .. ": expected at most the 2048 threads of a multiprocessor"
    end
  end,
}
