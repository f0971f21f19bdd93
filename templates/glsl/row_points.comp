//@ -- What is done at the points of a row that an invocation has read: their terms are gathered, what follows from
//@ -- these is found, and the results are computed and written. kept: operands with values from an earlier pass, in
//@ -- variables.
//@ local P, row = use "parts.comp", use "row.comp"
//@ local V = k.width
//@
//@ -- Calls a point function on the nth element that an invocation holds, or on the nth of its elements at the ends.
//@ local function call(point, nth, kept)
//@ P.call(point, function(x)
//@   if x.kind == "hit" then
//@     return row.at(nth) .. " == " .. x.index .. "_place"
//@   elseif kept[x.pointer] then
//@     return x.pointer .. "_kept" .. nth
//@   end
//@   return k:unpack(x.pointer .. "_pack" .. nth // V, nth % V, x.operand)
//@ end)
//@ end
//@ local function call_end(point, nth, kept)
//@ P.call(point, function(x)
//@   if x.kind == "hit" then
//@     return "end_at" .. nth .. " == uint64_t(" .. x.index .. "_value)"
//@   end
//@   return x.pointer .. (kept[x.pointer] and "_kept" or "") .. "_end" .. nth
//@ end)
//@ end
//@
//@ -- The place that an index names among the elements from `base` on, of which there are fewer than 2^32.
//@ local function hits(point)
//@ for _, x in ipairs(point.inputs) do
//@ if x.kind == "hit" then
const uint $x.index$_place = uint(min(uint64_t($x.index$_value) - base, 0xfffffffful));
//@ end
//@ end
//@ end
//@
//@ -- Word w of an access to an operand, numbers that are not in the row replaced by the neutral one of `kind`.
//@ local function stored_word(pack, slot, w, kind)
//@   local word, neutral = pack .. slot .. "." .. ("xyzw"):sub(w + 1, w + 1), kind:find("max") and 0xff80 or 0x7f80
//@   if k.dtype == "f16" then
//@     neutral = kind:find("max") and 0xfc00 or 0x7c00
//@   end
//@   local apart = {}
//@   for half = 0, 1 do
//@     apart[half + 1] = ("(%s ? %s & 0x%xu : 0x%xu)"):format(row.inside(slot * V + 2 * w + half), word,
//@       0xffff << 16 * half, neutral << 16 * half)
//@   end
//@   return ("MODE == LATHE_APART ? %s | %s : %s ? %s : 0x%xu"):format(apart[1], apart[2], row.inside(slot * V), word,
//@     neutral << 16 | neutral)
//@ end
//@
//@ -- The terms of a reduction as they are in memory: NAME_stored0...
//@ local function stored(r, H, kind)
//@ for slot = 0, H - 1 do
//@ local words = {}
//@ for w = 0, 3 do
//@   words[w + 1] = stored_word(r.term.name .. "_pack", slot, w, kind)
//@ end
const uvec4 $r.name$_stored$slot$ = uvec4($(table.concat(words, ", ")));
//@ end
//@ end
//@
//@ -- Gathers the terms of the points that are held; kept: where what it stashes stays in variables, else it
//@ -- is written.
//@ function gather(program, p, H, kept)
//@ local phase, point, mine = program.phases[p], program.passes[p], "mine" .. p
//@ if k:is_as_stored(phase) then
//@ for _, r in ipairs(phase.reductions) do
//@ stored(r, H, r.kind)
//@ P.take_stored(r, mine, r.name .. "_stored", H, function(slot, lane)
//@   return ("base + uint64_t(start + %s * %du * THREADS + %s * step)"):format(slot, V, lane)
//@ end)
//@ end
//@ else
//@ hits(point)
//@ local at_once, by_access = {}, { reductions = {} } -- those with two results are taken of all that is held
//@ for _, r in ipairs(phase.reductions) do
//@   table.insert(r.second and at_once or by_access.reductions, r)
//@ end
//@ for _, r in ipairs(at_once) do
//@ for nth = 0, H * V - 1 do
$k.precise$$k.number$ $r.name$_term$nth$;
//@ end
//@ end
//@ for slot = 0, H - 1 do
{
  //@ row.declare(kept and {} or phase.stash, "out", slot * V, V)
  //@ for lane = 0, V - 1 do
  //@ local nth = slot * V + lane
  //@ for _, r in ipairs(by_access.reductions) do
  $k.precise$$k.number$ $r.name$_term$lane$;
  //@ end
  {
    //@ call(point, nth, kept or {})
    //@ for _, r in ipairs(phase.reductions) do
    //@ local neutral = k:first_kind(r.kind)
    $r.name$_term$(r.second and nth or lane) = $(row.inside(nth)) ? $r.name$_term : $(k:neutral(neutral));
    //@ end
    //@ for _, y in ipairs(phase.stash) do
    $y.operand.name$_$(kept and "kept" or "out")$nth$ = $y.operand.name$_;
    //@ end
  }
  //@ end
  //@ if #by_access.reductions > 0 then
  if ($(row.inside(slot * V))) {
    //@ P.take(by_access, mine, V, function(nth)
    //@   return ("base + uint64_t(start + %du * THREADS + %s * step)"):format(slot * V, nth)
    //@ end)
  }
  //@ end
  //@ row.write(kept and {} or phase.stash, slot)
}
//@ end
//@ for _, r in ipairs(at_once) do
//@ if r.kind == "moments" then
//@ P.take_moments(r, mine, H * V, row.inside)
//@ elseif k:is_stored(r) then
//@ stored(r, H, "maximum")
//@ P.take_powers(r, mine, H * V, r.name .. "_stored")
//@ else
//@ P.take_powers(r, mine, H * V)
//@ end
//@ end
//@ for _, y in ipairs(kept and phase.stash or {}) do
//@ kept[y.operand.name] = true
//@ end
//@ end
//@ end
//@
//@ -- The same of the N elements at the ends of the row.
//@ function gather_ends(program, p, N, kept)
//@ local phase, point = program.phases[p], program.passes[p]
//@ for nth = 0, N - 1 do
if (end_at$nth$ < count) {
  $k.precise$$(program.gathered(p)) at_end;
  lathe_clear(at_end);
  //@ call_end(point, nth, kept or {})
  //@ for _, r in ipairs(phase.reductions) do
  const $k.precise$$k.number$ $r.name$_term0 = $r.name$_term;
  //@ if r.kind == "moments" then
  //@ P.take_moments(r, "at_end", 1, function() return "true" end)
  //@ elseif r.kind == "powers" then
  //@ P.take_powers(r, "at_end", 1)
  //@ else
  //@ P.take({ reductions = { r } }, "at_end", 1, function() return "end_at" .. nth end)
  //@ end
  //@ end
  lathe_merge(mine$p$, at_end);
  //@ for _, y in ipairs(phase.stash) do
  //@ if kept then
  $y.operand.name$_kept_end$nth$ = $y.operand.name$_;
  //@ else
  $(k:put(y.operand))($y.operand.name$ + end_at$nth$ * $(k:bytes_of(y.operand))ul, $y.operand.name$_);
  //@ end
  //@ end
}
//@ end
//@ end
//@
//@ -- Gathers what is to be reduced over the rows, of an invocation's element `nth`.
//@ local function take_columns(nth)
//@ for _, r in ipairs(k.program.column_reductions) do
$r.name$_total$nth$ = $(k:fold(r.kind, { r.name .. "_total" .. nth, r.name .. "_term" }));
//@ end
//@ end
//@
//@ -- Computes the points that are held and writes them, where the row is there (live), and gathers what is to
//@ -- be reduced over the rows.
//@ function compute(program, H, kept, live)
//@ local point, outputs = program.point, program.outputs
//@ hits(point)
if ($live$) {
  //@ for slot = 0, H - 1 do
  {
    //@ row.declare(outputs, "out", slot * V, V)
    //@ for nth = slot * V, slot * V + V - 1 do
    {
      //@ call(point, nth, kept)
      //@ for _, y in ipairs(outputs) do
      $y.operand.name$_out$nth$ = $y.operand.name$_;
      //@ end
      //@ take_columns(nth)
    }
    //@ end
    //@ row.write(outputs, slot)
  }
  //@ end
}
//@ end
//@
//@ function compute_ends(program, N, kept, live)
//@ local point, outputs = program.point, program.outputs
//@ for nth = 0, N - 1 do
if ($live$ && end_at$nth$ < count) {
  //@ call_end(point, nth, kept)
  //@ for _, y in ipairs(outputs) do
  $(k:put(y.operand))($y.operand.name$ + end_at$nth$ * $(k:bytes_of(y.operand))ul, $y.operand.name$_);
  //@ end
  //@ take_columns("_end" .. nth)
}
//@ end
//@ end
//@
//@ -- What follows from phase p: its results as plain numbers, of the record of what was gathered, if it has any, its
//@ -- picks, NaN where the place that an index names is not in the row, and uniforms.
//@ function follow(program, p)
//@ if program.passes[p] then
//@ P.results(program.phases[p], "mine" .. p)
//@ end
//@ for _, pick in ipairs(program.phases[p].picks) do
//@ local function value(x)
//@   return x.kind == "hit" and x.index .. "_value == " .. pick.index .. "_value" or pick.name .. "_" .. x.pointer
//@ end
$k.precise$$k.number$ $pick.name$ = $(k:literal(0 / 0));
if (uint64_t($pick.index$_value) < count) {
  //@ P.call(pick.point, value)
  $pick.name$ = $pick.name$_term;
}
//@ end
$(program.uniforms(p))
//@ end
//@ -- Phase p of all invocations that share a row; last: only the first needs it.
//@ function merge(program, p, last)
//@ if program.passes[p] then
lathe_merge_threads(mine$p$, 0u, $(last and "false" or "true"));
//@ if last then
if (thread != 0u)
  return;
//@ end
//@ end
//@ follow(program, p)
//@ end
//@ function clear(program, p)
$k.precise$$(program.gathered(p)) mine$p$;
lathe_clear(mine$p$);
//@ end
//@
//@ function write_totals(program, condition)
//@ if #program.totals > 0 then
if ($condition$) {
  //@ for _, total in ipairs(program.totals) do
  $total$
  //@ end
}
//@ end
//@ end
