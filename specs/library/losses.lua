-- The losses of PyTorch's nn that are not in ../losses.lua: NAME is the mean of all points or rows, NAME_sum their sum,
-- NAME_none each by itself.

local f = include "include/functions.lua"
local library = include "include/library.lua"

-- Declares the three of a loss that has one value for each point of some axes. numpy: statements that make it l.
local function loss(name, doc, axes, numpy, inputs, value, scalars, torch)
  local reductions = {
    [""] = { "the mean of ", "; l.mean()", mean, {} }, _sum = { "the sum of ", "; l.sum()", sum, {} },
    _none = { "", "; l", function(l) return l end, axes },
  }
  for ending, row in pairs(reductions) do
    library(name .. ending) {
      row[1] .. doc, numpy .. row[2], inputs = inputs, outputs = { loss = row[4] }, scalars = scalars, ulp = 8,
      compute = value(row[3]), torch = ending == "" and torch or nil,
    }
  end
end

local between = { "n", range = { 0.25, 0.75 } }
local labels = { "n", range = { 0, 1 } }
local any = { "n", range = { -3, 3 } }

loss("l1_loss", "|x - t|", { "n" }, "l = np.abs(x - t)", { x = { "n" }, t = { "n" } }, function(r)
  return function(x, t) return r(abs(x - t)) end
end, nil, "F.l1_loss(x, t)")

loss("mse_loss", "(x - t)^2", { "n" }, "l = (x - t) ** 2", { x = { "n" }, t = { "n" } }, function(r)
  return function(x, t) return r((x - t) ^ 2) end
end, nil, "F.mse_loss(x, t)")

loss("smooth_l1_loss", "d^2 / (2 beta) of a d = |x - t| below beta, d - beta / 2 above", { "n" },
  "d = np.abs(x - t); l = np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)", { x = any, t = any }, function(r)
    return function(x, t, beta)
      local d = abs(x - t)
      return r(select(lt(d, beta), 0.5 * d * d / beta, d - 0.5 * beta))
    end
  end, { beta = 1.5 }, "F.smooth_l1_loss(x, t, beta=beta)")

loss("huber_loss", "d^2 / 2 of a d = |x - t| up to delta, delta (d - delta / 2) above", { "n" },
  "d = np.abs(x - t); l = np.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))", { x = any, t = any },
  function(r)
    return function(x, t, delta)
      local d = abs(x - t)
      return r(select(le(d, delta), 0.5 * d * d, delta * (d - 0.5 * delta)))
    end
  end, { delta = 1.5 }, "F.huber_loss(x, t, delta=delta)")

loss("bce", "-(t log(x) + (1 - t) log(1 - x))", { "n" },
  "l = -(t * np.maximum(np.log(x), -100) + (1 - t) * np.maximum(np.log(1 - x), -100))", { x = between, t = labels },
  function(r)
    return function(x, t) return r(-(t * max(log(x), -100) + (1 - t) * max(log(1 - x), -100))) end
  end, nil, "F.binary_cross_entropy(x, t)")

loss("bce_with_logits", "bce of the sigmoid of x", { "n" },
  "l = np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x)))", { x = any, t = labels }, function(r)
    return function(x, t) return r(f.softplus(x) - x * t) end
  end, nil, "F.binary_cross_entropy_with_logits(x, t)")

loss("kl_div", "t (log(t) - x), x a logarithm", { "n" }, "l = np.where(t == 0, 0, t * np.log(t)) - t * x",
  { x = any, t = between }, function(r)
    return function(x, t) return r(select(eq(t, 0), 0, t * log(t)) - t * x) end
  end, nil, "F.kl_div(x, t, reduction='mean')")

loss("soft_margin_loss", "log(1 + e^(-t x))", { "n" }, "l = np.logaddexp(0, -t * x)", { x = any, t = any }, function(r)
  return function(x, t) return r(f.softplus(-(t * x))) end
end, nil, "F.soft_margin_loss(x, t)")

