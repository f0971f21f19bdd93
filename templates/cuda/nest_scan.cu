//@ -- What a step of scans has: what a thread reads and stores of some places, and how it goes along (nest_scan.h).

//@ local P = use "parts.cu"
//@ local S = use "../c/nest_step.c"
//@ local N = use "nest_points.cu"
//@ local own, at, at_first, lie, input, type_of = N.own, N.at, N.at_first, N.lie, N.input, N.type_of
//@ local of_vector, read_vector, take, begin = N.of_vector, N.read_vector, N.take, N.begin
//@ -- The type that gathers what a scan comes to.
//@ function scanned_type(r)
//@   local linear = S.next_scanned(r, "") and (r.kind == "product" and "lathe_product<%s>" or "lathe_linear<%s>")
//@   return linear and linear:format(k.number) or k:gatherer(r.kind == "sum" and "carried" or r.kind)
//@ end
//@ -- A step's own of what scans have come to: takes what places add, and stores what follows there.
//@ function scan(step)
//@ local place, reverse = step.of.scanned, step.of.reverse
//@ local together = step.of.along == place
//@ local turned = together and reverse -- a vector that is not full has its elements at its end
//@ local list = {}
//@ for _, part in ipairs { step.terms, step.values } do
//@ for _, x in ipairs(part.point and part.point.inputs or {}) do
//@ if x.kind == "element" and not list[x.operand] then
//@ list[#list + 1], list[x.operand] = x.operand, true
//@ end
//@ end
//@ end
//@ -- The first of a vector, of places or of points, and how many there are.
//@ local function locate()
    //@ begin(step)
    //@ if together then
    const int there = dim[$(place - 1)] - nth < (I)V ? (int)(dim[$(place - 1)] - nth) : V;
    const I first = $(reverse and ("dim[%d] - nth - (I)there"):format(place - 1) or "nth");
    //@ elseif step.of.along then
    const I first = i$step.of.along$;
    const int there = dim[$(step.of.along - 1)] - first < (I)V ? (int)(dim[$(step.of.along - 1)] - first) : V;
    //@ else
    constexpr int there = 1;
    //@ end
    (void)there$(step.of.along and ", (void)first" or "");
//@ end
//@ -- Does something at each element of what was read: at a place of a point, or at a point of those of a place.
//@ local function at_each(body)
    //@ locate()
#pragma unroll
    for (int of = 0; of < $(step.of.along and "V" or "1"); of++) {
      if (!WHOLE && of >= there)
        continue;
      const int e = $(turned and "V - 1 - of" or "of");
      //@ if together then
      const I at = nth + (I)of, i$place$ = $((own(S.scanned_index(step)):gsub("nth", "at")));
      //@ else
      const I i$place$ = $(own(S.scanned_index(step)));
      //@ if step.of.along then
      const I i$step.of.along$ = first + (I)of;
      (void)i$step.of.along$;
      //@ end
      //@ end
      (void)e, (void)i$place$;
      //@ body()
    }
//@ end
//@ -- What a part's point function makes of what was read.
//@ local function call(part)
      //@ for _, x in ipairs(part.point.inputs) do
      //@ if x.kind == "element" then
      const $(of_vector(step, x.operand)) &$x.operand.name$_read = read.$x.operand.name$_read;
      //@ end
      //@ end
      //@ P.call(part.point, input(step))
//@ end
//@ local mine, exclusive, linear = (together or not step.of.along) and "[0]" or "[of]", false, false
//@ for _, r in ipairs(step.of.scans) do
//@ exclusive, linear = exclusive or r.exclusive, linear or S.next_scanned(r, "") ~= nil
//@ end
//@ -- What a scan takes at a place, as the type that gathers it or the one that goes on has it.
//@ local function take_place(r, to)
//@ if S.next_scanned(r, "") or r.kind == "sum" then
    $to$.$r.name$.take($(r.kind == "recurrence" and r.name .. "_factor, " or "")$r.name$_term);
