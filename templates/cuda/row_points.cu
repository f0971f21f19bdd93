//@ -- What is done at the points of a row that a thread has read: their terms are gathered, what follows from these is
//@ -- found, and the results are computed and written. kept: operands with values from an earlier pass, in registers.
//@ local P, row = use "parts.cu", use "row.cu"
//@ local V = k.width
//@
//@ -- Calls a point function on element [lane] of pack [slot], or on the nth of the thread's at the ends.
//@ local function call(point, kept)
//@ P.call(point, function(x)
//@   if x.kind == "hit" then
//@     return "at(slot * " .. V .. " + lane) == " .. x.index .. "_place"
//@   elseif kept[x.pointer] then
//@     return x.pointer .. "_kept[slot * " .. V .. " + lane]"
//@   end
//@   return "lathe_number(" .. x.pointer .. "_pack[slot], lane)"
//@ end)
//@ end
//@ local function call_end(point, kept)
//@ P.call(point, function(x)
//@   if x.kind == "hit" then
//@     return "end_at(nth) == " .. x.index .. "_place"
//@   end
//@   return x.pointer .. (kept[x.pointer] and "_kept_ends[nth]" or "_ends[nth]")
//@ end)
//@ end
//@
//@ -- The terms of a reduction as they are in memory, elements that a pass has read.
//@ local function stored(r, name)
lathe_stored<$k.storage$, H * $V$> $name$($r.term.name$_pack);
#pragma unroll
for (int nth = 0; nth < H * $V$; nth++)
  if (!inside(nth))
    lathe_leave_out($name$, nth, mine.$r.name$.nothing());
//@ end
//@
//@ -- Gathers the terms of a phase; kept: where what it stashes stays in registers, else it is written.
//@ function gather(program, p, kept)
//@ local phase, point = program.phases[p], program.passes[p]
//@ if k:is_as_stored(phase) then
//@ for _, r in ipairs(phase.reductions) do
{
  //@ stored(r, "terms")
  mine.$r.name$.take(terms, at);
}
//@ end
//@ else
//@ local at_once, by_access = {}, {} -- those with two results are taken of all that a thread holds
//@ for _, r in ipairs(phase.reductions) do
//@   table.insert(r.second and at_once or by_access, r)
//@ end
//@ for _, r in ipairs(at_once) do
$k.number$ $r.name$_terms[H * $V$];
//@ end
#pragma unroll
for (int slot = 0; slot < H; slot++) {
  //@ for _, r in ipairs(by_access) do
  $k.number$ $r.name$_terms[$V$];
  //@ end
  //@ for _, y in ipairs(kept and {} or phase.stash) do
  lathe_pack<$(k:element_type(y.operand)), $V$> $y.operand.name$_out;
  //@ end
#pragma unroll
  for (int lane = 0; lane < $V$; lane++) {
    //@ call(point, kept or {})
    //@ for _, r in ipairs(phase.reductions) do
    //@ local nth = r.second and "slot * " .. V .. " + lane" or "lane"
    $r.name$_terms[$nth$] = inside(slot * $V$ + lane) ? $r.name$_term : mine.$r.name$.nothing();
    //@ end
    //@ for _, y in ipairs(phase.stash) do
    //@ if kept then
    $y.operand.name$_kept[slot * $V$ + lane] = $y.operand.name$_;
    //@ else
    $y.operand.name$_out.at[lane] = $y.operand.name$_;
    //@ end
    //@ end
  }
  //@ if #by_access > 0 then
  if (inside(slot * $V$)) {
    //@ for _, r in ipairs(by_access) do
    mine.$r.name$.take($r.name$_terms, [=](int lane) { return at(slot * $V$ + lane); });
    //@ end
  }
  //@ end
  //@ for _, y in ipairs(kept and {} or phase.stash) do
  //@ row.write(y.operand.name)
  //@ end
}
//@ for _, r in ipairs(at_once) do
//@ if r.kind == "moments" then
mine.$r.name$.take($r.name$_terms, inside);
//@ elseif k:is_stored(r) then
{
  //@ stored(r, "terms")
  mine.$r.name$.take($r.name$_terms, terms);
}
//@ else
mine.$r.name$.take($r.name$_terms, $r.name$_terms);
//@ end
//@ end
//@ for _, y in ipairs(kept and phase.stash or {}) do
//@ kept[y.operand.name] = true
//@ end
//@ end
//@ end
//@
//@ function gather_ends(program, p, kept)
//@ local phase, point = program.phases[p], program.passes[p]
#pragma unroll
for (int nth = 0; nth < ENDS; nth++)
  if (end_at(nth) < count) {
    $(program.gathered(p)) end;
    end.clear();
    //@ call_end(point, kept or {})
    //@ for _, r in ipairs(phase.reductions) do
    const $k.number$ $r.name$_terms[1] = {$r.name$_term};
    //@ local more = r.kind == "moments" and "[](int) { return true; }" or r.kind == "powers" and r.name .. "_terms"
    end.$r.name$.take($r.name$_terms, $(more or "[=](int) { return end_at(nth); }"));
    //@ end
    mine.merge(end);
    //@ for _, y in ipairs(phase.stash) do
    $y.operand.name$$(kept and "_kept_ends[nth]" or "[end_at(nth)]") = $y.operand.name$_;
    //@ end
  }
