//@ if first then
/* Nests of loops, one after the other: any axes in any order, for ops that no faster template has a place for. The
 * innermost vectors go along the axis that most operands have side by side; where that is one of the points, each lane
 * is a point, else lanes gather together. Limited by how far apart the elements of the other operands are. A sum adds
 * TERMS at a time, and carries the rounding errors of the rest along. A scan goes along its axis at each point. Steps
 * that have points in common go through tiles of these one after the other, so that the second finds in a cache what
 * the first read. Squares of what lies across a vector are turned over in registers. */
#include "nest.h"
#include "turn.h"

//@ end
//@ local add_exactly = use("parts.c").add_exactly
//@ local S = use "nest_step.c"
//@ -- TERMS: that a sum adds up before it carries what rounding takes of them; of scans, each of whose results is
//@ -- judged.
//@ local L, own, TERMS, SCANNED = k.lanes, k.own, 64, 16
//@ local MOST_INDEXES = 1 << 23 -- whole numbers up to which f32 has all
//@ local LEAST_SHARED = 16 -- units of points with which parts of a call do not wait for each other between steps
//@ local P, T, Lists = use "nest_points.c", use "nest_turn.c", use "nest_lists.c"
//@ local element, call, store_values = P.element, P.call, P.store_values
//@ local open, close, is_by_points, is_scalar, finds_many = P.open, P.close, P.is_by_points, P.is_scalar, P.finds_many
//@ -- What is gathered, as nothing: r_acc, what the last terms come to; of sums r_total and r_lost besides. Of indexes
//@ -- r_at, of one or of each lane; of many at once r_nth besides, those among the last terms as numbers, -1 where it
//@ -- is none.
//@ local function begin(step, suffix)
//@ for _, r in ipairs(step.of.gathered) do
//@ local name = r.name .. suffix
//@ if r.kind == "pick" then
$k.vector$ $name$_acc = $(k:constant(0 / 0));
//@ else
$k.vector$ $name$_acc = $(k:neutral(r.kind));
//@ end
//@ if r.kind == "sum" then
$k.vector$ $name$_total = $(k:neutral(r.kind)), $name$_lost = $(k:constant(0));
//@ elseif k:is_index(r.kind) and finds_many(step) then
$k.vector$ $name$_nth = $(k:constant(-1));
int64_t $name$_at[$L$];
for (size_t lane = 0; lane < $L$; lane++)
  $name$_at[lane] = $(S.size(step.of.loops)) > 0 ? 0 : -1;
