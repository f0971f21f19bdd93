-- Operands of types of their own by every template, beside each other and alone.

local vector = include "include/vector.lua"

local function with(name, keys)
  for key, value in pairs {
    doc = name, dtypes = { "f32", "f16", "bf16" }, ulp = { f32 = vector.sum_ulp, f16 = 18, bf16 = 18 },
  } do
    keys[key] = value
  end
  op(name)(keys)
end

local function typed(dtype, ...)
  return { dtype = dtype, ... }
end

with("requantised", {
  inputs = { x = typed("i8", "n"), z = typed("u8", "n") },
  outputs = { y = typed("u8", "n") },
  compute = function(x, z) return x * 0.375 + z * 0.5 end,
  sizes = vector.sizes,
})

with("doubled_in_place", {
  inputs = { x = typed("i8", "n") },
  outputs = { y = typed("i8", "n") },
  compute = function(x) return 2 * x end,
  sizes = vector.sizes, in_place = true,
})

with("scaled_by_one", {
  inputs = { x = { "n" }, scale = typed("bf16") },
  outputs = { y = typed("f16", "n"), q = typed("i8", "n") },
  compute = function(x, scale) return { y = x * scale, q = 100 * x } end,
  sizes = vector.sizes,
})

with("sum_of_bytes", {
  inputs = { x = typed("i8", "n"), w = { "n" } },
  outputs = { r = {} },
  compute = function(x, w) return sum(x * w) end,
  sizes = vector.sizes,
})

with("first_largest_byte", {
  inputs = { x = typed("u8", "n") },
  outputs = { r = {}, largest = typed("u8") },
  compute = function(x) return { r = argmax(x), largest = max(x) } end,
  sizes = vector.sizes,
})

with("softmax_of_bytes", {
  inputs = { x = typed("i8", "rows", "cols"), scale = typed("f32", "cols"), offset = typed("u8", "rows") },
  outputs = { y = typed("u8", "rows", "cols"), total = typed("f32", "rows") },
  compute = function(x, scale, offset)
    local z = x * 0.03125 * scale + offset * 0.001
    local e = exp(z - max(z, "cols"))
    local s = sum(e, "cols")
    return { y = 255 * e / s * 4, total = s }
  end,
  sizes = vector.grid_sizes,
})

with("picked_bytes", {
  inputs = { x = typed("i8", "rows", "cols"), target = { "rows", index = "cols" } },
  outputs = { y = typed("i8", "rows") },
  compute = function(x, target) return at(x, target) - mean(x, "cols") end,
  sizes = vector.grid_sizes,
})

with("centred_bytes", {
  inputs = { x = typed("i8", "rows", "cols"), w = { "rows", "cols" } },
  outputs = { y = typed("i8", "rows", "cols"), c = typed("i8", "cols") },
  compute = function(x, w)
    local y = x - mean(x, "cols")
    return { y = y * 0.5, c = sum(y * w, "rows") * 0.125 }
  end,
  sizes = vector.grid_sizes,
})
