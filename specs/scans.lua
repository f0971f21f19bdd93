-- What all places up to each one of an axis come to.

local vector = include "include/vector.lua"

local function size(name, batch, t, n)
  return { name, batch = batch, t = t, n = n }
end

for name, row in pairs {
  cumsum = { "the sum of each place and all before it", "n", numpy = "-1", torch = "-1" },
  cumsum_outer = { "the same along an axis that is not the innermost", "t", numpy = "1", torch = "1" },
} do
  op(name) {
    doc = row[1],
    inputs = { x = { "batch", "t", "n" } },
    outputs = { y = { "batch", "t", "n" } },
    compute = function(x) return cumsum(x, row[2]) end,
    sizes = {
      size("1x1x10K", 1, 1, 10000), size("1x128x1024", 1, 128, 1024), size("4x1024x256", 4, 1024, 256),
    },
    dtypes = vector.dtypes,
    ulp = vector.ulp(vector.sum_ulp),
    peers = {
      numpy = string.format("np.cumsum(x, %s)", row.numpy), torch = string.format("x.cumsum(%s)", row.torch),
    },
    backward = {
      peers = {
        numpy = string.format("np.flip(np.cumsum(np.flip(dy, %s), %s), %s)", row.numpy, row.numpy, row.numpy),
        torch = string.format("dy.flip(%s).cumsum(%s).flip(%s)", row.torch, row.torch, row.torch),
      },
    },
  }
end

-- A state that decays and takes something up at each step: gates of recurrent networks, filters, state spaces.
op "recurrence" {
  doc = "h = a h + b, from 0 on",
  inputs = { a = { "batch", "t", "n", range = { 0, 1 } }, b = { "batch", "t", "n" } },
  outputs = { h = { "batch", "t", "n" } },
  compute = function(a, b) return recurrence(a, b, "t") end,
  sizes = { size("4x1024x256", 4, 1024, 256), size("1x4096x64", 1, 4096, 64) },
  dtypes = vector.dtypes,
  ulp = vector.ulp(4),
  peers = {
    numpy = "h = 0; np.stack([h := a[:, t] * h + b[:, t] for t in range(a.shape[1])], 1)",
  },
  backward = {
    da = {
      peers = {
        numpy = "h, g, T = 0, 0, a.shape[1]; before = [h]; "
          .. "before += [h := a[:, t] * h + b[:, t] for t in range(T)]; s = [0 * b[:, 0]]; "
          .. "s += [g := a[:, t] * (g + dh[:, t]) for t in range(T - 1, 0, -1)]; "
          .. "np.stack([(dh[:, t] + s[T - 1 - t]) * before[t] for t in range(T)], 1)",
      },
    },
    db = {
      peers = {
        numpy = "g, T = 0, a.shape[1]; s = [0 * dh[:, 0]]; "
          .. "s += [g := a[:, t] * (g + dh[:, t]) for t in range(T - 1, 0, -1)]; dh + np.stack(s[::-1], 1)",
      },
    },
  },
}
