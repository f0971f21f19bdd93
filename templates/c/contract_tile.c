//@ -- A tile of a matrix product, gathered in registers, and what is made of it.
//@ local S = use "contract_step.c"

//@ -- The parameters of all tile functions of a type, of which there are those of up to MR rows and NV vectors:
//@ --   c (+)= a * b        for `terms` terms; with `more` it adds to c
//@ --   a + i * a_row + t * a_term, b + t * b_term, c + i * c_row   where row i and term t are
//@ --   lanes               columns of the last vector, in functions for less than a whole one
//@ -- Names: NAME_3x2, for part of a last vector NAME_3x2_part; a table NAME has them by rows, vectors, and part.
//@ local has_masks = k.set.mask_type
//@ local function define_one(name, R, V, part)
//@ local L = k.lanes
//@ local function lanes_of(j)
//@   return part and j == V - 1 and "lanes" or nil
//@ end
static void $name$_$(R)x$V$$(part and "_part" or "")(size_t terms, const $k.number$ *a, size_t a_row, size_t a_term,
    const $k.number$ *b, size_t b_term, $k.number$ *c, size_t c_row, bool more, size_t lanes) {
  //@ for i = 0, R - 1, 3 do
  const $k.number$ *a$i$ = a + $i$ * a_row; /* of three rows, which addresses count up to */
  //@ end
  //@ for i = 0, R - 1 do
  //@ for j = 0, V - 1 do
  $k.vector$ sum$i$_$j$ = $(k:constant(0));
  //@ end
  //@ end
  for (size_t term = 0; term < terms; term++) {
    //@ for j = 0, V - 1 do
    const $k.vector$ b$j$ = $(k.own:text(lanes_of(j) and "load_part" or "load_own", "b", j * L, nil, lanes_of(j)));
    //@ end
    //@ for i = 0, R - 1 do
    {
      const $k.vector$ factor = $(k.own:text("splat", "a" .. i // 3 * 3 .. "[" .. i % 3 .. " * a_row]"));
      //@ for j = 0, V - 1 do
      sum$i$_$j$ = $(k.own:text("mad", "factor", "b" .. j, "sum" .. i .. "_" .. j));
      //@ end
    }
    //@ end
    //@ for i = 0, R - 1, 3 do
    a$i$ += a_term;
    //@ end
    b += b_term;
  }
  if (more) {
    //@ for i = 0, R - 1 do
    //@ for j = 0, V - 1 do
    //@ local sum, before = "sum" .. i .. "_" .. j, k.own:text(lanes_of(j) and "load_part" or "load_own", "c", i
    //@   .. " * c_row + " .. j * L, nil, lanes_of(j))
    $sum$ = $(k.own:text("add", before, sum));
    //@ end
    //@ end
  }
  //@ for i = 0, R - 1 do
  //@ for j = 0, V - 1 do
  $(k.own:text(lanes_of(j) and "store_part" or "store_own", "c", i .. " * c_row + " .. j * L, "sum" .. i .. "_" .. j, lanes_of(j)));
  //@ end
  //@ end
  (void)lanes; /* where vectors are whole */
}

//@ end
//@ -- The name of a function that ends some blocks of terms: of each sum their part, what blocks before them came to
//@ -- and what rounding took from that lie `apart` (the exact error of a sum of two, Knuth 1969). The last leaves all
//@ -- in the part's place.
//@ function define_carry()
//@ local name = "lathe_carry_" .. k.compute
//@ if shared[name] then
//@   return name
//@ end
//@ shared[name] = true
static void $name$($k.number$ *part, size_t apart, size_t count, bool more, bool last) {
  $k.number$ *totals = part + apart, *lost = totals + apart;
  for (size_t i = 0; i < count; i++) {
    const $k.number$ total = more ? totals[i] : 0, sum = total + part[i], taken = sum - total;
    const $k.number$ off = (total - (sum - taken)) + (part[i] - taken), all = more ? lost[i] + off : off;
    if (last) {
      /* An infinite sum has no error to add: infinity less infinity is NaN. */
      part[i] = all == all ? sum + all : sum;
    } else {
      totals[i] = sum;
      lost[i] = all;
    }
  }
}

//@ return name
//@ end
//@ -- The name of the tile functions of up to MR rows and NV vectors. All precisions that are computed in one type
//@ -- share those of a file.
//@ function define(MR, NV)
//@ local name = "lathe_tile" .. MR .. "x" .. NV .. "_" .. k.compute
//@ if shared[name] then
//@   return name
//@ end
//@ shared[name] = true
typedef void $name$_function(size_t terms, const $k.number$ *a, size_t a_row, size_t a_term, const $k.number$ *b,
    size_t b_term, $k.number$ *c, size_t c_row, bool more, size_t lanes);

//@ for R = 1, MR do
//@ for V = 1, NV do
//@ if not has_masks then
//@ define_one(name, R, V)
//@ end
//@ if k.lanes > 1 then
//@ define_one(name, R, V, true)
//@ end
//@ end
//@ end
static $name$_function *const $name$[$MR$][$NV$][2] = {
  //@ for R = 1, MR do
  {
    //@ for V = 1, NV do
    //@ local one = name .. "_" .. R .. "x" .. V
    {$(has_masks and one .. "_part" or one), $(k.lanes > 1 and one .. "_part" or one)},
    //@ end
  },
  //@ end
};

//@ return name
//@ end
//@ -- Stores what is made of a tile, whose rows are `apart`, of which the matrix has `rows` rows and `columns` columns.
//@ function define_values(step, name)
static void $name$(const $step.name$ *here, const $k.number$ *tile, size_t apart, size_t row, size_t rows,
    size_t column, size_t columns) {
  //@ S.prelude(step.values)
  //@ local operands = S.operands_of(step.values)
  //@ for _, value in ipairs(step.of.values) do
  //@   operands[#operands + 1] = value.operand
  //@ end
  //@ if not S.varies(step, operands, "n") then
  (void)column; /* there is one */
  //@ end
  for (size_t end = row + rows; row < end; row++, tile += apart)
    for (size_t i = 0; i < columns; i += $k.lanes$) {
      //@ local at = { m = "row", n = "(column + i)" }
      //@ local function vector(lanes)
      //@ S.call(step, step.values, at, "n", lanes, k.own:text("load_own", "tile", "i"))
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
