//@ -- The factors of a chain's products as tiles read them: as they are in memory, or computed into the workspace.
//@ local S = use "contract_step.c"

//@ -- Whether a factor is an operand's elements in the type that is computed in.
//@ local function is_plain(node)
//@   for _, operand in ipairs(node.op == "input" and k.record.operands or {}) do
//@     if operand.name == node.name then
//@       return k:type_of(operand) == k.compute
//@     end
//@   end
//@   return false
//@ end
//@ -- How a factor's rows are read: nil where it must be computed first; else the operand, and by what its index along
//@ -- the letters counts, as C.
//@ function direct(step, node, letters)
//@   if not is_plain(node) then
//@     return nil
//@   end
//@   local made = { from = "here->" .. node.name }
//@   for _, operand in ipairs(step.of.operands) do
//@     for _, letter in ipairs(operand.name == node.name and letters or {}) do
//@       local how = S.kind(step, operand, letter)
//@       made[letter] = how == "none" and "0" or how == "unit" and "1" or "here->" .. S.field(operand, letter)
//@     end
//@   end
//@   return made
//@ end
//@ local function full_and_rest(along, count, body)
//@ if k.lanes == 1 then
{
  //@ body()
}
//@ else
const size_t lanes = $count$ - $along$ < $k.lanes$ ? $count$ - $along$ : $k.lanes$;
if (lanes == $k.lanes$) {
  //@ body()
} else {
  //@ body("lanes")
}
//@ end
//@ end
//@ -- Computes `count` rows of a factor along `down`, each with elements `from` to `to` along `across`, into rows of
//@ -- `width` numbers, of which those past the end are 0. Writes up to a vector past the last.
//@ function define_rows(step, part, down, across, name)
static void $name$(const $step.name$ *here, $k.number$ *to, size_t width, size_t count, size_t first, size_t some) {
  //@ S.prelude(part)
  //@ if not S.varies(step, S.operands_of(part), across) then
  (void)first; /* the factor is the same there */
  //@ end
  //@ if #part.point.inputs == 0 then
  (void)here;
  //@ end
  for (size_t row = 0; row < count; row++, to += width) {
    for (size_t i = 0; i < some; i += $k.lanes$) {
      //@ full_and_rest("i", "some", function(lanes)
      //@ S.call(step, part, { [down] = "row", [across] = "(first + i)" }, across, lanes)
      $(k.own:text("store_own", "to", "i", "packed"));
      //@ end)
    }
    for (size_t i = some; i < width; i++)
      to[i] = 0;
  }
}

//@ end
