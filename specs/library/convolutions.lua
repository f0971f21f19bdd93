-- Convolutions with a padding of 1. Weights are as PyTorch has them: results first, then what is summed.

local library = include "include/library.lua"

-- The place that a window's element has along an axis of an image.
local function at_window(result, element, stride, dilation)
  return position(result) * (stride or 1) + position(element) * (dilation or 1) - 1
end

local function images(x, stride, dilation)
  return at(x, { h = at_window("o", "r", stride, dilation), w = at_window("q", "s", stride, dilation) }, 0)
end

-- NumPy's text of t, the windows of images x, the elements of filters f after the places of the result; list: by axis
-- of the image, its place in the result, the stride, the dilation, and where the first window begins. What lies outside
-- of the image is 0.
local function windows(list)
  local names, clipped, inside, text = { "o", "q", "p" }, {}, {}, ""
  for i, row in ipairs(list) do
    local place, stride, dilation, begin = table.unpack(row)
    local axis, name = i - 1 - #list, names[i]
    local after = (", None"):rep(#list - 1)
    text = text .. ("%s = (np.arange(shape[%d])[:, None] * %d + np.arange(f.shape[%d]) * %d + %d)[:%s, :%s]; "):format(
      name, place, stride or 1, axis, dilation or 1, begin or -1, after, (", None"):rep(#list - i))
    clipped[i] = ("np.clip(%s, 0, x.shape[%d] - 1)"):format(name, axis)
    inside[i] = ("(%s >= 0) & (%s < x.shape[%d])"):format(name, name, axis)
  end
  return text .. ("t = np.where(%s, x[..., %s], 0); "):format(table.concat(inside, " & "), table.concat(clipped, ", "))
end

-- A size whose extents are those of an image unless they are given, or 0: then it has no such axis.
local function size(name, extents)
  local made = { name, n = 2, c = 16, k = 32, h = 28, w = 28, r = 3, s = 3, o = 28, q = 28 }
  for axis, extent in pairs(extents or {}) do
    made[axis] = extent ~= 0 and extent or nil
  end
  return made
end

library "conv1d" {
  "a convolution of sequences",
  windows { { 2 } } .. "np.einsum('ncor,kcr->nko', t, f)",
  torch = "F.conv1d(x, f, padding=1)", ulp = 16,
  inputs = { x = { "n", "c", "h" }, f = { "k", "c", "r" } }, outputs = { y = { "n", "k", "o" } }, axes = { "o" },
  sizes = { { "2x16x128", n = 2, c = 16, k = 32, h = 128, r = 3, o = 128 } },
  compute = function(x, f) return sum(at(x, { h = at_window("o", "r") }, 0) * f, "c", "r") end,
}

for name, row in pairs {
  conv2d = { "a convolution of images", 1, 1, 28 },
  conv2d_strided = { "a convolution of images by strides of 2", 2, 1, 14 },
  conv2d_dilated = { "a convolution of images with every other element", 1, 2, 26 },
} do
  local does, stride, dilation, extent = table.unpack(row)
  library(name) {
    does, windows { { 2, stride, dilation }, { 3, stride, dilation } } .. "np.einsum('ncoqrs,kcrs->nkoq', t, f)",
    ulp = 16,
    torch = ("F.conv2d(x, f, padding=1, stride=%d, dilation=%d)"):format(stride, dilation),
    inputs = { x = { "n", "c", "h", "w" }, f = { "k", "c", "r", "s" } }, outputs = { y = { "n", "k", "o", "q" } },
    axes = { "o", "q" }, sizes = { size("2x16x28x28", { o = extent, q = extent }) },
    compute = function(x, f) return sum(images(x, stride, dilation) * f, "c", "r", "s") end,
  }
end

library "conv2d_last" {
  "a convolution of images whose channels are the last axis", "x = np.moveaxis(x, 3, 1); f = f.transpose(3, 2, 0, 1); "
    .. windows { { 1 }, { 2 } } .. "np.einsum('ncoqrs,kcrs->noqk', t, f)", ulp = 16,
  torch = "F.conv2d(x.permute(0, 3, 1, 2), f.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1)",
  inputs = { x = { "n", "h", "w", "c" }, f = { "r", "s", "c", "k" } }, outputs = { y = { "n", "o", "q", "k" } },
  axes = { "o", "q" }, sizes = { size "2x28x28x16" },
  compute = function(x, f) return sum(images(x) * f, "c", "r", "s") end,
}

library "conv2d_groups" {
  "convolutions of groups of channels", windows { { 3 }, { 4 } } .. "np.einsum('ngcoqrs,gkcrs->ngkoq', t, f)", ulp = 16,
  torch = "F.conv2d(x.flatten(1, 2), f.flatten(0, 1), padding=1, groups=f.shape[0]).unflatten(1, f.shape[:2])",
  inputs = { x = { "n", "g", "c", "h", "w" }, f = { "g", "k", "c", "r", "s" } },
  outputs = { y = { "n", "g", "k", "o", "q" } }, axes = { "o", "q" }, sizes = { size("2x4x16x28x28", { g = 4 }) },
  compute = function(x, f) return sum(images(x) * f, "c", "r", "s") end,
}

library "conv2d_depthwise" {
  "a convolution of each channel", windows { { 2 }, { 3 } } .. "np.einsum('ncoqrs,crs->ncoq', t, f)", ulp = 16,
  torch = "F.conv2d(x, f[:, None], padding=1, groups=f.shape[0])",
  inputs = { x = { "n", "c", "h", "w" }, f = { "c", "r", "s" } }, outputs = { y = { "n", "c", "o", "q" } },
  axes = { "o", "q" }, sizes = { size("2x16x28x28", { k = 0 }) },
  compute = function(x, f) return sum(images(x) * f, "r", "s") end,
}

library "conv3d" {
  "a convolution of volumes",
  windows { { 2 }, { 3 }, { 4 } } .. "np.einsum('ncoqprst,kcrst->nkoqp', t, f)",
  torch = "F.conv3d(x, f, padding=1)", ulp = 16,
  inputs = { x = { "n", "c", "h", "w", "d" }, f = { "k", "c", "r", "s", "t" } },
  outputs = { y = { "n", "k", "o", "q", "p" } }, axes = { "o", "q", "p" },
  sizes = { size("2x16x10x10x10", { h = 10, w = 10, d = 10, t = 3, o = 10, q = 10, p = 10 }) },
  compute = function(x, f)
    local place = { h = at_window("o", "r"), w = at_window("q", "s"), d = at_window("p", "t") }
    return sum(at(x, place, 0) * f, "c", "r", "s", "t")
  end,
}

-- An image's element is where a window by strides of 2 begins: of every other place there is none.
library "conv_transpose2d" {
  "what a convolution of images by strides of 2 is the transpose of",
  "t = np.zeros((*x.shape[:2], 2 * x.shape[2] - 1, 2 * x.shape[3] - 1)); t[:, :, ::2, ::2] = x; x = t; "
    .. windows { { 2, 1, -1, 1 }, { 3, 1, -1, 1 } } .. "np.einsum('ncoqrs,ckrs->nkoq', t, f)",
  torch = "F.conv_transpose2d(x, f, padding=1, stride=2)", ulp = 16,
  inputs = { x = { "n", "c", "h", "w" }, f = { "c", "k", "r", "s" } }, outputs = { y = { "n", "k", "o", "q" } },
  axes = { "o", "q" }, sizes = { size("2x16x14x14", { h = 14, w = 14, o = 27, q = 27 }) },
  compute = function(x, f)
    local function half(result, element)
      local twice = position(result) + 1 - position(element)
      return floor(twice / 2), eq(floor(twice / 2) * 2, twice)
    end
    local h, is_row = half("o", "r")
    local w, is_column = half("q", "s")
    local there = select(is_row, select(is_column, at(x, { h = h, w = w }, 0), 0), 0)
    return sum(there * f, "c", "r", "s")
  end,
}
