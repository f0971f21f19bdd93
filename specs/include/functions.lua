-- Functions of specs that more than one op is made of.

local functions = {}

-- The exact gelu. 1 + erf(x) would lose its digits for x below -1; erfc(-x) is the same and does not.
function functions.gelu(x) return x * (0.5 * erfc(x * -math.sqrt(0.5))) end

function functions.relu(x) return max(x, 0) end
function functions.silu(x) return x * sigmoid(x) end

-- log(1 + e^x), which is x where e^x is beyond the largest number.
function functions.softplus(x) return max(x, 0) + log1p(exp(-abs(x))) end

-- x without its mean over some axes, and their variance: of all there is, or an estimate by n - ddof.
function functions.centred(x, ...) return x - mean(x, ...) end

function functions.variance(x, ddof, ...)
  local all = sum(functions.centred(x, ...) ^ 2, ...)
  return all / (count(...) - ddof)
end

-- x without its mean, in units of its deviation.
function functions.normalised(x, eps, ...)
  local centred = functions.centred(x, ...)
  return centred * rsqrt(mean(centred ^ 2, ...) + eps)
end

-- The p-norm over some axes; of p = math.huge the largest size.
function functions.norm(x, p, ...)
  if p == math.huge then
    return max(abs(x), ...)
  elseif p == 1 then
    return sum(abs(x), ...)
  elseif p == 2 then
    return sqrt(sum(x * x, ...))
  end
  return sum(abs(x) ^ p, ...) ^ (1 / p)
end

-- e^x over its sum along an axis, and the logarithm of that sum.
function functions.softmax(x, ...)
  local e = exp(x - detach(max(x, ...)))
  return e / sum(e, ...)
end

function functions.log_sum_exp(x, ...)
  local most = detach(max(x, ...))
  return most + log(sum(exp(x - most), ...))
end

return functions
