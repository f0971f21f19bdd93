/* profile.h - where the time of a call goes. */
#ifndef PROFILE_H
#define PROFILE_H

#include "devices/common/device.h"

/* Of one call; NaN for what there is not, or what cannot be known. */
typedef struct profile {
  bool taken;
  double host;              /* ns from asking for a call alone until it is known to have ended */
  double launch;            /* ns of that for which the host was asking */
  double copy_in, copy_out; /* ns: all inputs to the device, all outputs from there */
  /* The same where the host's memory is pinned: the device reads and writes it itself. */
  double pinned_in, pinned_out;
  double instructions, cycles, cache_misses; /* on a processor, of one thread */
} profile;

/* calls: so many in a row are counted. False where a call failed, with the reason in call->error. */
bool profile_call(device_call *call, uint64_t calls, profile *p);

#endif
