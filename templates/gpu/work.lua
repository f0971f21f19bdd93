-- What the kernels of a part work on, as the host's side measures a call (launch_call.c):
--   outer, inner       dimensions whose product is how many rows there are, and a row's points: a bit each
--   whole, column      operands with an element at each point, and those read at each column: a bit each
--   width              elements of an access
--   numbers, fewest, most  partial results of a column: about so many numbers in all, but between these; nil: none
--   bytes, bytes_of_partial, bytes_of_row  of the workspace: always, for each partial result, for each row; nil: none
--   mixed              whether operands have elements of several sizes
-- by_rows: accesses are in rows; more: what there is besides.

return function(facts, by_rows, more)
  local op = facts.op
  local all = (1 << #op.dims) - 1
  local last = by_rows and 1 << #op.dims - 1 or all
  local made = {
    outer = all & ~last, inner = last, whole = 0, column = 0, by_rows = by_rows, width = facts.width,
    mixed = facts.mixed or nil,
  }
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
