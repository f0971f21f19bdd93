//@ -- A matrix product of few columns, or of few rows, whose other factor, of many, lies along the terms: dot products,
//@ -- for which that factor is read once, in order. The factor of few is computed ahead of them.
//@ local S = use "contract_step.c"
//@ local Pack = use "contract_pack.c"
//@ local L = k.lanes
//@ block = 1024 * L -- terms of a sum, between which rounding errors are carried
//@ local add_exactly = use("parts.c").add_exactly
//@ together = L > 1 and 8 or 4
//@ most_at_once = 64 -- of the many, whose sums lie side by side
//@ -- The most that few are, and how many of them are multiplied at once, with how many of the many.
//@ most_few = L > 1 and L // 2 or 1
//@ local function shape_of(few)
//@   return few == 1 and together or k.set.mask_type and 4 or 2
//@ end

//@ -- The ways of dots that a step has: few columns for many rows, and the other way round.
//@ function ways(step)
//@   local list = {}
//@   for _, way in ipairs { { "a", "m", "rows", "columns" }, { "b", "n", "columns", "rows" } } do
//@     if #step.of.k < 2 and Pack.direction(step, step[way[1]], way[2]) == "k" then
//@       list[#list + 1] = {
//@         across = way[2], many = way[3], few = way[4], name = step.name .. "_dots_" .. way[2],
//@         from = "p." .. way[3]:sub(1, -2), last = "p.last_" .. way[3]:sub(1, -2),
//@       }
//@     end
//@   end
//@   return list
//@ end
//@ -- The factor of a part at a vector of terms, or at the first `lanes` of them and zero at the others.
//@ local function define_factor(step, part, across, name, lanes)
static inline $k.vector$ $name$(const $step.name$ *here, size_t place, size_t term$(lanes and ", size_t lanes" or "")) {
  //@ S.prelude(part)
  //@ for letter, name in pairs { [across] = "place", k = "term" } do
  //@ if not S.varies(step, S.operands_of(part), letter) then
  (void)$name$; /* the factor does not vary so */
  //@ end
  //@ end
  //@ if #part.point.inputs == 0 then
  (void)here;
  //@ end
  //@ S.call(step, part, { [across] = "place", k = "term" }, "k", lanes)
  //@ if lanes then
  return $(k.own:text("select", k.own:text("mask_part", "lanes"), "packed", k:constant(0)));
  //@ else
  return packed;
  //@ end
}

//@ end
//@ -- The sums of `count` of the many with `few` of the others, those of each of the many `apart`.
//@ local function define_sums(step, name, count, few)
static void $name$_$(count)x$few$(const $step.name$ *here, size_t terms, size_t first, const $k.number$ *packed, size_t row_of,
    $k.number$ *sums, size_t by_many, size_t by_few) {
  //@ for i = 0, count - 1 do
  //@ for j = 0, few - 1 do
  $k.vector$ sum$i$_$j$ = $(k:constant(0));
  //@ end
  //@ end
  //@ local function add(ending, lanes)
  //@ for j = 0, few - 1 do
  const $k.vector$ few$j$ = $(k.own:text("load_own", "packed", "term + " .. j .. " * row_of"));
  //@ end
  //@ for i = 0, count - 1 do
  const $k.vector$ many$i$ = $name$_many$ending$(here, first + $i$, term$lanes$);
  //@ for j = 0, few - 1 do
  sum$i$_$j$ = $(k.own:text("mad", "many" .. i, "few" .. j, "sum" .. i .. "_" .. j));
  //@ end
  //@ end
  //@ end
  //@ local function each(what)
  //@ for i = 0, count - 1 do
  //@ for j = 0, few - 1 do
  //@ what("sum" .. i .. "_" .. j, "[" .. i * few + j .. "]")
  //@ end
  //@ end
  //@ end
  $k.vector$ totals[$(count * few)], lost[$(count * few)]; /* what blocks before came to, and what rounding took from it */
  size_t term = 0;
  for (bool more = false;; more = true) {
    const size_t end = terms - term < $block$ ? terms : term + $block$;
    for (; end - term >= $L$; term += $L$) {
      //@ add("", "")
    }
    //@ if L > 1 then
    if (term < end) {
      //@ add("_part", ", terms - term")
      term = end;
    }
    //@ end
    if (terms <= $block$)
      break;
    //@ each(function(sum, nth)
    {
      $k.vector$ total = more ? totals$nth$ : $(k:constant(0)), taken_off = more ? lost$nth$ : $(k:constant(0));
      //@ add_exactly("total", "taken_off", sum)
      totals$nth$ = total;
      lost$nth$ = taken_off;
      $sum$ = $(k:constant(0));
    }
    //@ end)
    if (term < terms)
      continue;
    /* An infinite sum has no error to add: infinity less infinity is NaN. */
    //@ each(function(sum, nth)
    //@ local is_none = k.own:text("unordered", "lost" .. nth, "lost" .. nth)
    //@ local off = k.own:text("select", "(" .. is_none .. ")", k:constant(0), "lost" .. nth)
    $sum$ = $(k.own:text("add", "totals" .. nth, "(" .. off .. ")"));
    //@ end)
    break;
  }
  //@ if L > 1 then
  $k.number$ lane_of[$L$];
  //@ end
  //@ for i = 0, count - 1 do
  //@ for j = 0, few - 1 do
  //@ local place = "sums[" .. i .. " * by_many + " .. j .. " * by_few]"
  //@ if L == 1 then
  $place$ = sum$i$_$j$;
  //@ else
  $(k.own:text("store_own", "lane_of", "0", "sum" .. i .. "_" .. j));
  $place$ = $(k:fold_lanes("sum", "lane_of"));
  //@ end
  //@ end
  //@ end
  (void)row_of, (void)by_many, (void)by_few; /* where there is one */
}

