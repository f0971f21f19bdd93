/* device.h - other libraries that compute what lathe's ops do, as a device: Python expressions of the specs
 * (lathe_op.peers), run in processes of their own on the very same inputs. */
#ifndef PEER_DEVICE_H
#define PEER_DEVICE_H

#include "devices/common/device.h"

/* One device for all libraries. A variant's backend is named for the library that runs it (peers.h). */
device_list device_peer(void);

#endif
