/* panels.h - panels of factors for units that multiply elements of 8 or 16 bits, after the header of an instruction set
 * with the registers of AVX-512.
 *
 * A panel is 32 lines of a factor, rows of a or columns of b, and some terms, as blocks of 64 bytes of these: two tiles
 * each, of 16 lines. A tile of a has a line in each row, its terms one after the other; a tile of b has 4 bytes of
 * terms of all lines in each row, those of a line beside each other. Lines and terms that there are not are zeros. */
#ifndef LATHE_PANELS_H
#define LATHE_PANELS_H

#include <stdbool.h>
#include <string.h>

#include "turn.h"

enum { LATHE_TILE = 16 * 64, LATHE_PANEL_LINES = 32 }; /* bytes, lines */

/* 4 bytes of terms of sixteen lines that lie side by side: those of a line beside each other. apart: bytes from one
 * term to the next, of which there are no more than `terms`. */
static inline __m512i lathe_join_lines(const char *from, int bytes, __mmask16 lines, size_t terms,
                                       size_t apart) {
  __m512i all = _mm512_setzero_si512();
  for (size_t t = 0; t < 4 / (size_t)bytes && t < terms; t++, from += apart) {
    const __m512i some = bytes == 1 ? _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lines, from))
                                    : _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lines, from));
    all = _mm512_or_si512(all, _mm512_sll_epi32(some, _mm_cvtsi32_si128((int)t * 8 * bytes)));
  }
  return all;
}

/* A tile of up to 16 lines and 64 bytes of terms, of elements of so many bytes. by_line: each row is to have a line;
 * else 4 bytes of all lines. line and term: how far apart lines and terms are in memory, in bytes. */
static inline void lathe_pack_tile(char *tile, bool by_line, const char *from, int bytes,
                                   size_t lines, size_t line, size_t terms, size_t term) {
  const size_t each = (size_t)bytes, together = 4 / each;
  char turned[LATHE_TILE] __attribute__((aligned(64)));
  const bool terms_aside = term == each, lines_aside = !terms_aside && line == each;
  const bool is_turned = (terms_aside && !by_line) || (lines_aside && by_line);
  char *to = is_turned ? turned : tile;
  if (terms_aside) {
    const __mmask64 mask = terms * each < 64 ? (1ull << terms * each) - 1 : ~0ull;
    for (size_t i = 0; i < 16; i++, to += 64)
      _mm512_storeu_si512(
          to, _mm512_maskz_loadu_epi8(i < lines ? mask : 0, from + (i < lines ? i * line : 0)));
  } else if (lines_aside) {
    const __mmask16 mask = (__mmask16)((1u << lines) - 1);
    for (size_t i = 0; i < 64 / each; i += together, to += 64)
      _mm512_storeu_si512(to, lathe_join_lines(from + (i < terms ? i * term : 0), bytes, mask,
                                               i < terms ? terms - i : 0, term));
  } else {
    memset(tile, 0, LATHE_TILE);
    for (size_t i = 0; i < lines; i++)
      for (size_t t = 0; t < terms; t++)
        memcpy(tile +
                   (by_line ? i * 64 + t * each : t / together * 64 + i * 4 + t % together * each),
               from + i * line + t * term, each);
  }
  if (is_turned)
    lathe_turn_f32((const float *)turned, (float *)tile, 16);
}

/* A panel of up to 32 lines; line, term: how far apart these are in memory, in elements. */
static inline void lathe_pack_panel(char *panel, bool by_line, const void *elements, int bytes,
                                    size_t lines, size_t line, size_t terms, size_t term) {
  const size_t each = (size_t)bytes, block = 64 / each;
  const char *from = (const char *)elements;
  for (size_t t = 0; t < terms; t += block)
    for (size_t i = 0; i < LATHE_PANEL_LINES; i += 16, panel += LATHE_TILE)
      lathe_pack_tile(panel, by_line, from + (i < lines ? (i * line + t * term) * each : 0), bytes,
                      i >= lines       ? 0
                      : lines - i < 16 ? lines - i
                                       : 16,
                      line * each, terms - t < block ? terms - t : block, term * each);
}

/* Whole sums of `rows` rows of 32 as numbers. With `more` they are added to what is there. */
static inline void lathe_store_whole(float *c, const int32_t *sums, bool more, size_t rows) {
  for (size_t i = 0; i < rows * LATHE_PANEL_LINES; i += 16) {
    const __m512 some = _mm512_cvtepi32_ps(_mm512_loadu_si512(sums + i));
    _mm512_storeu_ps(c + i, more ? _mm512_add_ps(_mm512_loadu_ps(c + i), some) : some);
  }
}

/* 4 bytes of terms of a line. */
static inline __m512i lathe_terms_of(const char *line) {
  int32_t terms;
  memcpy(&terms, line, sizeof terms);
  return _mm512_set1_epi32(terms);
}

/* Bytes of i8 as those of u8 that are 128 more, or the other way round. */
static inline void lathe_shift_bytes(char *bytes, size_t count) {
  for (size_t i = 0; i < count; i += 64)
    _mm512_storeu_si512(bytes + i, _mm512_xor_si512(_mm512_loadu_si512(bytes + i),
                                                    _mm512_set1_epi32((int)0x80808080)));
}

#endif
