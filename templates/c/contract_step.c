//@ -- What the parts of the contract template share: where the operands of a step are, and loads and stores of theirs.
//@ --
//@ -- A step's innermost runs m, n and k make a matrix product, which loops over its other runs repeat. `here` is the
//@ -- place of each operand in those loops, and what its index along m, n and k counts by.

//@ local E = use "elsewhere.c"
//@ size = E.size
//@ local letters = { "m", "n", "k" }
//@ -- The run of a step that a matrix goes over, or nil.
//@ function core(step, letter)
//@   local runs = step.of[letter]
//@   return runs[#runs]
//@ end
//@ -- The runs that are loops around the matrices; those of k are gathered.
//@ function loops_of(step)
//@   local list = {}
//@   for _, letter in ipairs { "batch", "m", "n" } do
//@     local runs = step.of[letter]
//@     table.move(runs, 1, #runs - (letter == "batch" and 0 or 1), #list + 1, list)
//@   end
//@   return list
//@ end
//@ local made = {}
//@ -- Defines something under a name once.
//@ function once(name, define)
//@   if not made[name] then
//@     define()
//@     made[name] = true
//@   end
//@   return name
//@ end
//@ -- The extents of a call, which are `dim`.
//@ function dims()
//@   local list = {}
//@   for i = 1, #op.dims do
//@     list[i] = "dim[" .. i - 1 .. "]"
//@   end
//@   return table.concat(list, ", ")
//@ end
//@ -- Defines what a variant says of its workspace: the numbers that its `measure` finds in all, or those of a text.
//@ function define_workspace(v, numbers)
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  const lathe_args sizes = {.dim = {$(dims())}};

  return (double)$(numbers or v.name .. "_measure(&sizes).all") * sizeof($k.number$);
}

//@ end
//@ -- Defines how threads share a variant's calls: in so many phases, NAME_phases, by a function NAME_parts; common: the
//@ -- bytes that all parts use.
//@ function define_sharing(v, phases, common)
enum { $v.name$_phases = $phases$ };

static double $v.name$_common(const size_t *dim) {
  const lathe_args sizes = {.dim = {$(dims())}}, *args = &sizes;
  (void)args;
  return (double)($common$);
}

//@ if is_tried then
extern const lathe_sharing $v.name$_sharing;
const lathe_sharing $v.name$_sharing = {$v.name$_phases, $v.name$_parts, $v.name$_common};