loss("hinge_embedding_loss", "x where t is 1, max(margin - x, 0) where not", { "n" },
  "l = np.where(t > 0, x, np.maximum(margin - x, 0))", { x = any, t = { "n" } }, function(r)
    return function(x, t, margin) return r(select(gt(t, 0), x, max(margin - x, 0))) end
  end, { margin = 1 })

loss("margin_ranking_loss", "max(-t (x - y) + margin, 0)", { "n" }, "l = np.maximum(-t * (x - y) + margin, 0)",
  { x = any, y = any, t = { "n" } }, function(r)
    return function(x, y, t, margin) return r(max(margin - t * (x - y), 0)) end
  end, { margin = 0.5 }, "F.margin_ranking_loss(x, y, t, margin)")

loss("poisson_nll_loss", "e^x - t x", { "n" }, "l = np.exp(x) - t * x", { x = any, t = { "n", range = { 0, 5 } } },
  function(r)
    return function(x, t) return r(exp(x) - t * x) end
  end, nil, "F.poisson_nll_loss(x, t)")

loss("gaussian_nll_loss", "(log(v) + (x - t)^2 / v) / 2, v at least eps", { "n" },
  "w = np.maximum(v, eps); l = 0.5 * (np.log(w) + (x - t) ** 2 / w)",
  { x = { "n" }, t = { "n" }, v = { "n", range = { 0.1, 2 } } }, function(r)
    return function(x, t, v, eps)
      local w = max(v, eps)
      return r(0.5 * (log(w) + (x - t) ^ 2 / w))
    end
  end, { eps = 1e-6 }, "F.gaussian_nll_loss(x, t, v)")

-- Of rows, by the class that each belongs to.
local classes = { x = { "rows", "cols", range = { -3, 3 } }, target = { "rows", index = "cols" } }

loss("nll_loss", "-x[target]", { "rows" }, "l = -np.take_along_axis(x, target[:, None], 1)[:, 0]", classes, function(r)
  return function(x, target) return r(-at(x, target)) end
end, nil, "F.nll_loss(x, target)")

loss("cross_entropy_loss", "-log(softmax(x)[target])", { "rows" },
  "m = x.max(1, keepdims=True); "
    .. "l = (m + np.log(np.exp(x - m).sum(1, keepdims=True)) - np.take_along_axis(x, target[:, None], 1))[:, 0]",
  classes, function(r)
    return function(x, target)
      local shifted = x - detach(max(x, "cols"))
      return r(log(sum(exp(shifted), "cols")) - at(shifted, target))
    end
  end, nil, "F.cross_entropy(x, target)")

loss("cosine_embedding_loss", "1 - cos(x, y) where t is 1, max(cos(x, y) - margin, 0) where not", { "rows" },
  "c = (x * y).sum(1) / np.sqrt(((x * x).sum(1) + 1e-12) * ((y * y).sum(1) + 1e-12)); "
    .. "l = np.where(t > 0, 1 - c, np.maximum(c - margin, 0))",
  { x = { "rows", "cols" }, y = { "rows", "cols" }, t = { "rows" } }, function(r)
    return function(x, y, t, margin)
      local c = sum(x * y, "cols") / sqrt((sum(x * x, "cols") + 1e-12) * (sum(y * y, "cols") + 1e-12))
      return r(select(gt(t, 0), 1 - c, max(c - margin, 0)))
    end
  end, { margin = 0.1 }, "F.cosine_embedding_loss(x, y, t, margin)")

loss("triplet_margin_loss", "max(|x - p| - |x - q| + margin, 0)", { "rows" },
  "l = np.maximum(np.sqrt(((x - p + 1e-6) ** 2).sum(1)) - np.sqrt(((x - q + 1e-6) ** 2).sum(1)) + margin, 0)",
  { x = { "rows", "cols" }, p = { "rows", "cols" }, q = { "rows", "cols" } }, function(r)
    return function(x, p, q, margin)
      return r(max(f.norm(x - p + 1e-6, 2, "cols") - f.norm(x - q + 1e-6, 2, "cols") + margin, 0))
    end
  end, { margin = 1 }, "F.triplet_margin_loss(x, p, q, margin)")
