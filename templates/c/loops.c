/* The op in $k.number$, for checking kernels against, of a pattern that no other template does: steps over its axes,
 * the C library's functions. Each step is a phase, and is asked for by its points: see reference.h. */
//@ local plan = steps()
//@ local function declare(lines)
//@ for _, line in ipairs(lines) do
const $line.type$ $line.name$ = $line.value$;
//@ end
//@ end
//@ -- The points of a step's outer axes are numbered, each with all before the next neighbours are.
//@ local function find_point(step)
//@ for i = #step.outer, 1, -1 do
//@ local axis = step.outer[i]
const size_t i$axis$ = at_$(i > 1 and " % args->dim[" .. axis .. "]" or "");
//@ if i > 1 then
at_ /= args->dim[$axis$];
//@ end
//@ end
//@ end
//@ local function begin(step)
//@ for _, r in ipairs(step.reductions) do
//@ if r.kind == "sum" then
$k.number$ $r.name$_terms[LANES_], $r.name$_sum[LANES_], $r.name$_error[LANES_];
for (size_t lane_ = 0; lane_ < lanes_; lane_++)
  $r.name$_terms[lane_] = $r.name$_sum[lane_] = $r.name$_error[lane_] = 0;
//@ else
$k.number$ $r.name$_best[LANES_];
for (size_t lane_ = 0; lane_ < lanes_; lane_++)
  $r.name$_best[lane_] = $(k:neutral(r.kind));
//@ end
//@ if k:is_index(r.kind) then
int64_t $r.name$_at[LANES_];
for (size_t lane_ = 0; lane_ < lanes_; lane_++)
  $r.name$_at[lane_] = -1;
