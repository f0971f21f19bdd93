/* A program over each row: passes of reductions over the row, then its values. Limited by bytes
 * moved where a row fits the registers of a block: it is read once, all accesses in flight, and
 * written once; the passes work on registers. T threads share a row and hold H accesses of 16 bytes
 * of each operand; short rows have T below a warp's 32, and several go to a block. Rows too long
 * for that are read again in each pass, by a block of 1024 threads; what is dear to compute twice
 * is then kept in the output between passes. Where there are fewer of these than multiprocessors,
 * each is split into parts, a launch for each pass: a few microseconds that many blocks soon repay.
 *
 * Where rows do not all start at a multiple of 16 bytes, accesses are of one element each. */
//@ local P = use "parts.cu"
//@ local S = use "shapes.c"
//@ local phases, outputs, V = k.program.phases, k.program.points, k.width
//@ local passes = k:passes(P.define)
//@ local point = #outputs > 0 and k:point("point", k:results(outputs))
//@ if point then
//@ P.define(point)
//@ end
//@ for p, phase in ipairs(phases) do
//@ P.define_gatherer(phase, p)
//@ end
//@ local totals = k:totals()
//@ local last = op.dims[#op.dims]
//@ local function offset(operand)
//@   local along = operand.dims[#operand.dims] == last
//@   return #operand.dims == #op.dims and "row * count" or not along and "row" or nil
//@ end
//@
//@ -- Reads the operands with these names that are not in known; once: no more than once.
//@ function read(names, known, once)
//@ for _, name in ipairs(names) do
//@ if not known[name] then
//@ known[name] = true
$k.number$ $name$_at[N] = {};
if (aligned) {
#pragma unroll
  for (int slot = 0; slot < H; slot++)
    if (at(slot * $V$) < end) {
      const lathe_pack<$k.storage$, $V$> pack = lathe_load$(once and "_once" or "")<$V$>($name$ + at(slot * $V$));
#pragma unroll
      for (int lane = 0; lane < $V$; lane++)
        $name$_at[slot * $V$ + lane] = pack.at[lane];
    }
} else {
#pragma unroll
  for (int nth = 0; nth < N; nth++)
    if (at(nth) < end)
      $name$_at[nth] = $name$[at(nth)];
}
//@ end
//@ end
//@ end
//@
//@ -- Writes the operands with these names; once: not to be read again soon.
//@ function write(names, once)
//@ for _, name in ipairs(names) do
if (aligned) {
#pragma unroll
  for (int slot = 0; slot < H; slot++)
    if (at(slot * $V$) < end) {
      lathe_pack<$k.storage$, $V$> pack;
#pragma unroll
      for (int lane = 0; lane < $V$; lane++)
        pack.at[lane] = $name$_at[slot * $V$ + lane];
      lathe_store$(once and "_once" or "")($name$ + at(slot * $V$), pack);
    }
} else {
#pragma unroll
  for (int nth = 0; nth < N; nth++)
    if (at(nth) < end)
      $name$[at(nth)] = $name$_at[nth];
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
//@ -- Gathers the terms of N points in registers.
//@ function gather(phase, point)
//@ for _, r in ipairs(phase.reductions) do
$k.number$ $r.name$_terms[N];
//@ end
#pragma unroll
for (int nth = 0; nth < N; nth++) {
  //@ P.call(point)
  //@ for _, r in ipairs(phase.reductions) do
  $r.name$_terms[nth] = at(nth) < end ? $r.name$_term : mine.$r.name$.nothing();
  //@ end
  //@ for _, y in ipairs(phase.stash) do
  $y.operand.name$_at[nth] = $y.operand.name$_;
  //@ end
}
if (at(0) < end) {
  //@ for _, r in ipairs(phase.reductions) do
  mine.$r.name$.take($r.name$_terms, at);
  //@ end
}
//@ end
//@
//@ -- Computes N points in registers.
//@ function compute()
#pragma unroll
for (int nth = 0; nth < N; nth++) {
  //@ P.call(point)
  //@ for _, y in ipairs(outputs) do
  $y.operand.name$_at[nth] = $y.operand.name$_;
  //@ end
}
//@ end
//@
//@ -- Pointers to the row's data, and whether every row starts at 16 bytes.
//@ function begin()
$(k:pointers(offset))
$(k:row_values())
$(k:uniforms("row"))
const unsigned thread = threadIdx.x % T;
const bool aligned =
    count % $V$ == 0
    //@ for i, operand in ipairs(k.operands) do
    //@ if #operand.dims == #op.dims or operand.dims[#operand.dims] == last then
    && (size_t)args.buf[$(i - 1)] % 16 == 0
    //@ end
    //@ end
    ;
const unsigned start = aligned ? thread * $V$ : thread, step = aligned ? 1 : T;
//@ end
//@
//@ -- What threads have gathered in phase p, merged, and what follows from it.
//@ function merge(phase, p)
lathe_merge_threads<T>(mine$p$, shared$p$);
//@ P.results(phase, "mine" .. p)
$(k:uniforms(p))
//@ end
//@
//@ function shared()
//@ for p = 1, #phases do
__shared__ $k.name$_gathered$p$ shared$p$[T > 32 ? T / 32 : 1];
//@ end
//@ end
//@
//@ function finish()
//@ if #totals > 0 then
if (thread == 0 && end > 0) {
  //@ for _, total in ipairs(totals) do
  $total$
  //@ end
}
//@ end
//@ end
/* Rows of at most N * T elements, R of them to a block. */
template <int T, int H, int R>
static __device__ __forceinline__ void $k.name$_held(const lathe_args &args) {
  enum { N = H * $V$ };
  $(k:scalars(op))
  const size_t rows = $(k:product("args.dim", 1, #op.dims - 1));
  const size_t count = args.dim[$(#op.dims - 1)];
  //@ shared()
  $(k:uniforms("call"))
  for (size_t first = (size_t)blockIdx.x * R; first < rows; first += (size_t)gridDim.x * R) {
    const size_t wanted = first + (R > 1 ? threadIdx.x / T : 0);
    const size_t row = wanted < rows ? wanted : 0;
    const unsigned end = wanted < rows ? (unsigned)count : 0;
    //@ begin()
    const auto at = [=](int nth) { return start + nth / $V$ * (T * $V$) + nth % $V$ * step; };
    //@ local known = {}
    //@ for p, phase in ipairs(phases) do
    //@ read(names_of(passes[p].inputs, "pointer"), known, true)
    //@ P.arrays(names_of(phase.stash), "N", known)
    $k.name$_gathered$p$ mine$p$;
    {
      auto &mine = mine$p$;
      mine.clear();
      //@ gather(phase, passes[p])
    }
    //@ merge(phase, p)
    //@ end
    //@ finish()
    //@ if point then
    //@ read(names_of(point.inputs, "pointer"), known, true)
    //@ P.arrays(names_of(outputs), "N", known)
    //@ compute()
    //@ write(names_of(outputs), true)
    //@ end
    if (T > 32 && first + (size_t)gridDim.x * R < rows)
      __syncthreads();
  }
}

/* Rows of any length. */
template <int T, int H>
static __device__ __forceinline__ void $k.name$_long(const lathe_args &args) {
  enum { N = H * $V$ };
  $(k:scalars(op))
  const size_t rows = $(k:product("args.dim", 1, #op.dims - 1));
  const size_t count = args.dim[$(#op.dims - 1)], end = count;
  //@ shared()
  $(k:uniforms("call"))
  for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    //@ begin()
    //@ for p, phase in ipairs(phases) do
    $k.name$_gathered$p$ mine$p$;
    mine$p$.clear();
    for (size_t from = start; from < count + start; from += T * N) {
      auto &mine = mine$p$;
      const auto at = [=](int nth) { return from + nth / $V$ * (T * $V$) + nth % $V$ * step; };
      //@ local known = {}
      //@ read(names_of(passes[p].inputs, "pointer"), known)
      //@ P.arrays(names_of(phase.stash), "N", known)
      //@ gather(phase, passes[p])
      //@ write(names_of(phase.stash))
    }
    //@ merge(phase, p)
    //@ end
    //@ finish()
    //@ if point then
    for (size_t from = start; from < count + start; from += T * N) {
      const auto at = [=](int nth) { return from + nth / $V$ * (T * $V$) + nth % $V$ * step; };
      //@ local known = {}
      //@ read(names_of(point.inputs, "pointer"), known)
      //@ P.arrays(names_of(outputs), "N", known)
      //@ compute()
      //@ write(names_of(outputs), true)
    }
    //@ end
    __syncthreads();
  }
}

//@ -- Where in the workspace the parts of rows leave what they gathered in phase p.
//@ local function left(p)
//@   return string.format("((%s_gathered%d *)((char *)args.workspace + %d))", k.name, p, S.left_at(phases, p))
//@ end
//@ for p = 1, #phases + 1 do
/* Rows split into parts: $(p <= #phases and "phase " .. p or "the results") */
template <int T, int H>
static __device__ __forceinline__ void $k.name$_split$p$(const lathe_args &args) {
  enum { N = H * $V$ };
  $(k:scalars(op))
  const size_t count = args.dim[$(#op.dims - 1)], end = count;
  const size_t row = blockIdx.y, first = row * gridDim.x;
  //@ shared()
  $(k:uniforms("call"))
  //@ begin()
  //@ for q = 1, p - 1 do
  $k.name$_gathered$q$ mine$q$;
  mine$q$.clear();
  for (unsigned from = thread; from < gridDim.x; from += T)
    mine$q$.merge($(left(q))[first + from]);
  //@ merge(phases[q], q)
  //@ end
  //@ if p > #phases then
  if (blockIdx.x == 0) {
    //@ finish()
  }
  //@ end
  //@ if p <= #phases then
  $k.name$_gathered$p$ mine;
  mine.clear();
  //@ end
  //@ if p <= #phases or point then
  for (size_t from = start + (size_t)blockIdx.x * (T * N); from < count + start;
       from += (size_t)gridDim.x * (T * N)) {
    const auto at = [=](int nth) { return from + nth / $V$ * (T * $V$) + nth % $V$ * step; };
    //@ local known = {}
    //@ if p <= #phases then
    //@ read(names_of(passes[p].inputs, "pointer"), known)
    //@ P.arrays(names_of(phases[p].stash), "N", known)
    //@ gather(phases[p], passes[p])
    //@ write(names_of(phases[p].stash))
    //@ else
    //@ read(names_of(point.inputs, "pointer"), known)
    //@ P.arrays(names_of(outputs), "N", known)
    //@ compute()
    //@ write(names_of(outputs), true)
    //@ end
  }
  //@ end
  //@ if p <= #phases then
  lathe_merge_threads<T>(mine, shared$p$);
  if (thread == 0)
    $(left(p))[first + blockIdx.x] = mine;
  //@ end
}

//@ end
//@ for _, v in ipairs(variants) do
//@ for _, s in ipairs(S.shapes(k.width)) do
//@ local T, H, R = s.threads, s.hold, s.rows
/* $v.params_text$: rows up to $(T * H * V) */
extern "C" __global__ void __launch_bounds__($(T * R), $s.blocks$)
    $v.name$_$T$x$H$(const __grid_constant__ lathe_args args) {
  $k.name$_held<$T$, $H$, $R$>(args);
}

//@ end
/* $v.params_text$: longer rows */
extern "C" __global__ void __launch_bounds__(1024)
    $v.name$_long(const __grid_constant__ lathe_args args) {
  $k.name$_long<1024, 4>(args);
}

//@ for p = 1, #phases + 1 do
extern "C" __global__ void __launch_bounds__($S.SPLIT_THREADS$)
    $v.name$_split$p$(const __grid_constant__ lathe_args args) {
  $k.name$_split$p$<$S.SPLIT_THREADS$, $S.SPLIT_HOLD$>(args);
}

//@ end

//@ end
