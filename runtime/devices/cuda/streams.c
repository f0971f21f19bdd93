/* streams.c - kernels that move memory and do nothing else. PTX, which the driver compiles, so
 * that they are there whatever the kernels were compiled for. In CUDA C, for two streams read:
 *
 *   for (size_t at = blockIdx.x * blockDim.x * 4 + threadIdx.x; at < packs;
 *        at += gridDim.x * blockDim.x * 4)
 *     for (int u = 0; u < 4; u++)       // first all the loads, then all the stores
 *       if (at + u * blockDim.x < packs)
 *         to[at + u * blockDim.x] = from0[at + u * blockDim.x] | from1[at + u * blockDim.x];
 *
 * Where nothing is written, what is read is folded into one word and written only should that be
 * a certain number, which keeps the loads from being dropped. */
#include "streams.h"

#include <stdio.h>

#include "devices/common/device.h"

enum { WORDS = 4 };

const char *streams_name(int streams, int once) {
  static char name[32];

  if (streams == STREAMS_READING)
    snprintf(name, sizeof name, "reads%s", once ? "_once" : "");
  else
    snprintf(name, sizeof name, "copies_%d%s", streams, once ? "_once" : "");
  return name;
}

/* The register of a word of access u to a stream. */
static int word(int stream, int u, int w) {
  return (stream * STREAMS_ACCESSES + u) * WORDS + w;
}

static void put_words(FILE *to, int u) {
  fprintf(to, "{%%v%d, %%v%d, %%v%d, %%v%d}", word(0, u, 0), word(0, u, 1), word(0, u, 2),
          word(0, u, 3));
}

static void put_loads(FILE *to, int streams, int u, const char *hint) {
  fprintf(to, "  mad.lo.u64 %%i, %%stride, %d, %%at;\n", u);
  fprintf(to, "  setp.lt.u64 %%in%d, %%i, %%packs;\n", u);
  fprintf(to, "  shl.b64 %%o%d, %%i, 4;\n", u);
  for (int w = 0; w < WORDS; w++)
    fprintf(to, "  mov.u32 %%v%d, 0;\n", word(0, u, w));
  for (int s = 0; s < streams; s++) {
    fprintf(to, "  add.u64 %%i, %%from%d, %%o%d;\n", s, u);
    fprintf(to, "  @%%in%d ld.global%s.v4.u32 {%%v%d, %%v%d, %%v%d, %%v%d}, [%%i];\n", u, hint,
            word(s, u, 0), word(s, u, 1), word(s, u, 2), word(s, u, 3));
  }
}

/* Folds the streams' words of access u into the first's, and stores them or adds them up. */
static void put_uses(FILE *to, int streams, int writes, int u, const char *hint) {
  for (int s = 1; s < streams; s++)
    for (int w = 0; w < WORDS; w++)
      fprintf(to, "  or.b32 %%v%d, %%v%d, %%v%d;\n", word(0, u, w), word(0, u, w), word(s, u, w));
  if (writes) {
    fprintf(to, "  add.u64 %%i, %%to, %%o%d;\n  @%%in%d st.global%s.v4.u32 [%%i], ", u, u, hint);
    put_words(to, u);
    fprintf(to, ";\n");
    return;
  }
  for (int w = 0; w < WORDS; w++)
    fprintf(to, "  or.b32 %%sum, %%sum, %%v%d;\n", word(0, u, w));
}

static void put_kernel(FILE *to, int streams, int once) {
  const int writes = streams != STREAMS_READING, reads = writes ? streams : 1;
  const char *hint = once ? ".cs" : "";

  fprintf(to, ".visible .entry %s(", streams_name(streams, once));
  for (int s = 0; s < STREAMS_MOST; s++)
    fprintf(to, ".param .u64 p_from%d, ", s);
  fprintf(to, ".param .u64 p_to, .param .u64 p_packs)\n{\n");
  fprintf(to, "  .reg .b64 %%from<%d>, %%to, %%packs, %%at, %%step, %%stride, %%i, %%o<%d>;\n",
          STREAMS_MOST, STREAMS_ACCESSES);
  fprintf(to, "  .reg .b32 %%v<%d>, %%sum, %%thread, %%block, %%threads, %%blocks;\n",
          word(STREAMS_MOST, 0, 0));
  fprintf(to, "  .reg .pred %%in<%d>, %%end;\n", STREAMS_ACCESSES);
  for (int s = 0; s < STREAMS_MOST; s++)
    fprintf(to, "  ld.param.u64 %%from%d, [p_from%d];\n", s, s);
  fprintf(
      to,
      "  ld.param.u64 %%to, [p_to];\n  ld.param.u64 %%packs, [p_packs];\n"
      "  mov.u32 %%thread, %%tid.x;\n  mov.u32 %%block, %%ctaid.x;\n"
      "  mov.u32 %%threads, %%ntid.x;\n  mov.u32 %%blocks, %%nctaid.x;\n"
      "  mul.wide.u32 %%at, %%block, %%threads;\n  mul.wide.u32 %%step, %%blocks, %%threads;\n");
  fprintf(to, "  mul.lo.u64 %%at, %%at, %d;\n  mul.lo.u64 %%step, %%step, %d;\n", STREAMS_ACCESSES,
          STREAMS_ACCESSES);
  fprintf(to, "  cvt.u64.u32 %%i, %%thread;\n  add.u64 %%at, %%at, %%i;\n"
              "  cvt.u64.u32 %%stride, %%threads;\n  mov.u32 %%sum, 0;\n"
              "again:\n  setp.ge.u64 %%end, %%at, %%packs;\n  @%%end bra done;\n");
  for (int u = 0; u < STREAMS_ACCESSES; u++)
    put_loads(to, reads, u, hint);
  for (int u = 0; u < STREAMS_ACCESSES; u++)
    put_uses(to, reads, writes, u, hint);
  fprintf(to, "  add.u64 %%at, %%at, %%step;\n  bra again;\ndone:\n");
  if (!writes)
    fprintf(to, "  setp.eq.u32 %%end, %%sum, 0x5bd1e995;\n  @%%end st.global.u32 [%%to], %%sum;\n");
  fprintf(to, "  ret;\n}\n");
}

const char *streams_ptx(void) {
  static char *text;
  size_t size;
  FILE *to = text ? NULL : open_memstream(&text, &size);

  if (!to)
    return text;
  fprintf(to, ".version 7.0\n.target sm_80\n.address_size 64\n");
  for (int streams = STREAMS_READING; streams <= STREAMS_MOST; streams++)
    for (int once = 0; once < 2; once++)
      put_kernel(to, streams, once);
  fclose(to);
  return text;
}
