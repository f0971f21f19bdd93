/* arithmetic.c - kernels that multiply and add and do nothing else. PTX, which the driver compiles, so that they are there
 * whatever the kernels were compiled for. Each thread, warp or group of four warps has some sums, as many as hide how
 * long one takes, and adds the same products to them round after round. What they come to is written only should it be
 * a certain number, which keeps them from being dropped. */
#include "arithmetic.h"

#include <stdarg.h>
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

typedef struct text {
  FILE *to;
  char *start;
  size_t size;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(text *t, const char *format, ...) {
  va_list list;

  va_start(list, format);
  vfprintf(t->to, format, list);
  va_end(list);
}

/* Registers r<from> to r<from + count - 1> in braces. */
static void put_list(text *t, const char *name, int from, int count) {
  for (int i = 0; i < count; i++)
    put(t, "%s%%%s%d", i ? ", " : "{", name, from + i);
  put(t, "}");
}

/* type: of the sums, f32 or f64. */
static void begin(text *t, const char *name, const char *type, int sums) {
  const char *zero = type[1] == '6' ? "0d0000000000000000" : "0f00000000";

  put(t, ".visible .entry %s(.param .u64 p_to, .param .u32 p_rounds)\n.reqntid %d, 1, 1\n{\n", name,
      ARITHMETIC_THREADS);
  put(t,
      "  .reg .b64 %%to;\n  .reg .b32 %%rounds;\n  .reg .pred %%end;\n  .reg .%s %%d<%d>, %%all;\n",
      type, sums);
  put(t, "  ld.param.u64 %%to, [p_to];\n  ld.param.u32 %%rounds, [p_rounds];\n");
  for (int i = 0; i < sums; i++)
    put(t, "  mov.%s %%d%d, %s;\n", type, i, zero);
}

static void begin_round(text *t) {
  put(t, "again:\n");
}

static void end(text *t, const char *type, int sums) {
  const char *magic = type[1] == '6' ? "0d47EFFFFFE0000000" : "0f7F7FFFFD";

  put(t,
      "  sub.u32 %%rounds, %%rounds, 1;\n  setp.ne.u32 %%end, %%rounds, 0;\n"
      "  @%%end bra again;\n  mov.%s %%all, %%d0;\n",
      type);
  for (int i = 1; i < sums; i++)
    put(t, "  add.%s %%all, %%all, %%d%d;\n", type, i);
  put(t, "  setp.eq.%s %%end, %%all, %s;\n  @%%end st.global.%s [%%to], %%all;\n  ret;\n}\n", type,
      magic, type);
}

/* s = s / 2 + 1 */
static double put_fma(text *t, bool f64) {
  const char *type = f64 ? "f64" : "f32", *half = f64 ? "0d3FE0000000000000" : "0f3F000000";
  const char *one = f64 ? "0d3FF0000000000000" : "0f3F800000";

  put(t, ".version 7.0\n.target sm_80\n.address_size 64\n");
  begin(t, "multiplies", type, SUMS);
  put(t, "  .reg .%s %%half, %%one;\n  mov.%s %%half, %s;\n  mov.%s %%one, %s;\n", type, type, half,
      type, one);
  begin_round(t);
  for (int i = 0; i < UNROLL * SUMS; i++)
    put(t, "  fma.rn.%s %%d%d, %%d%d, %%half, %%one;\n", type, i % SUMS, i % SUMS);
  end(t, type, SUMS);
  return 2.0 * UNROLL * SUMS * ARITHMETIC_THREADS;
}

/* Warps' tiles of 16 x 8 and 16 terms in 16 bits; of 8 x 8 and 4 terms in f64. */
static double put_mma(text *t, lathe_dtype dtype) {
  const bool f64 = dtype == LATHE_F64;
  const char *type = f64 ? "f64" : "f32", *name = lathe_dtype_name(dtype);
  const int each = f64 ? 2 : 4; /* registers of a tile */

  put(t, ".version 7.0\n.target sm_80\n.address_size 64\n");
  begin(t, "multiplies", type, TILES * each);
  if (f64)
    put(t, "  .reg .f64 %%a0, %%b0;\n  mov.f64 %%a0, 0d3FE0000000000000;\n"
           "  mov.f64 %%b0, 0d3FE0000000000000;\n");
  else
    put(t, "  .reg .b32 %%a<4>, %%b<2>;\n");
  for (int i = 0; i < 6 && !f64; i++) /* small numbers of either type */
    put(t, "  mov.b32 %%%s%d, 0x2c002c00;\n", i < 4 ? "a" : "b", i % 4);
  begin_round(t);
  for (int tile = 0; tile < TILES; tile++) {
    if (f64)
      put(t, "  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 ");
    else
      put(t, "  mma.sync.aligned.m16n8k16.row.col.f32.%s.%s.f32 ", name, name);
    put_list(t, "d", tile * each, each);
    put(t, ", ");
    put_list(t, "a", 0, f64 ? 1 : 4);
    put(t, ", ");
    put_list(t, "b", 0, f64 ? 1 : 2);
    put(t, ", ");
    put_list(t, "d", tile * each, each);
    put(t, ";\n");
  }
  end(t, type, TILES * each);
  return 2.0 * TILES * WARPS * (f64 ? 8 * 8 * 4 : 16 * 8 * 16);
}

/* Four warps' tile of 64 x 256 and 16 terms, of matrices in shared memory, in cores of 8 rows of 16 bytes: 128 bytes from
 * one to the next along the terms, 256 along the rows. */
static double put_wgmma(text *t, lathe_dtype dtype) {
  const char *name = lathe_dtype_name(dtype);
  const int rows = 64, columns = 256, terms = 16, bytes = (rows + columns) * terms * 2;
  const unsigned along_terms = 128 >> 4, along_rows = 256 >> 4;

  put(t, ".version 8.0\n.target sm_90a\n.address_size 64\n");
  begin(t, "multiplies", "f32", WIDE_SUMS);
  put(t, "  .shared .align 128 .b8 tiles[%d];\n", bytes);
  put(t, "  .reg .b64 %%a, %%b;\n  .reg .b32 %%at, %%last, %%small;\n  .reg .pred %%on;\n");
  put(t,
      "  mov.u32 %%at, %%tid.x;\n  shl.b32 %%at, %%at, 2;\n  mov.u32 %%last, tiles;\n"
      "  add.u32 %%at, %%at, %%last;\n  add.u32 %%last, %%last, %d;\n"
      "  mov.b32 %%small, 0x2c002c00;\nfill:\n  st.shared.b32 [%%at], %%small;\n"
      "  add.u32 %%at, %%at, %d;\n  setp.lt.u32 %%on, %%at, %%last;\n  @%%on bra fill;\n"
      "  bar.sync 0;\n  fence.proxy.async;\n",
      bytes, 4 * ARITHMETIC_THREADS);
  put(t,
      "  mov.u32 %%at, tiles;\n  shr.u32 %%at, %%at, 4;\n  cvt.u64.u32 %%a, %%at;\n"
      "  or.b64 %%a, %%a, 0x%x%08x;\n  add.u64 %%b, %%a, %d;\n",
      along_rows, along_terms << 16, rows * terms * 2 / 16);
  put(t, "  setp.eq.u32 %%on, 0, 0;\n");
  begin_round(t);
  put(t, "  wgmma.fence.sync.aligned;\n");
  for (int i = 0; i < WIDE_UNROLL; i++) {
    put(t, "  wgmma.mma_async.sync.aligned.m64n256k16.f32.%s.%s ", name, name);
    put_list(t, "d", 0, WIDE_SUMS);
    put(t, ", %%a, %%b, %%on, 1, 1, 0, 0;\n");
  }
  put(t, "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n");
  end(t, "f32", WIDE_SUMS);
  return 2.0 * WIDE_UNROLL * rows * columns * terms;
}

arithmetic_kernel arithmetic_make(lathe_dtype dtype, device_unit unit, unsigned architecture,
                                  int nth) {
  const lathe_dtype computed = lathe_dtype_format_of(dtype)->computed;
  const bool half = dtype == LATHE_F16 || dtype == LATHE_BF16;
  arithmetic_kernel k = {.name = "multiplies"};
  text t = {0};

  if (nth > 0 && !(unit == DEVICE_MATRIX && half && architecture == 90 && nth == 1))
    return k;
  if (unit == DEVICE_MATRIX && !half && dtype != LATHE_F64)
    return k;
  t.to = open_memstream(&t.start, &t.size);
  if (!t.to)
    return k;
  if (unit == DEVICE_VECTOR)
    k.each = put_fma(&t, computed == LATHE_F64);
  else
    k.each = nth > 0 ? put_wgmma(&t, dtype) : put_mma(&t, dtype);
  fclose(t.to);
  k.ptx = t.start;
  return k;
}
