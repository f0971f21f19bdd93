/* The op in $k.number$, for checking kernels against: steps over its axes, the C library's functions. Each step is a
 * phase, and is asked for by its points: see reference.h. */
//@ local plan = steps()
//@ local T, points_of, kinds = k.dtype, loops.points_of, {}
//@ for _, step in ipairs(plan.steps) do
//@   for _, list in ipairs { step.reductions, step.scans } do
//@     for _, r in ipairs(list) do
//@       kinds[r.kind] = true
//@     end
//@   end
//@ end
//@ -- The numbers that a reduction gathers, and what they are of nothing. A sum has with it what rounding takes of it,
//@ -- an index the term there.
//@ local function state_of(kind)
//@   if kind == "sum" then
//@     return { { "sum", "0" }, { "error", "0" } }
//@   elseif k:is_index(kind) then
//@     return { { "best", "0" }, { "at", "-1" } }
//@   end
//@   return { { "best", k:neutral(kind) } }
//@ end
//@ -- Sets some where a condition holds: without a branch where compilers can make vectors of it, which are of no long
//@ -- doubles, whose stores take long.
//@ local function assign(condition, values)
//@ for name, value in text.sorted_pairs(values) do
//@ if T == "f64" then
*$name$ = $condition$ ? $value$ : *$name$;
//@ else
if ($condition$)
  *$name$ = $value$;
