/* The op in $k.number$, for checking kernels against: plain loops, the C library's functions, sums
 * that carry their rounding errors along (Neumaier 1974). It is asked in parts, and joins them: see reference.h. */
//@ local P = use "parts.c"
//@ local passes, point, finish, totals = k.passes, k.last, k.finish, k.totals
//@ P.define_all()
//@ local per_row, joins = op.template == "rows", op.template == "reduce"
//@ local points = per_row and "count" or "part->count"
//@ local G = use "gather.c"
//@ local function gather(phase, pass)
//@ G.begin(phase.reductions)
for (size_t i = 0; i < $points$; i++) {
  //@ P.load_and_call(pass, "i")
  //@ P.store_points(phase.stash, "i")
  //@ for _, r in ipairs(phase.reductions) do
  //@ G.take(r, r.name .. "_term", per_row and "(int64_t)i" or "(int64_t)(part->first + i)")
  //@ end
}
//@ end
//@ -- The numbers that a block leaves: each of a place among the states.
//@ local states, state_of = 0, {}
//@ local function reserve(name)
//@   state_of[name] = states
//@   states = states + 1
//@ end
//@ for _, phase in ipairs(joins and k.program.phases or {}) do
//@   for _, r in ipairs(phase.reductions) do
//@     for _, variable in ipairs(G.variables_of(r)) do
//@       reserve(variable[1])
//@     end
//@   end
//@   for _, pick in ipairs(phase.picks) do
//@     reserve(pick.name .. "_here")
//@     reserve(pick.name)
//@   end
//@ end
//@ local function leave(phase, at)
//@ for _, r in ipairs(phase.reductions) do
//@ for _, variable in ipairs(G.variables_of(r)) do
$at$[$(state_of[variable[1]])] = $(variable.type and "(" .. k.number .. ")" or "")$(variable[1]);
//@ end
//@ end
//@ end
//@ -- What a block comes to. A pick is there where the block has its index.
//@ local function gather_block(phase, pass)
$k.number$ *mine = part->state;
//@ if pass then
//@ gather(phase, pass)
//@ leave(phase, "mine")
//@ end
//@ for _, pick in ipairs(phase.picks) do
mine[$(state_of[pick.name .. "_here"])] = (uint64_t)$pick.index$_value - part->first < part->count;
if ((uint64_t)$pick.index$_value - part->first < part->count) {
  //@ P.load_and_call(pick.point, "(size_t)" .. pick.index .. "_value - part->first")
  mine[$(state_of[pick.name])] = $pick.name$_term;
}
//@ end
return;
//@ end
//@ local function join_blocks(phase)
//@ G.begin(phase.reductions)
//@ for _, pick in ipairs(phase.picks) do
all[$(state_of[pick.name])] = $(k:literal(0 / 0));
//@ end
for (size_t b = 0; b < part->blocks; b++) {
  const $k.number$ *here = (const $k.number$ *)part->state + b * $states$;
  //@ for _, r in ipairs(phase.reductions) do
  //@ if k:is_index(r.kind) then
  const $k.number$ $r.name$_term = here[$(state_of[r.name .. "_best"])];
  if (here[$(state_of[r.name .. "_at"])] >= 0) {
    //@ G.take(r, r.name .. "_term", "(int64_t)here[" .. state_of[r.name .. "_at"] .. "]")
  }
  //@ elseif r.kind == "sum" then
  const $k.number$ $r.name$_term = here[$(state_of[r.name .. "_sum"])];
  //@ G.take(r, r.name .. "_term")
  $r.name$_error += here[$(state_of[r.name .. "_error"])];
  //@ else
  const $k.number$ $r.name$_term = here[$(state_of[r.name .. "_best"])];
  //@ G.take(r, r.name .. "_term")
  //@ end
  //@ end
  //@ for _, pick in ipairs(phase.picks) do
  if (here[$(state_of[pick.name .. "_here"])] != 0)
    all[$(state_of[pick.name])] = here[$(state_of[pick.name])];
  //@ end
}
//@ leave(phase, "all")
//@ end
//@ -- What the phase came to, once it is joined.
//@ local function load_joined(phase)
//@ for _, r in ipairs(phase.reductions) do
//@ local best, at = state_of[r.name .. "_best"] or state_of[r.name .. "_sum"], state_of[r.name .. "_at"]
//@ if at then
const int64_t $r.name$ = (int64_t)all[$at$];
//@ elseif r.kind == "sum" then
const $k.number$ $r.name$ = all[$best$] + all[$(state_of[r.name .. "_error"])];
//@ else
const $k.number$ $r.name$ = all[$best$];
//@ end
//@ end
//@ for _, pick in ipairs(phase.picks) do
const $k.number$ $pick.name$ = all[$(state_of[pick.name])];
//@ end
//@ end
//@ local function call_phases()
//@ for p, phase in ipairs(k.program.phases) do
if (part->phase == $(p - 1) && part->step == REFERENCE_GATHER) {
  //@ gather_block(phase, passes[p])
}
if (part->phase == $(p - 1)) {
  //@ join_blocks(phase)
}
//@ load_joined(phase)
$(k:uniforms(p))
//@ if p < #k.program.phases then
if (part->phase == $(p - 1))
  return;
