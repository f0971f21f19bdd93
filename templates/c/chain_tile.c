//@ -- A tile of a layer's or a total's product, and what is made of it.
//@ local S = use "contract_step.c"

//@ -- sums (+)= a * b for `terms` terms, MR rows by NV vectors, in registers.
//@ function define(name, MR, NV)
static inline void $name$(size_t terms, const $k.number$ *a, size_t a_row, size_t a_term, const $k.number$ *b, size_t b_term,
    $k.number$ *sums, size_t sums_row, bool more) {
  //@ for i = 0, MR - 1 do
  //@ for j = 0, NV - 1 do
  $k.vector$ sum$i$_$j$ = more ? $(k.own:text("load_own", "sums", i .. " * sums_row + " .. j * k.lanes)) : $(k:constant(0));
  //@ end
  //@ end
  for (size_t term = 0; term < terms; term++, a += a_term, b += b_term) {
    //@ for j = 0, NV - 1 do
    const $k.vector$ b$j$ = $(k.own:text("load_own", "b", j * k.lanes));
    //@ end
    //@ for i = 0, MR - 1 do
    const $k.vector$ a$i$ = $(k.own:text("splat", "a[" .. i .. " * a_row]"));
    //@ for j = 0, NV - 1 do
    sum$i$_$j$ = $(k.own:text("mad", "a" .. i, "b" .. j, "sum" .. i .. "_" .. j));
    //@ end
    //@ end
  }
  //@ for i = 0, MR - 1 do
  //@ for j = 0, NV - 1 do
  $(k.own:text("store_own", "sums", i .. " * sums_row + " .. j * k.lanes, "sum" .. i .. "_" .. j));
  //@ end
  //@ end
}

//@ end
//@ -- The numbers of rows that there are tiles of: all that are left of a block are some of these.
//@ function heights(MR)
//@   local list = {}
//@   for _, rows in ipairs { MR, 4, 2, 1 } do
//@     list[#list + 1] = (rows < MR or #list == 0) and rows or nil
//@   end
//@   return list
//@ end
//@ -- Calls the tile for what is left of the rows and columns, with these arguments.
//@ function choose(name, MR, NV, arguments)
//@ for h, height in ipairs(heights(MR)) do
$(h > 1 and "} else " or "")$(height > 1 and "if (rows - i >= " .. height .. ") " or ""){
  height = $height$;
  //@ for vectors = 1, NV do
  $(vectors > 1 and "else" or "") $(vectors < NV and "if (columns <= " .. vectors * k.lanes .. ")" or "")
    $name$_$height$x$vectors$($arguments$);
  //@ end
//@ end
}
//@ end
//@ -- Stores what is made of sums that lie in rows, `rows` by `columns` of them.
//@ function define_values(step, name)
static void $name$(const $step.name$ *here, const $k.number$ *sums, size_t sums_row, size_t row, size_t rows, size_t column,
    size_t columns) {
  //@ S.prelude(step.values)
  //@ local operands = S.operands_of(step.values)
  //@ for _, value in ipairs(step.of.values) do
  //@   operands[#operands + 1] = value.operand
  //@ end
  //@ if not S.varies(step, operands, "n") then
  (void)column; /* there is one */
  //@ end
  for (size_t end = row + rows; row < end; row++, sums += sums_row)
    for (size_t i = 0; i < columns; i += $k.lanes$) {
      //@ local at = { m = "row", n = "(column + i)" }
      //@ local function vector(lanes)
      //@ S.call(step, step.values, at, "n", lanes, k.own:text("load_own", "sums", "i"))
      //@ for _, value in ipairs(step.of.values) do
      //@ S.store(step, value.operand, at, "n", lanes, value.operand.name .. "_")
      //@ end
      //@ end
      //@ if k.lanes == 1 then
      {
        //@ vector()
      }
      //@ else
      const size_t lanes = columns - i < $k.lanes$ ? columns - i : $k.lanes$;
      if (lanes == $k.lanes$) {
        //@ vector()
      } else {
        //@ vector("lanes")
      }
      //@ end
    }
}

//@ end
