/* kind.h - what all devices of a kind have alike, asked by its name. */
#ifndef KIND_H
#define KIND_H

#include "library/dispatch.h"

/* Of those that lists show; peers are asked for apart (devices/peer/peers.h). */
enum { DEVICE_KINDS = LATHE_VULKAN + 1 };

typedef struct device_kind {
  const char *not_asked; /* why its variants do not run where none of its devices was asked for */
  /* Operands lie in the host's memory, and calls run on its processor, without a driver. */
  bool on_host;
  bool host_clock; /* calls are judged by the host's clock, else by the device's own */
  bool quick;      /* a small call takes no microseconds, so that many can be tried */
  bool named;      /* the kernels of a module are told apart by their names */
  bool empty_rows; /* what its kernels find in a row of nothing is said, and not left open */
  lathe_kind ways; /* the kind of kernels whose sizes try all code */
} device_kind;

const device_kind *device_kind_of(lathe_kind kind);

#endif
