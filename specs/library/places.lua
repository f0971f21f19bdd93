-- What reads elsewhere than at the point: pooling, gathers, rotations, shifts, permutations and interpolation.

local library = include "include/library.lua"

-- A place is outside of an axis in padding, and for a result that is longer than there is to read.
local inside = "np.where((%s >= 0) & (%s < %s), %s, %s)"

-- Pooling by windows of 3 with a stride of 2 and a padding of 1: what f folds, and NumPy's text of that over axes A.
local pools = {
  max_pool = { -math.huge, "-np.inf", "t.max(A)", max, function(all) return all end },
  avg_pool = { 0, "0", "t.mean(A)", function(a, b) return a + b end, function(all, count) return all / count end },
}
local windows = "o = 2 * np.arange(shape[%d])[:, None] + np.arange(3) - 1; "
for name, row in pairs(pools) do
  local outside, f, finish = row[1], row[4], row[5]
  local function text(axes)
    return row[3]:sub(1, -3) .. axes .. ")"
  end
  library(name .. "1d") {
    name .. " of windows of 3 by a stride of 2",
    windows:format(1) .. "t = x[:, np.clip(o, 0, x.shape[1] - 1)]; t = "
      .. inside:format("o", "o", "x.shape[1]", "t", row[2]) .. "; " .. text "2",
    inputs = { x = { "c", "h" } }, outputs = { y = { "c", "o" } }, axes = { "o" }, ulp = 8,
    sizes = { { "16x256", c = 16, h = 256, o = 128 }, { "64x4096", c = 64, h = 4096, o = 2048 } },
    compute = function(x)
      local all
      for r = -1, 1 do
        local term = at(x, { h = position "o" * 2 + r }, outside)
        all = all and f(all, term) or term
      end
      return finish(all, 3)
    end,
  }
  library(name .. "2d") {
    name .. " of windows of 3 x 3 by strides of 2",
    windows:format(2) .. "q = 2 * np.arange(shape[3])[:, None] + np.arange(3) - 1; h, w = x.shape[2:]; "
      .. "o, q = o[:, None, :, None], q[:, None, :]; t = x[:, :, np.clip(o, 0, h - 1), np.clip(q, 0, w - 1)]; t = "
      .. "np.where((o >= 0) & (o < h) & (q >= 0) & (q < w), t, " .. row[2] .. "); " .. text "(4, 5)",
    inputs = { x = { "n", "c", "h", "w" } }, outputs = { y = { "n", "c", "o", "q" } }, axes = { "o", "q" }, ulp = 8,
    sizes = { { "2x8x32x32", n = 2, c = 8, h = 32, w = 32, o = 16, q = 16 } },
    compute = function(x)
      local all
      for r = -1, 1 do
        for s = -1, 1 do
          local term = at(x, { h = position "o" * 2 + r, w = position "q" * 2 + s }, outside)
          all = all and f(all, term) or term
        end
      end
      return finish(all, 9)
    end,
  }
end

library "global_avg_pool" {
  "the mean of each channel's image", "x.mean((2, 3))", inputs = { x = { "n", "c", "h", "w" } },
  outputs = { y = { "n", "c" } }, ulp = 8, sizes = { { "2x64x32x32", n = 2, c = 64, h = 32, w = 32 } },
  compute = function(x) return mean(x, "h", "w") end,
}

-- By indexes.
library "embedding" {
  "the row of a table for each of some indexes", "w[ids]", torch = "F.embedding(ids, w)",
  inputs = { w = { "v", "d" }, ids = { "n", index = "v" } }, outputs = { y = { "n", "d" } }, ulp = 8,
  sizes = { { "1000x64x256", v = 1000, d = 64, n = 256 } }, compute = function(w, ids) return at(w, { v = ids }) end,
}

library "embedding_bag" {
  "the sum of a table's rows for each bag of indexes", "w[ids].sum(1)",
  inputs = { w = { "v", "d" }, ids = { "n", "bag", index = "v" } }, outputs = { y = { "n", "d" } }, ulp = 16,
  sizes = { { "1000x64x64x8", v = 1000, d = 64, n = 64, bag = 8 } },
  compute = function(w, ids) return sum(at(w, { v = ids }), "bag") end,
}

