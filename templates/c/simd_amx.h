/* simd_amx.h - the vectors of AVX-512, and beside them tiles of AMX: registers of 16 rows of 64 bytes, of which one
 * instruction multiplies two as matrices and adds the product to a third: of bf16 in f32, where it takes denormal
 * numbers for zero, and gives zero for them; of 8 bits in i32. */
#ifndef LATHE_SIMD_AMX_H
#define LATHE_SIMD_AMX_H

#include "simd_avx512.h"

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

#endif
