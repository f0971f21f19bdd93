/* streams.c - the modules of streams.comp and matrices.comp, which the build makes where it makes kernels, the latter
 * where the compiler knows matrices. */
#include "vulkan.h"

#ifdef HAVE_VULKAN
#define IMAGE(name)                                                                                \
  __asm__(".section .rodata\n"                                                                     \
          ".balign 16\n"                                                                           \
          "vulkan_" #name "_start:\n"                                                              \
          ".incbin \"" #name ".images.xz\"\n"                                                      \
          "vulkan_" #name "_end:\n"                                                                \
          ".byte 0\n"                                                                              \
          ".previous\n");                                                                          \
  extern const unsigned char vulkan_##name##_start[], vulkan_##name##_end[];                       \
  const lathe_image vulkan_##name = {.start = vulkan_##name##_start, .end = vulkan_##name##_end}

#ifdef VULKAN_STREAMS
IMAGE(streams);
#else
const lathe_image vulkan_streams = {0};
#endif
#ifdef VULKAN_MATRICES
IMAGE(matrices);
#else
const lathe_image vulkan_matrices = {0};
#endif
#endif
