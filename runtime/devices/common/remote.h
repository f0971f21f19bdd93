/* remote.h - what a call left in a device's own memory, looked at here. */
#ifndef REMOTE_H
#define REMOTE_H

#include "device.h"

enum { REMOTE_GUARD = 4096 /* bytes at least on each side of a buffer's data */ };

/* What guards are filled with, and outputs before a call. */
extern const unsigned char remote_guard_byte, remote_poison_byte;

/* Such a call: its device kind's functions, and copies of operands. */
typedef struct remote_call {
  device_call *call;
  void **host; /* by operand; null where there is none yet, else to be freed by the device kind */

  /* Guard bytes ahead of an operand's data, or with LATHE_MAX_OPERANDS of the workspace's; 0 where it
   * has no buffer of its own. */
  size_t (*lead)(device_call *call, int operand);
  /* Reads bytes from `at` on, counted from the data's start; false with the reason in call->error. */
  bool (*read)(device_call *call, int operand, ptrdiff_t at, void *to, size_t bytes);
  /* Told of large copies, once they are there; null for no wish to know. */
  void (*pin)(void *memory, size_t bytes);
} remote_call;

/* For device.h's output and intact. */
const void *remote_output(const remote_call *r, int operand);
bool remote_intact(const remote_call *r);

#endif
