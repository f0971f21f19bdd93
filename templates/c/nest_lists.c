//@ -- Lists of the terms that count for each point, where an index names the point that has a term.
//@ local S = use "nest_step.c"
//@ local P = use "nest_points.c"
//@ local element, open, close = P.element, P.open, P.close
//@ -- The loops over a step's terms, or over those alone that count for some points, `width` from `first` on along
//@ -- their axis.
//@ function open_terms(step, first, width)
//@ local listed = step.of.listed
//@ if not listed then
//@ return P.open_loops(step, nil, first or "0", first and ("%s + %s - 1"):format(first, width) or "0")
//@ end
//@ local target = listed.target
//@ if target ~= step.of.along then
//@ first, width = "i" .. target, "1"
//@ end
{
  const $(S.type_of_temporary(listed.ends)) *const ends = $listed.ends.name$ + $(S.at(listed.ends.dim_index, nil, nil, { [target] = "0" }));
  const size_t end = ends[$first$ + $width$ - 1];
  for (size_t nth = $first$ > 0 ? ends[$first$ - 1] : 0; nth < end; nth++) {
    //@ local instead = S.first_of(listed, "0")
    //@ instead[listed.loops[#listed.loops]] = "nth"
    const size_t listed = $listed.places.name$[$(S.at(listed.places.dim_index, nil, nil, instead))];
    //@ S.decode_listed(listed, "listed", function(place, text)
    const size_t i$place$ = $text$;
    //@ end)
    //@ open(S.loops_besides(step))
//@ end
//@ function close_terms(step)
//@ if not step.of.listed then
//@ return close(step.of.loops)
//@ end
    //@ close(S.loops_besides(step))
  }
}
//@ end
//@ -- Lists by each target the places among some loops where an index is that: counts them, says where those of each
//@ -- begin, and puts them there, after which that is where they end.
//@ function list_places(step)
//@ local target, type = step.of.target, S.type_of_temporary(step.of.ends)
//@ local words = S.words(function(place) return "(int64_t)i" .. place end, function(name)
//@   return element(step.values, step, S.operand_of(name))
//@ end)
//@ local around, instead = S.around(step.of), S.first_of(step.of, "0")
//@ instead[target] = "0"
//@ open(around, nil, true)
$type$ *const ends = $step.of.ends.name$ + $(S.at(step.of.ends.dim_index, nil, nil, instead));
$type$ *const places = $step.of.places.name$ + $(S.at(step.of.places.dim_index, nil, nil, instead));
for (size_t i$target$ = 0; i$target$ < args->dim[$(target - 1)]; i$target$++)
  ends[i$target$] = 0;
//@ local function each(body)
//@ open(step.of.loops)
const size_t index = (size_t)$(k.place(step.of.index, words));
if (index < args->dim[$(target - 1)]) {
  //@ body()
}
//@ close(step.of.loops)
//@ end
//@ each(function()
ends[index]++;
//@ end)
$type$ before = 0;
for (size_t i$target$ = 0; i$target$ < args->dim[$(target - 1)]; i$target$++) {
  const $type$ some = ends[i$target$];
  ends[i$target$] = before;
  before += some;
}
//@ each(function()
places[ends[index]++] = ($type$)($(S.at(step.of.loops)));
//@ end)
//@ close(around)
//@ end
