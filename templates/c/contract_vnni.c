//@ -- Products of panels of 8 bits by AVX-512 VNNI, whose instruction multiplies 4 bytes without a sign by 4 that have
//@ -- one, and adds the products to an i32. types: of both factors. Where they are alike a is shifted by 128 when it is
//@ -- packed, and as many times b's sums are taken off.
//@ begin, finish = false, false
//@ local ROWS = 8 -- of a that are multiplied at once
//@ local signs = { i8_i8 = "alike", u8_u8 = "alike", i8_u8 = "apart", u8_i8 = "apart" }
//@ -- The sum of a sum and the products of a's bytes and b's.
//@ local function product(types, sum, a, b)
//@   local unsigned_a = types == "i8_i8" or types == "u8_i8"
//@   return ("_mm512_dpbusd_epi32(%s, %s, %s)"):format(sum, unsigned_a and a or b, unsigned_a and b or a)
//@ end
//@ function takes(types) return signs[types] ~= nil end
//@ -- The name of the function that multiplies two panels, and whether a is shifted. All precisions of a file share it.
//@ function define(types)
//@ local name, shifts = "lathe_multiply_bytes_" .. types, signs[types] == "alike"
//@ if shared[name] then
//@   return name, shifts
//@ end
//@ shared[name] = true
/* The product of two panels of so many blocks of terms, of `high` lines of one, as 32 rows of 32 numbers. With `more`
 * it is added to what is there. */
__attribute__((target("avx512vnni")))
static void $name$(size_t blocks, const char *a, const char *b, float *c, bool more, size_t high, size_t wide) {
  int32_t sums[LATHE_PANEL_LINES * LATHE_PANEL_LINES] __attribute__((aligned(64)));
  __m512i before0 = _mm512_setzero_si512(), before1 = before0;
  //@ if shifts then
  const __m512i shift = _mm512_set1_epi32((int)0x80808080);
  for (size_t block = 0; block < blocks; block++)
    for (const char *at = b + block * 2 * LATHE_TILE, *end = at + LATHE_TILE; at < end; at += 64) {
      before0 = $(product(types, "before0", "shift", "_mm512_loadu_si512(at)"));
      before1 = $(product(types, "before1", "shift", "_mm512_loadu_si512(at + LATHE_TILE)"));
    }
  before0 = _mm512_sub_epi32(_mm512_setzero_si512(), before0);
  before1 = _mm512_sub_epi32(_mm512_setzero_si512(), before1);
  //@ end
  for (size_t row = 0; row < high; row += $ROWS$) {
    //@ for i = 0, ROWS - 1 do
    __m512i sum$i$_0 = before0, sum$i$_1 = before1;
    //@ end
    for (size_t block = 0; block < blocks; block++) {
      const char *lines = a + (2 * block + row / 16) * LATHE_TILE + row % 16 * 64;
      const char *at = b + block * 2 * LATHE_TILE;
      for (const char *end = at + LATHE_TILE; at < end; at += 64, lines += 4) {
        const __m512i b0 = _mm512_loadu_si512(at), b1 = _mm512_loadu_si512(at + LATHE_TILE);
        //@ for i = 0, ROWS - 1 do
        const __m512i a$i$ = lathe_terms_of(lines + $(i * 64));
        sum$i$_0 = $(product(types, "sum" .. i .. "_0", "a" .. i, "b0"));
        sum$i$_1 = $(product(types, "sum" .. i .. "_1", "a" .. i, "b1"));
        //@ end
      }
    }
    //@ for i = 0, ROWS - 1 do
    _mm512_storeu_si512(sums + (row + $i$) * LATHE_PANEL_LINES, sum$i$_0);
    _mm512_storeu_si512(sums + (row + $i$) * LATHE_PANEL_LINES + 16, sum$i$_1);
    //@ end
  }
  lathe_store_whole(c, sums, more, (high + $(ROWS - 1)) / $ROWS$ * $ROWS$);
  (void)wide;
}

//@ return name, shifts
//@ end
