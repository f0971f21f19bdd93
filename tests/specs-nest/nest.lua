-- Ops that are nests of loops, for test_nest.sh: vectors along points and along what is reduced, several reductions at
-- once and after each other, indexes, random numbers, operands of all orders and types.

local function declare(name, inputs, outputs, compute, keys)
  keys = keys or {}
  local size = { "S" }
  for _, shape in pairs(inputs) do
    for _, dim in ipairs(shape) do
      size[dim] = 7
    end
  end
  for _, dim in ipairs(keys.axes or {}) do
    size[dim] = 5
  end
  op(name) {
    doc = name, axes = keys.axes, inputs = inputs, outputs = outputs, scalars = keys.scalars, compute = compute, sizes = { size },
    dtypes = keys.double and { "f64", "f32", "f16" } or { "f32", "f16" }, backward = keys.backward,
    ulp = { f64 = keys.double and 6, f32 = 6, f16 = 3 },
  }
end

declare("softmax_first", { x = { "t", "n" } }, { y = { "t", "n" } }, function(x)
  local e = exp(x - max(x, "t"))
  return e / sum(e, "t")
end, { backward = true })

declare("batch_norm", { x = { "n", "c", "h" }, g = { "c" }, b = { "c" } }, { y = { "n", "c", "h" } }, function(x, g, b)
  local centred = x - mean(x, "n", "h")
  return centred * rsqrt(mean(centred ^ 2, "n", "h") + 1e-5) * g + b
end)

declare("attention", { q = { "s", "d" }, k = { "t", "d" }, v = { "t", "e" } }, { o = { "s", "e" } }, function(q, k, v)
  local score = sum(q * k, "d")
  local p = exp(score - detach(max(score, "t")))
  return sum(p * v, "t") / sum(p, "t")
end)

declare("extremes", { x = { "a", "b", "c" } }, { lo = { "b" }, hi = { "a", "c" }, all = {} }, function(x)
  return { lo = min(x, "a", "c"), hi = max(x, "b"), all = sum(x, "a", "b", "c") }
end)

declare("dots", { x = { "b", "k", "c" }, y = { "c", "k", "b" } }, { r = { "b", "c" } },
  function(x, y) return sum(x * y, "k") end)

declare("transposed", { x = { "a", "b", "c" } }, { y = { "c", "a", "b" } }, function(x) return x end)

-- The one operand that lies across is an input.
declare("added_across", { x = { "a", "b" }, z = { "b", "a" } }, { y = { "a", "b" } }, function(x, z) return x + z end)

-- An index is gathered at each point that wants it: here along the axis of which the probe has few where it has many points.
declare("index_spread", { x = { "a", "b" } }, { y = { "a", "b" }, j = { "a" }, i = { "a", "b" } }, function(x)
  return { y = x - min(x, "a"), j = argmin(x, "b"), i = argmax(x, "a") }
end)

-- Of terms that are rounded: the reference is asked for that at an index which counts the points of two axes.
declare("index_in_planes", { x = { "a", "b", "c" } }, { i = { "c" } },
  function(x) return argmin(x * x - 0.3 * x, "a", "b") end)

declare("dropped", { x = { "a", "b" }, seed = { dtype = "i64" }, offset = { dtype = "i64" } }, { y = { "a", "b" } },
  function(x, seed, offset) return select(lt(random(seed, offset), 0.5), x, 0) - mean(x, "a") end)

declare("picked", { x = { "a", "b" }, i = { "b", index = "a" } }, { y = { "b" } },
  function(x, i) return at(x, i) * 2 + log(sum(exp(x), "a")) end, { backward = true })

declare("scaled", { x = { "a", "b", "c" }, w = { "c", "a" } }, { y = { "b", "a", dtype = "i8" }, z = { "c" } },
  function(x, w, alpha) return { y = sum(x * w, "c") * alpha + alpha, z = max(x * alpha, "a", "b") } end,
  { scalars = { alpha = 0.5 } })

