/* simd_amx.h - the vectors of AVX-512, and beside them tiles of AMX: registers of 16 rows of 64 bytes, of which one
 * instruction multiplies two as matrices of bf16 and adds the product, in f32, to a third. It takes denormal numbers for
 * zero, and gives zero for them.
 *
 * A panel is 32 lines of a factor, rows of a or columns of b, and some terms, as blocks of 32 terms: two tiles each, of
 * 16 lines. A tile of a has a line in each row, its terms one after the other; a tile of b has two terms of all lines in
 * each row, those of a line beside each other. Lines and terms that there are not are zeros. */
#ifndef LATHE_SIMD_AMX_H
#define LATHE_SIMD_AMX_H

#include <stdbool.h>

#include "simd_avx512.h"
#include "turn.h"

enum { LATHE_TILE = 16 * 32, LATHE_TILE_TERMS = 32, LATHE_PANEL_LINES = 32 };

/* Until lathe_tiles_end() a function has the tiles, all of 16 rows. */
static inline void lathe_tiles_begin(void) {
  static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } all = {.palette = 1,
           .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
           .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
  _tile_loadconfig(&all);
}

static inline void lathe_tiles_end(void) {
  _tile_release();
}

/* The intrinsics do not tell the compiler that they read and write memory. */
static inline void lathe_tiles_fence(void) {
  __asm__ volatile("" ::: "memory");
}

/* Two terms of sixteen lines that lie side by side: those of a line beside each other. */
static inline __m512i lathe_pair_lines(const uint16_t *low, const uint16_t *high, __mmask16 lines,
                                       __mmask16 lines_high) {
  const __m512i a = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lines, low));
  const __m512i b = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lines_high, high));
  return _mm512_or_si512(a, _mm512_slli_epi32(b, 16));
}

/* A tile of up to 16 lines and 32 terms. by_line: each row is to have a line; else two terms of all lines. line and
 * term: how far apart lines and terms are in memory. */
static inline void lathe_pack_tile_bf16(uint16_t *tile, bool by_line, const uint16_t *from,
                                        size_t lines, size_t line, size_t terms, size_t term) {
  uint16_t turned[LATHE_TILE] __attribute__((aligned(64)));
  const bool terms_aside = term == 1, lines_aside = !terms_aside && line == 1;
  const bool is_turned = (terms_aside && !by_line) || (lines_aside && by_line);
  uint16_t *to = is_turned ? turned : tile;
  if (terms_aside) {
    const __mmask32 mask = terms < 32 ? (1u << terms) - 1 : ~0u;
    for (size_t i = 0; i < 16; i++, to += 32)
      _mm512_storeu_si512(
          to, _mm512_maskz_loadu_epi16(i < lines ? mask : 0, from + (i < lines ? i * line : 0)));
  } else if (lines_aside) {
    const __mmask16 mask = (__mmask16)((1u << lines) - 1);
    for (size_t i = 0; i < 32; i += 2, to += 32) {
      const bool low = i < terms, high = i + 1 < terms;
      _mm512_storeu_si512(to, lathe_pair_lines(from + (low ? i * term : 0),
                                               from + (high ? (i + 1) * term : 0), low ? mask : 0,
                                               high ? mask : 0));
    }
  } else {
    for (size_t i = 0; i < 16; i++)
      for (size_t t = 0; t < 32; t++)
        to[by_line ? i * 32 + t : t / 2 * 32 + i * 2 + t % 2] =
            i < lines && t < terms ? from[i * line + t * term] : 0;
  }
  if (is_turned)
    lathe_turn_f32((const float *)turned, (float *)tile, 16);
}

/* A panel of up to 32 lines. */
static inline void lathe_pack_panel_bf16(uint16_t *panel, bool by_line, const uint16_t *from,
                                         size_t lines, size_t line, size_t terms, size_t term) {
  for (size_t t = 0; t < terms; t += LATHE_TILE_TERMS)
    for (size_t i = 0; i < LATHE_PANEL_LINES; i += 16, panel += LATHE_TILE)
      lathe_pack_tile_bf16(panel, by_line, from + (i < lines ? i * line + t * term : 0),
                           i >= lines       ? 0
                           : lines - i < 16 ? lines - i
                                            : 16,
                           line, terms - t < 32 ? terms - t : 32, term);
}

/* The product of two panels of so many blocks of terms, for the first 16 or all 32 lines of each: 32 rows of 32 numbers.
 * With `more` it is added to what is there. */
static inline void lathe_multiply_panels_bf16(size_t blocks, const uint16_t *a, const uint16_t *b,
                                              float *c, bool more, bool all_rows,
                                              bool all_columns) {
  enum { ROW = LATHE_PANEL_LINES * sizeof(float), LOWER = 16 * LATHE_PANEL_LINES };
  lathe_tiles_fence();
  if (more) {
    _tile_loadd(0, c, ROW);
    _tile_loadd(1, c + 16, ROW);
    _tile_loadd(2, c + LOWER, ROW);
    _tile_loadd(3, c + LOWER + 16, ROW);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (; blocks > 0; blocks--, a += 2 * LATHE_TILE, b += 2 * LATHE_TILE) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 64);
    _tile_dpbf16ps(0, 4, 6);
    if (all_columns) {
      _tile_loadd(7, b + LATHE_TILE, 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (all_rows) {
      _tile_loadd(5, a + LATHE_TILE, 64);
      _tile_dpbf16ps(2, 5, 6);
      if (all_columns)
        _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, c, ROW);
  _tile_stored(1, c + 16, ROW);
  _tile_stored(2, c + LOWER, ROW);
  _tile_stored(3, c + LOWER + 16, ROW);
  lathe_tiles_fence();
}

#endif
