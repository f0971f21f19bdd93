/* A program over each row: passes of reductions over the row, then its values. Limited by bytes
 * moved where a row fits the registers of a workgroup: it is read once, all accesses in flight, and
 * written once; the passes work on registers. THREADS invocations share a row and hold a number of
 * accesses of 16 bytes of each operand; several short rows go to a workgroup. Rows too long for that
 * are read again in each pass, by a workgroup of the largest size; what is dear to compute twice is
 * then kept in the output between passes. Where there are fewer of these than multiprocessors, each is
 * split into parts, a launch for each pass: a few microseconds that many workgroups soon repay.
 *
 * Where rows do not all start at a multiple of 16 bytes, accesses are of one element each. */
//@ use "kernel.comp"
//@ local P = use "parts.comp"
//@ local S = use "shapes.c"
//@ local phases, outputs, V = k.program.phases, k.program.points, k.width
//@ local passes = k:passes(P.define)
//@ local point = #outputs > 0 and k:point("point", k:results(outputs))
//@ if point then
//@ P.define(point)
//@ end
//@ for p, phase in ipairs(phases) do
//@ P.define_gatherer(phase, p, 1)
//@ end
//@ local totals = k:totals()
//@ local last = op.dims[#op.dims]
//@ local function offset(operand)
//@   local along = operand.dims[#operand.dims] == last
//@   return #operand.dims == #op.dims and "row * count" or not along and "row" or nil
//@ end
//@
//@ -- The place of the nth element that an invocation holds, from where it started.
//@ local function at(nth)
//@   return string.format("start + %du * THREADS + %du * step", nth // V * V, nth % V)
//@ end
//@ -- The same of an nth that is known only when it runs.
//@ local function place(nth)
//@   return string.format("uint64_t(start + %s / %du * %du * THREADS + %s %% %du * step)", nth, V, V, nth, V)
//@ end
//@
//@ -- Reads H accesses of the operands with these names that are not in known, as uvec4s.
//@ function read(names, known, H)
//@ for _, name in ipairs(names) do
//@ if not known[name] then
//@ known[name] = true
//@ for slot = 0, H - 1 do
uvec4 $name$_pack$slot$ = uvec4(0u);
//@ end
if (aligned) {
  //@ for slot = 0, H - 1 do
  if ($(at(slot * V)) < end)
    $name$_pack$slot$ = lathe_pack($name$ + from + uint64_t(start) * $k.bytes$ul + $(slot)ul * (THREADS * 16ul)).at;
  //@ end
} else {
  //@ for slot = 0, H - 1 do
  //@ for lane = 0, V - 1 do
  $k.number$ $name$_lane$(slot * V + lane) = 0;
  if ($(at(slot * V + lane)) < end)
    $name$_lane$(slot * V + lane) = lathe_get($name$ + from + uint64_t($(at(slot * V + lane))) * $k.bytes$ul);
  //@ end
  //@ local lanes = {}
  //@ for lane = 0, V - 1 do
  //@   lanes[lane + 1] = name .. "_lane" .. slot * V + lane
  //@ end
  $name$_pack$slot$ = $(k:pack(lanes));
  //@ end
}
//@ end
//@ end
//@ end
//@
//@ -- Writes the operands with these names, of which the values are in variables name_atN.
//@ function write(names, H)
//@ for _, name in ipairs(names) do
if (aligned) {
  //@ for slot = 0, H - 1 do
  //@ local values = {}
  //@ for lane = 0, V - 1 do
  //@   values[lane + 1] = name .. "_at" .. slot * V + lane
  //@ end
  if ($(at(slot * V)) < end)
    lathe_pack($name$ + from + uint64_t(start) * $k.bytes$ul + $(slot)ul * (THREADS * 16ul)).at = $(k:pack(values));
  //@ end
} else {
  //@ for nth = 0, H * V - 1 do
  if ($(at(nth)) < end)
    lathe_put($name$ + from + uint64_t($(at(nth))) * $k.bytes$ul, $name$_at$nth$);
  //@ end
}
//@ end
//@ end
//@
//@ local function names_of(list, key)
//@   local names = {}
//@   for i, item in ipairs(list) do
//@     names[i] = key == "pointer" and item.pointer or item.operand.name
//@   end
//@   return names
//@ end
//@
//@ -- Declares variables name_atN for the values of operands that are not there yet.
//@ function declare(list, there, N)
//@ for _, y in ipairs(list) do
//@ local name = y.operand.name
//@ if not there[name] then
//@ there[name] = true
//@ for nth = 0, N - 1 do
precise $k.number$ $name$_at$nth$;
//@ end
//@ end
//@ end
//@ end
//@
//@ -- The inputs of a point function: of what was read, or of what a pass has left in variables.
//@ function inputs(point, nth, there)
//@ for _, x in ipairs(point.inputs) do
//@ if there[x.pointer] then
const $k.number$ $x.variable$ = $x.pointer$_at$nth$;
//@ else
const $k.number$ $x.variable$ = $(k:unpack(x.pointer .. "_pack" .. nth // V, nth % V));
//@ end
//@ end
//@ end
//@
//@ -- Gathers the terms of the points that are held.
//@ function gather(phase, point, mine, N, there, base)
//@ for nth = 0, N - 1 do
//@ for _, r in ipairs(phase.reductions) do
precise $k.number$ $r.name$_term$nth$;
//@ end
{
  //@ inputs(point, nth, there)
  $point.call$
  //@ for _, r in ipairs(phase.reductions) do
  $r.name$_term$nth$ = $(at(nth)) < end ? $r.name$_term : $(k:neutral(r.kind));
  //@ end
  //@ for _, y in ipairs(phase.stash) do
  $y.operand.name$_at$nth$ = $y.operand.name$_;
  //@ end
}
//@ end
if (start < end) {
  //@ P.take(phase, mine, N, function(nth) return base .. place(nth) end)
}
//@ end
//@
//@ -- Computes the points that are held.
//@ function compute(N, there)
//@ for nth = 0, N - 1 do
{
  //@ inputs(point, nth, there)
  $point.call$
  //@ for _, y in ipairs(outputs) do
  $y.operand.name$_at$nth$ = $y.operand.name$_;
  //@ end
}
//@ end
//@ end
//@
//@ -- Pointers to the row's data, and whether every row starts at 16 bytes.
//@ function begin()
$(k:pointers(offset))
const bool aligned = count % $V$ul == 0ul
    //@ for _, operand in ipairs(k.operands) do
    //@ if #operand.dims == #op.dims or operand.dims[#operand.dims] == last then
    && lathe_aligned(args.$operand.name$)
    //@ end
    //@ end
    ;
const uint start = aligned ? thread * $V$u : thread, step = aligned ? 1u : THREADS;
//@ end
//@
//@ -- What invocations have gathered in phase p, merged, and what follows from it.
//@ function merge(phase, p)
lathe_merge_threads(mine$p$, 0u);
//@ P.results(phase, "mine" .. p)
$(k:uniforms(p))
//@ end
//@
//@ function finish(condition)
//@ if #totals > 0 then
if ($condition$) {
  //@ for _, total in ipairs(totals) do
  $total$
  //@ end
}
//@ end
//@ end
//@
//@ function prologue()
$(k:scalars(op))
const uint64_t rows = $(k:product("args.dim", 1, #op.dims - 1)), count = args.dim[$(#op.dims - 1)];
const uint invocation = gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID, thread = invocation % THREADS;
//@ end
//@
//@ local done = {}
//@ for _, shape in ipairs(S.shapes(V)) do
//@ local H = shape.hold
//@ local N = H * V
//@ if not done[H] then
//@ done[H] = true
/* Rows of at most $N$ * THREADS elements. */
void held$H$() {
  //@ prologue()
  const uint each = gl_WorkGroupSize.x / THREADS; /* rows of a workgroup */
  const uint64_t from = 0ul;
  $(k:uniforms(0))
  for (uint64_t first = uint64_t(gl_WorkGroupID.x) * each; first < rows; first += uint64_t(gl_NumWorkGroups.x) * each) {
    const uint64_t wanted = first + invocation / THREADS;
    const uint64_t row = wanted < rows ? wanted : 0ul;
    const uint end = wanted < rows ? uint(count) : 0u;
    //@ begin()
    //@ local known, there = {}, {}
    //@ for p, phase in ipairs(phases) do
    //@ read(names_of(passes[p].inputs, "pointer"), known, H)
    //@ declare(phase.stash, there, N)
    precise $k.name$_gathered$p$ mine$p$;
    lathe_clear(mine$p$);
    {
      //@ gather(phase, passes[p], "mine" .. p, N, there, "")
    }
    //@ merge(phase, p)
    //@ end
    //@ finish("thread == 0u && end > 0u")
    //@ if point then
    //@ for _, y in ipairs(phases) do
    //@ for _, kept in ipairs(y.stash) do
    //@ known[kept.operand.name] = true
    //@ end
    //@ end
    //@ read(names_of(point.inputs, "pointer"), known, H)
    //@ local before = {}
    //@ for name in pairs(there) do
    //@   before[name] = true
    //@ end
    //@ declare(outputs, there, N)
    //@ compute(N, before)
    //@ write(names_of(outputs), H)
    //@ end
    if (THREADS > SUBGROUP && first + uint64_t(gl_NumWorkGroups.x) * each < rows)
      barrier();
  }
}

//@ end
//@ end
//@
//@ -- The loop of an invocation of a long row over what it holds at a time.
//@ local function tiles(H, first, step)
//@   return string.format("for (uint64_t tile = %s * (THREADS * %dul); tile < count; tile += %s * (THREADS * %dul)) {",
//@     first, H * V, step, H * V)
//@ end
//@ function tile(H)
const uint64_t from = tile * $k.bytes$ul;
const uint end = uint(min(count - tile, THREADS * $(H * V)ul));
//@ end
//@ -- One tile of phase p, or of the results.
//@ function pass(p, mine, H)
//@ tile(H)
//@ local known, there = {}, {}
//@ local from = p <= #phases and passes[p] or point
//@ local writes = p <= #phases and phases[p].stash or outputs
//@ read(names_of(from.inputs, "pointer"), known, H)
//@ declare(writes, there, H * V)
//@ if p <= #phases then
//@ gather(phases[p], from, mine, H * V, {}, "tile + ")
//@ else
//@ compute(H * V, {})
//@ end
//@ write(names_of(writes), H)
//@ end
//@ local H = S.LONG_HOLD
/* Rows of any length. */
void longer() {
  //@ prologue()
  $(k:uniforms(0))
  for (uint64_t row = gl_WorkGroupID.x; row < rows; row += gl_NumWorkGroups.x) {
    //@ begin()
    //@ for p, phase in ipairs(phases) do
    precise $k.name$_gathered$p$ mine$p$;
    lathe_clear(mine$p$);
    $(tiles(H, "0ul", "1ul"))
      //@ pass(p, "mine" .. p, H)
    }
    //@ merge(phase, p)
    //@ end
    //@ finish("thread == 0u")
    //@ if point then
    $(tiles(H, "0ul", "1ul"))
      //@ pass(#phases + 1, nil, H)
    }
    //@ end
    barrier();
  }
}

//@ H = S.SPLIT_HOLD
//@ for p = 1, #phases + 1 do
/* Rows split into parts: $(p <= #phases and "phase " .. p or "the results") */
void part$p$() {
  //@ prologue()
  const uint parts = gl_NumWorkGroups.x, part = gl_WorkGroupID.x;
  const uint64_t row = gl_WorkGroupID.y;
  $(k:uniforms(0))
  //@ begin()
  //@ for q = 1, p - 1 do
  precise $k.name$_gathered$q$ mine$q$;
  lathe_clear(mine$q$);
  for (uint from = thread; from < parts; from += THREADS) {
    $k.name$_gathered$q$ other;
    lathe_find(args.workspace + $(S.left_at(phases, q))ul, uint(row) * parts + from, $S.MOST_PARTS$u, other);
    lathe_merge(mine$q$, other);
  }
  //@ merge(phases[q], q)
  //@ end
  //@ if p > #phases then
  //@ finish("thread == 0u && part == 0u")
  //@ end
  //@ if p <= #phases then
  precise $k.name$_gathered$p$ mine;
  lathe_clear(mine);
  //@ end
  //@ if p <= #phases or point then
  $(tiles(H, "uint64_t(part)", "uint64_t(parts)"))
    //@ pass(p, "mine", H)
  }
  //@ end
  //@ if p <= #phases then
  lathe_merge_threads(mine, 0u);
  if (thread == 0u)
    lathe_leave(args.workspace + $(S.left_at(phases, p))ul, uint(row) * parts + part, $S.MOST_PARTS$u, mine);
  //@ end
}

//@ end
//@ P.main((S.kernels(V, phases)))
