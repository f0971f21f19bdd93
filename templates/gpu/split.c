//@ -- Rows split into parts, on any GPU: which may be, and what their kernels and the host's side must agree on.
//@
//@ -- Threads of a block, and the accesses of 16 bytes that each holds; most parts of all rows together.
//@ THREADS, HOLD, MOST_PARTS = 256, 2, 8192
//@ -- Whether rows may be split into parts: a launch for each phase, and one for the results. Where rows
//@ -- have points, one part's may be written before another has picked an element of the same memory.
//@ function splits(program)
//@   local picks = false
//@   for _, phase in ipairs(program.phases) do
//@     picks = picks or #phase.picks > 0
//@   end
//@   return #program.columns == 0 and #program.active < 4 and not (picks and #program.points > 0)
//@ end
//@ -- Whether parts pay however many rows there are: where only totals follow from one pass, for nothing is read again,
//@ -- and multiprocessors then end at the same time. cross_entropy of 1335x50257 in f16 takes 48 us on an H200, by
//@ -- rows 54.
//@ local function always_splits(program)
//@   return splits(program) and #program.points == 0 and #program.active == 1
//@ end
//@ -- How many blocks for each multiprocessor then share a few rows; of many rows, the accesses of a part.
//@ local BLOCKS, PART = 8, 2048
//@ -- C, of the host's side: how many parts a row may have; fewer than two where it stays whole.
//@ function declare_parts(program)
//@ local always = always_splits(program)
const bool few_rows = rows < limits->multiprocessors;
const size_t parts_of_row = few_rows ? $(always and BLOCKS or 2) * (size_t)limits->multiprocessors / rows : $(always and MOST_PARTS .. " / rows" or "0");
//@ end
//@ -- C: how much a part of the row has, where an access counts as `each`.
//@ function part(program, each)
//@   local few = THREADS * HOLD * each
//@   return always_splits(program) and ("few_rows ? %d : %d"):format(few, PART * each) or few
//@ end
//@ -- Where in the workspace parts leave what they gathered in phase p, after how many of them a row has; of one past
//@ -- the last, its size.
//@ function left_at(phases, p)
//@   local at = 64
//@   for q = 1, p - 1 do
//@     for _, r in ipairs(phases[q].reductions) do
//@       at = at + MOST_PARTS * (r.second and 32 or 16)
//@     end
//@   end
//@   return at
//@ end
//@ -- The size of the workspace.
//@ function workspace(program)
//@   return splits(program) and left_at(program.phases, #program.phases + 1) or 0
//@ end