//@ elseif k:is_index(r.kind) then
int64_t $name$_at = -1;
//@ end
//@ end
//@ end
//@ -- A vector of terms, r_term, of which `inside` counts where that is given. The place of an index is among all
//@ -- points of the loops.
//@ local function take(step, suffix, inside)
//@ for _, r in ipairs(step.of.gathered) do
//@ local name, term = r.name .. suffix, r.name .. "_term"
//@ if inside then
const $k.vector$ $name$_inside = $(own:text("select", inside, term, k:neutral(r.kind)));
//@ term = name .. "_inside"
//@ end
//@ if r.kind == "pick" then
$name$_acc = $term$;
//@ elseif r.kind == "sum" then
$name$_acc = $(own:text("add", name .. "_acc", term));
//@ elseif k:is_index(r.kind) and finds_many(step) then
{
  const $k.vector$ term = $term$;
  const $k.mask$ above = $(own:text(k:better(r.kind), "term", name .. "_acc")), none = $(own:text("ne", "term", "term"));
  const $k.mask$ is_first = $(own:text("all_of", "none", own:text("eq", name .. "_acc", name .. "_acc")));
  const $k.mask$ better = $(own:text("any_of", "above", "is_first"));
  $name$_acc = $(own:text("select", "better", "term", name .. "_acc"));
  $name$_nth = $(own:text("select", "better", own:text("splat", "(" .. k.number .. ")taken"), name .. "_nth"));
}
//@ elseif k:is_index(r.kind) then
{
  const $k.number$ term = $(own:text("first_lane", term)), best = $(own:text("first_lane", name .. "_acc"));
  if ($name$_at < 0 || term $(k:better(r.kind) == "gt" and ">" or "<") best || (term != term && best == best)) {
    $name$_acc = $term$;
    $name$_at = (int64_t)($(S.at(step.places)));
  }
}
//@ else
{
  const $k.vector$ term = $term$;
  $name$_acc = $(k:combine_columns(r.kind, name .. "_acc", "term"));
}
//@ end
//@ end
//@ end
//@ -- The indexes among the last terms, of which the first is at `base`, as those of each lane.
//@ local function find_indexes(step, suffix)
//@ for _, r in ipairs(step.of.gathered) do
//@ local name = r.name .. suffix
//@ if k:is_index(r.kind) and finds_many(step) then
{
  $k.number$ of[$L$];
  $(own:text("store_own", "of", "0", name .. "_nth"));
  for (size_t lane = 0; lane < $L$; lane++)
    $name$_at[lane] = of[lane] < 0 ? $name$_at[lane] : (int64_t)(base + (size_t)of[lane]);
  $name$_nth = $(k:constant(-1));
}
//@ end
//@ end
//@ end
//@ local function carry(step, suffix)
//@ for _, r in ipairs(step.of.gathered) do
//@ if r.kind == "sum" then
//@ local name = r.name .. suffix
//@ add_exactly(name .. "_total", name .. "_lost", name .. "_acc")
$name$_acc = $(k:neutral(r.kind));
//@ end
//@ end
//@ end
//@ -- A sum with the errors that it carries, but for infinite ones, where infinity less infinity is NaN.
//@ local function total(name)
//@   local is_finite = own:text("eq", name .. "_lost", name .. "_lost")
//@   return own:text("select", "(" .. is_finite .. ")", own:text("add", name .. "_total", name .. "_lost"), name
//@     .. "_total")
//@ end
//@ -- The results, vectors of the names that what was gathered has: of sums that have carried errors with these.
//@ local function results(step, suffix)
//@ for _, r in ipairs(step.of.gathered) do
//@ local name, result = r.name .. suffix, r.name .. "_"
//@ if r.kind == "sum" then
const $k.vector$ $result$ = carries ? $(total(name)) : $name$_acc;
//@ elseif not k:is_index(r.kind) then
const $k.vector$ $result$ = $name$_acc;
//@ end
//@ end
//@ end
//@ -- Stores what follows at a point or at a vector of points.
//@ local function finish(step, suffix, lanes)
//@ results(step, suffix)
//@ store_values(step, suffix, lanes)
//@ end
//@ -- Terms are counted: sums of TERMS of them are added to what they come to in all, and indexes are found.
//@ local function counts(step) return S.gathers(step, "sum") or finds_many(step) end
//@ local function begin_terms(step)
//@ if counts(step) then
size_t taken = 0;
//@ end
//@ if S.gathers(step, "sum") then
bool carries = false;
//@ end
//@ if finds_many(step) then
size_t base = 0;
//@ end
//@ end
//@ local function count_terms(step, suffixes)
//@ if counts(step) then
if (++taken == $(S.gathers(step, "sum") and TERMS or MOST_INDEXES)) {
  //@ for _, suffix in ipairs(suffixes) do
  //@ carry(step, suffix)
  //@ find_indexes(step, suffix)
  //@ end
  //@ if S.gathers(step, "sum") then
  carries = true;
  //@ end
  //@ if finds_many(step) then
  base += taken;
  //@ end
  taken = 0;
}
//@ end
//@ end
//@ local function end_terms(step, suffixes)
//@ if S.gathers(step, "sum") then
if (carries) {
  //@ for _, suffix in ipairs(suffixes) do
  //@ carry(step, suffix)
  //@ end
}
//@ end
//@ for _, suffix in ipairs(suffixes) do
//@ find_indexes(step, suffix)
//@ end
//@ end
//@ -- What is scanned at a place, name_, and what is kept for the next one. A sum of some places is added to `base`,
//@ -- what all before them come to.
//@ local function scan(r, suffix)
//@ local name, term = r.name .. suffix, r.name .. "_term"
//@ local acc = name .. "_acc"
//@ local function now()
//@ if r.kind == "sum" then
$r.name$_ = $(own:text("add", name .. "_base", acc));
//@ else
$r.name$_ = $acc$;
//@ end
//@ end
//@ if r.exclusive then
//@ now()
//@ end
//@ if r.kind == "recurrence" then
$acc$ = $(own:text("mad", r.name .. "_factor", acc, term));
//@ elseif k:is_extremum(r.kind) then
$acc$ = $(k:combine_columns(r.kind, acc, term));
//@ else
$acc$ = $(k:combine(r.kind, acc, term));
//@ end
//@ if not r.exclusive then
//@ now()
//@ end
//@ end
//@ -- Points that go along an axis, as points() has them: at each place the scans, and what is stored there.
//@ local function scan_points(step, each, suffixes, lanes)
//@ local axis = step.of.scanned
//@ local sums = {}
//@ for _, suffix in ipairs(suffixes) do
//@ for _, r in ipairs(step.of.scans) do
//@ local name = r.name .. suffix
$k.vector$ $name$_acc = $(k:neutral(r.kind));
//@ if r.kind == "sum" then
//@ sums[#sums + 1] = name
$k.vector$ $name$_base = $(k:neutral(r.kind)), $name$_total = $name$_base, $name$_lost = $(k:constant(0));
//@ end
//@ end
//@ end
for (size_t nth = 0; nth < args->dim[$(axis - 1)]; nth++) {
  const size_t i$axis$ = $(S.scanned_index(step));
  //@ for u, suffix in ipairs(suffixes) do
  //@ each(u, function()
  //@ for _, r in ipairs(step.of.scans) do
  $k.vector$ $r.name$_;
  //@ end
  {
    //@ call(step, step.terms, lanes)
    //@ for _, r in ipairs(step.of.scans) do
    //@ scan(r, suffix)
    //@ end
  }
  //@ store_values(step, "", lanes)
  //@ end)
  //@ end
  //@ if #sums > 0 then
  if (nth % $SCANNED$ == $(SCANNED - 1)) {
    //@ for _, name in ipairs(sums) do
    //@ add_exactly(name .. "_total", name .. "_lost", name .. "_acc")
    $name$_acc = $(k:neutral("sum"));
    $name$_base = $(total(name));
    //@ end
  }
  //@ end
}
//@ end
//@ -- Vectors of points, `many` of them: lanes as call() has them.
//@ local function points(step, many, lanes)
//@ local along, suffixes = step.of.along, {}
//@ for u = 1, many do
//@   suffixes[u] = many > 1 and tostring(u) or ""
//@ end
//@ local function each(u, body)
//@ if many > 1 then
{
  const size_t i$along$ = first + $((u - 1) * L);
  //@ body()
}
//@ else
//@ body()
//@ end
//@ end
//@ if step.of.scanned then
//@ return scan_points(step, each, suffixes, lanes)
//@ end
//@ begin_terms(step)
//@ for _, suffix in ipairs(suffixes) do
//@ begin(step, suffix)
//@ end
//@ local pick = step.of.gathered[1] and step.of.gathered[1].index
//@ if pick then
{
  const int64_t index = $(element(step.terms, step, S.operand_of(pick.name)));
  if ((uint64_t)index < args->dim[$(step.of.loops[1] - 1)]) {
    const size_t i$(step.of.loops[1]) = (size_t)index;
    //@ call(step, step.terms, lanes)
    //@ take(step, "")
  }
}
//@ elseif step.of.over ~= 0 then
//@ Lists.open_terms(step, many > 1 and "first" or along and "i" .. along, lanes == "1" and "1" or lanes or many * L)
//@ for u, suffix in ipairs(suffixes) do
//@ each(u, function()
//@ call(step, step.terms, lanes)
//@ take(step, suffix)
//@ end)
//@ end
//@ count_terms(step, suffixes)
//@ Lists.close_terms(step)
//@ end
//@ end_terms(step, suffixes)
//@ for u, suffix in ipairs(suffixes) do
//@ each(u, function() finish(step, suffix, lanes) end)
//@ end
//@ end
//@ -- Lanes gather together along the innermost of the loops.
//@ local function together(step, unroll)
//@ local along, suffixes = step.of.along, {}
//@ for u = 1, unroll do
//@   suffixes[u] = tostring(u)
//@ end
//@ begin_terms(step)
//@ for _, suffix in ipairs(suffixes) do
//@ begin(step, suffix)
//@ end
//@ P.open_loops(step, along)
size_t i$along$ = 0;
//@ for _, width in ipairs(unroll > 1 and { unroll, 1 } or { 1 }) do
for (; args->dim[$(along - 1)] - i$along$ >= $(width * L); i$along$ += $(width * L)) {
  //@ for u = 1, width do
  //@ if width > 1 then
  {
    const size_t first = i$along$, i$along$ = first + $((u - 1) * L);
    //@ end
    //@ call(step, step.terms)
    //@ take(step, suffixes[u])
    //@ if width > 1 then
  }
  //@ end
  //@ end
  //@ count_terms(step, suffixes)
}
//@ end
//@ if L > 1 then
if (i$along$ < args->dim[$(along - 1)]) {
  const size_t lanes = args->dim[$(along - 1)] - i$along$;
  const $k.mask$ inside = $(own:text("mask_part", "lanes"));
  //@ call(step, step.terms, "lanes")
  //@ take(step, suffixes[1], "inside")
  //@ count_terms(step, suffixes)
}
//@ end
//@ close(step.of.loops, along)
//@ -- All as one: what is gathered becomes one lane's.
$k.number$ of[$L$];
(void)of;
//@ for _, r in ipairs(step.of.gathered) do
//@ local name = r.name
//@ if r.kind == "sum" then
$k.vector$ $name$_total = $(k:constant(0)), $name$_lost = $(k:constant(0)), $name$_acc = $(k:neutral(r.kind));
{
  //@ for u, suffix in ipairs(suffixes) do
  //@ add_exactly(name .. suffix .. "_total", name .. suffix .. "_lost", name .. suffix .. "_acc")
  $k.number$ total$u$[$L$], lost$u$[$L$];
  $(own:text("store_own", "total" .. u, "0", name .. suffix .. "_total"));
  $(own:text("store_own", "lost" .. u, "0", name .. suffix .. "_lost"));
  //@ end
  $k.number$ sum = $(k:neutral_number(r.kind)), error = 0;
  for (size_t lane = 0; lane < $L$; lane++) {
    //@ for u = 1, unroll do
    {
      const $k.number$ term = total$u$[lane], old = sum;
      sum = old + term;
      const $k.number$ taken_up = sum - old;
      error += (old - (sum - taken_up)) + (term - taken_up) + lost$u$[lane];
    }
    //@ end
  }
  $name$_acc = $(own:text("splat", "error == error && error != 0 ? sum + error : sum"));
}
//@ else
$k.vector$ $name$_acc = $(k:neutral(r.kind));
//@ for _, suffix in ipairs(suffixes) do
$(own:text("store_own", "of", "0", name .. suffix .. "_acc"));
for (size_t lane = 0; lane < $L$; lane++) {
  const $k.vector$ term = $(own:text("splat", "of[lane]"));
  $name$_acc = $(k:combine_columns(r.kind, name .. "_acc", "term"));
}
//@ end
//@ end
//@ end
//@ if S.gathers(step, "sum") then
carries = false;
//@ end
{
  //@ finish(step, "", "1")
}
//@ end
//@ for _, step in ipairs(k.steps) do
//@ for _, part in ipairs { step.terms, step.values } do
//@ if #part.results > 0 then
$part.point.comment$
static inline $part.point.type$ $part.point.name$($part.point.parameters$) {
  $part.point.body$
}

