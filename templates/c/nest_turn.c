//@ -- Squares of what lies across the vectors of a nest, which are turned over in registers.
//@ local S = use "nest_step.c"
//@ local P = use "nest_points.c"
//@ local L, own, lie, open, close, store_values = k.lanes, k.own, S.lie, P.open, P.close, P.store_values
//@ local BLOCK = 256 -- points along a vector, in whose squares all of a page is used before the next one
//@ -- What of a step's last values lies across its vectors: the axis along which it lies side by side, and the operands
//@ -- of which that is so; nil where nothing does.
//@ function across(step)
//@   if L == 1 or not step.of.along or step.of.over ~= 0 or step.of.scanned or #step.values.results == 0 then
//@     return nil
//@   end
//@   local axis, operands, most, seen = nil, {}, 0, {}
//@   for _, x in ipairs(step.values.point.inputs) do
//@     operands[#operands + 1] = x.kind == "element" and x.operand or nil
//@   end
//@   local inputs = #operands
//@   for _, value in ipairs(step.of.values) do
//@     operands[#operands + 1] = value.operand
//@   end
//@   for _, operand in ipairs(operands) do
//@     if lie(step, operand) == "apart" and #operand.dim_index > most then
//@       axis, most = operand.dim_index[#operand.dim_index], #operand.dim_index
//@     end
//@   end
//@   local found = { inputs = {}, outputs = {}, axis = axis }
//@   for i, operand in ipairs(operands) do
//@     if axis and lie(step, operand) == "apart" and operand.dim_index[#operand.dim_index] == axis
//@       and not seen[operand] then
//@       table.insert(i <= inputs and found.inputs or found.outputs, operand)
//@       seen[operand] = true
//@     end
//@   end
//@   return axis and found
//@ end
//@ -- Squares of points along `along` and another axis, of whole vectors: what is left of both goes point by point.
//@ function turn_over(step, name, found)
//@ local along, axis, turned = step.of.along, found.axis, {}
//@ local keep = {}
//@ for _, place in ipairs(step.of.keep) do
//@   keep[#keep + 1] = place ~= axis and place or nil
//@ end
static void $name$(const lathe_args *args, char *temporaries, const lathe_box *whole) {
  lathe_box rest = *whole, box = *whole;
  (void)temporaries;
  //@ S.pointers(step, "temporaries")
  //@ S.prelude(step)
  //@ for _, place in ipairs { axis, along } do
  box.to[$(place - 1)] -= (box.to[$(place - 1)] - box.from[$(place - 1)]) % $L$;
  //@ end
  rest.from[$(along - 1)] = box.to[$(along - 1)];
  $name$_each(args, temporaries, &rest);
  rest = box;
  rest.from[$(axis - 1)] = box.to[$(axis - 1)];
  rest.to[$(axis - 1)] = whole->to[$(axis - 1)];
  $name$_each(args, temporaries, &rest);
  //@ open(keep, along, true)
  for (size_t block = box.from[$(along - 1)]; block < box.to[$(along - 1)]; block += $BLOCK$)
    for (size_t from = box.from[$(axis - 1)]; from < box.to[$(axis - 1)]; from += $L$)
      for (size_t first = block; first < box.to[$(along - 1)] && first - block < $BLOCK$; first += $L$) {
        $k.number$ square[$(L * L)];
        //@ for _, list in ipairs { found.inputs, found.outputs } do
        //@ for _, operand in ipairs(list) do
        //@ turned[operand] = operand.name .. "_turned"
        $k.number$ $operand.name$_turned[$(L * L)];
        //@ end
        //@ end
        //@ for _, operand in ipairs(found.inputs) do
        for (size_t nth = 0; nth < $L$; nth++) {
          const size_t i$along$ = first + nth, i$axis$ = from;
          const $k.vector$ row = $(k:access(operand, "load", operand.name, S.at(operand.dim_index)));
          $(own:text("store_own", "square", "nth * " .. L, "row"));
        }
        lathe_turn_$k.compute$(square, $operand.name$_turned, $L$);
        //@ end
        for (size_t nth = 0; nth < $L$; nth++) {
          const size_t i$along$ = first, i$axis$ = from + nth;
          (void)i$along$, (void)i$axis$;
          //@ store_values(step, "", nil, turned)
        }
        //@ for _, operand in ipairs(found.outputs) do
        lathe_turn_$k.compute$($operand.name$_turned, square, $L$);
        for (size_t nth = 0; nth < $L$; nth++) {
          const size_t i$along$ = first + nth, i$axis$ = from;
          const $k.vector$ row = $(own:text("load_own", "square", "nth * " .. L));
          $(k:access(operand, "store", operand.name, S.at(operand.dim_index), "row"));
        }
        //@ end
      }
  //@ close(keep, along)
}

//@ end
