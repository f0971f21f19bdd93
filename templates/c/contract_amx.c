//@ -- Products of panels by tiles of AMX. types: of both factors.
//@ begin, finish = "lathe_tiles_begin();", "lathe_tiles_end();"

//@ function takes(types) return k.set.tiles ~= nil and k.set.tiles[types] ~= nil end
//@ -- The name of the function that multiplies two panels; whole: of 8 bits. All precisions of a file share it.
//@ function define(types, whole)
//@ local name, instruction = "lathe_multiply_tiles_" .. types, k.set.tiles[types]
//@ if shared[name] then
//@   return name
//@ end
//@ shared[name] = true
/* The product of two panels of so many blocks of terms, of `high` lines of one and `wide` of the other, as 32 rows of
 * 32 numbers. With `more` it is added to what is there. */
static void $name$(size_t blocks, const char *a, const char *b, float *c, bool more, size_t high, size_t wide) {
  enum { ROW = LATHE_PANEL_LINES * sizeof(float), LOWER = 16 * LATHE_PANEL_LINES };
  //@ local to = whole and "sums" or "c"
  //@ if whole then
  int32_t sums[LATHE_PANEL_LINES * LATHE_PANEL_LINES] __attribute__((aligned(64)));
  //@ end
  lathe_tiles_fence();
  //@ if not whole then
  if (more) {
    _tile_loadd(0, c, ROW);
    _tile_loadd(1, c + 16, ROW);
    _tile_loadd(2, c + LOWER, ROW);
    _tile_loadd(3, c + LOWER + 16, ROW);
  } else
  //@ end
  {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (; blocks > 0; blocks--, a += 2 * LATHE_TILE, b += 2 * LATHE_TILE) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 64);
    $instruction$(0, 4, 6);
    if (wide > 16) {
      _tile_loadd(7, b + LATHE_TILE, 64);
      $instruction$(1, 4, 7);
    }
    if (high > 16) {
      _tile_loadd(5, a + LATHE_TILE, 64);
      $instruction$(2, 5, 6);
      if (wide > 16)
        $instruction$(3, 5, 7);
    }
  }
  _tile_stored(0, $to$, ROW);
  _tile_stored(1, $to$ + 16, ROW);
  _tile_stored(2, $to$ + LOWER, ROW);
  _tile_stored(3, $to$ + LOWER + 16, ROW);
  lathe_tiles_fence();
  //@ if whole then
  lathe_store_whole(c, sums, more, LATHE_PANEL_LINES);
  //@ end
}

//@ return name
//@ end