//@ end
//@ end
//@ end
//@ local function take(r)
//@ local better = (r.kind == "argmax" or r.kind == "maximum") and ">" or "<"
//@ if k:is_index(r.kind) then
if ($r.name$_at[lane_] < 0 || $r.term$ $better$ $r.name$_best[lane_]
    || (isnan($r.term$) && !isnan($r.name$_best[lane_]))) {
  $r.name$_best[lane_] = $r.term$;
  $r.name$_at[lane_] = (int64_t)$r.place$;
}
//@ elseif r.kind == "sum" then
$r.name$_terms[lane_] += $r.term$;
//@ else
$r.name$_best[lane_] = $r.term$ $better$ $r.name$_best[lane_] || isnan($r.term$) ? $r.term$ : $r.name$_best[lane_];
//@ end
//@ end
//@ -- What some terms came to is added with what rounding takes of it (Neumaier 1974).
//@ local function join(step)
for (size_t lane_ = 0; lane_ < lanes_; lane_++) {
  //@ for _, r in ipairs(step.reductions) do
  //@ if r.kind == "sum" then
  const $k.number$ $r.name$_more = $r.name$_terms[lane_], $r.name$_old = $r.name$_sum[lane_];
  const $k.number$ $r.name$_new = $r.name$_old + $r.name$_more;
  $r.name$_error[lane_] += !isfinite($r.name$_new) ? 0
      : $(k:text("abs", r.name .. "_old")) >= $(k:text("abs", r.name .. "_more"))
          ? ($r.name$_old - $r.name$_new) + $r.name$_more
          : ($r.name$_more - $r.name$_new) + $r.name$_old;
  $r.name$_sum[lane_] = $r.name$_new;
  $r.name$_terms[lane_] = 0;
  //@ end
  //@ end
}
//@ end
//@ local function has_sum(step)
//@   for _, r in ipairs(step.reductions) do
//@     if r.kind == "sum" then
//@       return true
//@     end
//@   end
//@ end
//@ local function open_lanes(step)
for (size_t lane_ = 0; lane_ < lanes_; lane_++) {
  //@ indent()
  //@ if step.vector then
const size_t i$step.vector$ = from_ + lane_;
  //@ end
//@ end
//@ local function close()
//@ outdent()
}
//@ end
//@ local function reduce(step)
//@ begin(step)
//@ if has_sum(step) then
size_t taken_ = 0;
//@ end
//@ for _, axis in ipairs(step.over) do
for (size_t i$axis$ = 0; i$axis$ < args->dim[$axis$]; i$axis$++) {
  //@ indent()
//@ declare(step.levels[axis])
//@ end
//@ open_lanes(step)
//@ declare(step.levels.lane)
//@ for _, r in ipairs(step.reductions) do
//@ take(r)
//@ end
//@ close()
//@ if has_sum(step) then
if (++taken_ == TERMS_) {
  //@ join(step)
  taken_ = 0;
}
//@ end
//@ for _ in ipairs(step.over) do
//@ close()
//@ end
//@ if has_sum(step) then
//@ join(step)
//@ end
//@ open_lanes(step)
//@ for _, r in ipairs(step.reductions) do
//@ if k:is_index(r.kind) then
$r.array$[$r.at$] = ($k.number$)$r.name$_at[lane_];
//@ elseif r.kind == "sum" then
$r.array$[$r.at$] = $r.name$_sum[lane_] + $r.name$_error[lane_];
//@ else
$r.array$[$r.at$] = $r.name$_best[lane_];
//@ end
//@ end
//@ close()
//@ end
//@ local function store(step)
//@ open_lanes(step)
//@ declare(step.levels.lane)
//@ for _, pick in ipairs(step.picks) do
$pick.array$[$pick.at$] = $(k:literal(0 / 0));
if ((uint64_t)$pick.index$ < args->dim[$pick.axis$]) {
  const size_t i$pick.axis$ = (size_t)$pick.index$;
  //@ declare(step.levels.place)
  $pick.array$[$pick.at$] = $pick.term$;
}
//@ end
//@ for _, s in ipairs(step.stores) do
$s.name$[$s.at$] = $(s.integer and "(int64_t)" or "")$s.value$;
//@ end
//@ close()
//@ end
REFERENCE_SETS void $k.name$(const lathe_args *args) {
  /* Neighbours that are computed together, and terms that are added up before what rounding takes of them is kept. */
  enum { LANES_ = 64, TERMS_ = 256 };
  const reference_part *part = (const reference_part *)args;
  //@ for i, array in ipairs(plan.held) do
  const size_t from_$array.name$ = $(i == 1 and "0" or "from_" .. plan.held[i - 1].name .. " + " .. points_of(plan.held[i - 1].axes));
  //@ end
  if (part->step == REFERENCE_SHAPE) {
    const size_t points_[] = {
      //@ for _, step in ipairs(plan.steps) do
      $(points_of(step.outer))$(step.vector and string.format(" * ((args->dim[%d] + LANES_ - 1) / LANES_)", step.vector) or ""),
      //@ end
    };
    //@ local last = plan.held[#plan.held]
    *part->shape = (reference_shape){
        .phases = $(#plan.steps), .states = $(last and "from_" .. last.name .. " + " .. points_of(last.axes) or "0"),
        .points = points_[part->phase]};
    return;
  }
  $(k:scalars(op))
  $(k:pointers())
  //@ for _, array in ipairs(plan.held) do
  $k.number$ *$array.name$ = ($k.number$ *)part->state + from_$array.name$;
  //@ end
  //@ for nth, step in ipairs(plan.steps) do
  if (part->phase == $(nth - 1)) {
    //@ declare(step.levels.ahead)
    for (size_t point_ = part->first; point_ < part->first + part->count; point_++) {
      //@ local around = points_of(step.outer)
      //@ if #step.outer > 0 then
      $(#step.outer == 1 and "const " or "")size_t at_ = point_$(step.vector and " % (" .. around .. ")" or "");
      //@ find_point(step)
      //@ end
      //@ if step.vector then
      const size_t from_ = point_$(#step.outer > 0 and " / (" .. around .. ")" or "") * LANES_;
      const size_t left_ = args->dim[$step.vector$] - from_, lanes_ = left_ < LANES_ ? left_ : LANES_;
      //@ else
      const size_t lanes_ = 1;
      //@ end
      //@ declare(step.levels.outer)
      //@ if step.kind == "reduce" then
      //@ reduce(step)
      //@ else
      //@ store(step)
      //@ end
    }
  }
  //@ end
}
