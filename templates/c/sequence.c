//@ if first then
/* Runs, one after the other, each of another template (gen/program/sequence.lua). Temporaries are at the same places of
 * the workspace in all of them; what a run has besides lies after these. */

//@ end
//@ -- What a run says of how threads share it: how many phases.
//@ local function phases_of(run)
//@   local programs = op.sequence.runs[run.run].programs
//@   return programs.stream and #programs.stream.passes or #(programs.steps or programs.nest).steps
//@ end
//@ for _, v in ipairs(variants) do
//@ local names, before, phases = {}, {}, 0
//@ for i, run in ipairs(part.runs) do
//@   names[i], before[i], phases = v.name .. "_run" .. i, phases, phases + phases_of(run)
//@ end
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  double most = 0;

  //@ for _, name in ipairs(names) do
  const double $name$_bytes = $name$_workspace(dim);
  most = $name$_bytes > most ? $name$_bytes : most;
  //@ end
  return most;
}

//@ if is_tried then
static size_t $v.name$_parts(const size_t *dim, int phase) {
  //@ for i = #names, 1, -1 do
  if (phase >= $(before[i]))
    return $(names[i])_parts(dim, phase - $(before[i]));
  //@ end
  return 0;
}

extern const lathe_sharing $v.name$_sharing;
const lathe_sharing $v.name$_sharing = {$phases$, $v.name$_parts, $(names[1])_common};

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
  run.phase = args->phase - $(before[i]);
  if (args->parts == 0 || (run.phase >= 0 && run.phase < $((before[i + 1] or phases) - before[i])))
    $name$(&run);
  //@ end
}

//@ end
