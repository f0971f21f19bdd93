/* r = finish(op over i of f(x0[i], ...)), op one of sum, max, min, argmax, argmin. Limited by
 * reading the inputs once: an invocation has `unroll` accesses of 16 bytes to each in flight. One launch
 * for each pass over the data: a workgroup leaves what it gathered in the workspace and takes a ticket;
 * that with the last one merges what all have left, in an order that depends on nothing but the grid,
 * so that results are the same from run to run. No workgroup waits for another, which Vulkan does not
 * promise to run.
 *
 * The workspace: 256 bytes for each phase, its ticket and then its merged results, and what the
 * workgroups leave. */

//@ use "kernel.comp"
//@ local P = use "parts.comp"
//@ local phases, V, passes, totals = k.program.phases, k.width, k.passes, k.totals
//@ for _, point in ipairs(k.points) do
//@ P.define(point)
//@ end
//@ for p, phase in ipairs(phases) do
//@ P.define_gatherer(k.name .. "_gathered" .. p, phase, 2)
//@ end
//@
//@ -- Gathers the term of one point, at index i.
//@ function one(phase, point)
//@ P.call(point, function(x) return ("%s(%s + i * %dul)"):format(k:get(x.operand), x.pointer,
//@   k:bytes_of(x.operand)) end)
//@ for _, r in ipairs(phase.reductions) do
const $k.number$ $r.name$_term0 = $r.name$_term;
//@ end
//@ P.take(phase, "mine", 1, function() return "i" end)
//@ end
//@
//@ -- Gathers N terms, element(x, nth) being the nth of input x, and inside(nth) whether it is there; at
//@ -- least the first is.
//@ function many(phase, point, N, element, inside, at)
//@ for nth = 0, N - 1 do
//@ for _, r in ipairs(phase.reductions) do
$k.precise$$k.number$ $r.name$_term$nth$;
//@ end
{
  //@ P.call(point, function(x) return element(x, nth) end)
  //@ for _, r in ipairs(phase.reductions) do
  $r.name$_term$nth$ = $r.name$_term;
  //@ end
}
//@ end
if (!whole) {
  //@ for nth = 0, N - 1 do
  //@ for _, r in ipairs(phase.reductions) do
  $r.name$_term$nth$ = $(inside(nth)) ? $r.name$_term$nth$ : $(k:neutral(r.kind));
  //@ end
  //@ end
}
//@ P.take(phase, "mine", N, at)
//@ end
//@
shared uint lathe_last; /* whether this workgroup has the last ticket */