//@ end
//@ end
//@ end
//@ -- The arguments of lathe_longest and lathe_box_of: how parts share the points of a set of axes. The unit of `along`
//@ -- is that of the steps whose vectors are of points there.
//@ local function shared_points(v, axes, steps)
//@   local along = -1
//@   for _, step in ipairs(steps) do
//@     local of = step.of.along
//@     along = of and is_by_points(step) and not is_scalar(step) and axes >> of - 1 & 1 ~= 0 and of - 1 or along
//@   end
//@   return ("%d, %d, %d"):format(axes, along, v.params.unroll * L)
//@ end
//@ -- The axes whose points parts of a call have of a step. A list of all targets is made at once.
//@ local function axes_of_parts(step) return step.of.axes & ~(step.of.target and 1 << step.of.target - 1 or 0) end
//@ -- The bytes of all that goes with a point of a group's axes: of operands with the most axes.
//@ local function bytes_of(group, steps)
//@   local most, count, seen, outside = 0, 0, {}, 0
//@   for _, step in ipairs(steps) do
//@     outside = (outside | step.of.stored | step.of.over) & ~group.axes
//@     for _, operand in ipairs(step.of.operands) do
//@       local axes = #(operand.dim_index or {})
//@       count = axes > most and 1 or axes == most and not seen[operand] and count + 1 or count
//@       most, seen[operand] = math.max(most, axes), true
//@     end
//@   end
//@   return ("%d * (double)(%s)"):format(count * k.spelling.bits // 8, S.size(S.places_of(outside)))
//@ end
//@ -- The steps of a group, and what a variant's functions are of those that share tiles.
//@ local function steps_of(group) return { table.unpack(k.steps, group.first, group.last) } end
//@ for _, v in ipairs(variants) do
//@ for _, step in ipairs(k.steps) do
//@ if step.of.kind == "list" then
static void $v.name$_$step.of.name$(const lathe_args *args, char *temporaries, const lathe_box *whole) {
  const lathe_box box = *whole;
  (void)box;
  //@ S.pointers(step, "temporaries")
  //@ Lists.list_places(step)
}

