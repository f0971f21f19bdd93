/* arithmetic_tiles.h - a loop of products of AMX's tiles; arithmetic.c includes this once for each type, with
 *   LOOP      the loop's name
 *   TARGET    what the compiler needs to be told of the instruction set
 *   MULTIPLY(to, a, b)
 * No include guard: it is meant to come again. */

/* Four products in a round, each added to a tile of its own. */
TARGET static double LOOP(size_t rounds) {
  static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } all = {.palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16}};
  unsigned char bytes[16][64];
  float sum[16][16];

  memset(bytes, 0x3f, sizeof bytes); /* 0.75 in bf16 */
  __asm__ volatile("" : : : "memory");
  _tile_loadconfig(&all);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, bytes, 64);
  _tile_loadd(5, bytes, 64);
  for (size_t round = 0; round < rounds; round++) {
    MULTIPLY(0, 4, 5);
    MULTIPLY(1, 4, 5);
    MULTIPLY(2, 4, 5);
    MULTIPLY(3, 4, 5);
  }
  _tile_stored(0, sum, 64);
  _tile_release();
  __asm__ volatile("" : : : "memory");
  return (double)sum[0][0];
}

#undef LOOP
#undef TARGET
#undef MULTIPLY
