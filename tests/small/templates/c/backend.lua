-- What the tests of the generator have in place of the project's backends, which are tuned.
return {
  kind = "cpu",
  lowering = "lower_c",
  extension = ".c",
  backends = {
    { name = "avx2", features = { "AVX2", "FMA" } },
    { name = "scalar", features = {} },
  },
  templates = {
    map = {
      { "unroll", range = { 1, 16 }, default = 1, short = "u" },
      { "store", names = { "temporal", "streaming" }, default = "temporal", short = { streaming = "nt" } },
    },
    reduce = { { "accumulators", range = { 1, 16 }, default = 4, short = "a" } },
    rows = {},
  },
  defaults = {
    map = { { backend = "avx2", unroll = 4, prefer = { from = 1024 } }, { backend = "scalar", unroll = { 1, 2 } } },
    reduce = { { backend = { "avx2", "scalar" }, accumulators = 8 } },
    rows = { { backend = "cpu" } },
  },
}
