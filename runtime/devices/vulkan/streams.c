/* streams.c - the module of streams.comp, which the build makes where it makes kernels. */
#include "vulkan.h"

#ifdef HAVE_VULKAN
#ifdef VULKAN_STREAMS
__asm__(".section .rodata\n"
        ".balign 16\n"
        "vulkan_streams_start:\n"
        ".incbin \"streams.image.zst\"\n"
        "vulkan_streams_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const unsigned char vulkan_streams_start[], vulkan_streams_end[];
const lathe_image vulkan_streams = {.start = vulkan_streams_start, .end = vulkan_streams_end};
#else
const lathe_image vulkan_streams = {0};
#endif
#endif