-- The places of points: of terms and of values, of one axis and of several, in what is picked and in a gradient.
declare("causal", { x = { "s", "t" } }, { y = { "s", "t" } }, function(x)
  local seen = le(position "t", position "s")
  local e = select(seen, exp(x - detach(max(select(seen, x, -math.huge), "t"))), 0)
  return e / sum(e, "t")
end, { backward = true })

declare("windowed", { x = { "h", "s", "t" }, slope = { "h" } }, { y = { "s", "h" }, last = { "h", "t" } },
  function(x, slope, width)
    local distance = position "s" - position "t"
    local near = le(abs(distance * 2), width)
    return { y = max(select(near, x - slope * distance, -100), "t"), last = sum(x * position "s", "s") }
  end, { scalars = { width = 6 } })

declare("triangular", { x = { "m", "k" }, w = { "k", "n" } }, { y = { "m", "n" } },
  function(x, w) return sum(select(ge(position "m", position "k"), x, 0) * w, "k") end)

declare("placed", { x = { "n" } }, { y = { "n" } },
  function(x) return select(ne(position "n", 6), x * (position "n" + 1), 0.5) end, { backward = true })

declare("placed_index", { x = { "a", "b" }, i = { "b", index = "a" } }, { y = { "b" }, j = { "a" } }, function(x, i)
  return { y = at(x + position "a" * 0.5, i), j = argmax(x - floor(position "b" / 4), "b") }
end)

-- What is elsewhere: windows with and without padding, strides, reversals, gathers and what is made of them, gradients.
declare("convolved", { x = { "b", "h", "c" }, w = { "r", "c", "k" } }, { y = { "b", "o", "k" } }, function(x, w)
  return sum(at(x, { h = position "o" * 2 + position "r" - 1 }, 0) * w, "r", "c")
end, { axes = { "o" }, backward = true })

declare("stencil", { x = { "h", "w" } }, { y = { "h", "w" } }, function(x)
  local north, east = at(x, { h = position "h" - 1 }, 0), at(x * 2, { w = position "w" + 1, h = position "h" }, 1)
  return north + east - 4 * x + at(x, { w = count "w" - 1 - position "w" })
end, { backward = true, double = true })

-- Places that go against the vectors, or twice as far, and leave the operand within one.
declare("mirrored", { x = { "h", "w" } }, { y = { "h", "w" } },
  function(x) return at(x, { w = 9 - position "w" }, 0.5) + at(x, { w = position "w" + position "w" }, 1) end)

declare("pooled", { x = { "h", "c" } }, { y = { "o", "c" }, i = { "o", "c" } }, function(x)
  local window = at(x, { h = position "o" * 3 + position "r" }, -math.huge)
  return { y = max(window, "r"), i = argmax(window, "r") }
end, { axes = { "o", "r" } })

declare("gathered", { x = { "v", "d" }, ids = { "b", "t", index = "v" } }, { y = { "b", "t", "d" } },
  function(x, ids) return at(x, { v = ids }) + at(x * x, { v = ids * 2 - 1 }, 0.25) end, { backward = true })

-- Gradients by indexes: along the vectors and across them, with axes that the index has and that it lacks, of two
-- indexes at once, of one that several sums have; where many terms have one index, and most indexes no term.
declare("looked_up", { x = { "v", "u", "d" }, i = { "a", "b", index = "v" }, j = { "b", index = "u" } }, { y = { "a", "b", "d" } },
  function(x, i, j) return at(x, { v = i, u = j }) end, { backward = true })

declare("along_rows", { x = { "b", "v" }, w = { "v" }, ids = { "b", "t", index = "v" } }, { y = { "b", "t" } },
  function(x, w, ids) return at(x, { v = ids }) * at(w, { v = ids }) end, { backward = true })

declare("one_hot", { x = { "b" }, ids = { "b", index = "v" } }, { y = { "b", "v" } },
  function(x, ids) return select(eq(position "v", ids), x, 0) end, { axes = { "v" } })

