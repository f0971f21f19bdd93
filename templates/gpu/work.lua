-- What the kernels of a part work on, as the host's side measures a call: see lathe_work in runtime/library/launch.h.
-- by_rows: accesses are in rows; more: what there is besides.

return function(facts, by_rows, more)
  local op = facts.op
  local all = (1 << #op.dims) - 1
  local last = by_rows and 1 << #op.dims - 1 or all
  local made = { outer = all & ~last, inner = last, whole = 0, column = 0, by_rows = by_rows, width = facts.width }
  for i, operand in ipairs(op.operands) do
    local bit = 1 << i - 1
    if operand.place == "whole" then
      made.whole = made.whole | bit
    elseif operand.place == "column" and not operand.output then
      made.column = made.column | bit
    end
  end
  for key, value in pairs(more) do
    made[key] = value
  end
  return made
end
