/* kind.c - what all devices of a kind have alike. */
#include "kind.h"

static const device_kind kinds[] = {
    [LATHE_CPU] = {.not_asked = "no processor was asked for",
                   .on_host = true,
                   .host_clock = true,
                   .quick = true,
                   .empty_rows = true},
    [LATHE_CUDA] = {.not_asked = "no CUDA device was asked for", .named = true, .ways = LATHE_CUDA},
    [LATHE_VULKAN] = {.not_asked = "no Vulkan device was asked for",
                      .empty_rows = true,
                      .ways = LATHE_VULKAN},
    [LATHE_PEER] = {.not_asked = "no peer was asked for",
                    .on_host = true,
                    .quick = true,
                    .empty_rows = true,
                    .ways = LATHE_CPU},
};

const device_kind *device_kind_of(lathe_kind kind) {
  return &kinds[kind];
}
