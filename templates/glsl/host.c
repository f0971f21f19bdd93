//@ -- What the host's side of every family has: the module, and small arithmetic.
//@ MOST_BLOCKS = 2048 -- of one phase of a reduction
//@ -- Where in the workspace of a reduction the workgroups leave what they gathered in phase p, 16 bytes
//@ -- for each reduction; of one past the last, the workspace's size.
//@ function left_at(phases, p)
//@   local at = 256 * #phases
//@   for q = 1, p - 1 do
//@     at = at + MOST_BLOCKS * 16 * #phases[q].reductions
//@   end
//@   return at
//@ end
//@ -- The different values of unroll, each of which has a kernel of a map, and by value its number, from 0 on.
//@ function unrolls(variants)
//@   local list, number = {}, {}
//@   for _, v in ipairs(variants) do
//@     local unroll = v.params.unroll
//@     if not number[unroll] then
//@       number[unroll] = #list
//@       list[#list + 1] = unroll
//@     end
//@   end
//@   return list, number
//@ end
//@ function image()
__asm__(".section .rodata\n"
        ".balign 16\n"
        "$part.stem$_start:\n"
        ".incbin \"$part.packed$\"\n"
        "$part.stem$_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const unsigned char $part.stem$_start[], $part.stem$_end[];
extern const lathe_image $part.stem$_image;
const lathe_image $part.stem$_image = {$part.stem$_start, $part.stem$_end, $(k:is_loose() and 1 or 0)};

//@ if first then
/* As templates/glsl/kernel.comp has them. */
enum { APART, PACKS, FULL, ENDS };

static inline uint32_t blocks(size_t points, size_t each, size_t most) {
  const size_t wanted = points / each + (points % each != 0);
  const size_t some = wanted < most ? wanted : most;

  return (uint32_t)(some ? some : 1);
}

//@ end
//@ end
//@ -- A grid of `groups` workgroups, and some more where one dimension has no room for them: see lathe_group.
//@ GRID = "{groups < limits->grid ? groups : limits->grid, blocks(groups, limits->grid, SIZE_MAX), 1}"