//@ local kernels = 0
//@ for _, v in ipairs(variants) do
//@ for p, phase in ipairs(phases) do
//@ local B, U = v.shape.block, v.shape.unroll
//@ local N = U * V
//@ local point, gathered = passes[p], k.name .. "_gathered" .. p
/* $v.params_text$: phase $p$ */
//@ P.begin_kernel(kernels)
  $(k:pointers())
  $(k:scalars(op))
  const uint64_t count = $(k:product("args.dim", 1, #op.dims));
  const uint64_t left = args.workspace + $(schedule.slots_at[p])ul, ticket = args.workspace + $(schedule.result_at[p])ul;
  $(k:row_values())
  $(k:uniforms("call"))
  $(k:uniforms("row"))
  //@ for q = 1, p - 1 do
  $k.name$_gathered$q$ earlier$q$;
  lathe_find(args.workspace + $(schedule.result_at[q] + 16)ul, 0u, 1u, earlier$q$);
  //@ P.results(phases[q], "earlier" .. q)
  $(k:uniforms(q))
  //@ end
  const uint thread = gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID;
  const uint group = gl_WorkGroupID.x, groups = gl_NumWorkGroups.x;
  $k.precise$$gathered$ mine;

  lathe_clear(mine);
  if (MODE != LATHE_APART) {
    const uint64_t packs = count / $V$ul, tail = count % $V$ul;
    for (uint64_t tile = group * $(B * U)ul; tile < packs; tile += groups * $(B * U)ul) {
      const uint64_t at = (tile + thread) * $V$ul;
      const uint there = uint(min(packs - tile, $(B * U)ul));
      const bool whole = there == $(B * U)u;
      if (thread < there) {
        //@ for _, x in ipairs(point.inputs) do
        //@ for slot = 0, U - 1 do
        uvec4 $x.pointer$_pack$slot$ = uvec4(0u);
        //@ end
        //@ end
        if (whole) {
          //@ for _, x in ipairs(point.inputs) do
          //@ for slot = 0, U - 1 do
          $x.pointer$_pack$slot$ = $(k:load_pack(x.operand, ("%s + at * %dul + %dul"):format(x.pointer, k:bytes_of(x.operand), slot * B * k:access_bytes(x.operand))));
          //@ end
          //@ end
        } else {
          //@ for _, x in ipairs(point.inputs) do
          //@ for slot = 0, U - 1 do
          if (thread + $(slot * B)u < there)
            $x.pointer$_pack$slot$ = $(k:load_pack(x.operand, ("%s + at * %dul + %dul"):format(x.pointer, k:bytes_of(x.operand), slot * B * k:access_bytes(x.operand))));
          //@ end
          //@ end
        }
        //@ local function element(x, nth) return k:unpack(x.pointer .. "_pack" .. nth // V, nth % V, x.operand) end
        //@ local function inside(nth) return "thread + " .. nth // V * B .. "u < there" end
        //@ local function place(nth)
        //@   return string.format("at + uint64_t(%s / %du * %du + %s %% %du)", nth, V, V * B, nth, V)
        //@ end
        //@ many(phase, point, N, element, inside, place)
      }
    }
    if (group == groups - 1 && thread < tail) {
      const uint64_t i = count - tail + thread;
      //@ one(phase, point)
    }
  } else {
    for (uint64_t tile = group * $(B * N)ul; tile < count; tile += groups * $(B * N)ul) {
      const uint64_t at = tile + thread;
      const uint there = uint(min(count - tile, $(B * N)ul));
      const bool whole = there == $(B * N)u;
      if (thread < there) {
        //@ for _, x in ipairs(point.inputs) do
        //@ for nth = 0, N - 1 do
        $k.number$ $x.pointer$_at$nth$ = 0;
        if (whole || thread + $(nth * B)u < there)
          $x.pointer$_at$nth$ = $(k:get(x.operand))($x.pointer$ + (at + $(nth * B)u) * $(k:bytes_of(x.operand))ul);
        //@ end
        //@ end
        //@ local function element(x, nth) return x.pointer .. "_at" .. nth end
        //@ local function inside(nth) return "thread + " .. nth * B .. "u < there" end
        //@ local function place(nth) return string.format("at + uint64_t(%s * %du)", nth, B) end
        //@ many(phase, point, N, element, inside, place)
      }
    }
  }

  lathe_merge_threads(mine, 0u, false);
  if (groups > 1u) {
    if (thread == 0u) {
      lathe_leave(left, group, $schedule.most_blocks$u, mine);
      memoryBarrierBuffer();
      lathe_last = atomicAdd(lathe_word(ticket).at, 1u) == groups - 1u ? 1u : 0u;
    }
    barrier();
    if (lathe_last == 0u)
      return;
    memoryBarrierBuffer();
    lathe_clear(mine);
    for (uint from = thread; from < groups; from += $B$u) {
      $gathered$ other;
      lathe_find(left, from, $schedule.most_blocks$u, other);
      lathe_merge(mine, other);
    }
    lathe_merge_threads(mine, 1u, false);
  }
  if (thread == 0u) {
    lathe_word(ticket).at = 0u;
    //@ if p < #phases then
    lathe_leave(ticket + 16ul, 0u, 1u, mine);
    //@ else
    //@ P.results(phase, "mine")
    $(k:uniforms(p))
    //@ for _, total in ipairs(totals) do
    $total$
    //@ end
    //@ end
  }
//@ P.end_kernel()
//@ kernels = kernels + 1

//@ end
//@ end
//@ P.main(kernels)
