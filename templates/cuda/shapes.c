//@ -- The shapes in which rows are held in registers, by rising length: how many threads share a row,
//@ -- how many 16-byte accesses of each operand they hold, how many rows a block has. With `few`
//@ -- threads each has more in flight and the reductions have fewer steps; with `many` more warps
//@ -- hide each other's waiting.
//@ local few = { { 8, 1, 16 }, { 32, 1, 4 }, { 32, 2, 4 }, { 32, 4, 4 }, { 32, 8, 4 }, { 128, 4, 1 },
//@   { 256, 4, 1 }, { 512, 4, 1 }, { 1024, 4, 1 }, { 1024, 8, 1 } }
//@ local many = { { 8, 1, 32 }, { 32, 1, 8 }, { 64, 1, 1 }, { 128, 1, 1 }, { 256, 1, 1 }, { 256, 2, 1 },
//@   { 512, 2, 1 }, { 1024, 2, 1 }, { 1024, 4, 1 }, { 1024, 8, 1 } }
//@ function shapes(params)
//@   local list = {}
//@   for i, s in ipairs(params.threads == "few" and few or many) do
//@     list[i] = { threads = s[1], hold = s[2], rows = s[3] }
//@   end
//@   return list
//@ end