library "take_along_rows" {
  "of each row the elements at some indexes", "np.take_along_axis(x, ids, 1)", torch = "x.gather(1, ids)",
  inputs = { x = { "rows", "n" }, ids = { "rows", "k", index = "n" } }, outputs = { y = { "rows", "k" } }, ulp = 8,
  sizes = { { "64x1000x16", rows = 64, n = 1000, k = 16 } }, compute = function(x, ids) return at(x, { n = ids }) end,
}

library "one_hot" {
  "1 at the index, 0 elsewhere", "1.0 * (ids[:, None] == np.arange(shape[1]))",
  inputs = { ids = { "n", index = "v" } }, outputs = { y = { "n", "v" } }, axes = { "v" }, backward = false, ulp = 0,
  sizes = { { "256x1000", n = 256, v = 1000 } },
  compute = function(ids) return select(eq(position "v", ids), 1, 0) end,
}

-- Rotary position embedding: the halves of each head turn into each other.
library "rotary" {
  "x cos + (-x2, x1) sin of the halves x1 and x2 of x",
  "d = x.shape[2]; p = np.arange(d); q = np.where(p < d // 2, p + d // 2, p - d // 2); "
    .. "x * c[:, None] + np.where(p < d // 2, -1, 1) * x[:, :, q] * s[:, None]",
  inputs = { x = { "t", "h", "d" }, c = { "t", "d" }, s = { "t", "d" } }, outputs = { y = { "t", "h", "d" } }, ulp = 8,
  sizes = { { "128x8x64", t = 128, h = 8, d = 64 } },
  compute = function(x, c, s)
    local half, place = floor(count "d" / 2), position "d"
    local turned = select(lt(place, half), -at(x, { d = place + half }, 0), at(x, { d = place - half }, 0))
    return x * c + turned * s
  end,
}

-- Shifts of rows, and parts of matrices.
local matrix = { "rows", "cols" }
local moved = {
  roll = { "np.roll(x, 1, 1)", function(x)
    local place, last = position "cols", count "cols" - 1
    return select(eq(place, 0), at(x, { cols = place + last }, 0), at(x, { cols = place - 1 }, 0))
  end },
  flip = { "np.flip(x, 1)", function(x) return at(x, { cols = count "cols" - 1 - position "cols" }) end },
  diff = { "np.diff(x, axis=1, prepend=0)", function(x) return x - at(x, { cols = position "cols" - 1 }, 0) end },
  tril = { "np.tril(x)", function(x) return select(ge(position "rows", position "cols"), x, 0) end },
  triu = { "np.triu(x)", function(x) return select(le(position "rows", position "cols"), x, 0) end },
}
for name, row in pairs(moved) do
  library(name) { row[1], row[1], inputs = { x = matrix }, outputs = { y = matrix }, compute = row[2] }
end

library "pad" {
  "rows with a value on both sides of them", "o = np.arange(shape[1]) - 2; t = x[:, np.clip(o, 0, x.shape[1] - 1)]; "
    .. inside:format("o", "o", "x.shape[1]", "t", "value"),
  inputs = { x = { "rows", "n" } }, outputs = { y = { "rows", "o" } }, axes = { "o" }, scalars = { value = 0.5 },
  sizes = { { "64x1000", rows = 64, n = 1000, o = 1004 } },
  compute = function(x, value) return at(x, { n = position "o" - 2 }, value) end,
}

library "concat" {
  "rows of x, and after each that of z", "t = np.concatenate([x, z], 1); o = np.arange(shape[1]); "
    .. inside:format("o", "o", "t.shape[1]", "t[:, np.clip(o, 0, t.shape[1] - 1)]", "0"),
  inputs = { x = { "rows", "n" }, z = { "rows", "m" } }, outputs = { y = { "rows", "o" } }, axes = { "o" },
  sizes = { { "64x600x400", rows = 64, n = 600, m = 400, o = 1000 } },
  compute = function(x, z)
    local place = position "o"
    return select(lt(place, count "n"), at(x, { n = place }, 0), at(z, { m = place - count "n" }, 0))
  end,
}