//@ end
//@ end
//@ end
//@ -- More of a reduction: a term, or what others came to. Nothing depends on where terms are divided but rounding: NaN
//@ -- goes before all numbers, and of equal terms the first is the one that is found.
//@ local function define(kind)
//@ local better = (kind == "argmax" or kind == "maximum") and ">" or "<"
//@ if kind == "sum" then
/* The exact error of a sum of two (Knuth 1969) goes to the others, after what was lost of the term. */
static inline void take_sum_$T$($k.number$ *sum, $k.number$ *error, $k.number$ term, $k.number$ lost) {
  const $k.number$ total = *sum + term, taken = total - *sum;
  *error += ((*sum - (total - taken)) + (term - taken)) + lost;
  *sum = total;
}
//@ elseif kind == "product" then
static inline void take_product_$T$($k.number$ *best, $k.number$ term) {
  *best *= term;
}
//@ elseif kind == "recurrence" then
static inline void take_recurrence_$T$($k.number$ *best, $k.number$ factor, $k.number$ term) {
  *best = factor * *best + term;
}
//@ elseif k:is_index(kind) then
static inline void take_$kind$_$T$($k.number$ *best, $k.number$ *at, $k.number$ term, $k.number$ place) {
  //@ local AND, OR = T == "f64" and "&" or "&&", T == "f64" and "|" or "||"
  const bool is_better = (term $better$ *best) $OR$ (*at < 0) $OR$ (isnan(term) $AND$ !isnan(*best))
      $OR$ (((term == *best) $OR$ (isnan(term) $AND$ isnan(*best))) $AND$ (place < *at));
  const bool is_taken = is_better $AND$ (place >= 0);
  //@ assign("is_taken", { best = "term", at = "place" })
}
//@ else
static inline void take_$kind$_$T$($k.number$ *best, $k.number$ term) {
  //@ assign("term " .. better .. " *best || isnan(term)", { best = "term" })
}
//@ end
//@ end
//@ -- How many numbers a step's reductions gather.
//@ local function slots_of(step)
//@   local count = 0
//@   for _, r in ipairs(step.reductions) do
//@     count = count + #state_of(r.kind)
//@   end
//@   return count
//@ end
//@ -- Calls it on a state, whose numbers are at some index.
//@ local function take(r, index, more)
//@ local places = {}
//@ for i, number in ipairs(state_of(r.kind)) do
//@   places[i] = "&" .. r.name .. "_" .. number[1] .. "[" .. index .. "]"
//@ end
take_$r.kind$_$T$($(table.concat(places, ", ")), $(table.concat(more, ", ")));
//@ end
//@ -- The numbers of another state of it.
//@ local function others(r, index)
//@   local list = {}
//@   for i, number in ipairs(state_of(r.kind)) do
//@     list[i] = r.name .. "_" .. number[1] .. "[" .. index .. "]"
//@   end
//@   return list
//@ end
//@ -- What a state comes to; infinity less infinity, the error of an infinite sum, is NaN.
//@ local function result(r, index)
//@   if r.kind == "sum" then
//@     return (("NAME_sum[%s] + (isnan(NAME_error[%s]) ? 0 : NAME_error[%s])"):gsub("NAME", r.name):gsub("%%s", index))
//@   end
//@   return r.name .. (k:is_index(r.kind) and "_at[" or "_best[") .. index .. "]"
//@ end
//@ local function declare(lines)
//@ for _, line in ipairs(lines) do
const $line.type$ $line.name$ = $line.value$;
//@ end
//@ end
//@ -- The points of a step's outer axes are numbered, each with all before the next neighbours or block are; where a
//@ -- step goes along memory, all neighbours of a point before the next point.
//@ local function find_point(step)
//@ for i = #step.outer, 1, -1 do
//@ local axis = step.outer[i]
const size_t i$axis$ = at_$(i > 1 and " % args->dim[" .. axis .. "]" or "");
//@ if i > 1 then
at_ /= args->dim[$axis$];
//@ end
//@ end
//@ end
//@ local function open_lanes(step)
for (size_t lane_ = 0; lane_ < lanes_; lane_++) {
  //@ indent()
  //@ if step.vector then
const size_t i$step.vector$ = from_ + lane_;
(void)i$step.vector$;
  //@ end
//@ end
//@ local function close()
//@ outdent()
}
//@ end
//@ -- What is read of inputs, and computed of it, at some lanes; the last loop over these is left open.
//@ local function compute(step)
//@ for _, read in ipairs(step.reads) do
$k.number$ $read.name$[$step.lanes$];
{
  const size_t i$step.vector$ = from_;
  part->read(part, $read.operand$, $read.at$, $read.stride$, lanes_, $read.name$);
}
//@ end
//@ if step.place then
/* Of the first of these; places of others follow at some distance. */
$k.number$ place_;
{
  //@ if step.vector then
  const size_t i$step.vector$ = from_;
  (void)i$step.vector$;
  //@ end
  place_ = ($k.number$)$step.place$;
}
//@ end
//@ for nth, loop in ipairs(step.loops) do
//@ for _, line in ipairs(loop.save) do
$line.type$ $line.name$_lanes[$step.lanes$];
//@ end
//@ if nth == #step.loops or #loop.declare > 0 then
//@ open_lanes(step)
//@ for _, line in ipairs(loop.load) do
const $line.type$ $line.name$ = $line.array$;
//@ end
//@ declare(loop.declare)
//@ for _, line in ipairs(loop.save) do
$line.array$ = $line.name$;
//@ end
//@ end
//@ if nth < #step.loops and #loop.declare > 0 then
//@ close()
//@ end
//@ end
//@ end
//@ local function has_blocked_sum(step)
//@   for _, r in ipairs(step.reductions) do
//@     if r.kind == "sum" and not step.once then
//@       return true
//@     end
//@   end
//@ end
//@ -- Adds what some terms came to.
//@ local function end_terms(step)
for (size_t lane_ = 0; lane_ < width_; lane_++) {
  //@ for _, r in ipairs(step.reductions) do
  //@ if r.kind == "sum" then
  //@ take(r, "lane_", { r.name .. "_terms[lane_]", "0" })
  $r.name$_terms[lane_] = 0;
  //@ end
  //@ end
}
//@ end
//@ local function reduce(step)
size_t begin_[LATHE_MAX_DIMS], end_[LATHE_MAX_DIMS];
reference_range(args->dim, $(("0x%x"):format(step.across)), block_, begin_, end_);
//@ if step.folds then
const size_t some_ = end_[$step.vector$] - begin_[$step.vector$];
const size_t width_ = some_ < 1 ? 1 : some_ < $step.lanes$ ? some_ : $step.lanes$;
//@ else
const size_t width_ = lanes_;
//@ end
//@ for _, r in ipairs(step.reductions) do
//@ for _, number in ipairs(state_of(r.kind)) do
$k.number$ $r.name$_$(number[1])[$step.lanes$];
//@ end
//@ end
//@ local blocked = has_blocked_sum(step)
//@ if blocked then
size_t taken_ = 0;
//@ end
//@ for _, r in ipairs(blocked and step.reductions or {}) do
//@ if r.kind == "sum" then
$k.number$ $r.name$_terms[$step.lanes$];
//@ end
//@ end
for (size_t lane_ = 0; lane_ < width_; lane_++) {
  //@ for _, r in ipairs(step.reductions) do
  //@ for _, number in ipairs(state_of(r.kind)) do
  $r.name$_$(number[1])[lane_] = $(number[2]);
  //@ end
  //@ if blocked and r.kind == "sum" then
  $r.name$_terms[lane_] = 0;
  //@ end
  //@ end
}
//@ for _, axis in ipairs(step.over) do
for (size_t i$axis$ = begin_[$axis$]; i$axis$ < end_[$axis$]; i$axis$++) {
  //@ indent()
//@ declare(step.levels[axis])
//@ end
//@ if step.folds then
for (size_t from_ = begin_[$step.vector$]; from_ < end_[$step.vector$]; from_ += $step.lanes$) {
  //@ indent()
const size_t left_ = end_[$step.vector$] - from_, lanes_ = left_ < $step.lanes$ ? left_ : $step.lanes$;
//@ end
//@ compute(step)
//@ for _, r in ipairs(step.reductions) do
//@ if r.kind == "sum" and blocked then
$r.name$_terms[lane_] += $r.term$;
//@ else
//@ take(r, "lane_", { r.term, r.kind == "sum" and "0" or k:is_index(r.kind) and r.place or nil })
//@ end
//@ end
//@ close()
//@ if blocked then
if (++taken_ == TERMS_) {
  //@ end_terms(step)
  taken_ = 0;
}
//@ end
//@ for _ in ipairs(step.over) do
//@ close()
//@ end
//@ if step.folds then
//@ close()
//@ end
//@ if blocked then
//@ end_terms(step)
//@ end
//@ if step.folds then
for (size_t more_ = width_; more_ > 1; more_ = (more_ + 1) / 2)
  for (size_t lane_ = 0, other_ = (more_ + 1) / 2; other_ < more_; lane_++, other_++) {
    //@ for _, r in ipairs(step.reductions) do
    //@ take(r, "lane_", others(r, "other_"))
    //@ end
  }
//@ end
for (size_t lane_ = 0; lane_ < $(step.folds and "1" or "lanes_"); lane_++) {
  //@ if not step.folds and step.vector then
  const size_t i$step.vector$ = from_ + lane_;
  //@ end
  if (blocks_ == 1) {
    //@ for _, r in ipairs(step.reductions) do
    $r.array$[$r.at$] = $(result(r, "lane_"));
    //@ end
  } else {
    const size_t from_block_ = block_ * $(slots_of(step)) * $(loops.points_among(step.set));
    //@ local slot = 0
    //@ for _, r in ipairs(step.reductions) do
    //@ for _, number in ipairs(state_of(r.kind)) do
    states_[from_block_ + $slot$ * $(loops.points_among(step.set)) + $r.at$] = $r.name$_$(number[1])[lane_];
    //@ slot = slot + 1
    //@ end
    //@ end
  }
}
//@ end
//@ -- Goes along an axis, and keeps what scans come to at each place.
//@ local function scan(step)
//@ for _, r in ipairs(step.scans) do
//@ for _, number in ipairs(state_of(r.kind)) do
$k.number$ $r.name$_$(number[1])[$step.lanes$];
//@ end
//@ end
for (size_t lane_ = 0; lane_ < lanes_; lane_++) {
  //@ for _, r in ipairs(step.scans) do
  //@ for _, number in ipairs(state_of(r.kind)) do
  $r.name$_$(number[1])[lane_] = $(number[2]);
  //@ end
  //@ end
}
for (size_t nth_ = 0; nth_ < args->dim[$step.scanned$]; nth_++) {
  //@ indent()
const size_t i$step.scanned$ = $(step.reverse and "args->dim[" .. step.scanned .. "] - 1 - nth_" or "nth_");
//@ declare(step.levels[step.scanned])
//@ compute(step)
//@ for _, r in ipairs(step.scans) do
//@ if r.exclusive then
$r.array$[$r.at$] = $(result(r, "lane_"));
//@ end
//@ take(r, "lane_", r.factor and { r.factor, r.term } or { r.term, r.kind == "sum" and "0" or nil })
//@ if not r.exclusive then
$r.array$[$r.at$] = $(result(r, "lane_"));
//@ end
//@ end
//@ close()
//@ close()
//@ end
//@ -- Merges what blocks left of some results.
//@ local function merge(step)
const size_t all_ = $(loops.points_among(step.set));
//@ local slot = 0
//@ for _, r in ipairs(step.reductions) do
//@ for _, number in ipairs(state_of(r.kind)) do
$k.number$ *const $r.name$_$(number[1]) = states_ + $slot$ * all_;
//@ slot = slot + 1
//@ end
//@ end
for (size_t block_ = 1; block_ < blocks_; block_++)
  for (size_t at_ = part->first; at_ < part->first + part->count; at_++) {
    const size_t other_ = block_ * $slot$ * all_ + at_;
    //@ for _, r in ipairs(step.reductions) do
    //@ take(r, "at_", others(r, "other_"))
    //@ end
  }
for (size_t at_ = part->first; at_ < part->first + part->count; at_++) {
  //@ for _, r in ipairs(step.reductions) do
  $r.array$[at_] = $(result(r, "at_"));
  //@ end
}
//@ end
//@ local function store(step)
//@ compute(step)
//@ if step.index then
//@ for _, pick in ipairs(step.picks) do
$pick.array$[$pick.at$] = $(k:literal(0 / 0));
//@ end
size_t index_ = (size_t)$step.index$;
if (index_ < $(points_of(step.index_over))) {
  //@ for i = #step.index_over, 1, -1 do
  //@ local axis = step.index_over[i]
  const size_t i$axis$ = index_$(i > 1 and " % args->dim[" .. axis .. "]" or "");
  //@ if i > 1 then
  index_ /= args->dim[$axis$];
  //@ end
  //@ end
  //@ declare(step.levels.place)
  //@ for _, pick in ipairs(step.picks) do
  $pick.array$[$pick.at$] = $pick.term$;
  //@ end
}
//@ end
//@ for _, s in ipairs(step.stores) do
$s.name$[$s.at$] = $(s.integer and "(int64_t)" or "")$s.value$;
//@ end
//@ close()
//@ end
//@ -- How many times lanes go into the results of a step along its vector axis, if they are along it.
//@ local function chunks_of(step)
//@   local is_cut = step.vector and not step.folds
//@   return is_cut and ("(args->dim[%d] + %d) / %d"):format(step.vector, step.lanes - 1, step.lanes)
//@ end
//@ -- How many points a step has, of one block where it reduces.
//@ local function points_in(step)
//@   local chunks = chunks_of(step)
//@   return points_of(step.outer) .. (chunks and " * (" .. chunks .. ")" or "")
//@ end
//@ for _, kind in ipairs(text.sorted_keys(kinds)) do
//@ define(kind)

//@ end
$(T == "f64" and "REFERENCE_SETS " or "")void $k.name$(const lathe_args *args) {
  enum { TERMS_ = 256 }; /* that are added up before what rounding takes of them is kept */
  const reference_part *part = (const reference_part *)args;
  //@ -- Where arrays begin, and after them the states of steps in blocks.
  //@ local last = "0"
  //@ for _, array in ipairs(plan.held) do
  const size_t from_$array.name$ = $last$;
  //@ last = "from_" .. array.name .. " + " .. points_of(array.axes)
  //@ end
  //@ for nth, step in ipairs(plan.steps) do
  //@ if step.across ~= 0 then
  const size_t blocks$nth$_ = reference_blocks(args->dim, $(("0x%x"):format(step.across))), from_states$nth$_ = $last$;
  //@ last = ("from_statesN_ + (blocksN_ > 1 ? blocksN_ : 0)"):gsub("N_", nth .. "_")
  //@ last = last .. " * " .. slots_of(step) .. " * " .. loops.points_among(step.set)
  //@ end
  //@ end
  if (part->shape) {
    const size_t points_[][2] = {
      //@ for nth, step in ipairs(plan.steps) do
      //@ local all = loops.points_among(step.set)
      //@ local terms = loops.points_among(step.set | step.across | (step.scanned and 1 << step.scanned or 0))
      {$(points_in(step))$(step.across ~= 0 and " * blocks" .. nth .. "_" or ""), $terms$},
      //@ if step.across ~= 0 then
      {blocks$nth$_ > 1 ? $all$ : 0, blocks$nth$_ * $all$},
      //@ end
      //@ end
    };
    *part->shape = (reference_shape){
        .phases = sizeof points_ / sizeof *points_, .states = $last$, .points = points_[part->phase][0],
        .terms = points_[part->phase][1]};
    return;
  }
  $(k:scalars(op))
  $(k:pointers(nil, function(operand) return operand.output or operand.dtype end))
  //@ for _, array in ipairs(plan.held) do
  $k.number$ *$array.name$ = ($k.number$ *)part->state + from_$array.name$;
  //@ end
  //@ local phase = 0
  //@ for nth, step in ipairs(plan.steps) do
  if (part->phase == $phase$) {
    //@ if step.across ~= 0 then
    const size_t blocks_ = blocks$nth$_;
    $k.number$ *const states_ = ($k.number$ *)part->state + from_states$nth$_;
    //@ end
    //@ declare(step.levels.ahead)
    for (size_t point_ = part->first; point_ < part->first + part->count; point_++) {
      //@ local around, chunks = points_of(step.outer), chunks_of(step)
      //@ if #step.outer > 0 then
      //@ local part = step.along and " / (" .. chunks .. ")" or " % (" .. around .. ")"
      $(#step.outer == 1 and "const " or "")size_t at_ = point_$part$;
      //@ find_point(step)
      //@ end
      //@ if chunks then
      const size_t from_ = point_$(step.along and "" or " / (" .. around .. ")") % ($chunks$) * $step.lanes$;
      const size_t left_ = args->dim[$step.vector$] - from_, lanes_ = left_ < $step.lanes$ ? left_ : $step.lanes$;
      //@ elseif not step.folds then
      const size_t lanes_ = 1;
      //@ end
      //@ declare(step.levels.outer)
      //@ if step.across ~= 0 then
      const size_t block_ = point_ / ($around$)$(chunks and " / (" .. chunks .. ")" or "");
      //@ reduce(step)
      //@ elseif step.scanned then
      //@ scan(step)
      //@ else
      //@ store(step)
      //@ end
    }
  }
  //@ phase = phase + 1
  //@ if step.across ~= 0 then
  if (part->phase == $phase$) {
    const size_t blocks_ = blocks$nth$_;
    $k.number$ *const states_ = ($k.number$ *)part->state + from_states$nth$_;
    //@ merge(step)
  }
  //@ phase = phase + 1
  //@ end
  //@ end
}
