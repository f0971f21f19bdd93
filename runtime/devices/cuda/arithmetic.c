/* arithmetic.c - kernels that multiply and add and do nothing else. PTX, which the driver compiles, so that they are
 * there whatever the kernels were compiled for. Each thread, warp or group of four warps has some sums, as many as hide
 * how long one takes, and adds the same products to them round after round. What they come to is written only should it
 * be a certain number, which keeps them from being dropped. */
#include "arithmetic.h"

#include <stdio.h>
#include <stdlib.h>

#include "library/dtype.h"

enum {
  WARPS = ARITHMETIC_THREADS / 32,
  SUMS = 16,       /* of a thread, of fma */
  UNROLL = 8,      /* times that each is added to in a round; */
  WIDE_UNROLL = 4, /* of wgmma, which takes the driver long to compile */
  TILES = 8,       /* of a warp, of mma */
  WIDE_SUMS = 128  /* registers of a tile of wgmma, 64 x 256 for four warps */
};

/* Registers r<from> to r<from + count - 1> in braces. */
static void put_list(FILE *to, const char *name, int from, int count) {
  for (int i = 0; i < count; i++)
    fprintf(to, "%s%%%s%d", i ? ", " : "{", name, from + i);
  fprintf(to, "}");
}

/* type: of the sums, f32 or f64. */
static void begin(FILE *to, const char *name, const char *type, int sums) {
  const char *zero = type[1] == '6' ? "0d0000000000000000" : "0f00000000";

  fprintf(to, ".visible .entry %s(.param .u64 p_to, .param .u32 p_rounds)\n.reqntid %d, 1, 1\n{\n",
          name, ARITHMETIC_THREADS);
  fprintf(
      to,
      "  .reg .b64 %%to;\n  .reg .b32 %%rounds;\n  .reg .pred %%end;\n  .reg .%s %%d<%d>, %%all;\n",
      type, sums);
  fprintf(to, "  ld.param.u64 %%to, [p_to];\n  ld.param.u32 %%rounds, [p_rounds];\n");
  for (int i = 0; i < sums; i++)
    fprintf(to, "  mov.%s %%d%d, %s;\n", type, i, zero);
}

static void begin_round(FILE *to) {
  fprintf(to, "again:\n");
}

static void end(FILE *to, const char *type, int sums) {
  const char *magic = type[1] == '6' ? "0d47EFFFFFE0000000" : "0f7F7FFFFD";

  fprintf(to,
          "  sub.u32 %%rounds, %%rounds, 1;\n  setp.ne.u32 %%end, %%rounds, 0;\n"
          "  @%%end bra again;\n  mov.%s %%all, %%d0;\n",
          type);
  for (int i = 1; i < sums; i++)
    fprintf(to, "  add.%s %%all, %%all, %%d%d;\n", type, i);
  fprintf(to, "  setp.eq.%s %%end, %%all, %s;\n  @%%end st.global.%s [%%to], %%all;\n  ret;\n}\n",
          type, magic, type);
}

/* s = s / 2 + 1 */
static double put_fma(FILE *to, bool f64) {
  const char *type = f64 ? "f64" : "f32", *half = f64 ? "0d3FE0000000000000" : "0f3F000000";
  const char *one = f64 ? "0d3FF0000000000000" : "0f3F800000";

  fprintf(to, ".version 7.0\n.target sm_80\n.address_size 64\n");
  begin(to, "multiplies", type, SUMS);
  fprintf(to, "  .reg .%s %%half, %%one;\n  mov.%s %%half, %s;\n  mov.%s %%one, %s;\n", type, type,
          half, type, one);
  begin_round(to);
  for (int i = 0; i < UNROLL * SUMS; i++)
    fprintf(to, "  fma.rn.%s %%d%d, %%d%d, %%half, %%one;\n", type, i % SUMS, i % SUMS);
  end(to, type, SUMS);
  return 2.0 * UNROLL * SUMS * ARITHMETIC_THREADS;
}

/* The name that tensor cores have for what they round numbers of a type to. */
static const char *name_of_factors(lathe_dtype dtype) {
  return dtype == LATHE_F32 ? "tf32" : lathe_dtype_name(dtype);
}

/* How many terms of a type an instruction takes, 32 bytes of each row. */
static int terms_of(lathe_dtype dtype) {
  return 32 / (int)lathe_dtype_size(dtype);
}