declare("upsampled", { x = { "c", "h" } }, { y = { "o", "c" } },
  function(x) return at(x, { h = floor(position "o" / 2) }, 0) + at(x, { h = floor((position "o" - 3) / 3) }, -1) end,
  { axes = { "o" }, double = true, backward = true })

-- Spans of terms along the vectors and across them, with edges that are repeated; and what is kept of many reads.
declare("repeated", { x = { "c", "h" } }, { y = { "c", "o" } }, function(x)
  local place, last = floor((position "o" * 2 - 3) / 3), count "h" - 1
  return at(x, { h = min(max(place, 0), last) }) * 2 + at(x, { h = max(min(place + 4, last), 1) }, 0)
end, { axes = { "o" }, backward = true, double = true })

declare("repeated_across", { x = { "h", "c" } }, { y = { "o", "c" } },
  function(x) return at(x, { h = min(max(position "o" - 2, 0), count "h" - 1) }) end, { axes = { "o" }, backward = true })

declare("largest_near", { x = { "c", "h" } }, { y = { "o", "c" } }, function(x)
  local function near(by) return at(x, { h = position "o" * 2 + by }, -math.huge) end
  return max(max(near(-1), near(0)), near(1))
end, { axes = { "o" }, backward = true })

declare("transposed_there", { x = { "s", "t" } }, { y = { "s", "t" } },
  function(x) return at(x, { s = position "t", t = position "s" }, 0) end)

-- Read at places that vary over the axis of the sum, which is what its gradient reads: a sum of its own, not one there.
declare("caught", { x = { "a", "b", "c" }, w = { "b" } }, { y = { "a", "b", "c" } },
  function(x, w) return at(sum(x * w, "b"), { c = position "c" - position "b" + 1 }, 0) * x end,
  { backward = true, double = true })

-- Scans: of all kinds, along inner and outer axes, both ways and with or without the place itself; of each other, of
-- reductions and under them; read elsewhere.
declare("scanned", { x = { "a", "b", "c" } },
  { first = { "a", "b", "c" }, middle = { "a", "b", "c" }, last = { "c", "a", "b" } }, function(x)
    local middle, last = cumsum(x, "b", { exclusive = true }), cumsum(x, "c", { reverse = true })
    return { first = cumsum(x, "a"), middle = middle, last = last }
  end, { backward = true })

declare("scanned_rows", { x = { "a", "c" } }, { y = { "a", "c" }, z = { "a", "c" } }, function(x)
  return { y = cumsum(x, "c", { exclusive = true }), z = recurrence(sigmoid(x), x, "c", { reverse = true }) }
end, { backward = true })

declare("scanned_back", { x = { "a", "b" } }, { y = { "a", "b" }, z = { "b", "a" } }, function(x)
  local back = { reverse = true, exclusive = true }
  return {
    y = cumprod(x * 0.5 + 1, "a", { reverse = true }) - cummax(x, "b", back),
    z = cumprod(x, "b", back) + cummin(x, "a"),
  }
end, { backward = true })

declare("recurring", { a = { "t", "n" }, b = { "n", "t" }, c = { "n" } }, { y = { "n", "t" }, z = { "t", "n" } },
  function(a, b, c)
    local z = recurrence(sigmoid(c), a, "t", { exclusive = true, reverse = true })
    return { y = recurrence(a, b, "t") * position "t", z = z }
  end, { backward = true })

declare("scans_of_scans", { x = { "a", "c" }, g = { "c" } }, { y = { "c", "a" }, z = { "c" } }, function(x, g)
  local p = cumsum(at(x * g, { a = position "a" - 1 }, 0) + mean(x, "c"), "a")
  local q, r = cummax(x, "c", { reverse = true }), cumsum(cummin(x, "c"), "a")
  return { y = exp(-abs(p)) + q, z = sum(at(p, { a = position "a" - 2 }, 1) * q, "a") + max(r, "a") }
end, { backward = true })
