-- Multi-head attention with its projections. Tokens x ask tokens c, which may be the same memory: self-attention.

local library = include "include/library.lua"

local function weight(...)
  return { range = { -0.125, 0.125 }, ... }
end

local function size(name, b, s, t, model, heads, d)
  return { name, b = b, s = s, t = t, model = model, heads = heads, d = d, e = d, out = model }
end

-- What torch's F.scaled_dot_product_attention is of the projected tokens; more: its other arguments.
local function torch(more)
  return "torch.einsum('bhse,ohe->bso', F.scaled_dot_product_attention(torch.einsum('bsm,hdm->bhsd', x, wq), "
    .. "torch.einsum('btm,hdm->bhtd', c, wk), torch.einsum('btm,hem->bhte', c, wv)" .. more .. "), wo)"
end

-- mask: NumPy's text of what there is of the scores x.
local function attention(name, doc, masked, mask, more)
  local scores = "q, k, v = np.einsum('bsm,hdm->bhsd', x, wq), np.einsum('btm,hdm->bhtd', c, wk), "
    .. "np.einsum('btm,hem->bhte', c, wv); z = np.einsum('bhsd,bhtd->bhst', q, k) / wq.shape[1] ** 0.5; " .. mask
  library(name) {
    doc, scores .. "p = np.exp(z - z.max(-1, keepdims=True)); p = p / p.sum(-1, keepdims=True); "
      .. "np.einsum('bhst,bhte,ohe->bso', p, v, wo)", torch = torch(more), ulp = 3, products = "narrow",
    inputs = {
      x = { "b", "s", "model" }, c = { "b", "t", "model" },
      wq = weight("heads", "d", "model"), wk = weight("heads", "d", "model"), wv = weight("heads", "e", "model"),
      wo = weight("out", "heads", "e"),
    },
    outputs = { y = { "b", "s", "out" } },
    compute = function(x, c, wq, wk, wv, wo)
      local q, k, v = sum(x * wq, "model"), sum(c * wk, "model"), sum(c * wv, "model")
      local score = masked(sum(q * k, "d") * rsqrt(count "d"))
      local p = exp(score - detach(max(score, "t")))
      return sum(sum(p * v, "t") / sum(p, "t") * wo, "heads", "e")
    end,
    sizes = { size("32", 2, 32, 32, 32, 2, 16), size("64", 2, 64, 64, 64, 4, 16) },
  }
end

attention("mha", "softmax(q k / sqrt(d)) v of projected tokens, projected", function(score) return score end, "", "")

attention("mha_causal", "the same, of which no token sees those after its own", function(score)
  return select(le(position "t", position "s" + count "t" - count "s"), score, -inf)
end, "z = np.where(np.tri(*z.shape[-2:], z.shape[-1] - z.shape[-2], dtype=bool), z, -np.inf); ", ", is_causal=True")
