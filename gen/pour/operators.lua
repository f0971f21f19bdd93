-- The text of the operations that are operators in C, CUDA and GLSL alike; see lower.lua.

local operators = {}

local of_c = {
  add = "{1} + {2}",
  sub = "{1} - {2}",
  mul = "{1} * {2}",
  div = "{1} / {2}",
  neg = "-{1}",
  minraw = "{1} < {2} ? {1} : {2}",
  maxraw = "{1} > {2} ? {1} : {2}",
  lt = "{1} < {2}",
  le = "{1} <= {2}",
  gt = "{1} > {2}",
  ge = "{1} >= {2}",
  eq = "{1} == {2}",
  ne = "{1} != {2}",
  negate = "!{1}",
  select = "{1} ? {2} : {3}",
  mask_any = "{1}",
  iadd = "{1} + {2}",
  isub = "{1} - {2}",
  iand = "{1} & {2}",
  ior = "{1} | {2}",
  ixor = "{1} ^ {2}",
  ishl = "{1} << {k}",
  ishr = "{1} >> {k}",
  splat = "{1}",
  first_lane = "{1}",
}

-- These beside the operations of a set, which it may have otherwise.
function operators.added_to(set)
  for name, text in pairs(of_c) do
    set[name] = set[name] or text
  end
  return set
end

return operators
