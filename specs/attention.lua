-- Attention. Queries of several heads may share keys and values: those are along the axis "each", which keys lack.

local vector = include "include/vector.lua"

local function size(name, batch, heads, each, s, t, d, e)
  return { name, batch = batch, heads = heads, each = each, s = s, t = t, d = d, e = e }
end

-- What attention is over scores to which a mask has been applied.
-- mask: the same by NumPy, of scores x.
local function attention(name, doc, masked, mask, torch)
  local scores = "x = np.einsum('bhgsd,bhtd->bhgst', q, k) / q.shape[-1] ** 0.5; " .. mask
    .. "p = np.exp(x - x.max(-1, keepdims=True)); p = p / p.sum(-1, keepdims=True); "
  op(name) {
    doc = doc,
    inputs = {
      q = { "batch", "heads", "each", "s", "d" }, k = { "batch", "heads", "t", "d" },
      v = { "batch", "heads", "t", "e" },
    },
    outputs = { o = { "batch", "heads", "each", "s", "e" } },
    compute = function(q, k, v)
      local score = masked(sum(q * k, "d") * rsqrt(count "d"))
      local p = exp(score - detach(max(score, "t")))
      return sum(p * v, "t") / sum(p, "t")
    end,
    sizes = { size("64x64", 1, 2, 2, 64, 64, 64, 64), size("256x64", 1, 2, 1, 256, 256, 64, 64) },
    dtypes = vector.dtypes,
    ulp = vector.ulp(3),
    products = "narrow",
    backward = {
      peers = {
        numpy = scores .. "e = np.einsum('bhgse,bhte->bhgst', do, v); "
          .. "e = np.where(x > -np.inf, p * (e - (p * e).sum(-1, keepdims=True)) / q.shape[-1] ** 0.5, 0); "
          .. "np.einsum('bhgst,bhtd->bhgsd', e, k), np.einsum('bhgst,bhgsd->bhtd', e, q), "
          .. "np.einsum('bhgst,bhgse->bhte', p, do)",
      },
    },
    peers = { numpy = scores .. "np.einsum('bhgst,bhte->bhgse', p, v)", torch = torch },
  }
end

local function by_torch(more)
  return "F.scaled_dot_product_attention(q.flatten(1, 2), k, v, enable_gqa=True" .. more
    .. ").view(*q.shape[:-1], v.shape[-1])"
end

attention("attention", "softmax(q k / sqrt(d)) v", function(score)
  return score
end, "", by_torch "")

-- The last query sees all keys. With fewer queries than keys the first one of PyTorch's sees the first key alone.
attention("attention_causal", "the same, of which no query sees keys after its own", function(score)
  return select(le(position "t", position "s" + count "t" - count "s"), score, -inf)
end, "x = np.where(np.tri(*x.shape[-2:], x.shape[-1] - x.shape[-2], dtype=bool), x, -np.inf); ",
  by_torch ", is_causal=True")
