-- Chains of contractions for test_chain.sh, test_chain_cuda.sh, test_vulkan_chain.sh and test_emulator.sh: depths,
-- activations, with and without bias, orders of a matrix's axes, batches of two axes, and rows that come in again later.

local function declare(name, inputs, outputs, compute, keys)
  keys = keys or {}
  local size, odd = { "S" }, { "odd", batch = 17 }
  for _, shape in pairs(inputs) do
    for d, dim in ipairs(shape) do
      size[dim], odd[dim] = 12, odd[dim] or 19 + 2 * d
    end
  end
  -- Blocks far smaller than those that are fast, so that small sizes are several.
  local variants = {
    { backend = "cpu", implementation = "simd", mr = 5, nv = { 1, 2 }, rows = 8 },
    { backend = { "cuda", "vulkan" }, implementation = "for_loop" },
    { backend = "cuda", implementation = "coopmat", dtypes = keys.dtypes },
  }
  if keys.rounded then
    variants[#variants + 1] = { backend = "cuda", implementation = "coopmat", products = "tf32", dtypes = "f32" }
  end
  for _, how in ipairs(keys.dtypes and {} or { "coopmat", "coopvec" }) do
    variants[#variants + 1] = { backend = "vulkan", implementation = how, dtypes = "f16" }
  end
  op(name) {
    doc = name, inputs = inputs, outputs = outputs, compute = compute, sizes = { size, odd },
    dtypes = keys.dtypes or { "f32", "f16" }, ulp = 4, backward = keys.backward, variants = variants,
  }
end

local function gelu(x) return x * (0.5 * erfc(x * -math.sqrt(0.5))) end
local function swish(x) return x * sigmoid(x) end

declare("three_layers", {
  x = { "batch", "i" }, w1 = { "h", "i" }, b1 = { "h" }, w2 = { "l", "h" }, b2 = { "l" }, w3 = { "o", "l" },
  b3 = { "o" },
}, { y = { "batch", "o" } }, function(x, w1, b1, w2, b2, w3, b3)
  local first = gelu(sum(w1 * x, "i") + b1)
  local second = gelu(sum(w2 * first, "h") + b2)
  return sum(w3 * second, "l") + b3
end)

declare("three_layers_trained", {
  x = { "batch", "i" }, w1 = { "h", "i" }, w2 = { "l", "h" }, w3 = { "o", "l" },
}, { y = { "batch", "o" } }, function(x, w1, w2, w3)
  return sum(w3 * gelu(sum(w2 * gelu(sum(w1 * x, "i")), "h")), "l")
end, { backward = true, dtypes = { "f64", "f32" } })

declare("swish_of_transposed", {
  x = { "batch", "i" }, w1 = { "i", "h" }, b1 = { "h" }, w2 = { "h", "o" },
}, { y = { "batch", "o" } }, function(x, w1, b1, w2)
  return sum(w2 * swish(sum(w1 * x, "i") + b1), "h")
end, { backward = true, dtypes = { "f32", "bf16" }, rounded = true })

declare("residual", {
  x = { "batch", "seq", "i" }, w1 = { "h", "i" }, w2 = { "i", "h" },
}, { y = { "batch", "seq", "i" }, hidden = { "batch", "seq", "h" } }, function(x, w1, w2)
  local hidden = max(sum(w1 * x, "i"), 0)
  return { y = sum(w2 * hidden, "h") + x, hidden = hidden }
end)

declare("one_layer", { x = { "batch", "i" }, w = { "o", "i" } }, { y = { "batch", "o" } },
  function(x, w) return sum(w * x, "i") end, { backward = true })
