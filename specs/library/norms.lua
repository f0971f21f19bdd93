-- Norms over channels, groups and instances, of weights and of rows. x is n images of c channels and s pixels.

local f = include "include/functions.lua"
local library = include "include/library.lua"

local image = { "n", "c", "s" }
local sizes = { { "4x8x256", n = 4, c = 8, s = 256 }, { "16x64x784", n = 16, c = 64, s = 784 } }
local channel = { gamma = { "c", range = { 0.5, 1.5 } }, beta = { "c" } }
local function images(more)
  more.x, more.gamma, more.beta = image, channel.gamma, channel.beta
  return more
end

-- NumPy's text of a norm over some axes of x, as numbers; g and b: its factors.
local function numpy(over, g, b)
  return ("m = x.mean(%s, keepdims=True); (x - m) / np.sqrt(x.var(%s, keepdims=True) + eps) * %s + %s")
    :format(over, over, g, b)
end

library "batch_norm_training" {
  "x normalised over all but channels", numpy("(0, 2)", "gamma[:, None]", "beta[:, None]"), ulp = 8,
  torch = "F.batch_norm(x, None, None, gamma, beta, True, eps=eps)", inputs = images {}, outputs = { y = image },
  scalars = { eps = 0.1 }, sizes = sizes,
  compute = function(x, gamma, beta, eps) return f.normalised(x, eps, "n", "s") * gamma + beta end,
}

library "batch_norm_inference" {
  "x normalised by the moments of its channel",
  "(x - mu[:, None]) / np.sqrt(v[:, None] + eps) * gamma[:, None] + beta[:, None]", ulp = 8,
  torch = "F.batch_norm(x, mu, v, gamma, beta, eps=eps)",
  inputs = images { mu = { "c" }, v = { "c", range = { 0.1, 1 } } }, outputs = { y = image }, scalars = { eps = 0.1 },
  sizes = sizes, compute = function(x, mu, v, gamma, beta, eps) return (x - mu) * (gamma * rsqrt(v + eps)) + beta end,
}

library "instance_norm" {
  "x normalised over pixels", numpy("2", "gamma[:, None]", "beta[:, None]"), ulp = 8,
  torch = "F.instance_norm(x, weight=gamma, bias=beta, eps=eps)", inputs = images {}, outputs = { y = image },
  scalars = { eps = 0.1 }, sizes = sizes,
  compute = function(x, gamma, beta, eps) return f.normalised(x, eps, "s") * gamma + beta end,
}

library "group_norm" {
  "x normalised over the channels of a group, and pixels", numpy("(2, 3)", "gamma[:, :, None]", "beta[:, :, None]"),
  inputs = { x = { "n", "g", "c", "s" }, gamma = { "g", "c", range = { 0.5, 1.5 } }, beta = { "g", "c" } },
  outputs = { y = { "n", "g", "c", "s" } }, scalars = { eps = 0.1 }, ulp = 8,
  sizes = { { "4x4x2x256", n = 4, g = 4, c = 2, s = 256 }, { "16x8x8x784", n = 16, g = 8, c = 8, s = 784 } },
  compute = function(x, gamma, beta, eps) return f.normalised(x, eps, "c", "s") * gamma + beta end,
}

library "weight_norm" {
  "g v / |v| of each row", "v * (g / np.sqrt((v * v).sum(1)))[:, None]", inputs = { v = { "rows", "cols" },
  g = { "rows" } }, outputs = { w = { "rows", "cols" } }, ulp = 8,
  compute = function(v, g) return v * (g * rsqrt(sum(v * v, "cols"))) end,
}

library "l2_normalise" {
  "x / max(|x|, eps) of each row", "x / np.maximum(np.sqrt((x * x).sum(1, keepdims=True)), eps)", ulp = 8,
  torch = "F.normalize(x, dim=1, eps=eps)", inputs = { x = { "rows", "cols" } }, outputs = { y = { "rows", "cols" } },
  scalars = { eps = 1e-6 }, compute = function(x, eps) return x / max(f.norm(x, 2, "cols"), eps) end,
}

library "add_rmsnorm" {
  "h = x + r, and y = h / sqrt(mean(h^2) + eps) gamma", "h = x + r; h, h / np.sqrt((h * h).mean(1, keepdims=True) "
    .. "+ eps) * gamma", inputs = { x = { "rows", "cols" }, r = { "rows", "cols" }, gamma = { "cols" } },
  outputs = { h = { "rows", "cols" }, y = { "rows", "cols" } }, scalars = { eps = 0.1 }, ulp = 8,
  compute = function(x, r, gamma, eps)
    local h = x + r
    return { h = h, y = h * rsqrt(mean(h * h, "cols") + eps) * gamma }
  end,
}
