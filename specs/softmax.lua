-- Softmax and its logarithm, over each row.

local vector = include "include/vector.lua"

-- How each of these begins in NumPy.
local numpy_exp = "e = np.exp(x - x.max(-1, keepdims=True)); "

op "softmax" {
  doc = "exp(x - max) / sum(exp(x - max)), over each row",
  inputs = { x = { "rows", "cols", range = { -10, 10 } } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x)
    local e = exp(x - detach(max(x, "cols")))
    return e / sum(e, "cols")
  end,
  sizes = vector.row_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = {
    peers = {
      numpy = numpy_exp .. "y = e / e.sum(-1, keepdims=True); y * (dy - (dy * y).sum(-1, keepdims=True))",
    },
  },
  peers = { numpy = numpy_exp .. "e / e.sum(-1, keepdims=True)", torch = "F.softmax(x, -1)", cudnn = "softmax" },
}

op "log_softmax" {
  doc = "x - max - log(sum(exp(x - max))), over each row",
  inputs = { x = { "rows", "cols", range = { -10, 10 } } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x)
    local shifted = x - detach(max(x, "cols"))
    return shifted - log(sum(exp(shifted), "cols"))
  end,
  sizes = vector.row_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = { peers = { numpy = numpy_exp .. "dy - e / e.sum(-1, keepdims=True) * dy.sum(-1, keepdims=True)" } },
  peers = {
    numpy = "s = x - x.max(-1, keepdims=True); s - np.log(np.exp(s).sum(-1, keepdims=True))",
    torch = "F.log_softmax(x, -1)",
    cudnn = "log_softmax",
  },
}

op "logsumexp" {
  doc = "log(sum(exp(x))), for each row",
  inputs = { x = { "rows", "cols", range = { -10, 10 } } },
  outputs = { r = { "rows" } },
  compute = function(x)
    local largest = detach(max(x, "cols"))
    return largest + log(sum(exp(x - largest), "cols"))
  end,
  sizes = vector.row_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = {
    peers = { numpy = numpy_exp .. "dr[..., None] * e / e.sum(-1, keepdims=True)" },
  },
  peers = {
    numpy = "m = x.max(-1, keepdims=True); m[..., 0] + np.log(np.exp(x - m).sum(-1))",
    torch = "torch.logsumexp(x, -1)",
  },
}
