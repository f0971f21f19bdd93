-- Steps of optimisers: what becomes of parameters p and of what is kept beside them, by a gradient g.

local library = include "include/library.lua"

local each, positive = { "n" }, { "n", range = { 0, 1 } }

local function optimiser(name, doc, numpy, inputs, outputs, scalars, compute)
  inputs.p, inputs.g = each, each
  library(name) {
    doc, numpy, inputs = inputs, outputs = outputs, scalars = scalars, compute = compute, backward = false, ulp = 8,
  }
end

optimiser("sgd_momentum", "v = mu v + g + decay p, p - rate v", "v = mu * v + (g + decay * p); p - rate * v, v",
  { v = each }, { p_new = each, v_new = each }, { rate = 0.1, mu = 0.9, decay = 0.01 },
  function(p, g, v, rate, mu, decay)
    local moved = mu * v + (g + decay * p)
    return { p_new = p - rate * moved, v_new = moved }
  end)

optimiser("sgd_nesterov", "v = mu v + g, p - rate (g + mu v)", "v = mu * v + g; p - rate * (g + mu * v), v",
  { v = each }, { p_new = each, v_new = each }, { rate = 0.1, mu = 0.9 },
  function(p, g, v, rate, mu)
    local moved = mu * v + g
    return { p_new = p - rate * (g + mu * moved), v_new = moved }
  end)

-- Both moments, and the step that they say; first, second: 1 - beta^t of each.
local function moments(g, m, v, beta1, beta2, eps, first, second)
  local mean, square = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * (g * g)
  return mean, square, (mean / first) / (sqrt(square / second) + eps)
end

local of_adam = { rate = 0.1, beta1 = 0.9, beta2 = 0.95, eps = 1e-3, first = 0.27, second = 0.14 }
local steps = "m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g * g; "
  .. "step = (m / first) / (np.sqrt(v / second) + eps); "

optimiser("adam", "p less a step by both moments of its gradients", steps .. "m, p - rate * step, v",
  { m = each, v = positive }, { m_new = each, p_new = each, v_new = each }, of_adam,
  function(p, g, m, v, rate, beta1, beta2, eps, first, second)
    local mean, square, step = moments(g, m, v, beta1, beta2, eps, first, second)
    return { m_new = mean, v_new = square, p_new = p - rate * step }
  end)

local of_adamw = { decay = 0.01 }
for name, value in pairs(of_adam) do
  of_adamw[name] = value
end
optimiser("adamw", "adam's step of parameters that decay", steps .. "m, p * (1 - rate * decay) - rate * step, v",
  { m = each, v = positive }, { m_new = each, p_new = each, v_new = each }, of_adamw,
  function(p, g, m, v, rate, beta1, beta2, eps, first, second, decay)
    local mean, square, step = moments(g, m, v, beta1, beta2, eps, first, second)
    return { m_new = mean, v_new = square, p_new = p * (1 - rate * decay) - rate * step }
  end)

optimiser("lion", "a step by the sign of a mean of gradients",
  "s = np.sign(beta1 * m + (1 - beta1) * g); beta2 * m + (1 - beta2) * g, p - rate * (s + decay * p)",
  { m = each }, { m_new = each, p_new = each }, { rate = 0.1, beta1 = 0.9, beta2 = 0.99, decay = 0.01 },
  function(p, g, m, rate, beta1, beta2, decay)
    return {
      m_new = beta2 * m + (1 - beta2) * g,
      p_new = p - rate * (sign(beta1 * m + (1 - beta1) * g) + decay * p),
    }
  end)

optimiser("adagrad", "v = v + g^2, p - rate g / (sqrt(v) + eps)",
  "v = v + g * g; p - rate * g / (np.sqrt(v) + eps), v", { v = positive }, { p_new = each, v_new = each },
  { rate = 0.1, eps = 1e-3 },
  function(p, g, v, rate, eps)
    local all = v + g * g
    return { p_new = p - rate * g / (sqrt(all) + eps), v_new = all }
  end)

optimiser("rmsprop", "v = beta v + (1 - beta) g^2, p - rate g / (sqrt(v) + eps)",
  "v = beta * v + (1 - beta) * g * g; p - rate * g / (np.sqrt(v) + eps), v", { v = positive },
  { p_new = each, v_new = each }, { rate = 0.1, beta = 0.9, eps = 1e-3 },
  function(p, g, v, rate, beta, eps)
    local all = beta * v + (1 - beta) * (g * g)
    return { p_new = p - rate * g / (sqrt(all) + eps), v_new = all }
  end)