//@ else
//@ local found = T.across(step)
//@ local along, unroll = step.of.along, found and 1 or v.params.unroll
//@ local scalar, by_points, name = is_scalar(step), is_by_points(step), v.name .. "_" .. step.of.name
static void $name$$(found and "_each" or "")(const lathe_args *args, char *temporaries, const lathe_box *whole) {
  const lathe_box box = *whole;
  (void)temporaries, (void)box;
  //@ S.pointers(step, "temporaries")
  //@ S.prelude(step)
  //@ if scalar or not by_points and L == 1 and unroll == 1 then
  //@ open(step.of.keep, nil, true)
  //@ points(step, 1, "1")
  //@ close(step.of.keep)
  //@ elseif by_points then
  //@ open(step.of.keep, along, true)
  //@ if along then
  size_t first = box.from[$(along - 1)];
  //@ for _, width in ipairs(unroll > 1 and { unroll, 1 } or { 1 }) do
  for (; box.to[$(along - 1)] - first >= $(width * L); first += $(width * L)) {
    //@ if width == 1 then
    const size_t i$along$ = first;
    //@ end
    //@ points(step, width)
  }
  //@ end
  //@ if L > 1 then
  if (first < box.to[$(along - 1)]) {
    const size_t i$along$ = first, lanes = box.to[$(along - 1)] - first;
    //@ points(step, 1, "lanes")
  }
  //@ end
  //@ else
  //@ points(step, 1, "1")
  //@ end
  //@ close(step.of.keep, along)
  //@ else
  //@ open(step.of.keep, nil, true)
  //@ together(step, unroll)
  //@ close(step.of.keep)
  //@ end
}