//@ else
//@ take({ kind = r.kind, name = r.name, places = step.places }, to)
//@ end
//@ end
  static constexpr int VECTOR = $(together and "V" or "1");
  static constexpr bool SURE = $(tostring(not linear));
  /* What a thread reads at VECTOR places from the nth on, and what it stores there. */
  struct places_read {
    //@ for _, operand in ipairs(list) do
    $(of_vector(step, operand)) $operand.name$_read;
    //@ end
  };
  struct places_made {
    //@ for _, value in ipairs(step.of.values) do
    $(of_vector(step, value.operand)) $value.operand.name$_made;
    //@ end
  };
  union widest {
    //@ for _, value in ipairs(step.of.values) do
    lathe_pack<$(type_of(value.operand)), V> $value.operand.name$_made;
    //@ end
  };
  /* What a thread gathers of a part of a point. */
  struct taken {
    //@ for _, r in ipairs(step.of.scans) do
    lathe_part<$(scanned_type(r))> $r.name$;
    //@ end

    __device__ __forceinline__ void clear() {
      //@ for _, r in ipairs(step.of.scans) do
      $r.name$.clear();
      //@ end
    }
    __device__ __forceinline__ void finish(gathered &to) const {
      //@ for _, r in ipairs(step.of.scans) do
      $r.name$.finish(to.$r.name$);
      //@ end
    }
  };
  /* What a point has come to on the way. */
  struct going {
    //@ for _, r in ipairs(step.of.scans) do
    lathe_going<$(scanned_type(r))> $r.name$;
    //@ end

    __device__ __forceinline__ void begin(const gathered &from) {
      //@ for _, r in ipairs(step.of.scans) do
      $r.name$.begin(from.$r.name$);
      //@ end
    }
    __device__ __forceinline__ void leave(gathered &to) const {
      //@ for _, r in ipairs(step.of.scans) do
      $r.name$.leave(to.$r.name$);
      //@ end
    }
  };
  __device__ __forceinline__ I places() const {
    return dim[$(place - 1)];
  }
  template <bool WHOLE> __device__ __forceinline__ void read_places(places_read &read, I nth) const {
    (void)read;
    //@ locate()
    const I i$place$ = $(together and "first" or own(S.scanned_index(step)));
    (void)i$place$;
    //@ for _, operand in ipairs(list) do
    //@ read_vector(step, operand, "read." .. operand.name .. "_read")
    //@ if turned and lie(step, operand) ~= "none" then
    if constexpr (!WHOLE)
      lathe_shift<false>(read.$operand.name$_read, V - there);
    //@ end
    //@ end
  }
  template <bool WHOLE> __device__ __forceinline__ void gather(taken (&mine)[MINE], const places_read &read, I nth) const {
    (void)read;
    //@ at_each(function()
      taken &all = mine$mine$;
      //@ call(step.terms)
      //@ for _, r in ipairs(step.of.scans) do
      //@ take_place(r, "all")
      //@ end
    //@ end)
  }
  template <bool WHOLE> __device__ __forceinline__ void go(going (&now)[MINE], places_made &made, const places_read &read, I nth) const {
    (void)made, (void)read;
    //@ at_each(function()
      going &all = now$mine$;
      //@ if exclusive then
      const going before = all;
      //@ end
      {
        //@ call(step.terms)
        //@ for _, r in ipairs(step.of.scans) do
        //@ take_place(r, "all")
        //@ end
      }
      //@ for _, r in ipairs(step.of.scans) do
      const $k.number$ $r.name$_now = $(r.exclusive and "before" or "all").$r.name$.result();
      (void)$r.name$_now;
      //@ end
      //@ if #step.values.results > 0 then
      //@ call(step.values)
      //@ end
      //@ for _, value in ipairs(step.of.values) do
      made.$value.operand.name$_made$(lie(step, value.operand) == "none" and "" or ".at[e]") = $value.operand.name$_;
      //@ end
    //@ end)
  }
  template <bool WHOLE> __device__ __forceinline__ void store_places(places_made made, I nth, bool is_there, char *room) const {
    (void)room;
    //@ locate()
    const I i$place$ = $(together and "first" or own(S.scanned_index(step)));
    (void)i$place$;
    //@ for _, value in ipairs(step.of.values) do
    //@ local how, apart = lie(step, value.operand)
    //@ local first, its = value.operand.name .. " + " .. at_first(step, value.operand), "made." .. value.operand.name .. "_made"
    //@ if how == "none" then
    if (is_there)
      $value.operand.name$[$(at(step, value.operand))] = $its$;
    //@ else
    //@ if turned then
    if constexpr (!WHOLE)
      lathe_shift<true>($its$, V - there);
    //@ end
    //@ if how == "apart" then
    if (is_there)
      lathe_store_some($first$, $its$, $apart$, there, false);
    //@ else
    if constexpr (!WHOLE && V > 1)
      lathe_store_by_warp($first$, $its$, is_there ? there : 0, room);
    else if (is_there)
      lathe_store_some($first$, $its$, 1, there, WHOLE);
    //@ end
    //@ end
    //@ end
  }
//@ end
