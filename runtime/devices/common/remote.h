/* remote.h - what a call left in a device's own memory, looked at here. */
#ifndef REMOTE_H
#define REMOTE_H

#include "device.h"

enum { REMOTE_GUARD = 4096 /* bytes at least on each side of a buffer's data */ };

/* The filling of guards. */
extern const unsigned char remote_guard_byte;

/* Such a call, the head of its kind's own type, with copies of operands that were read: null where there is none
 * yet. */
typedef struct remote_call {
  device_call head;
  void *host[LATHE_MAX_OPERANDS];
  size_t pinned[LATHE_MAX_OPERANDS]; /* bytes of these, 0 for none */
  size_t workspace; /* bytes of one that the variant itself does not tell of; 0 for none */
} remote_call;

/* The operations that a kind of devices has of its own. Of operands LATHE_MAX_OPERANDS is the workspace. False is with
 * the reason in call->error. */
typedef struct remote_kind {
  /* False where no more can be asked of the call. */
  bool (*usable)(device_call *call);
  /* Guard bytes ahead of an operand's data; 0 where it has no buffer of its own. */
  size_t (*lead)(device_call *call, int operand);
  /* Bytes from `at` on, counted from the data's start. */
  bool (*read)(device_call *call, int operand, ptrdiff_t at, void *to, size_t bytes);
  bool (*write)(device_call *call, int operand, size_t at, const void *from, size_t bytes);
  bool (*fill)(device_call *call, int operand, unsigned char value);
  /* Pins the memory of a large copy, false where the device cannot, and lets go what is pinned. Null for neither. */
  bool (*pin)(void *memory, size_t bytes);
  void (*unpin)(void *memory);
} remote_kind;

/* device.h's functions of the same names. */
void remote_reset(device_call *call);
const void *remote_output(device_call *call, int operand);
bool remote_intact(device_call *call);
bool remote_peek(device_call *call, int operand, size_t at, void *to, size_t bytes);
bool remote_poke(device_call *call, int operand, size_t at, const void *from, size_t bytes);

/* The copies. Of those that are pinned some are kept, for calls to come. */
void remote_free(remote_call *r);

/* Gives these back. */
void remote_forget(void);

#endif