//@ end
//@ end
//@ -- The places of the loops around a matrix, but for the first ones.
//@ function loop_places(step, but)
//@   local list = {}
//@   for _, run in ipairs { table.unpack(loops_of(step), (but or 0) + 1) } do
//@     table.move(run, 1, #run, #list + 1, list)
//@   end
//@   return list
//@ end
//@ -- Each loop's index, of a matrix's number among all.
//@ function find_loops(step, matrix)
//@ local loops = loops_of(step)
//@ for i, run in ipairs(loops) do
const size_t loop$i$ = $matrix$$(i < #loops and " / (" .. size(loop_places(step, i)) .. ")" or "")$(i > 1 and " % (" .. size(run) .. ")" or "");
//@ end
//@ end
//@ -- Goes through the matrices of a contraction, or a part's share of them: of each, rows from p.row to before
//@ -- p.last_row and columns alike, all of one of these. p: the plan, whose rows and columns are those of a matrix.
//@ function each_matrix(step, mr, nr, body)
const lathe_shares shares = lathe_shares_of($(size(loop_places(step))), p.rows, p.columns, $mr$, $nr$);
size_t unit, end;
lathe_units(args, shares.units, &unit, &end);
while (unit < end) {
  const size_t matrix = unit / shares.each, first = unit % shares.each, count = shares.each - first < end - unit ? shares.each - first : end - unit;
  //@ find_loops(step, "matrix")
  (void)matrix;
  unit += count;
  p.row = p.column = 0;
  p.last_row = p.rows;
  p.last_column = p.columns;
  lathe_share(&shares, first, first + count, shares.by_rows ? &p.row : &p.column, shares.by_rows ? &p.last_row : &p.last_column);
  //@ body()
}
//@ end
//@ -- How an operand's elements lie along a matrix's m, n or k: "none" (it has no such axis), "unit" or "strided".
//@ function kind(step, operand, letter)
//@   local run = core(step, letter)
//@   local places = run and k.stride(operand, run)
//@   return not places and "none" or #places == 0 and "unit" or "strided", places
//@ end
//@ -- The index that an axis has a part of, of those of m, n and the loops: its name, how many points of that one of
//@ -- the axis has, and the axis's extent, nil where nothing is around it.
//@ function index_of(step, place)
//@   local runs = { m = core(step, "m"), n = core(step, "n") }
//@   for i, run in ipairs(loops_of(step)) do
//@     runs["loop" .. i .. "_"] = run
//@   end
//@   for index, run in pairs(runs) do
//@     for i, of in ipairs(run) do
//@       if of == place then
//@         return index, size { table.unpack(run, i + 1) }, i > 1 and size { place } or nil
//@       end
//@     end
//@   end
//@ end
//@ -- Where a point is along an axis, by an index and what index_of says of it besides.
//@ function place_of(index, within, extent)
//@   local from = within ~= "1" and ("(%s / (%s))"):format(index, within) or index
//@   return extent and ("(%s %% %s)"):format(from, extent) or from
//@ end
//@ function field(operand, letter)
//@   return operand.name .. "_" .. letter .. "_"
//@ end
//@ -- An element's place from that of the operand. at: the indexes along m, n and k.
//@ function offset(step, operand, at)
//@   local list = {}
//@   for _, letter in ipairs(letters) do
//@     local how = at[letter] and kind(step, operand, letter) or "none"
//@     if how ~= "none" then
//@       list[#list + 1] = at[letter] .. (how == "strided" and " * here->" .. field(operand, letter) or "")
//@     end
//@   end
//@   return #list > 0 and table.concat(list, " + ") or "0"
//@ end
//@ -- The operands that a part reads.
//@ function operands_of(part)
//@   local list = {}
//@   for _, x in ipairs(part.point.inputs) do
//@     list[#list + 1] = x.operand
//@   end
//@   return list
//@ end
//@ -- Whether one of some operands varies along m, n or k.
//@ function varies(step, operands, letter)
//@   for _, operand in ipairs(operands) do
//@     if kind(step, operand, letter) ~= "none" then
//@       return true
//@     end
//@   end
//@   return false
//@ end
//@ -- How far apart an operand's elements are along m, n or k, where `here` is a variable.
//@ function stride(step, operand, letter)
//@   local how = kind(step, operand, letter)
//@   return how == "none" and "0" or how == "unit" and "1" or "here." .. field(operand, letter)
//@ end
//@ -- The operand that a factor is element by element, in the type that is computed in, or nil.
//@ function plain_factor(step, letter)
//@   local node = step.of[letter]
//@   for _, operand in ipairs(node.op == "input" and step.of.operands or {}) do
//@     if operand.name == node.name and k:type_of(operand) == k.compute then
//@       return operand
//@     end
//@   end
//@ end
//@ -- The operand that is a step's sum and nothing else, in the type that is computed in and whose columns lie side by
//@ -- side, so that sums are gathered there; or nil.
//@ function plain_value(step)
//@   local value = step.of.values[1]
//@   local is_plain = #step.of.values == 1 and value.node.op == "result"
//@     and k:type_of(value.operand) == k.compute and kind(step, value.operand, "n") == "unit"
//@   return is_plain and value.operand or nil
//@ end
//@ -- The parts that a step has.
//@ local function parts_of(step)
//@   local parts = { step.a, step.b, step.values }
//@   for _, name in ipairs { "free", "rows", "powers" } do -- of streams
//@     parts[#parts + 1] = step[name]
//@   end
//@   return parts
//@ end
//@ -- Whether a part reads where points are along axes, or what is at such places.
//@ local function is_placed(part)
//@   for _, x in ipairs(part.point.inputs) do
//@     if x.kind == "position" or E.is_elsewhere(x) then
//@       return true
//@     end
//@   end
//@   return false
//@ end
//@ -- The loops around a step's matrices where it reads places along axes, or where tiles do; else an empty list.
//@ function placed_loops(step)
//@   local is_read = step.places ~= nil
//@   for _, part in ipairs(parts_of(step)) do
//@     is_read = is_read or is_placed(part)
//@   end
//@   return is_read and loops_of(step) or {}
//@ end
//@ -- The type of `here`, and the point functions of a step.
//@ function define(step)
//@   for _, part in ipairs(parts_of(step)) do
$part.point.comment$
static inline $part.point.type$ $part.point.name$($part.point.parameters$) {
  $part.point.body$
}

//@   end
/* $(step.of.name): operands of a matrix, and how far apart its rows, columns and terms are there. */
typedef struct $step.name$ {
  const lathe_args *args;
  //@ for _, operand in ipairs(step.of.operands) do
  $(k:element_type(operand)) *$operand.name$;
  //@ for _, letter in ipairs(letters) do
  //@ if kind(step, operand, letter) == "strided" then
  size_t $(field(operand, letter));
  //@ end
  //@ end
  //@ end
  //@ for i in ipairs(placed_loops(step)) do
  size_t loop$i$_;
  //@ end
} $step.name$;

//@ end
//@ -- The same as a variable.
//@ function declare(step)
$step.name$ here = {
  .args = args,
  //@ for _, operand in ipairs(step.of.operands) do
  //@ for _, letter in ipairs(letters) do
  //@ local how, places = kind(step, operand, letter)
  //@ if how == "strided" then
  .$(field(operand, letter)) = $(size(places)),
  //@ end
  //@ end
  //@ end
};
//@ end
//@ -- A row of lathe_way, of numbers or texts: what it is above, the tile, and blocks, each of rows, columns
//@ -- and terms.
//@ function way(step, above, tile, block)
//@   local bits = {}
//@   for i, letter in ipairs(letters) do
//@     bits[i] = 0
//@     for _, place in ipairs(core(step, letter) or {}) do
//@       bits[i] = bits[i] | 1 << place - 1
//@     end
//@   end
  {$(table.concat(bits, ", ")), {$(table.concat(above, ", "))}, {$(table.concat(tile, ", "))}, {$(table.concat(block, ", "))}, 0, 0},
//@ end
//@ -- The bytes of the temporaries, or of those before one.
//@ function bytes_of_temporaries(before)
//@   local list = {}
//@   for _, operand in ipairs(k.record.temporaries) do
//@     if operand == before then
//@       break
//@     end
//@     list[#list + 1] = string.format("(%s * sizeof(%s) + 63) / 64 * 64", size(operand.dim_index), k.number)
//@   end
//@   return #list > 0 and table.concat(list, " + ") or "0"
//@ end
//@ -- Where an operand is: among the arguments, or in the workspace.
//@ function home(operand)
//@   if operand.temporary then
//@     return string.format("(%s *)(temporaries + %s)", k:element_type(operand), bytes_of_temporaries(operand))
//@   end
//@   for i, given in ipairs(op.operands) do
//@     if given.name == operand.name then
//@       return string.format("(%s *)args->buf[%d]", k:element_type(given), i - 1)
//@     end
//@   end
//@ end
//@ -- Points at what the operands have at the indexes of some loops, { run, index }.
//@ function place(step, loops)
//@   for _, operand in ipairs(step.of.operands) do
//@     local at = {}
//@     for _, loop in ipairs(loops) do
//@       local places = k.stride(operand, loop.run)
//@       at[#at + 1] = places and " + " .. loop.index .. (#places > 0 and " * " .. size(places) or "")
//@     end
here.$operand.name$ = $(home(operand))$(table.concat(at));
//@   end
//@ end
//@ -- What a part's point function is given that stays the same.
//@ function prelude(part)
//@   if #part.scalars + #part.points > 0 or is_placed(part) then
const lathe_args *args = here->args;
(void)args;
//@   end
//@   for _, scalar in ipairs(part.scalars) do
const $k.number$ $scalar.name$ = ($k.number$)args->scalar[$(scalar.place - 1)];
//@   end
//@   for _, points in ipairs(part.points) do
const $k.number$ $points.name$ = ($k.number$)($(size(points.places)));
//@   end
$(part.k:uniforms("call"))
//@ end
//@ -- The places along an axis of a vector of points: see call.
//@ local function positions(step, x, at, along)
//@ local index, within, extent = index_of(step, x.place)
//@ if index ~= along then
const $k.vector$ $x.variable$ = $(k.own:text("splat", ("(%s)%s"):format(k.number, place_of(at[index] or "here->" .. index, within, extent))));
//@ elseif k.lanes == 1 then
const $k.vector$ $x.variable$ = ($k.number$)$(place_of(at[along], within, extent));
//@ else
$k.number$ $x.variable$places[$k.lanes$];
for (size_t lane = 0; lane < $k.lanes$; lane++)
  $x.variable$places[lane] = ($k.number$)(int64_t)$(place_of("(" .. at[along] .. " + lane)", within, extent));
const $k.vector$ $x.variable$ = $(k.own:text("load_own", x.variable .. "places", "0"));
//@ end
//@ end
//@ -- How elsewhere.c spells C, where random numbers are asked for by some text: of a seed, an offset, a point, and
//@ -- whether they are of a type of 16 bits.
//@ local function language_of(random)
//@   return {
//@     number = "(" .. k.number .. ")", signed = "(int64_t)", unsigned = "(size_t)",
//@     random = function(seed, offset, nth)
//@       return random:format(seed, offset, nth, tostring(k.dtype ~= k.compute))
//@     end,
//@     element = function(operand, nth)
//@       local how = operand.dtype and "load_index" or "load_number"
//@       return k:access(operand, how, ("(%s + %s)"):format(home(operand), nth))
//@     end,
//@   }
//@ end
//@ language = language_of("(" .. k.number .. ")lathe_random(%s, %s, %s, %s)")
//@ -- Whether an input is a random number that points along an index have side by side.
//@ local function is_beside(step, x, along)
//@   local places = x.kind == "random" and k.lanes > 1 and x.places or {}
//@   for i, place in ipairs(places) do
//@     local letter, within, extent = index_of(step, place)
//@     if (letter == along) ~= (i == #places) or i == #places and (within ~= "1" or extent) then
//@       return false
//@     end
//@   end
//@   return #places > 0
//@ end
//@ -- Numbers that a vector of points reads elsewhere, or finds by their places: see call.
//@ local function numbers_elsewhere(step, x, at, along, lanes)
//@ local name, single = x.variable .. "numbers", k.lanes == 1
//@ local function index(place, is_first)
//@   local letter, within, extent = index_of(step, place)
//@   local of = at[letter] or "here->" .. letter
//@   return place_of(letter == along and not single and not is_first and "(" .. of .. " + lane)" or of, within, extent)
//@ end
//@ if is_beside(step, x, along) then
uint32_t $name$of[$k.lanes$];
//@ local all = language_of(("lathe_random_beside(%%s, %%s, %%s, %%s, %d, %sof)"):format(k.lanes, name))
$(E.number(x, function(place) return index(place, true) end, all));
$k.number$ $name$[$k.lanes$];
for (size_t lane = 0; lane < $k.lanes$; lane++)
  $name$[lane] = ($k.number$)(int32_t)$name$of[lane] * $(k.dtype ~= k.compute and "0x1p-16f" or k.number == "double" and "0x1p-24" or "0x1p-24f");
const $k.vector$ $x.variable$ = $(k.own:text("load_own", name, "0"));
//@ return
//@ end
//@ local number = E.number(x, index, language)
//@ local is_mask, vector = x.node.type == "m", k.own:text("load_own", name, "0")
$k.number$ $name$[$k.lanes$] = {0};
for (size_t lane = 0; lane < $(lanes or k.lanes); lane++)
  $name$[lane] = $number$$(is_mask and " ? 1 : 0" or "");
const $(is_mask and k.mask or k.vector) $x.variable$ = $(is_mask and k.own:text("ne", vector, k:constant(0)) or vector);
//@ end
//@ -- One vector of points from indexes `at` on along m, n or k, `lanes` of them where that is given: what the point
//@ -- function reads, and its call. result: the text of what the step's sum comes to there, or a function that gives it
//@ -- by the step's name; at.column(name): that of what is gathered of a row.
//@ function call(step, part, at, along, lanes, result)
//@ for _, x in ipairs(part.point.inputs) do
//@ local operand = x.operand
//@ local how = operand and kind(step, operand, along)
//@ local from = operand and "here->" .. operand.name
//@ local element = operand and offset(step, operand, at)
//@ if x.kind == "result" then
const $k.vector$ $x.variable$ = $(type(result) == "function" and result(x.name) or result);
//@ elseif x.kind == "column" then
const $k.vector$ $x.variable$ = $(at.column(x.name));
//@ elseif x.kind == "position" then
//@ positions(step, x, at, along)
//@ elseif E.is_elsewhere(x) then
//@ numbers_elsewhere(step, x, at, along, lanes)
//@ elseif how == "none" then
const $k.vector$ $x.variable$ = $(k.own:text("splat", part.k:access(operand, "load_number", "(" .. from .. " + " .. element .. ")")));
//@ elseif how == "unit" or k.lanes == 1 then
const $k.vector$ $x.variable$ = $(part.k:access(operand, lanes and "load_part" or "load", from, element, nil, lanes));
//@ else
$k.number$ $x.variable$lanes[$k.lanes$] = {0};
for (size_t lane = 0; lane < $(lanes or k.lanes); lane++)
  $x.variable$lanes[lane] = $(part.k:access(operand, "load_number", "(" .. from .. " + " .. element .. " + lane * here->" .. field(operand, along) .. ")"));
const $k.vector$ $x.variable$ = $(k.own:text("load_own", x.variable .. "lanes", "0"));
//@ end
//@ end
$part.point.call$
//@ end
//@ -- Stores a vector of an operand's elements.
//@ function store(step, operand, at, along, lanes, value)
//@ local how = kind(step, operand, along)
//@ local to = "here->" .. operand.name
//@ local element = offset(step, operand, at)
//@ if how == "unit" or k.lanes == 1 then
$(k:access(operand, lanes and "store_part" or "store", to, element, value, lanes));
//@ else
{
  $k.number$ lane_of[$k.lanes$];
  $(k.own:text("store_own", "lane_of", "0", value));
  for (size_t lane = 0; lane < $(lanes or k.lanes); lane++)
    //@ local by = how == "strided" and " + lane * here->" .. field(operand, along) or ""
    $(k:access(operand, "store_number", "(" .. to .. " + " .. element .. by .. ")", "lane_of[lane]"));
}
//@ end
//@ end
