//@ -- The shapes in which rows are held in registers, by rising length: how many threads share a row,
//@ -- how many 16-byte accesses of each operand they hold, how many rows a block has. On an H200 4
//@ -- accesses are best as long as two blocks fit a multiprocessor, so that one computes while the
//@ -- other waits for memory.
//@ local by_length = { { 8, 1, 16 }, { 8, 2, 16 }, { 8, 4, 16 }, { 16, 4, 8 }, { 32, 4, 4 }, { 64, 4, 1 },
//@   { 128, 4, 1 }, { 256, 4, 1 }, { 512, 4, 1 }, { 512, 8, 1 }, { 1024, 8, 1 } }
//@ -- Of long rows' parts: threads of a block, and what each holds; most parts of all rows together.
//@ SPLIT_THREADS, SPLIT_HOLD, MOST_PARTS = 256, 2, 2048
//@ -- Where in the workspace parts leave what they gathered in phase p; of one past the last, its size.
//@ function left_at(phases, p)
//@   local at = 0
//@   for q = 1, p - 1 do
//@     at = at + MOST_PARTS * 16 * #phases[q].reductions
//@   end
//@   return at
//@ end
//@ -- blocks: how many a multiprocessor is to have at once, which bounds a thread's registers. An access
//@ -- of 8 elements that are computed with in 32 bits takes as many registers as two of 4.
//@ function shapes(width)
//@   local list, taken = {}, {}
//@   for _, s in ipairs(by_length) do
//@     local hold = width == 8 and math.max(1, s[2] // 2) or s[2]
//@     if not taken[s[1] .. "x" .. hold] then
//@       local busy = s[2] > 4 and 1024 or 1536
//@       taken[s[1] .. "x" .. hold] = true
//@       list[#list + 1] = {
//@         threads = s[1], hold = hold, rows = s[3], blocks = math.max(1, busy // (s[1] * s[3])),
//@       }
//@     end
//@   end
//@   return list
//@ end