/* Warps' tiles of 16 x 8 and 16 terms in 16 bits, or 8 in tf32; of 8 x 8 and 4 terms in f64. */
static double put_mma(FILE *to, lathe_dtype dtype) {
  const bool f64 = dtype == LATHE_F64;
  const char *type = f64 ? "f64" : "f32", *name = name_of_factors(dtype);
  const int each = f64 ? 2 : 4; /* registers of a tile */

  fprintf(to, ".version 7.0\n.target sm_80\n.address_size 64\n");
  begin(to, "multiplies", type, TILES * each);
  if (f64)
    fprintf(to, "  .reg .f64 %%a0, %%b0;\n  mov.f64 %%a0, 0d3FE0000000000000;\n"
                "  mov.f64 %%b0, 0d3FE0000000000000;\n");
  else
    fprintf(to, "  .reg .b32 %%a<4>, %%b<2>;\n");
  for (int i = 0; i < 6 && !f64; i++) /* small numbers of any type */
    fprintf(to, "  mov.b32 %%%s%d, 0x2c002c00;\n", i < 4 ? "a" : "b", i % 4);
  begin_round(to);
  for (int tile = 0; tile < TILES; tile++) {
    if (f64)
      fprintf(to, "  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 ");
    else
      fprintf(to, "  mma.sync.aligned.m16n8k%d.row.col.f32.%s.%s.f32 ", terms_of(dtype), name,
              name);
    put_list(to, "d", tile * each, each);
    fprintf(to, ", ");
    put_list(to, "a", 0, f64 ? 1 : 4);
    fprintf(to, ", ");
    put_list(to, "b", 0, f64 ? 1 : 2);
    fprintf(to, ", ");
    put_list(to, "d", tile * each, each);
    fprintf(to, ";\n");
  }
  end(to, type, TILES * each);
  return 2.0 * TILES * WARPS * 8 * 8 * (f64 ? 4 : 2 * terms_of(dtype));
}

/* Four warps' tile of 64 x 256 and 16 terms, or 8 in tf32, of matrices in shared memory, in cores of 8 rows of 16
 * bytes: 128 bytes from one to the next along the terms, 256 along the rows. */
static double put_wgmma(FILE *to, lathe_dtype dtype) {
  const char *name = name_of_factors(dtype);
  const int rows = 64, columns = 256, terms = terms_of(dtype), row = 32;
  const int bytes = (rows + columns) * row;
  const bool half =
      terms == 16; /* of which the instruction says besides whether they are transposed */
  const unsigned along_terms = 128 >> 4, along_rows = 256 >> 4;

  fprintf(to, ".version 8.0\n.target sm_90a\n.address_size 64\n");
  begin(to, "multiplies", "f32", WIDE_SUMS);
  fprintf(to, "  .shared .align 128 .b8 tiles[%d];\n", bytes);
  fprintf(to, "  .reg .b64 %%a, %%b;\n  .reg .b32 %%at, %%last, %%small;\n  .reg .pred %%on;\n");
  fprintf(to,
          "  mov.u32 %%at, %%tid.x;\n  shl.b32 %%at, %%at, 2;\n  mov.u32 %%last, tiles;\n"
          "  add.u32 %%at, %%at, %%last;\n  add.u32 %%last, %%last, %d;\n"
          "  mov.b32 %%small, 0x2c002c00;\nfill:\n  st.shared.b32 [%%at], %%small;\n"
          "  add.u32 %%at, %%at, %d;\n  setp.lt.u32 %%on, %%at, %%last;\n  @%%on bra fill;\n"
          "  bar.sync 0;\n  fence.proxy.async;\n",
          bytes, 4 * ARITHMETIC_THREADS);
  fprintf(to,
          "  mov.u32 %%at, tiles;\n  shr.u32 %%at, %%at, 4;\n  cvt.u64.u32 %%a, %%at;\n"
          "  or.b64 %%a, %%a, 0x%x%08x;\n  add.u64 %%b, %%a, %d;\n",
          along_rows, along_terms << 16, rows * row / 16);
  fprintf(to, "  setp.eq.u32 %%on, 0, 0;\n");
  begin_round(to);
  fprintf(to, "  wgmma.fence.sync.aligned;\n");
  for (int i = 0; i < WIDE_UNROLL; i++) {
    fprintf(to, "  wgmma.mma_async.sync.aligned.m64n256k%d.f32.%s.%s ", terms, name, name);
    put_list(to, "d", 0, WIDE_SUMS);
    fprintf(to, ", %%a, %%b, %%on, 1, 1%s;\n", half ? ", 0, 0" : "");
  }
  fprintf(to, "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n");
  end(to, "f32", WIDE_SUMS);
  return 2.0 * WIDE_UNROLL * rows * columns * terms;
}

arithmetic_kernel arithmetic_make(lathe_dtype dtype, device_unit unit, unsigned architecture,
                                  int nth) {
  const lathe_dtype computed = lathe_dtype_format_of(dtype)->computed;
  const bool wide = dtype == LATHE_F32 || dtype == LATHE_F16 || dtype == LATHE_BF16;
  arithmetic_kernel k = {.name = "multiplies"};
  size_t size;
  FILE *to;

  if (nth > 0 && !(unit == DEVICE_MATRIX && wide && architecture == 90 && nth == 1))
    return k;
  if (unit == DEVICE_MATRIX && !wide && dtype != LATHE_F64)
    return k;
  to = open_memstream(&k.ptx, &size);
  if (!to)
    return k;
  if (unit == DEVICE_VECTOR)
    k.each = put_fma(to, computed == LATHE_F64);
  else
    k.each = nth > 0 ? put_wgmma(to, dtype) : put_mma(to, dtype);
  fclose(to);
  return k;
}
