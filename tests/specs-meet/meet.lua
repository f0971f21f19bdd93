-- Sums of what two values come to, for test_meet.sh: in every order of axes, in batches, with values of the result's own.

local orders = { { "m", "k" }, { "k", "m" } }

local function declare(name, inputs, outputs, compute, keys)
  local size = { "S" }
  for _, shape in pairs(inputs) do
    for _, dim in ipairs(shape) do
      size[dim] = 5
    end
  end
  op(name) {
    doc = name, inputs = inputs, outputs = outputs, scalars = keys and keys.scalars, compute = compute, sizes = { size },
    dtypes = { "f32", "f16" }, ulp = 64, backward = keys and keys.backward and {} or nil,
    variants = {
      { backend = "scalar" }, { backend = "cuda" }, { backend = "cuda", bn = "auto" },
      { backend = "cuda", unit = "mma", bn = "auto", dtypes = "f16" }, { backend = "vulkan", bm = 32, bn = 64, bk = 8 },
    },
  }
end

-- Lengths, whose gradients have a value of their own for each result.
for i, x in ipairs(orders) do
  for j, y in ipairs { { "n", "k" }, { "k", "n" } } do
    declare("lengths_" .. i .. j, { x = x, y = y }, { r = i == j and { "m", "n" } or { "n", "m" } },
      function(x, y, s) return exp(-s * sum((x - y) ^ 2, "k")) end, { backward = i == j, scalars = { s = 0.7 } })
  end
end
declare("lengths_batched", { x = { "b", "m", "k" }, y = { "n", "b", "k" } }, { r = { "b", "m", "n" } },
  function(x, y) return sqrt(1 + sum((x - y) ^ 2, "k")) end, { backward = true })

-- What is not 0 of zeros; made of one side before, of both, and of the result.
declare("not_zero", { x = { "m", "k" }, y = { "n", "k" }, w = { "m" }, v = { "n" } }, { r = { "m", "n" } },
  function(x, y, w, v, s) return sum(exp(x * w - s * y) + abs(y * v - 1), "k") end, { scalars = { s = 0.7 } })
declare("twice", { x = { "m", "k" }, y = { "n", "k" }, w = { "n", "m" } }, { r = { "m", "n" } },
  function(x, y, w) return sum(max(x, y * w) + x * 0.5, "k") end)

-- Three values of terms are none of that.
declare("three", { x = { "m", "k" }, y = { "n", "k" }, w = { "k" } }, { r = { "m", "n" } },
  function(x, y, w) return sum(abs(x - y + w), "k") end)
