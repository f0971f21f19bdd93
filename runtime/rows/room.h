/* room.h - whether there is memory for a variant at a size. */
#ifndef ROOM_H
#define ROOM_H

#include "library/dispatch.h"

/* Bytes that are free on a device and on the host; below 0 where that is not known. */
typedef struct room_left {
  double device, host;
} room_left;

/* Null where there is memory for a variant's operands; else the need, in a text that lasts until the next call. solve:
 * there must also be memory for the problem that checks them. The problem is always on the host, and so is a copy of
 * the results. */
const char *room_refusal(const lathe_variant *variant, const size_t *dim, bool solve,
                         room_left left);

#endif