//@ if found then
//@ T.turn_over(step, name, found)
//@ end
//@ end
//@ end
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  const lathe_args sizes = {.dim = {$(S.dims())}}, *args = &sizes;
  (void)args;
  //@ for _, step in ipairs(k.record.steps) do
  //@ if step.kind == "list" then
  if ($(S.size(step.loops)) > UINT32_MAX)
    return HUGE_VAL; /* places are listed by 32 bits */
  //@ end
  //@ end
  return (double)($(S.bytes_of_temporaries()));
}

//@ for nth, group in ipairs(k.record.groups) do
//@ if group.last > group.first then
/* Whether parts of a call take steps $group.first$ to $group.last$ by tiles of what these have in common: where all have some. */
static bool $v.name$_shares$nth$(const size_t *dim) {
  size_t most;
  (void)lathe_longest(dim, $(shared_points(v, group.axes, steps_of(group))), &most);
  return most >= $LEAST_SHARED$;
}

//@ end
//@ end
//@ if is_tried then
static size_t $v.name$_parts(const size_t *dim, int phase) {
  size_t most = 1;
  //@ for nth, group in ipairs(k.record.groups) do
  //@ if group.last > group.first then
  if ($v.name$_shares$nth$(dim)) {
    if (phase == $(group.first - 1))
      lathe_longest(dim, $(shared_points(v, group.axes, steps_of(group))), &most);
    else if (phase > $(group.first - 1) && phase < $group.last$)
      return 0;
  } else {
    //@ end
    //@ for i = group.first, group.last do
    //@ local step = k.steps[i]
    //@ if axes_of_parts(step) ~= 0 then
    if (phase == $(i - 1))
      lathe_longest(dim, $(shared_points(v, axes_of_parts(step), { step })), &most);
    //@ end
    //@ end
    //@ if group.last > group.first then
  }
  //@ end
  //@ end
  (void)dim, (void)phase;
  return most;
}

//@ end
//@ S.define_sharing(v, #k.steps, S.bytes_of_temporaries())
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  //@ for nth, group in ipairs(k.record.groups) do
  //@ local steps, is_one = steps_of(group), group.last == group.first
  //@ if not is_one then
  if (args->parts == 0 || $v.name$_shares$nth$(args->dim)) {
    if (args->parts == 0 || args->phase == $(group.first - 1)) {
      const lathe_box box = lathe_box_of(args, $(shared_points(v, group.axes, steps)));
      lathe_tiles tiles = lathe_tiles_of(&box, $(shared_points(v, group.axes, steps)), $(bytes_of(group, steps)));
      do {
        //@ for _, step in ipairs(steps) do
        $v.name$_$step.of.name$(args, (char *)args->workspace, &tiles.box);
        //@ end
      } while (lathe_next_tile(&tiles));
    }
  } else {
    //@ end
    //@ for i, step in ipairs(steps) do
    //@ local nth = group.first + i - 2
    if ($(is_one and "args->parts == 0 || " or "")args->phase == $nth$) {
      const lathe_box box = lathe_box_of(args, $(shared_points(v, axes_of_parts(step), { step })));
      $v.name$_$step.of.name$(args, (char *)args->workspace, &box);
    }
    //@ end
    //@ if not is_one then
  }
  //@ end
  //@ end
}

//@ end
