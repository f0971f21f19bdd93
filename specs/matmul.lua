-- Products of matrices, of each order in memory and in batches.

local matrix = include "include/matrix.lua"

local ops = {
  matmul = { { "m", "k" }, { "k", "n" }, "a @ b", "a @ b", gradient = "dc @ b.T, a.T @ dc" },
  matmul_nt = { { "m", "k" }, { "n", "k" }, "a times b transposed", "a @ b.T" },
  matmul_tn = { { "k", "m" }, { "k", "n" }, "a transposed times b", "a.T @ b" },
}

for name, row in pairs(ops) do
  op(name) {
    doc = row[3],
    inputs = { a = row[1], b = row[2] },
    outputs = { c = { "m", "n" } },
    compute = function(a, b) return sum(a * b, "k") end,
    sizes = matrix.sizes,
    sets = matrix.sets,
    dtypes = matrix.dtypes,
    ulp = matrix.ulp,
    backward = row.gradient and { variants = { "default" }, peers = { numpy = row.gradient } },
    variants = row.gradient and matrix.all_variants,
    peers = { numpy = row[4], torch = row[4], blas = "gemm" },
  }
end

op "matmul_batched" {
  doc = "a @ b for each of some batches",
  inputs = { a = { "batch", "m", "k" }, b = { "batch", "k", "n" } },
  outputs = { c = { "batch", "m", "n" } },
  compute = function(a, b) return sum(a * b, "k") end,
  sizes = { { "8x64", batch = 8, m = 64, n = 64, k = 64 } },
  sets = matrix.sets,
  dtypes = matrix.dtypes,
  ulp = matrix.ulp,
  peers = { numpy = "a @ b", torch = "a @ b", blas = "gemm" },
}
