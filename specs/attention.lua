-- Attention. Queries of several heads may share keys and values: those are along the axis "each", which keys lack.

local vector = include "include/vector.lua"

local function size(name, batch, heads, each, s, t, d, e)
  return { name, batch = batch, heads = heads, each = each, s = s, t = t, d = d, e = e }
end

-- What attention is over scores to which a mask has been applied, and the logarithm of what it divides by, which the
-- gradient reads. mask: the same by NumPy, of scores x.
local function attention(name, doc, masked, mask, torch)
  local scores = "x = np.einsum('bhgsd,bhtd->bhgst', q, k) / q.shape[-1] ** 0.5; " .. mask
  op(name) {
    doc = doc,
    inputs = {
      q = { "batch", "heads", "each", "s", "d" }, k = { "batch", "heads", "t", "d" },
      v = { "batch", "heads", "t", "e" },
    },
    outputs = {
      o = { "batch", "heads", "each", "s", "e" }, lse = { "batch", "heads", "each", "s", dtype = "computed" },
    },
    compute = function(q, k, v)
      local score = masked(sum(q * k, "d") * rsqrt(count "d"))
      local most = detach(max(score, "t"))
      local p = exp(score - most)
      local all = sum(p, "t")
      return { o = sum(p * v, "t") / all, lse = detach(most + log(all)) }
    end,
    sizes = { size("64x64", 1, 2, 2, 64, 64, 64, 64), size("256x64", 1, 2, 1, 256, 256, 64, 64) },
    dtypes = vector.dtypes,
    ulp = vector.ulp(3),
    products = "narrow",
    backward = {
      reads = { "lse", "o" },
      peers = {
        numpy = scores .. "p = np.where(x > -np.inf, np.exp(x - lse[..., None]), 0); "
          .. "e = np.einsum('bhgse,bhte->bhgst', do, v); "
          .. "e = np.where(x > -np.inf, p * (e - (do * o).sum(-1, keepdims=True)) / q.shape[-1] ** 0.5, 0); "
          .. "np.einsum('bhgst,bhtd->bhgsd', e, k), np.einsum('bhgst,bhgsd->bhtd', e, q), "
          .. "np.einsum('bhgst,bhgse->bhte', p, do)",
      },
    },
    peers = {
      numpy = scores .. "m = x.max(-1, keepdims=True); p = np.exp(x - m); n = p.sum(-1, keepdims=True); "
        .. "(m + np.log(n))[..., 0], np.einsum('bhgst,bhte->bhgse', p / n, v)",
      torch = torch,
    },
  }
end

-- PyTorch's function keeps the logarithm for its gradient, and hands it out in no way that all of its kernels have: it
-- is computed apart, untimed, a head at a time. mask: over scores x.
local function by_torch(more, mask)
  return "lambda: torch.stack([torch.stack([(lambda x: torch.logsumexp(" .. mask .. ", -1))"
    .. "(torch.einsum('gsd,td->gst', *(one.to(torch.promote_types(one.dtype, torch.float32)) for one in (a, b))) "
    .. "/ a.shape[-1] ** 0.5) for a, b in zip(*of)]) for of in zip(q, k)]), "
    .. "F.scaled_dot_product_attention(q.flatten(1, 2), k, v, enable_gqa=True" .. more
    .. ").view(*q.shape[:-1], v.shape[-1])"
end

attention("attention", "softmax(q k / sqrt(d)) v", function(score)
  return score
end, "", by_torch("", "x"))

-- The last query sees all keys. With fewer queries than keys the first one of PyTorch's sees the first key alone.
attention("attention_causal", "the same, of which no query sees keys after its own", function(score)
  return select(le(position "t", position "s" + count "t" - count "s"), score, -inf)
end, "x = np.where(np.tri(*x.shape[-2:], x.shape[-1] - x.shape[-2], dtype=bool), x, -np.inf); ",
  by_torch(", is_causal=True",
    "x.masked_fill(torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device)"
      .. ".triu(x.shape[-1] - x.shape[-2] + 1), -torch.inf)"))
