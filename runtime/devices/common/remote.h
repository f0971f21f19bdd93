/* remote.h - calls whose operands lie in a device's own memory: their buffers, and what they left there, looked at
 * here. */
#ifndef REMOTE_H
#define REMOTE_H

#include "device.h"

enum {
  REMOTE_GUARD = 4096, /* bytes at least on each side of a buffer's data */

  /* Buffers of a call: its operands', the workspace, and the inputs of the problem that it takes turns with. */
  REMOTE_WORKSPACE = LATHE_MAX_OPERANDS,
  REMOTE_OTHER,
  REMOTE_BUFFERS = REMOTE_OTHER + LATHE_MAX_OPERANDS,
};

/* The filling of guards. */
extern const unsigned char remote_guard_byte;

/* Such a call, the head of its kind's own type, with copies of operands that were read: null where there is none
 * yet. */
typedef struct remote_call {
  device_call head;
  lathe_args args, other_args; /* other_args: of the problem that calls take turns with */
  bool by_call;                /* each call takes its turn, not each batch */
  void *host[LATHE_MAX_OPERANDS];
  size_t pinned[LATHE_MAX_OPERANDS]; /* bytes of these, 0 for none */
  size_t workspace;                  /* bytes of it */
} remote_call;

/* The operations that a kind of devices has of its own, on a call's buffers by number. False is with the reason in
 * call->error. */
typedef struct remote_kind {
  /* False where no more can be asked of the call. */
  bool (*usable)(device_call *call);
  /* A buffer with guards, of which the data starts so many bytes after a boundary; its address, in the form in which
   * generated code takes it, or null. */
  void *(*make)(device_call *call, int buffer, size_t bytes, size_t offset);
  void (*free)(device_call *call, int buffer);
  /* Guard bytes ahead of a buffer's data; 0 where there is none. */
  size_t (*lead)(device_call *call, int buffer);
  /* Bytes from `at` on, counted from the data's start. */
  bool (*read)(device_call *call, int buffer, ptrdiff_t at, void *to, size_t bytes);
  bool (*write)(device_call *call, int buffer, size_t at, const void *from, size_t bytes);
  bool (*fill)(device_call *call, int buffer, unsigned char value);
  /* Pins the memory of a large copy, false where the device cannot, and lets go what is pinned. Null for neither. */
  bool (*pin)(void *memory, size_t bytes);
  void (*unpin)(void *memory);
} remote_kind;

/* For prepare: the buffers of a call with the problem's inputs in them, and a workspace of zeros. */
bool remote_allocate(remote_call *r);

/* For take_turns. Where a cache may hold the operands, but not two problems' inputs, a batch has one problem. Both fit
 * in `fits` bytes of the cache; operands of more than `beyond` bytes are in no cache. */
bool remote_take_turns(device_call *call, const problem *other, double fits, double beyond);

/* device.h's functions of the same names. */
bool remote_load(device_call *call, const problem *p);
void remote_reset(device_call *call);
const void *remote_output(device_call *call, int operand);
bool remote_intact(device_call *call);
bool remote_peek(device_call *call, int operand, size_t at, void *to, size_t bytes);
bool remote_poke(device_call *call, int operand, size_t at, const void *from, size_t bytes);

/* The buffers, and the copies. Of copies that are pinned some are kept, for calls to come. */
void remote_free(remote_call *r);

/* Gives these back. */
void remote_forget(void);

#endif
