//@ -- What is gathered of a tile's rows at some keys, and what rows come to in the end, of a stream's passes.
//@ local S = use "contract_step.c"
//@ local L, own = k.lanes, k.own
//@ local one = L > 1 and "1" or nil -- lanes of what is one number
//@ local tallest = 1
//@ for _, v in ipairs(variants) do
//@   tallest = math.max(tallest, v.params.mr)
//@ end

//@ -- Vectors of a row's `count` numbers from i = 0 on, and what is left of them, of which lanes are "lanes". in_turn:
//@ -- each second vector is told so, to be gathered apart from the first.
//@ local function vectors(count, body, in_turn)
{
  size_t i = 0;
  //@ if in_turn then
  for (; $count$ - i >= $(2 * L); i += $L$) {
    {
      //@ body()
    }
    i += $L$;
    {
      //@ body(nil, true)
    }
  }
  //@ end
  for (; $count$ - i >= $L$; i += $L$) {
    //@ body()
  }
  //@ if L > 1 then
  if (i < $count$) {
    const size_t lanes = $count$ - i;
    (void)lanes;
    //@ body("lanes")
  }
  //@ end
}
//@ end
//@ -- Of a vector of which `lanes` count, the others as nothing.
//@ local function counted(value, lanes, nothing)
//@   return lanes and own:text("select", own:text("mask_part", lanes), value, nothing) or value
//@ end
//@ -- What a name comes to at a vector of points, times the power there.
//@ local function at_point(f, name, powered)
//@   local of = f.place_of[name] and "of" .. f.place_of[name]
//@   return of and powered and own:text("mul", "power", of) or of or powered and "power" or k:constant(1)
//@ end
//@ -- Gathers of a tile's rows what their sums at some keys come to, and leaves the factors of products over keys in
//@ -- their place. Of points numbers of a row lie `apart`, and rows `from_row`. by[nth]: what sums below the nth row's
//@ -- peak are to be multiplied by. Peaks of all rows are found together, so that none waits for another's.
//@ function define_gather(f, values, name)
//@ local pass, first, stem = f.pass, f.inner, f.stem
//@ local function line(i) return i .. " * apart + i" end
//@ local function each_row(body)
for (size_t nth = 0; nth < high; nth++) {
  $k.number$ *const at = points + nth * from_row;
  const size_t row = first_row + nth;
  (void)at, (void)row;
  //@ body()
}
//@ end
static inline void $stem$_$name$(const $first.name$ *here, $stem$_row *of_rows, $k.number$ *points, size_t apart,
    size_t from_row, size_t first_row, size_t high, size_t key, size_t keys$(f.peak and ", " .. k.number .. " *by" or "")) {
  //@ S.prelude(values)
  (void)here, (void)of_rows, (void)key, (void)apart;
  //@ local places = { m = "row", n = "(key + i)" }
  //@ local nth_of = {}
  //@ for i, step in ipairs(pass.firsts) do
  //@   nth_of[step.of.name] = i - 1
  //@ end
  //@ local function call(lanes)
  //@ S.call(first, values, places, "n", lanes, function(step) return own:text("load_own", "at",
  //@   line(nth_of[step])) end)
  //@ end
  //@ -- Adds to sums, and leaves what factors are, where a vector's numbers are of0, of1, ... and power.
  //@ local function take(lanes)
  //@ for i = 0, #pass.of.values - 1 do
  (void)of$i$;
  //@ end
  //@ for _, sum in ipairs(pass.of.sums) do
  $sum.name$_all = $(own:text("add", sum.name .. "_all", counted(at_point(f, sum.name, sum.powered), lanes, k:constant(0))));
  //@ end
  //@ for i, weight in ipairs(f.weights) do
  $(own:text("store_own", "at", line(i - 1), at_point(f, weight.name, weight.powered)));
  //@ end
  //@ end
  //@ if f.peak then
  $k.number$ lanes_of[$tallest$][$L$];
  $(first.powers.k:uniforms("call"))
  //@ each_row(function()
  $k.vector$ most = $(k:neutral("maximum")), other = most;
  //@ vectors("keys", function(lanes, is_other)
  //@ call(lanes)
  //@ for i, value in ipairs(first.of.values) do
  $(own:text("store_own", "at", line(i - 1), value.operand.name .. "_"));
  //@ end
  const $k.vector$ term = $(counted("power_", lanes, k:neutral("maximum")));
  //@ local largest = is_other and "other" or "most"
  $largest$ = $(k:combine_columns("maximum", largest, "term"));
  //@ end, true)
  $(own:text("store_own", "lanes_of[nth]", "0", k:combine_columns("maximum", "most", "other")));
  //@ end)
  //@ each_row(function()
  const $k.number$ *const lane_of = lanes_of[nth];
  const $k.number$ before = of_rows[nth].peak, folded = $(k:fold_lanes("maximum", "lane_of", "peak"));
  of_rows[nth].peak = lathe_peak_$k.compute$(before, folded);
  by[nth] = before == of_rows[nth].peak ? 1 : $stem$_shrink(before, of_rows[nth].peak);
  //@ end)
  //@ end
  //@ each_row(function()
  //@ if f.peak then
  /* So far no key counts: powers of -infinity are 0 below any number. */
  const $k.vector$ below = $(own:text("splat", "of_rows[nth].peak == -INFINITY ? 0 : of_rows[nth].peak"));
  //@ end
  //@ for _, sum in ipairs(pass.of.sums) do
  $k.vector$ $sum.name$_all = $(k:constant(0));
  //@ end
  //@ vectors("keys", function(lanes)
  //@ if f.peak then
  //@ for i = 0, #pass.of.values - 1 do
  const $k.vector$ of$i$ = $(own:text("load_own", "at", line(i)));
  //@ end
  //@ S.call(first, first.powers, { column = function(name) return name == "power" and "of0" or "below" end }, "n")
  const $k.vector$ power = powers_;
  (void)power;
  //@ else
  //@ call(lanes)
  //@ for i, value in ipairs(first.of.values) do
  const $k.vector$ of$(i - 1) = $value.operand.name$_;
  //@ end
  //@ end
  //@ take(lanes)
  //@ end)
  /* Sums of some keys are added to those before as one term: errors grow with the number of blocks. */
  //@ for _, sum in ipairs(pass.of.sums) do
  {
    $k.vector$ before_them = $(own:text("load_own", "of_rows[nth]." .. sum.name, "0"));
    //@ if sum.powered then
    before_them = $(own:text("mul", "before_them", own:text("splat", "by[nth]")));
    //@ end
    $(own:text("store_own", "of_rows[nth]." .. sum.name, "0", own:text("add", "before_them", sum.name .. "_all")));
  }
  //@ end
  //@ end)
}

