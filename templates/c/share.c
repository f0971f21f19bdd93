//@ local S = use "contract_step.c"
//@ local count, unused = #mask.places, ""
//@ for _, list in ipairs { mask.points, mask.scalars } do
//@   for _, of in ipairs(list) do
//@     unused = unused .. ", (void)" .. of.name
//@   end
//@ end
//@ -- The 65,536 points that are asked at most have as many places along each axis.
//@ local most = math.tointeger(2 ^ (16 // count))
/* Of all points the share that masks by places leave, asked at places evenly along each axis. */
double $op.name$_share(const size_t *dim) {
  const lathe_args sizes = {.dim = {$(S.dims())}}, *args = &sizes;
  double asked = 0, left = 0;
  //@ for _, of in ipairs(mask.points) do
  const double $of.name$ = (double)($(S.size(of.places)));
  //@ end
  //@ for _, of in ipairs(mask.scalars) do
  const double $of.name$ = $(k:literal(op.scalars[of.place].value));
  //@ end
  (void)args$(unused);
  //@ for i, of in ipairs(mask.places) do
  const size_t all$i$ = args->dim[$(of.place - 1)], some$i$ = all$i$ < $most$ ? all$i$ : $most$;
  for (size_t i$i$ = 0; i$i$ < some$i$; i$i$++) {
    const double $of.name$lo = floor(((double)i$i$ + 0.5) / (double)some$i$ * (double)all$i$), $of.name$hi = $of.name$lo;
    (void)$of.name$hi;
    //@ end
    asked++;
    left += $mask.rules_out$ ? 0 : 1;
    //@ for _ = 1, count do
  }
  //@ end
  return asked > 0 ? left / asked : 1;
}
