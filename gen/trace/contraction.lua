-- Tells the sums that are contractions: of a product whose two factors each have axes that the other lacks.

local contraction = {}

-- The factors of a product, one for each set of axes that they have. seen: the nodes and sets that were met.
local function factors_of(node, list, seen)
  if seen[node] then
    return list
  end
  seen[node] = true
  if node.op == "mul" then
    factors_of(node[1], list, seen)
    factors_of(node[2], list, seen)
  elseif node.op == "neg" or node.op == "div" then
    factors_of(node[1], list, seen)
  elseif not seen[node.axes] then
    seen[node.axes] = true
    list[#list + 1] = node
  end
  return list
end

-- Two factors of a sum's product that each have axes which the other lacks, or nil.
function contraction.factors(node)
  local factors = node.op == "sum" and factors_of(node[1], {}, {}) or {}
  for i, a in ipairs(factors) do
    for j = i + 1, #factors do
      local b = factors[j]
      if a.axes & ~b.axes ~= 0 and b.axes & ~a.axes ~= 0 then
        return a, b
      end
    end
  end
end

return contraction
