-- Attention whose scores are masked, bounded or biased: of documents, windows, lengths, tables of distances and pages.
-- Queries of several heads may share keys and values, which lack the axis "each".

local library = include "include/library.lua"

local function declare(name, row)
  local inputs, axes = {
    q = { "batch", "heads", "each", "s", "d" }, k = { "batch", "heads", "t", "d" }, v = { "batch", "heads", "t", "e" },
  }, row.axes or {}
  for operand, shape in pairs(row.inputs) do
    inputs[operand] = shape
  end
  local function size(of, s, t, d)
    local all = { of, batch = 2, heads = 2, each = 2, s = s, t = t, d = d, e = d }
    for axis, extent in pairs(row.sizes or {}) do
      all[axis] = extent
    end
    return all
  end
  library(name) {
    row.doc, row.numpy, inputs = inputs, outputs = { o = { "batch", "heads", "each", "s", "e" } }, axes = axes,
    scalars = row.scalars, compute = row.compute, ulp = 3, products = "narrow",
    sizes = { size("32", 32, 64, 16), size("150", 150, 150, 64) },
  }
end

local function scores(q, k)
  return sum(q * k, "d") * rsqrt(count "d")
end

-- What values come to by the exponentials of scores.
local function softmax(score, v)
  local p = exp(score - detach(max(score, "t")))
  return sum(p * v, "t") / sum(p, "t")
end

-- The same by NumPy; infinity less infinity is NaN there too.
local scores_of = "x = np.einsum('bhgsd,bhtd->bhgst', q, k) / q.shape[-1] ** 0.5; "
local softmax_of = "p = np.exp(x - x.max(-1, keepdims=True)); "
  .. "np.einsum('bhgst,bhte->bhgse', p / p.sum(-1, keepdims=True), v)"
local rows_and_keys = "s, t = np.ogrid[:x.shape[-2], :x.shape[-1]]; "

-- Sequences that are packed: a query sees the keys of its own document, up to itself.
declare("attention_documents", {
  doc = "causal attention within documents, of which tokens say the number",
  inputs = { of_query = { "batch", "s", index = "document" }, of_key = { "batch", "t", index = "document" } },
  axes = { "document" }, sizes = { document = 3 },
  compute = function(q, k, v, of_query, of_key)
    local seen = all_of(eq(of_query, of_key), le(position "t", position "s" + count "t" - count "s"))
    return softmax(select(seen, scores(q, k), -inf), v)
  end,
  numpy = scores_of .. rows_and_keys .. "x = np.where((of_query[:, :, None] == of_key[:, None])[:, None, None] "
    .. "& (t <= s + x.shape[-1] - x.shape[-2]), x, -np.inf); " .. softmax_of,
})

declare("attention_length", {
  doc = "attention to the first keys of each batch, of which length is the number",
  inputs = { length = { "batch", index = "t" } },
  compute = function(q, k, v, length)
    return softmax(select(lt(position "t", length), scores(q, k), -inf), v)
  end,
  numpy = scores_of .. rows_and_keys .. "x = np.where(t < length[:, None, None, None, None], x, -np.inf); "
    .. softmax_of,
})

declare("attention_window", {
  doc = "causal attention to the last keys, by distance less by a slope of each head (ALiBi)",
  inputs = { slope = { "heads", "each", range = { 0, 1 } } }, scalars = { width = 20 },
  compute = function(q, k, v, slope, width)
    local away = position "s" + count "t" - count "s" - position "t"
    return softmax(select(all_of(ge(away, 0), lt(away, width)), scores(q, k) - slope * away, -inf), v)
  end,
  numpy = scores_of .. rows_and_keys .. "away = s + x.shape[-1] - x.shape[-2] - t; "
    .. "x = np.where((away >= 0) & (away < width), x - slope[..., None, None] * away, -np.inf); " .. softmax_of,
})

-- A key that is not there takes a share of each row, so that a row may see nothing.
declare("attention_sink", {
  doc = "causal attention of bounded scores, beside a score for each head that has no value",
  inputs = { sink = { "heads", "each" } }, scalars = { cap = 4 },
  compute = function(q, k, v, sink, cap)
    local score = cap * tanh(scores(q, k) / cap)
    score = select(le(position "t", position "s" + count "t" - count "s"), score, -inf)
    local m = detach(max(max(score, "t"), sink))
    local p = exp(score - m)
    return sum(p * v, "t") / (sum(p, "t") + exp(sink - m))
  end,
  numpy = scores_of .. rows_and_keys .. "x = cap * np.tanh(x / cap); "
    .. "x = np.where(t <= s + x.shape[-1] - x.shape[-2], x, -np.inf); sink = sink[..., None, None]; "
    .. "m = np.maximum(x.max(-1, keepdims=True), sink); p = np.exp(x - m); "
    .. "np.einsum('bhgst,bhte->bhgse', p / (p.sum(-1, keepdims=True) + np.exp(sink - m)), v)",
})

