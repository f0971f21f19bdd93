-- How far predictions are from what was wanted.

local vector = include "include/vector.lua"

op "mse" {
  doc = "the mean of (x - t)^2",
  inputs = { x = { "n" }, t = { "n" } },
  outputs = { r = {} },
  compute = function(x, t)
    return mean((x - t) ^ 2)
  end,
  sizes = vector.sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = { peers = { numpy = "dx = 2 * dr * (x - t) / x.size; dx, -dx" } },
  peers = { numpy = "np.mean((x - t) ** 2)", torch = "F.mse_loss(x, t)" },
}

op "cross_entropy" {
  doc = "log(sum(exp(x))) - x[target], for each row; NaN where the target lies outside of it",
  inputs = { x = { "rows", "cols", range = { -10, 10 } }, target = { "rows", index = "cols" } },
  outputs = { loss = { "rows" } },
  compute = function(x, target)
    local shifted = x - detach(max(x, "cols"))
    return log(sum(exp(shifted), "cols")) - at(shifted, target)
  end,
  sizes = vector.grid_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = {
    peers = {
      numpy = "e = np.exp(x - x.max(-1, keepdims=True)); "
        .. "dloss[:, None] * (e / e.sum(-1, keepdims=True) - (np.arange(x.shape[-1]) == target[:, None]))",
    },
  },
  peers = {
    numpy = "m = x.max(-1, keepdims=True); "
      .. "(m + np.log(np.exp(x - m).sum(-1, keepdims=True)) - np.take_along_axis(x, target[:, None], -1))[:, 0]",
    torch = "F.cross_entropy(x, target, reduction='none')",
  },
}
