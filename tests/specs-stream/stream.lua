-- Two products with reductions between them, for test_stream.sh: masks by places, operands and functions between the
-- products, outputs of rows, operands of any order, and what no tile of tensor cores has.

local function declare(name, dtypes, inputs, outputs, compute, keys)
  keys = keys or {}
  local size = { "S" }
  for _, axis in ipairs(keys.axes or {}) do
    size[axis] = 9
  end
  for _, shape in pairs(inputs) do
    for _, dim in ipairs(shape) do
      size[dim] = 9
    end
  end
  op(name) {
    doc = name, inputs = inputs, outputs = outputs, scalars = keys.scalars, compute = compute, sizes = { size },
    axes = keys.axes, backward = keys.backward, dtypes = dtypes, ulp = { f64 = 6, f32 = 6, f16 = 3, bf16 = 3 },
    products = keys.products,
  }
end

local narrow, both_ways = { products = "narrow" }, { products = "narrow", backward = {} }
local by_heads = { q = { "b", "h", "g", "s", "d" }, k = { "b", "h", "t", "d" }, v = { "b", "h", "t", "e" } }

-- Queries of a group are rows of one tile, of which each begins its places anew; the last query sees all keys.
declare("causal", { "f32", "f16", "bf16" }, by_heads, { o = { "b", "h", "g", "s", "e" } }, function(q, k, v)
  local score = select(le(position "t", position "s" + count "t" - count "s"), sum(q * k, "d"), -inf)
  local p = exp(score - max(score, "t"))
  return sum(p * v, "t") / sum(p, "t")
end, both_ways)

-- What its gradient reads: the result, and the logarithm of a sum with a sink among the keys, which 16 bits are too few
-- for.
declare("saved", { "f32", "f16" }, { q = by_heads.q, k = by_heads.k, v = by_heads.v, sink = { "h" } },
  { o = { "b", "h", "g", "s", "e" }, l = { "b", "h", "g", "s", dtype = "computed" } }, function(q, k, v, sink)
    local score = select(le(position "t", position "s" + count "t" - count "s"), sum(q * k, "d"), -inf)
    local m = detach(max(max(score, "t"), sink))
    local p = exp(score - m)
    local all = sum(p, "t") + exp(sink - m)
    return { o = sum(p * v, "t") / all, l = detach(m + log(all)) }
  end, { products = "narrow", backward = { reads = { "l", "o" } } })

-- A window, of whose keys none may be left; scores that are bounded and biased by distance, by heads; rows' sums too.
declare("window", { "f16" }, { q = by_heads.q, k = by_heads.k, v = by_heads.v, slope = { "h" } },
  { o = { "b", "h", "g", "s", "e" }, l = { "b", "h", "g", "s" } }, function(q, k, v, slope, width)
    local away = position "s" - position "t"
    local score = 30 * tanh(sum(q * k, "d") / 30) - detach(slope) * abs(away)
    score = select(lt(abs(away), width), score, -inf)
    local m = detach(max(score, "t"))
    local p = exp(score - m)
    return { o = sum(p * v, "t") / sum(p, "t"), l = m + log(sum(p, "t")) }
  end, { scalars = { width = 70 }, products = "narrow", backward = {} })

-- A bias at each point, and a key that is not there; softmax ahead of the product; heads between the axes of a matrix.
declare("biased", { "f16" },
  { q = { "b", "s", "h", "d" }, k = { "b", "t", "h", "d" }, v = { "b", "t", "h", "e" }, bias = { "h", "s", "t" }, sink = { "h" } },
  { o = { "b", "s", "h", "e" } }, function(q, k, v, bias, sink)
    local score = sum(q * k, "d") + bias
    local m = max(score, "t")
    local p = exp(score - m)
    return sum(p / (sum(p, "t") + exp(sink - m)) * v, "t")
  end, narrow)

-- Two numbers at each point, a key whose elements are far apart, and a factor that no sum of nothing has.
declare("weighted", { "f64", "f32" }, { q = { "s", "d" }, k = { "d", "t" }, v = { "e", "t" }, w = { "s", "t" } },
  { o = { "s", "e" } }, function(q, k, v, w)
    local score = 0.25 * sum(q * k, "d")
    local p = exp(score - max(score, "t"))
    return sum(p * w / sum(p, "t") * v, "t")
  end)

-- No power at all.
declare("normed", { "f32" }, { q = { "s", "d" }, k = { "t", "d" }, v = { "t", "e" } }, { o = { "s", "e" } },
  function(q, k, v)
    local score = max(sum(q * k, "d"), 0)
    return sum(score * v, "t") / (max(score, "t") + 1)
  end, { backward = {} })