//@ end
//@
//@ -- Gathers what is to be reduced over the rows, of one element.
//@ local function take_columns(of)
//@ for _, r in ipairs(k.program.column_reductions) do
const $k.number$ $r.name$_terms[1] = {$r.name$_term};
$of$.$r.name$.take($r.name$_terms, [](int) { return 0; });
//@ end
//@ end
//@
//@ -- Computes the points and writes them, and gathers what is to be reduced over the rows.
//@ function compute(program, kept)
//@ local point, outputs = program.point, program.outputs
#pragma unroll
for (int slot = 0; slot < H; slot++) {
  //@ for _, y in ipairs(outputs) do
  lathe_pack<$(k:element_type(y.operand)), $V$> $y.operand.name$_out;
  //@ end
#pragma unroll
  for (int lane = 0; lane < $V$; lane++) {
    //@ call(point, kept)
    //@ for _, y in ipairs(outputs) do
    $y.operand.name$_out.at[lane] = $y.operand.name$_;
    //@ end
    //@ take_columns("over_rows[slot * " .. V .. " + lane]")
  }
  //@ for _, y in ipairs(outputs) do
  //@ row.write(y.operand.name, true)
  //@ end
}
//@ end
//@
//@ -- The first `lanes` elements alone of an access that is not whole, from the place `first` on.
//@ function compute_lanes(program, lanes, first)
#pragma unroll
for (int lane = 0; lane < $V$; lane++)
  if (lane < $lanes$) {
    const int slot = 0;
    //@ call(program.point, {})
    //@ for _, y in ipairs(program.outputs) do
    $y.operand.name$[$first$ + lane] = $y.operand.name$_;
    //@ end
    //@ take_columns("over_rows[lane]")
  }
//@ end
//@
//@ function compute_ends(program, kept)
//@ local point, outputs = program.point, program.outputs
#pragma unroll
for (int nth = 0; nth < ENDS; nth++)
  if (end_at(nth) < count) {
    //@ call_end(point, kept)
    //@ for _, y in ipairs(outputs) do
    $y.operand.name$[end_at(nth)] = $y.operand.name$_;
    //@ end
    //@ take_columns("over_ends[nth]")
  }
//@ end
//@
//@ -- What follows from phase p: its picks, its results in the gatherer `mine`, if it has any, and uniforms.
//@ function follow(program, p, mine)
//@ local phase = program.phases[p]
//@ if mine then
//@ P.results(phase.reductions, mine)
//@ end
//@ for _, pick in ipairs(phase.picks) do
$k.number$ $pick.name$ = $(k:literal(0 / 0));
if ($pick.index$_place < count) {
  //@ P.call(pick.point, function(x)
  //@   return x.kind == "hit" and x.index .. "_place == " .. pick.index .. "_place" or pick.name .. "_" .. x.pointer
  //@ end)
  $pick.name$ = $pick.name$_term;
}
//@ end
$(program.uniforms(p))
//@ end
//@
//@ function write_totals(program)
//@ if #program.totals > 0 then
if (thread == 0 && live) {
  //@ for _, total in ipairs(program.totals) do
  $total$
  //@ end
}
//@ end
//@ end
