//@ -- How references gather: sums carry their rounding errors along (Neumaier 1974).
//@ -- The variables in which a reduction is gathered: their names, and what they are of nothing.
//@ function variables_of(r)
//@   if k:is_index(r.kind) then
//@     return { { r.name .. "_best", "0" }, { r.name .. "_at", "-1", type = "int64_t" } }
//@   elseif r.kind == "sum" then
//@     return { { r.name .. "_sum", "0" }, { r.name .. "_error", "0" } }
//@   end
//@   return { { r.name .. "_best", k:neutral(r.kind) } }
//@ end
//@ function begin(reductions)
//@ for _, r in ipairs(reductions) do
//@ for _, variable in ipairs(variables_of(r)) do
$(variable.type or k.number) $(variable[1]) = $(variable[2]);
//@ end
//@ end
//@ end
//@ -- One more term of a reduction, or what a block of them came to.
//@ function take(r, term, place)
//@ local better = k:better(r.kind) == "gt" and ">" or "<"
//@ if k:is_index(r.kind) then
if ($r.name$_at < 0 || $term$ $better$ $r.name$_best || (isnan($term$) && !isnan($r.name$_best))) {
  $r.name$_best = $term$;
  $r.name$_at = $place$;
}
//@ elseif r.kind == "sum" then
const $k.number$ $r.name$_new = $r.name$_sum + $term$;
$r.name$_error += !isfinite($r.name$_new) ? 0
    : $(k:text("abs", r.name .. "_sum")) >= $(k:text("abs", term))
        ? ($r.name$_sum - $r.name$_new) + $term$
        : ($term$ - $r.name$_new) + $r.name$_sum;
$r.name$_sum = $r.name$_new;
//@ else
$r.name$_best = $term$ $better$ $r.name$_best || isnan($term$) ? $term$ : $r.name$_best;
//@ end
//@ end
//@ -- What reductions came to.
//@ function finish(reductions)
//@ for _, r in ipairs(reductions) do
//@ if k:is_index(r.kind) then
const int64_t $r.name$ = $r.name$_at;
//@ elseif r.kind == "sum" then
const $k.number$ $r.name$ = $r.name$_sum + $r.name$_error;
//@ else
const $k.number$ $r.name$ = $r.name$_best;
//@ end
//@ end
//@ end
