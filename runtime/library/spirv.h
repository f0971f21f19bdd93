/* spirv.h - modules of SPIR-V as arrays of words. */
#ifndef SPIRV_H
#define SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From the SPIR-V specification. */
enum {
  LATHE_SPIRV_MAGIC = 0x07230203,
  LATHE_SPIRV_HEADER = 5, /* words ahead of the first instruction */
  LATHE_SPIRV_ENTRY_POINT = 15,
  LATHE_SPIRV_EXECUTION_MODE = 16,
  LATHE_SPIRV_CAPABILITY = 17,
  LATHE_SPIRV_TYPE_FLOAT = 22,
};

/* An instruction's first word has its length in words and what it is. */
static inline uint32_t lathe_spirv_length(uint32_t word) {
  return word >> 16;
}

static inline uint32_t lathe_spirv_op(uint32_t word) {
  return word & 0xffff;
}

/* One kernel of a module whose entry point does nothing but call all of them: the module with the nth of the calls
 * alone, from 0 on, and nothing that this does not need; drivers take their time with what is in a module. Its words
 * go to count. Released by free; null where the module is not so, or has no such call, or there is no memory. */
uint32_t *lathe_spirv_kernel(const uint32_t *words, size_t length, uint32_t nth, size_t *count);

/* What a device keeps in the arithmetic of a type, as VkPhysicalDeviceFloatControlsProperties has it: widths are 16, 32
 * and 64 in this order. */
enum { LATHE_WIDTHS = 3 };

/* Whether a behaviour may be another for each width (VkShaderFloatControlsIndependence). */
enum { LATHE_APART_F32, LATHE_APART_ALL, LATHE_APART_NONE };

typedef struct lathe_floats {
  uint32_t specials[LATHE_WIDTHS];     /* NaN, infinities, and the sign of zero */
  uint32_t denormals[LATHE_WIDTHS];    /* numbers below the normal range */
  uint32_t nearest[LATHE_WIDTHS];      /* rounds to the nearest, of two to the even one */
  int denormals_apart, rounding_apart; /* for which widths */
  bool keeps_f16;                      /* it keeps f16 below the normal range unasked */
} lathe_floats;

/* A copy of a module that asks for what the device keeps of NaN, denormals and rounding: GLSL has no words for it, and
 * a module that asks for more than a device has is not valid there. Released by free; null where there is no memory. */
uint32_t *lathe_spirv_ask(const uint32_t *from, size_t count, bool loose,
                          const lathe_floats *floats, size_t *words);

#endif
