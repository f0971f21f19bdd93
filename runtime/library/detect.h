/* detect.h - the vector instructions that both this processor, of x86, and its operating system support. */
#ifndef DETECT_H
#define DETECT_H

#include <cpuid.h>

#include "call.h"

/* The register states that the operating system saves: without them an instruction that the
 * processor knows still faults. */
static inline uint64_t lathe_saved_states(void) {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static inline uint64_t lathe_detect(void) {
  const uint64_t ymm = 0x6, zmm = 0xe6;
  uint32_t a, b, c, d;
  uint64_t found = 0, states = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d))
    return 0;
  if (d & bit_SSE2)
    found |= LATHE_SSE2;
  if (c & bit_OSXSAVE)
    states = lathe_saved_states();
  if ((states & ymm) != ymm || !(c & bit_AVX))
    return found;
  if (c & bit_FMA)
    found |= LATHE_FMA;
  if (c & bit_F16C)
    found |= LATHE_F16C;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return found;
  if (b & bit_AVX2)
    found |= LATHE_AVX2;
  if ((states & zmm) != zmm || !(b & bit_AVX512F))
    return found;
  found |= LATHE_AVX512F;
  if (b & bit_AVX512BW)
    found |= LATHE_AVX512BW;
  if (b & bit_AVX512DQ)
    found |= LATHE_AVX512DQ;
  if (b & bit_AVX512VL)
    found |= LATHE_AVX512VL;
  if (c & bit_AVX512VNNI)
    found |= LATHE_AVX512VNNI;
  return found;
}

#endif
