-- Ops whose kernels tests/cuda_faults.sh makes misbehave on a real GPU, each by its name, and one that
-- it leaves alone between them.

for _, name in ipairs { "a_faults", "b_right", "c_spins", "d_right", "e_wavers", "f_right" } do
  op(name) {
    doc = "2 x + 1",
    inputs = { x = { "n", range = { 1, 2 } } }, outputs = { y = { "n" } },
    compute = function(x) return 2 * x + 1 end,
    sizes = { { "1M", n = 1000000 } },
    dtypes = { "f32" },
    ulp = { f32 = 4 },
    variants = { { backend = "cuda", block = 256, unroll = { 1, 2 } } },
  }
end
