-- Numbers of 8 bits for numbers: q stands for (q - zero) * scale. What is stored as i8 or u8 is rounded to nearest and
-- cut off at the ends of the range.

local vector = include "include/vector.lua"

local dtypes = { "f32", "f16", "bf16" }
local ulp = { f32 = 2, f16 = 14, bf16 = 14 } -- quotients of kernels in 16 bits: templates/cuda/functions.h

op "dequantise" {
  doc = "(q - zero) * scale, of i8",
  inputs = { q = { "n", dtype = "i8" } },
  outputs = { y = { "n" } },
  scalars = { zero = 3, scale = 0.0625 },
  compute = function(q, zero, scale) return (q - zero) * scale end,
  sizes = vector.sizes,
  dtypes = dtypes,
  ulp = ulp,
  peers = { numpy = "(q - zero) * scale", torch = "(q - zero) * scale" },
}

op "dequantise_rows" {
  doc = "q * scale, of i8, with a scale for each row",
  inputs = { q = { "rows", "cols", dtype = "i8" }, scale = { "rows", dtype = "f32", range = { 0.01, 0.1 } } },
  outputs = { y = { "rows", "cols" } },
  compute = function(q, scale) return q * scale end,
  sizes = vector.grid_sizes,
  dtypes = dtypes,
  ulp = ulp,
  peers = { numpy = "q * scale[:, None]", torch = "q * scale[:, None]" },
}

op "dequantise_columns" {
  doc = "(q - zero) * scale, of u8, with a zero and a scale for each column",
  inputs = {
    q = { "rows", "cols", dtype = "u8" },
    zero = { "cols", dtype = "u8" },
    scale = { "cols", range = { 0.01, 0.1 } },
  },
  outputs = { y = { "rows", "cols" } },
  compute = function(q, zero, scale) return (q - zero) * scale end,
  sizes = vector.grid_sizes,
  dtypes = dtypes,
  ulp = ulp,
  -- Differences of numbers without a sign would wrap around.
  peers = { numpy = "np.subtract(q, zero, dtype=scale.dtype) * scale", torch = "(q.to(scale.dtype) - zero) * scale" },
}

op "quantise" {
  doc = "x / scale + zero as i8",
  inputs = { x = { "n", range = { -10, 10 } } },
  outputs = { q = { "n", dtype = "i8" } },
  scalars = { zero = 3, scale = 0.0625 },
  compute = function(x, zero, scale) return x / scale + zero end,
  sizes = vector.sizes,
  dtypes = dtypes,
  ulp = ulp,
  peers = {
    numpy = "np.clip(np.rint(np.nan_to_num(x / scale + zero)), -128, 127)",
    torch = "(x / scale + zero).round().clamp(-128, 127)",
  },
}

op "quantise_columns" {
  doc = "x / scale + zero as u8, with a zero and a scale for each column",
  inputs = {
    x = { "rows", "cols", range = { -10, 10 } },
    zero = { "cols", dtype = "u8" },
    scale = { "cols", range = { 0.05, 0.5 } },
  },
  outputs = { q = { "rows", "cols", dtype = "u8" } },
  compute = function(x, zero, scale) return x / scale + zero end,
  sizes = vector.grid_sizes,
  dtypes = dtypes,
  ulp = ulp,
  peers = {
    numpy = "np.clip(np.rint(np.nan_to_num(x / scale + zero)), 0, 255)",
    torch = "(x / scale + zero).round().clamp(0, 255)",
  },
}

op "quantise_dynamic" {
  doc = "x / scale as i8, with scale = max(abs(x)) / 127 of each row",
  inputs = { x = { "rows", "cols", range = { -10, 10 } } },
  outputs = { q = { "rows", "cols", dtype = "i8" }, scale = { "rows", dtype = "f32" } },
  compute = function(x)
    local largest = max(abs(x), "cols")
    return { q = x * 127 / largest, scale = largest / 127 }
  end,
  sizes = vector.grid_sizes,
  dtypes = dtypes,
  ulp = ulp,
  peers = {
    numpy = "m = np.abs(x).max(-1, keepdims=True); np.rint(np.nan_to_num(x * 127 / m)), m[:, 0] / 127",
    torch = "m = x.abs().amax(-1, keepdim=True); (x * 127 / m).round(), m[:, 0] / 127",
  },
}