//@ end
//@ end
//@ end
//@ local function row_phases()
//@ for p, phase in ipairs(k.program.phases) do
//@ P.picks(phase)
//@ if passes[p] then
//@ gather(phase, passes[p])
//@ end
//@ G.finish(phase.reductions)
$(k:uniforms(p))
//@ end
//@ end
//@ -- What is gathered over the rows: the block's arrays, or those of all blocks, of the columns of a part.
//@ local columns = k.program.column_reductions
//@ local function begin_columns()
//@ local at = 0
//@ for _, r in ipairs(columns) do
//@ for j, array in ipairs(P.arrays_of(r)) do
$k.number$ *$array$ = ($k.number$ *)args->workspace + $at$ * count + first;
for (size_t i = 0; i < count && !part->more && part->step == REFERENCE_GATHER; i++)
  $array$[i] = $(j == 1 and k:neutral_number(r.kind) or k:literal(0));
//@ at = at + 1
//@ end
//@ end
//@ end
//@ local function join_columns()
for (size_t b = 1; b < part->blocks; b++) {
  for (size_t i = 0, at = b * $(2 * #columns) * count; i < part->count; i++, at++) {
    //@ for _, r in ipairs(columns) do
    const $k.number$ $r.name$_term = $r.name$_total[at];
    //@ end
    //@ P.gather_columns("i")
    //@ for _, r in ipairs(columns) do
    //@ if r.kind == "sum" then
    $r.name$_lost[i] += $r.name$_lost[at];
    //@ end
    //@ end
  }
}
//@ P.end_columns("part->count")
//@ end
void $k.name$(const lathe_args *args) {
  const reference_part *part = (const reference_part *)args;
  if (part->step == REFERENCE_SHAPE) {
    *part->shape = (reference_shape){.phases = $(joins and #k.program.phases or 0), .states = $states$};
    return;
  }
  $(k:scalars(op))
  const size_t count = $(k:product("args->dim", per_row and #op.dims or 1, #op.dims));
  (void)count; /* as in rows.c */
  $(k:pointers(nil, P.is_column))
  //@ if (k:uniforms("call") .. (finish and k:alone(finish) or "")):find "%f[%w_]rows_" then
  const size_t rows = $(k:product("args->dim", 1, #op.dims - 1));
  //@ end
  $(k:uniforms("call"))
  //@ if finish then
  const size_t first = part->step == REFERENCE_JOIN ? part->first : 0;
  //@ begin_columns()
  if (part->step == REFERENCE_JOIN) {
    //@ join_columns()
    $(k:pointers(nil, P.is_read_alone))
    $(k:alone(finish))
    //@ P.for_each_point(finish, k.program.columns, "part->count", 1)
    return;
  }
  //@ end
  for (size_t row = 0; row < $(per_row and "part->count" or "1"); row++) {
    $(k:pointers({ whole = "row * count", row = "row" }, P.is_no_column))
    $(k:row_values())
    $(k:uniforms("row"))
    //@ if joins then
    $k.number$ *all = part->joined;
    //@ call_phases()
    //@ else
    //@ row_phases()
    //@ end
    //@ for _, total in ipairs(totals) do
    $total$
    //@ end
    //@ if point then
    //@ P.for_each_point(point, k.program.points, points, 1, false, finish ~= nil)
    //@ end
  }
}