//@ end
//@ -- Defines name(here, terms, from, many, few, packs), of the many those from one on. across: the axis of the many,
//@ -- "m" or "n". packs: as many numbers as room(few, terms) says. values: the function that stores what sums come to.
//@ function define(step, across, name, values)
//@ local by_rows = across == "m"
//@ local one = by_rows and step.b or step.a
//@ local widths = most_few > 1 and { 4, 1 } or { 1 }
//@ local wide = math.max(most_few + widths[1] - 1, L)
//@ local function define_factors(part, part_across, part_name)
//@ define_factor(step, part, part_across, part_name)
//@ if L > 1 then
//@ define_factor(step, part, part_across, part_name .. "_part", "lanes")
//@ end
//@ end
//@ define_factors(by_rows and step.a or step.b, across, name .. "_many")
//@ define_factors(one, by_rows and "n" or "m", name .. "_few")
//@ for _, few in ipairs(widths) do
//@ define_sums(step, name, shape_of(few), few)
//@ define_sums(step, name, 1, few)
//@ end
static void $name$(const $step.name$ *here, size_t terms, size_t from, size_t many, size_t few, $k.number$ *packs) {
  const size_t row_of = (terms + $(L - 1)) / $L$ * $L$, padded = few == 1 ? 1 : (few + $(widths[1] - 1)) / $(widths[1]) * $(widths[1]);
  $k.number$ sums[$(most_at_once * wide)];
  for (size_t i = 0; i < padded; i++)
    for (size_t term = 0; term < row_of; term += $L$) {
      $k.vector$ factor = $(k:constant(0));
      if (i < few)
        //@ if L > 1 then
        factor = term + $L$ <= terms ? $name$_few(here, i, term) : $name$_few_part(here, i, term, terms - term);
        //@ else
        factor = $name$_few(here, i, term);
        //@ end
      $(k.own:text("store_own", "packs", "i * row_of + term", "factor"));
    }
  for (size_t first = from; first < many; first += $most_at_once$) {
    const size_t count = many - first < $most_at_once$ ? many - first : $most_at_once$;
    //@ local by_many, by_few = by_rows and wide or 1, by_rows and 1 or most_at_once
    //@ local function all_of(width)
    //@ for _, number in ipairs { shape_of(width), 1 } do
    for (; i + $number$ <= count; i += $number$)
      for (size_t j = 0; j < padded; j += $width$)
        $name$_$(number)x$width$(here, terms, first + i, packs + j * row_of, row_of, sums + i * $by_many$ + j * $by_few$, $by_many$, $by_few$);
    //@ end
    //@ end
    size_t i = 0;
    //@ if most_few > 1 then
    if (padded > 1) {
      //@ all_of(widths[1])
    }
    //@ end
    //@ all_of(1)
    //@ if by_rows then
    $values$(here, sums, $wide$, first, count, 0, few);
    //@ else
    $values$(here, sums, $most_at_once$, 0, few, first, count);
    //@ end
  }
}

//@ end