-- Numbers and operands that stand in a product's sum and do not vary over its terms.
declare("inside", { "f32", "f16" }, { q = by_heads.q, k = by_heads.k, v = by_heads.v, heat = { "h" } },
  { o = { "b", "h", "g", "s", "e" } }, function(q, k, v, heat)
    local score = sum(q * k * 0.25 * heat, "d")
    local p = exp(score - max(score, "t"))
    return sum(0.5 * p * v, "t") / sum(p, "t")
  end, both_ways)

-- Numbers alone, so that the gradient has all its products in streams.
declare("within", { "f32", "f16" }, { q = by_heads.q, k = by_heads.k, v = by_heads.v },
  { o = { "b", "h", "g", "s", "e" } }, function(q, k, v, heat)
    local p = exp(sum(q * k * 0.25 * heat, "d"))
    return sum(0.5 * p * v, "t") / sum(p, "t")
  end, { scalars = { heat = 0.75 }, products = "narrow", backward = {} })

-- A mask that makes a number 0, in f64 alone, which is nowhere rounded to fewer bits: what is multiplied by it is not read.
declare("cut", { "f64" }, { q = { "s", "d" }, k = { "t", "d" }, v = { "t", "e" } }, { o = { "s", "e" } },
  function(q, k, v)
    local score = select(gt(position "t", position "s"), sum(q * k, "d"), -2)
    return sum(max(score, 0) * v, "t")
  end)

-- The same of a power, by which a weight at each point is multiplied as well.
declare("left", { "f32" }, { q = { "s", "d" }, k = { "t", "d" }, v = { "t", "e" }, w = { "s", "t" } }, { o = { "s", "e" } },
  function(q, k, v, w)
    local score = select(le(position "t", position "s"), sum(q * k, "d"), -inf)
    local p = exp(score - max(score, "t"))
    return sum(p * w * v, "t") / sum(p, "t")
  end)

-- No reduction of rows but the product: products of matrices do it too.
declare("gated", { "f32", "f16" },
  { q = { "b", "h", "s", "d" }, k = { "b", "h", "t", "d" }, v = { "b", "h", "t", "e" } }, { o = { "b", "h", "s", "e" } },
  function(q, k, v)
    return sum(1 / (1 + exp(-sum(q * k, "d"))) * v, "t")
  end, both_ways)

-- Documents, whose numbers rule out tiles; scores that are bounded; and a key that is not there below the maximum.
declare("documents", { "f16" },
  { q = by_heads.q, k = by_heads.k, v = by_heads.v, sink = { "h", "g" }, of_query = { "b", "s", index = "document" },
    of_key = { "b", "t", index = "document" } },
  { o = { "b", "h", "g", "s", "e" } }, function(q, k, v, sink, of_query, of_key)
    local score = 30 * tanh(sum(q * k, "d") / 30)
    score = select(all_of(eq(of_query, of_key), le(position "t", position "s" + count "t" - count "s")), score, -inf)
    local m = detach(max(max(score, "t"), sink))
    local p = exp(score - m)
    return sum(p * v, "t") / (sum(p, "t") + exp(sink - m))
  end, { axes = { "document" }, products = "narrow", backward = {} })

-- A length for all keys of a batch, a table of distances, and random numbers of some axes beside a sum.
declare("dropped", { "f32" },
  { q = by_heads.q, k = by_heads.k, v = by_heads.v, length = { "b", index = "t" }, bias = { "h", "distance" },
    seed = { dtype = "i64" }, offset = { dtype = "i64" } },
  { o = { "b", "h", "g", "s", "e" } }, function(q, k, v, length, bias, seed, offset)
    local score = sum(q * k, "d") + at(bias, { distance = position "s" - position "t" + 3 }, 0)
    score = select(lt(position "t", length), score, -inf)
    local p = exp(score - detach(max(score, "t")))
    local kept = select(lt(random(seed, offset, "b", "h", "g", "s", "t"), 0.75), p, 0)
    return sum(kept * v, "t") / sum(p, "t") / 0.75
  end)

-- The same choice where nothing divides: a power that is no number, and is left out, leaves the sum a number.
declare("chosen", { "f32" },
  { q = { "s", "d" }, k = { "t", "d" }, v = { "t", "e" }, seed = { dtype = "i64" }, offset = { dtype = "i64" } },
  { o = { "s", "e" } }, function(q, k, v, seed, offset)
    local score = sum(q * k, "d")
    local p = exp(score - detach(max(score, "t")))
    return sum(select(lt(random(seed, offset, "s", "t"), 0.75), p, 0) * v, "t")
  end)
