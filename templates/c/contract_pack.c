//@ -- Packs a factor of a matrix product into panels: of some rows of a (or columns of b) the elements term by term. It
//@ -- reads along the axis in which the factor lies in memory.
//@ local S = use "contract_step.c"

//@ -- Which of two axes the operand with most axes has side by side.
//@ function direction(step, part, across)
//@   local along, most = across, -1
//@   for _, x in ipairs(part.point.inputs) do
//@     for _, letter in ipairs { across, "k" } do
//@       if S.kind(step, x.operand, letter) == "unit" and #x.operand.dim_index > most then
//@         along, most = letter, #x.operand.dim_index
//@       end
//@     end
//@   end
//@   return along
//@ end
//@ -- Full vectors, and what is left over.
//@ local function vector(step, part, at, along, finish)
//@ if k.lanes == 1 then
{
  //@ S.call(step, part, at, along)
  //@ finish()
}
//@ else
if (lanes == $k.lanes$) {
  //@ S.call(step, part, at, along)
  //@ finish()
} else {
  //@ S.call(step, part, at, along, "lanes")
  //@ finish()
}
//@ end
//@ end
//@ -- Of panels of up to `most` rows.
//@ function define(step, part, across, most, name)
//@ local L, along = k.lanes, direction(step, part, across)
//@ local from_memory = { [across] = "(first + row)", k = "(from + term)" }
/* A panel of `width` rows or columns, of which there are `count` from `first` on, and the others zero; and terms from
 * `from` on. Writes up to $(L - 1) numbers past its end where `width` is not made of whole vectors. */
static void $name$(const $step.name$ *here, $k.number$ *panel, size_t first, size_t count, size_t width, size_t from,
    size_t terms) {
  //@ S.prelude(part)
  //@ for letter, name in pairs { [across] = "first", k = "from" } do
  //@ if not S.varies(step, S.operands_of(part), letter) then
  (void)$name$; /* the factor does not vary so */
  //@ end
  //@ end
  //@ if #part.point.inputs == 0 then
  (void)here;
  //@ end
  //@ if along == "k" and L > 1 then
  $k.number$ square[$((most + L - 1) // L * L * L)] = {0}; /* a vector of terms for each row */
  for (size_t term = 0; term < terms; term += $L$, panel += $L$ * width) {
    const size_t lanes = terms - term < $L$ ? terms - term : $L$;
    for (size_t row = 0; row < count; row++) {
      //@ local function keep()
      $(k.own:text("store_own", "square", "row * " .. L, "packed"));
      //@ end
      //@ vector(step, part, from_memory, "k", keep)
    }
    if (lanes == $L$) /* what goes past a term's end is overwritten */
      for (size_t row = (width + $(L - 1)) / $L$ * $L$; row > 0; row -= $L$)
        lathe_turn_$k.compute$(square + (row - $L$) * $L$, panel + row - $L$, width);
    else
      for (size_t lane = 0; lane < lanes; lane++)
        for (size_t row = 0; row < width; row++)
          panel[lane * width + row] = square[row * $L$ + lane];
  }
  //@ else
  for (size_t term = 0; term < terms; term++, panel += width)
    for (size_t row = 0; row < width; row += $L$) {
      if (row >= count) {
        $(k.own:text("store_own", "panel", "row", k:constant(0)));
        continue;
      }
      //@ if L > 1 then
      const size_t lanes = count - row < $L$ ? count - row : $L$;
      //@ end
      //@ local function put()
      $(k.own:text("store_own", "panel", "row", "packed"));
      //@ end
      //@ vector(step, part, from_memory, across, put)
    }
  //@ end
}

//@ end
