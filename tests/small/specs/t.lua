op "t" {
  doc = "test",
  inputs = { x = { "n" } },
  outputs = { y = { "n" } },
  compute = function(x) return x end,
  sizes = { { "1K", n = 1000 } },
  dtypes = { "f32" },
  ulp = { f32 = 1 },
  variants = { { backend = "scalar" } },
}
