-- What specs of arrays elsewhere use and a spec of ours does not have: by name, a line that says what there is
-- instead. A limit of lathe's is named as one; for the rest it is what to write.

local elementary = require "elementary"
local text = require "text"

local limits = {}

local known = {}

local function say(names, line)
  for name in string.gmatch(names, "%S+") do
    known[name] = line
  end
end

say("logcumsumexp scan prefix_sum associative_scan cumulative_product cumulative_sum lfilter",
  "of scans there are cumsum cumprod cummax cummin, and recurrence(a, b, \"t\") for h = a * h + b")
say("transpose permute swapaxes moveaxis reshape view flatten squeeze unsqueeze expand broadcast_to cat concat "
  .. "concatenate stack split chunk tile",
  "nothing is moved or given another shape: an operand lists its axes in the order that they lie in memory, and one "
  .. "that lacks some of the op's, as { \"cols\" }, is the same along those")
say("matmul mm bmm addmm einsum tensordot inner outer linear",
  "write the sum that it is: sum(x * w, \"k\"), for one with x = { \"m\", \"k\" } and w = { \"n\", \"k\" }")
say("attention scaled_dot_product_attention",
  "write it out: sum(q * k, \"d\") for the scores, their softmax, and a sum of that times v")
say("conv conv1d conv2d conv3d convolve correlate max_pool avg_pool max_pool1d max_pool2d avg_pool1d avg_pool2d shift "
  .. "roll pad diff interp interpolate unfold flip",
  "write at(x, { h = place }, outside), what is elsewhere, of a place such as position \"o\" * 2 + position \"r\" - 1")
say("gather index_select take take_along_axis embedding",
  "write at(x, { v = index }) of an operand of indexes, index = { \"rows\", index = \"v\" }")
say("one_hot", "write select(eq(position \"v\", index), 1, 0)")
say("scatter scatter_add nonzero masked_select bincount histogram searchsorted unique",
  "a result is not put at a place that is computed: each point reads what it is made of, as at(x, { v = index }) does")
say("sort argsort topk kthvalue median quantile percentile mode",
  "there is no sorting: of the elements along an axis there are the largest and the smallest (max, min, argmax, "
  .. "argmin)")
say("int int8 int16 int32 int64 uint8 long bitwise_and bitwise_or bitwise_xor left_shift right_shift",
  "there is no arithmetic of integers: numbers have a fraction, which floor and round take away")
say("cbrt lgamma digamma gamma i0",
  "of these functions there are sqrt pow " .. table.concat(text.sorted_keys(elementary), " "))
for name, other in pairs { arcsin = "asin", arccos = "acos", arctan = "atan", arctan2 = "atan2", arcsinh = "asinh" } do
  say(name, "write " .. other .. "(...)")
end
say("prod row_prod",
  "there are no products along an axis; of numbers above 0 it is exp(sum(log(x), \"cols\"))")
say("randn normal bernoulli randint multinomial", "random(seed, offset) is a number in [0, 1), and all that is random")

say("where", "write select(condition, a, b)")
say("logical_and", "write all_of(a, b)")
say("logical_or", "write any_of(a, b)")
say("logical_not", "write negate(a)")
say("maximum fmax amax", "write max(a, b), or max(x, \"cols\") over an axis")
say("minimum fmin amin", "write min(a, b), or min(x, \"cols\") over an axis")
say("clip", "write clamp(x, low, high)")
say("power", "write pow(a, b) or a ^ b")
say("square", "write x ^ 2")
say("reciprocal", "write 1 / x")
say("absolute fabs", "write abs(x)")
say("rint", "write round(x)")
say("fix", "write trunc(x)")
say("mod", "write remainder(x, y), whose sign is that of y, or fmod(x, y)")
say("logical_xor", "write one_of(a, b)")
say("any", "write any_of(condition, \"cols\")")
say("all", "write all_of(condition, \"cols\")")
say("relu", "write max(x, 0)")
say("silu swish", "write x * sigmoid(x)")
say("gelu", "write 0.5 * x * erfc(-x * math.sqrt(0.5))")
say("softplus", "write max(x, 0) + log1p(exp(-abs(x)))")
say("softmax log_softmax logsumexp", "write it out, as specs/softmax.lua does")
say("var std", "write mean((x - mean(x, \"cols\")) ^ 2, \"cols\"), or its root")
say("norm", "write sqrt(sum(x ^ 2))")

for _, name in ipairs { "sum", "mean", "max", "min" } do
  say("row_" .. name .. " column_" .. name, "write " .. name .. "(x, \"cols\"), with the names of the axes to go over")
end

-- What to say of an unknown key of an op, or nil: what its function is called elsewhere.
local keys = {
  map = "write compute, the one key for every op's function",
  reduce = "write compute, where sum(x) goes over all axes of x, and sum(x, \"cols\") over those that it names",
  rows = "write compute, where a reduction names the axes to go over, as in sum(x, \"cols\")",
}
function limits.of_key(key)
  return keys[key]
end

-- What to say of an unknown name, or nil.
function limits.of(name)
  return known[name]
end

-- The same of a dtype, for integers.
function limits.of_dtype(dtype)
  return type(dtype) == "string" and string.find(dtype, "^u?i%w*%d+$") and known.int or nil
end

-- What to write in place of an operator that symbolic values lack, or nil. of_comparison: whether one of them is a
-- comparison.
local operators = { ["//"] = "write floor_divide(a, b)", ["%"] = "write remainder(a, b)" }
for _, sign in ipairs { "&", "|", "~", "<<", ">>" } do
  operators[sign] = known.int
end
local of_comparisons = { ["&"] = "write all_of(a, b)", ["|"] = "write any_of(a, b)", ["~"] = "write negate(a)" }
function limits.of_operator(sign, of_comparison)
  return of_comparison and of_comparisons[sign] or operators[sign]
end

-- What to say of x[i].
limits.index = "an operand is not indexed: it is read at each point's own place, or by at(x, { t = place }) elsewhere"

-- What is no Lua, but is written so in other languages: where Lua's compiler stops, what stands in the line, and what
-- to say. Of two that fit the first is meant.
local foreign = {
  { "']' expected near ','", "[", limits.index .. ", and a product of matrices is sum(x * w, \"k\")" },
  { "near '*'", "**", "write x ^ 2 for a power" },
  { "near '!'", "!=", "write ne(a, b), or a ~= b of plain values" },
  { "near '!'", "!", "write negate(a), or not a of a plain value" },
  { "near '&'", "&&", "write all_of(a, b), or a and b of plain values" },
  { "near '|'", "||", "write any_of(a, b), or a or b of plain values" },
  { "near '?'", "?", "write select(condition, a, b)" },
}

-- A message of Lua's compiler about a line, with what its author may have meant. (Strings have few methods while an
-- include is read.)
function limits.explain(message, line)
  for _, row in ipairs(foreign) do
    if string.find(message, row[1], 1, true) and string.find(line, row[2], 1, true) then
      return message .. "; " .. row[3]
    end
  end
  return message
end

return limits
