/* spirv.h - modules of SPIR-V as arrays of words. */
#ifndef SPIRV_H
#define SPIRV_H

#include <stddef.h>
#include <stdint.h>

/* From the SPIR-V specification. */
enum {
  SPIRV_MAGIC = 0x07230203,
  SPIRV_HEADER = 5, /* words ahead of the first instruction */
  SPIRV_ENTRY_POINT = 15,
  SPIRV_EXECUTION_MODE = 16,
  SPIRV_CAPABILITY = 17,
  SPIRV_TYPE_FLOAT = 22,
};

/* An instruction's first word has its length in words and what it is. */
static inline uint32_t spirv_length(uint32_t word) {
  return word >> 16;
}

static inline uint32_t spirv_op(uint32_t word) {
  return word & 0xffff;
}

/* One kernel of a module whose entry point does nothing but call all of them: the module with the nth of the calls
 * alone, from 0 on, and nothing that this does not need; drivers take their time with what is in a module. Its words
 * go to count. Released by free; null where the module is not so, or has no such call, or there is no memory. */
uint32_t *spirv_kernel(const uint32_t *words, size_t length, uint32_t nth, size_t *count);

#endif
