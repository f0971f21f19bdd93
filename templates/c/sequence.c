//@ if first then
/* Runs, one after the other, each of another template (gen/program/sequence.lua). Temporaries are at the same places of
 * the workspace in all of them; what a run has besides lies after these. */

//@ end
//@ for _, v in ipairs(variants) do
//@ -- The runs' names, the phases of each, and those of all runs before it.
//@ local names, phases, before = {}, {}, {}
//@ for i in ipairs(part.runs) do
//@   names[i] = v.name .. "_run" .. i
//@   before[i] = i > 1 and table.concat(phases, " + ") or "0"
//@   phases[i] = names[i] .. "_phases"
//@ end
/* Bytes that all parts have in common, of the run that has most. */
static double $v.name$_common(const size_t *dim) {
  double most = 0;

  //@ for _, name in ipairs(names) do
  most = $name$_common(dim) > most ? $name$_common(dim) : most;
  //@ end
  return most;
}

extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  double most = 0;

  //@ for _, name in ipairs(names) do
  const double $name$_room = $name$_workspace(dim) - $name$_common(dim);
  most = $name$_room > most ? $name$_room : most;
  //@ end
  return $v.name$_common(dim) + most;
}

//@ if is_tried then
static size_t $v.name$_parts(const size_t *dim, int phase) {
  //@ for i = #names, 1, -1 do
  if (phase >= $(before[i]))
    return $(names[i])_parts(dim, phase - ($(before[i])));
  //@ end
  return 0;
}

extern const lathe_sharing $v.name$_sharing;
const lathe_sharing $v.name$_sharing = {$(table.concat(phases, " + ")), $v.name$_parts, $v.name$_common};

extern const lathe_way $v.name$_ways[];
const lathe_way $v.name$_ways[] = {
  //@ for i, run in ipairs(part.runs) do
  //@ if run.template ~= "nest" then
  {.more = $(names[i])_ways},
  //@ end
  //@ end
  {0},
};

//@ end
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  lathe_args run = *args;

  //@ for i, name in ipairs(names) do
  run.phase = args->phase - ($(before[i]));
  if (args->parts == 0 || (run.phase >= 0 && run.phase < $(phases[i])))
    $name$(&run);
  //@ end
}

//@ end