//@ end
//@ -- Of each of some steps, some text with its number; a type's name first where that is wanted.
//@ function parameters_of(steps, format)
//@   local list = {}
//@   for nth, last in ipairs(steps) do
//@     list[nth] = ", " .. format:gsub("%%s", last.name):gsub("%%d", nth)
//@   end
//@   return table.concat(list)
//@ end
//@ -- Stores what a row's sums of a product come to, which are `sums` of so many `columns`. column: as S.call has it.
//@ function store_row(last, column)
//@ local at = { m = "row", n = "i", column = column }
  //@ S.prelude(last.values)
  //@ vectors("columns", function(lanes)
  const $k.vector$ sum = $(own:text("load_own", "sums", "i"));
  (void)sum;
  //@ S.call(last, last.values, at, "n", lanes, "sum")
  //@ for _, value in ipairs(last.of.values) do
  //@ S.store(last, value.operand, at, "n", lanes, value.operand.name .. "_")
  //@ end
  //@ end)
//@ end
//@ -- What a row's values come to, of what was gathered and of its sums over keys.
//@ function define_finish(f)
//@ local pass, first, stem = f.pass, f.inner, f.stem
static void $stem$_finish(const $first.name$ *here, const $stem$_row *of_row$(parameters_of(pass.lasts, "const %s *last%d, const " .. k.number .. " *sums%d, size_t columns%d")), size_t row) {
  $k.number$ gathered[$(math.max(#first.gathered, 1))] = {0};
  (void)here, (void)of_row, (void)row, (void)gathered;
  //@ if f.peak then
  gathered[$(first.gathered[pass.of.peak] - 1)] = of_row->peak;
  //@ end
  //@ for _, sum in ipairs(pass.of.sums) do
  gathered[$(first.gathered[sum.name] - 1)] = $(k:fold_lanes("sum", "of_row->" .. sum.name));
  //@ end
  //@ local function column(name) return own:text("splat", "gathered[" .. first.gathered[name] - 1 .. "]") end
  //@ local at = { m = "row", n = "i", column = column }
  //@ if first.rows then
  {
    //@ S.prelude(first.rows)
    //@ S.call(first, first.rows, at, "n", one)
    //@ for _, value in ipairs(pass.of.rows_of) do
    //@ S.store(first, value.operand, at, "n", one, value.operand.name .. "_")
    //@ end
  }
  //@ end
  //@ for nth, last in ipairs(pass.lasts) do
  {
    const $last.name$ *const here = last$nth$;
    const $k.number$ *const sums = sums$nth$;
    const size_t columns = columns$nth$;
    (void)here;
    //@ store_row(last, column)
  }
  //@ end
}

//@ end
