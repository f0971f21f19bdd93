//@ -- What the host's side of every family has: the image, and small arithmetic.
//@ MOST_BLOCKS = 2048 -- of one phase of a reduction
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
const lathe_image $part.stem$_image = {.start = $part.stem$_start, .end = $part.stem$_end};

//@ if first then
/* How many times `each` it takes to have as many points, at most `most` and at least once. */
static inline uint32_t blocks(size_t points, size_t each, size_t most) {
  const size_t wanted = points / each + (points % each != 0);
  const size_t some = wanted < most ? wanted : most;

  return (uint32_t)(some ? some : 1);
}

//@ end
//@ end
