/* kind.c - what all devices of a kind have alike. */
#include "kind.h"

static const device_kind kinds[] = {
    [LATHE_CPU] = {.name = "cpu",
                   .not_asked = "no processor was asked for",
                   .on_host = true,
                   .host_clock = true,
                   .quick = true,
                   .empty_rows = true},
    [LATHE_CUDA] = {.name = "cuda", .not_asked = "no CUDA device was asked for"},
    [LATHE_VULKAN] = {.name = "vulkan",
                      .not_asked = "no Vulkan device was asked for",
                      .empty_rows = true},
    [LATHE_PEER] = {.name = "peer", .not_asked = "no peer was asked for", .on_host = true},
};

const device_kind *device_kind_of(lathe_kind kind) {
  return &kinds[kind];
}
