/* device.h - other libraries that compute what lathe's ops do, as a device: Python expressions of the specs
 * (lathe_op.peers), run in processes of their own on the very same inputs. */
#ifndef PEER_DEVICE_H
#define PEER_DEVICE_H

#include "devices/common/device.h"

/* The processor, and then each GPU that may be here by CUDA's name for it: cuda0 and so on. What runs on which is
 * peers.h's to say. Then the same once more: see below. */
device_list device_peer(void);

/* The one of these by its id, null for none; judged: for functions of Python that somebody wrote, whose times have a
 * ceiling: cpu, cuda0. */
device *device_peer_of(const char *id, bool judged);

#endif
