/* stream.h - what streams are made with, in kernels of each instruction set. */
#ifndef LATHE_STREAM_H
#define LATHE_STREAM_H

#include <math.h>

#include "contract.h"
#include "places.h"

#endif
