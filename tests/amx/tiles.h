/* tiles.h - the tiles of AMX as arrays, for processors that have AVX-512 and no AMX: test_amx.sh puts them into its
 * copy of templates/c/simd_amx.h. As Intel's manual has it, but for denormal numbers, which are not taken for zero.
 * Using tiles before they are there, or after they are given back, ends the program. */
#ifndef TILES_H
#define TILES_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#undef _tile_dpbssd
#undef _tile_dpbsud
#undef _tile_dpbusd
#undef _tile_dpbuud
#define _tile_loadconfig tiles_configure
#define _tile_release tiles_release
#define _tile_zero tiles_zero
#define _tile_loadd tiles_load
#define _tile_stored tiles_store
#define _tile_dpbf16ps tiles_multiply
#define _tile_dpbssd(to, a, b) tiles_multiply_whole(to, a, b, 1, 1)
#define _tile_dpbsud(to, a, b) tiles_multiply_whole(to, a, b, 1, 0)
#define _tile_dpbusd(to, a, b) tiles_multiply_whole(to, a, b, 0, 1)
#define _tile_dpbuud(to, a, b) tiles_multiply_whole(to, a, b, 0, 0)

static _Thread_local struct {
  int there;
  unsigned char row[8][16][64];
} tiles;

static void tiles_configure(const void *config) {
  const unsigned char *bytes = config;
  for (int i = 0; i < 8; i++)
    if (bytes[0] != 1 || bytes[16 + 2 * i] != 64 || bytes[17 + 2 * i] != 0 || bytes[48 + i] != 16)
      abort();
  memset(&tiles, 0xff, sizeof tiles);
  tiles.there = 1;
}

static void tiles_release(void) {
  tiles.there = 0;
}

static void tiles_zero(int to) {
  memset(tiles.row[to], 0, sizeof tiles.row[to]);
}

static void tiles_load(int to, const void *from, size_t apart) {
  if (!tiles.there)
    abort();
  for (size_t i = 0; i < 16; i++)
    memcpy(tiles.row[to][i], (const char *)from + i * apart, 64);
}

static void tiles_store(int from, void *to, size_t apart) {
  if (!tiles.there)
    abort();
  for (size_t i = 0; i < 16; i++)
    memcpy((char *)to + i * apart, tiles.row[from][i], 64);
}

/* Most of what the test computes. */
#pragma GCC push_options
#pragma GCC optimize("O3")

static float tiles_number(const unsigned char *row, int place) {
  uint16_t half;
  memcpy(&half, row + 2 * place, 2);
  const uint32_t bits = (uint32_t)half << 16;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

static void tiles_multiply(int to, int a, int b) {
  if (!tiles.there || to == a || to == b || a == b)
    abort();
  float factor[32][16]; /* b's: terms, columns */
  for (int k = 0; k < 32; k++)
    for (int n = 0; n < 16; n++)
      factor[k][n] = tiles_number(tiles.row[b][k / 2], 2 * n + k % 2);
  for (int m = 0; m < 16; m++) {
    float pair[2][16] = {{0}}, sum[16];
    for (int k = 0; k < 32; k++) {
      const float x = tiles_number(tiles.row[a][m], k);
      for (int n = 0; n < 16; n++)
        pair[k % 2][n] = fmaf(x, factor[k][n], pair[k % 2][n]);
    }
    memcpy(sum, tiles.row[to][m], sizeof sum);
    for (int n = 0; n < 16; n++)
      sum[n] += pair[0][n] + pair[1][n];
    memcpy(tiles.row[to][m], sum, sizeof sum);
  }
}

/* Sums wrap around, as those of the instructions. */
static void tiles_multiply_whole(int to, int a, int b, int sign_a, int sign_b) {
  if (!tiles.there || to == a || to == b || a == b)
    abort();
  for (int m = 0; m < 16; m++)
    for (int n = 0; n < 16; n++) {
      uint32_t sum;
      memcpy(&sum, tiles.row[to][m] + 4 * n, 4);
      for (int k = 0; k < 64; k++) {
        const unsigned char x = tiles.row[a][m][k], y = tiles.row[b][k / 4][4 * n + k % 4];
        sum += (uint32_t)((sign_a ? (signed char)x : x) * (sign_b ? (signed char)y : y));
      }
      memcpy(tiles.row[to][m] + 4 * n, &sum, 4);
    }
}

#pragma GCC pop_options

#endif
