-- Softmax and its logarithm, over each row.

local vector = include "include/vector.lua"

op "softmax" {
  doc = "exp(x - max) / sum(exp(x - max)), over each row",
  inputs = { x = { "rows", "cols", range = { -10, 10 } } },
  outputs = { y = { "rows", "cols" } },
  rows = function(x)
    local e = exp(x - detach(row_max(x)))
    return e / row_sum(e)
  end,
  sizes = vector.row_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = true,
  variants = vector.rows,
  peers = { numpy = "np.exp(x - x.max()) / np.exp(x - x.max()).sum()", torch = "F.softmax(x, -1)" },
}

op "log_softmax" {
  doc = "x - max - log(sum(exp(x - max))), over each row",
  inputs = { x = { "rows", "cols", range = { -10, 10 } } },
  outputs = { y = { "rows", "cols" } },
  rows = function(x)
    local shifted = x - detach(row_max(x))
    return shifted - log(row_sum(exp(shifted)))
  end,
  sizes = vector.row_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = true,
  variants = vector.rows,
  peers = { numpy = "x - x.max() - np.log(np.exp(x - x.max()).sum())", torch = "F.log_softmax(x, -1)" },
}

op "logsumexp" {
  doc = "log(sum(exp(x))), for each row",
  inputs = { x = { "rows", "cols", range = { -10, 10 } } },
  outputs = { r = { "rows" } },
  rows = function(x)
    local largest = detach(row_max(x))
    return largest + log(row_sum(exp(x - largest)))
  end,
  sizes = vector.row_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = true,
  variants = vector.rows,
  peers = { torch = "torch.logsumexp(x, -1)" },
}
