/* room.h - whether there is memory for a variant at a size. */
#ifndef ROOM_H
#define ROOM_H

#include "library/dispatch.h"

/* Bytes that are free on a device and on the host; below 0 where that is not known. */
typedef struct room_left {
  double device, host;
} room_left;

/* Null where a variant's operands, and with solve the problem that they are checked by, have their
 * memory; else what they would need, in a text that lasts until the next call. The problem is
 * always on the host, and so is a copy of the results. */
const char *room_refusal(const lathe_variant *variant, const size_t *dim, bool solve,
                         room_left left);

#endif
