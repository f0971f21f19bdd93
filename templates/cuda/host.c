//@ -- What the host's side of every family has: the image, and small arithmetic.
//@ MOST_BLOCKS = 2048 -- of one phase of a reduction
//@ function image()
__asm__(".section .rodata\n"
        ".balign 16\n"
        "$file.stem$_start:\n"
        ".incbin \"$file.image$\"\n"
        "$file.stem$_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const unsigned char $file.stem$_start[], $file.stem$_end[];
extern const lathe_image $file.stem$_image;
const lathe_image $file.stem$_image = {.start = $file.stem$_start, .end = $file.stem$_end};

/* How many times `each` it takes to have as many points, at most `most` and at least once. */
static inline uint32_t blocks(size_t points, size_t each, size_t most) {
  const size_t wanted = points / each + (points % each != 0);
  const size_t some = wanted < most ? wanted : most;

  return (uint32_t)(some ? some : 1);
}

//@ end
