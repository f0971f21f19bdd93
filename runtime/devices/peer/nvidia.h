/* nvidia.h - libraries for NVIDIA's GPUs, which are opened when they are first called. */
#ifndef NVIDIA_H
#define NVIDIA_H

#include "devices/common/shared_object.h"

/* Opens the first there is of some files, newest first, null after the last: where the loader looks, where
 * `./configure --install-deps=peers` has them with PyTorch, or in the toolkit. False with one line in why. */
bool nvidia_open(shared_object *l, const char *const *files, char *why, size_t size);

#endif