-- name = the axes of x as the result has them.
local permutations = {
  transpose = { 2, 1 }, permute_021 = { 1, 3, 2 }, permute_102 = { 2, 1, 3 }, permute_210 = { 3, 2, 1 },
  permute_0213 = { 1, 3, 2, 4 }, permute_0231 = { 1, 3, 4, 2 }, permute_0312 = { 1, 4, 2, 3 },
  permute_3210 = { 4, 3, 2, 1 },
}
local letters = { "a", "b", "c", "d" }
for name, order in pairs(permutations) do
  local from, to, numpy, size = {}, {}, {}, { "S" }
  for i, axis in ipairs(order) do
    from[i], to[i], numpy[i] = letters[i], letters[axis], axis - 1
    size[letters[i]] = #order == 2 and 512 or 8 + 16 * (i % 2)
  end
  library(name) {
    "x with its axes in another order", "x.transpose(" .. table.concat(numpy, ", ") .. ")", ulp = 0, sizes = { size },
    torch = "x.permute(" .. table.concat(numpy, ", ") .. ").contiguous()", inputs = { x = from }, outputs = { y = to },
    compute = function(x) return x end,
  }
end

-- Images of twice the extents; where a result is longer than that, its last element or NaN.
local image = {
  inputs = { x = { "n", "h", "w" } }, outputs = { y = { "n", "o", "q" } }, axes = { "o", "q" }, ulp = 8,
  sizes = { { "4x32x32", n = 4, h = 32, w = 32, o = 64, q = 64 } },
}
local function resized(name, keys)
  for key, value in pairs(image) do
    keys[key] = value
  end
  library(name)(keys)
end

resized("interpolate_nearest", {
  "each pixel four times", "o, q = np.arange(shape[1])[:, None] // 2, np.arange(shape[2]) // 2; h, w = x.shape[1:]; "
    .. "np.where((o < h) & (q < w), x[:, np.minimum(o, h - 1), np.minimum(q, w - 1)], 0)",
  compute = function(x) return at(x, { h = floor(position "o" / 2), w = floor(position "q" / 2) }, 0) end,
})

-- A pixel of the result lies 1/4 from the nearer of two of x, whose share is 3/4.
local function halfway(axis)
  local place = position(axis)
  local low = floor((place - 1) / 2)
  return low, low + 1, 0.75 - 0.5 * (place - 2 * floor(place / 2))
end
resized("interpolate_bilinear", {
  "of each pixel's four neighbours a mean, by their distances",
  "o, q = np.arange(shape[1])[:, None], np.arange(shape[2]); u, v = 0.75 - 0.5 * (o % 2), 0.75 - 0.5 * (q % 2); "
    .. "h, w = x.shape[1] - 1, x.shape[2] - 1; a, b = np.clip((o - 1) // 2, 0, h), np.clip((o + 1) // 2, 0, h); "
    .. "c, d = np.clip((q - 1) // 2, 0, w), np.clip((q + 1) // 2, 0, w); "
    .. "s = x[:, a, c] + v * (x[:, a, d] - x[:, a, c]); t = x[:, b, c] + v * (x[:, b, d] - x[:, b, c]); "
    .. "s + u * (t - s)",
  compute = function(x)
    local top, bottom, down = halfway "o"
    local left, right, along = halfway "q"
    local function pixel(h, w)
      return at(x, { h = min(max(h, 0), count "h" - 1), w = min(max(w, 0), count "w" - 1) })
    end
    local above = pixel(top, left) + along * (pixel(top, right) - pixel(top, left))
    local below = pixel(bottom, left) + along * (pixel(bottom, right) - pixel(bottom, left))
    return above + down * (below - above)
  end,
})