declare("attention_bias", {
  doc = "attention with a table of what to add to scores by the distance from a key to a query, 0 beyond its ends",
  inputs = { bias = { "heads", "distance" } }, sizes = { distance = 41 },
  compute = function(q, k, v, bias)
    return softmax(scores(q, k) + at(bias, { distance = position "s" - position "t" + 20 }, 0), v)
  end,
  numpy = scores_of .. rows_and_keys .. "away = s - t + 20; inside = (away >= 0) & (away < bias.shape[1]); "
    .. "x = x + np.where(inside, bias[:, np.where(inside, away, 0)], 0)[:, None]; " .. softmax_of,
})

declare("attention_dropout", {
  doc = "attention of which some weights are left out by chance, the others made larger to make up for it",
  inputs = { seed = { dtype = "i64" }, offset = { dtype = "i64" } }, scalars = { share = 0.25 },
  compute = function(q, k, v, seed, offset, share)
    local score = scores(q, k)
    local p = exp(score - detach(max(score, "t")))
    local kept = select(ge(random(seed, offset, "batch", "heads", "each", "s", "t"), share), p, 0)
    return sum(kept * v, "t") / sum(p, "t") / (1 - share)
  end,
  numpy = scores_of .. "p = np.exp(x - x.max(-1, keepdims=True)); total = p.sum(-1, keepdims=True) * (1 - share); "
    .. "p = np.where(random(seed, offset, x.size).reshape(x.shape) >= share, p, 0); "
    .. "np.einsum('bhgst,bhte->bhgse', p, v) / total",
})

-- No softmax: a weight depends on its own score alone.
declare("attention_sigmoid", {
  doc = "attention by a sigmoid of each score, less the logarithm of the number of keys",
  inputs = {},
  compute = function(q, k, v)
    return sum(1 / (1 + exp(log(count "t") - scores(q, k))) * v, "t")
  end,
  numpy = scores_of .. "np.einsum('bhgst,bhte->bhgse', 1 / (1 + x.shape[-1] * np.exp(-x)), v)",
})

declare("attention_decayed", {
  doc = "causal attention by scores as they are, made smaller by distance (retention)",
  inputs = { rate = { "heads", "each", range = { 0, 1 } } },
  compute = function(q, k, v, rate)
    local away = position "s" + count "t" - count "s" - position "t"
    return sum(select(ge(away, 0), scores(q, k) * exp(-rate * away), 0) * v, "t")
  end,
  numpy = scores_of .. rows_and_keys .. "away = s + x.shape[-1] - x.shape[-2] - t; "
    .. "x = np.where(away >= 0, x * np.exp(-rate[..., None, None] * np.maximum(away, 0)), 0); "
    .. "np.einsum('bhgst,bhte->bhgse', x, v)",
})

-- Keys and values are in pages, of which a table says the numbers.
library "attention_paged" {
  "attention to keys in pages, of which a table has those of each batch, up to a length",
  "k, v = (x[table].reshape(len(q), -1, *x.shape[2:]) for x in (k, v)); "
    .. "x = np.einsum('bhgd,bthd->bhgt', q, k) / q.shape[-1] ** 0.5; "
    .. "x = np.where(np.arange(x.shape[-1]) < length[:, None, None, None], x, -np.inf); "
    .. "p = np.exp(x - x.max(-1, keepdims=True)); np.einsum('bhgt,bthe->bhge', p / p.sum(-1, keepdims=True), v)",
  inputs = {
    q = { "batch", "heads", "each", "d" }, k = { "page", "slot", "heads", "d" }, v = { "page", "slot", "heads", "e" },
    table = { "batch", "nth", index = "page" }, length = { "batch", index = "keys" },
  },
  outputs = { o = { "batch", "heads", "each", "e" } }, axes = { "keys" }, ulp = 3, products = "narrow",
  sizes = { { "128", batch = 2, heads = 2, each = 4, page = 20, slot = 16, nth = 8, keys = 128, d = 16, e = 16 } },
  compute = function(q, k, v, table, length)
    local score = sum(q * at(k, { page = table }), "d") * rsqrt(count "d")
    score = select(lt(position "nth" * count "slot" + position "slot", length), score, -inf)
    local p = exp(score - detach(max(score, "nth", "slot")))
    return sum(p * at(v, { page = table }), "nth", "slot") / sum(p, "nth", "slot")
  end,
}
