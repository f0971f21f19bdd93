-- Statistics, norms and the softmax family, over rows and over columns; and what compares rows.

local f = include "include/functions.lua"
local library = include "include/library.lua"

local matrix = { x = { "rows", "cols", range = { -3, 3 } } }

-- Of each row, and of each column: { NumPy's text over axis A, the function of x and that axis }
local reductions = {
  var = { "((x - x.mean(A, keepdims=True)) ** 2).sum(A) / (x.shape[A] - 1)",
    function(x, along) return f.variance(x, 1, along) end },
  std = { "x.std(A)", function(x, along)
    local variance = f.variance(x, 0, along)
    return select(eq(variance, 0), 0, sqrt(variance)) -- whose slope is infinite at 0
  end },
  norm1 = { "np.abs(x).sum(A)", function(x, along) return f.norm(x, 1, along) end },
  norm2 = { "np.sqrt((x * x).sum(A))", function(x, along) return f.norm(x, 2, along) end },
  norm3 = { "(np.abs(x) ** 3).sum(A) ** (1 / 3)", function(x, along) return f.norm(x, 3, along) end },
  norm_inf = { "np.abs(x).max(A)", function(x, along) return f.norm(x, math.huge, along) end },
  logsumexp = { "m = x.max(A, keepdims=True); (m + np.log(np.exp(x - m).sum(A, keepdims=True))).squeeze(A)",
    f.log_sum_exp },
  amin = { "x.min(A)", min }, argmin = { "x.argmin(A)", argmin, index = true },
  any = { "1.0 * (x > 2.9).any(A)", function(x, along) return any_of(gt(x, 2.9), along) end, steps = true },
  all = { "1.0 * (x < 2.9).all(A)", function(x, along) return all_of(lt(x, 2.9), along) end, steps = true },
  softmax = { "e = np.exp(x - x.max(A, keepdims=True)); e / e.sum(A, keepdims=True)", f.softmax, whole = true },
  softmin = { "e = np.exp(x.min(A, keepdims=True) - x); e / e.sum(A, keepdims=True)",
    function(x, along) return f.softmax(-x, along) end, whole = true },
  log_softmax = { "s = x - x.max(A, keepdims=True); s - np.log(np.exp(s).sum(A, keepdims=True))",
    function(x, along)
      local shifted = x - detach(max(x, along))
      return shifted - log(sum(exp(shifted), along))
    end, whole = true },
  centre = { "x - x.mean(A, keepdims=True)", f.centred, whole = true },
}
for name, row in pairs(reductions) do
  local places = { row_ = { "cols", "1", { "rows" } }, column_ = { "rows", "0", { "cols" } } }
  for kind, place in pairs(places) do
    local numpy = ""
    for i = 1, row[1]:len() do
      local letter = row[1]:sub(i, i)
      numpy = numpy .. (letter == "A" and place[2] or letter)
    end
    local argument = kind .. name
    if argument ~= "row_softmax" then -- softmax.lua has it
      library(argument) {
        name .. " of each " .. kind:sub(1, -2), numpy, inputs = matrix, ulp = row.steps and 0 or 8,
        outputs = { r = row.whole and { "rows", "cols" } or place[3] }, backward = not (row.index or row.steps),
        compute = function(x) return row[2](x, place[1]) end,
      }
    end
  end
end

local pair = { x = { "rows", "cols" }, y = { "rows", "cols" } }

library "cosine_similarity" {
  "x y / (|x| |y|) of each row", "(x * y).sum(1) / np.maximum(np.sqrt((x * x).sum(1) * (y * y).sum(1)), eps)",
  torch = "F.cosine_similarity(x, y, eps=eps)", inputs = pair, outputs = { r = { "rows" } }, scalars = { eps = 1e-6 },
  compute = function(x, y, eps)
    return sum(x * y, "cols") / max(sqrt(sum(x * x, "cols") * sum(y * y, "cols")), eps)
  end, ulp = 8,
}

library "pairwise_distance" {
  "|x - y + eps| of each row", "np.sqrt(((x - y + eps) ** 2).sum(1))", torch = "F.pairwise_distance(x, y, eps=eps)",
  inputs = pair, outputs = { r = { "rows" } }, scalars = { eps = 1e-3 }, ulp = 8,
  compute = function(x, y, eps) return f.norm(x - y + eps, 2, "cols") end,
}

library "cdist" {
  "the distance of each row of x from each of y", "np.sqrt(((x[:, None] - y) ** 2).sum(2))",
  torch = "torch.cdist(x, y)",
  inputs = { x = { "m", "d" }, y = { "n", "d" } }, outputs = { r = { "m", "n" } }, ulp = 8,
  sizes = { { "64x64x32", m = 64, n = 64, d = 32 } },
  compute = function(x, y) return f.norm(x - y, 2, "d") end,
}
