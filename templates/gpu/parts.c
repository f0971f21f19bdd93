//@ -- What all templates share on any GPU.
//@
//@ -- Calls a point function; value(x) is the text of each input.
//@ function call(point, value)
//@ for _, x in ipairs(point.inputs) do
const $(x.node.type == "m" and "bool" or k.number) $x.variable$ = $(value(x));
//@ end
$point.call$
//@ end
