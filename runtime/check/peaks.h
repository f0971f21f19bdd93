/* peaks.h - extremes, tried with each element of the inputs as the extreme one. */
#ifndef PEAKS_H
#define PEAKS_H

#include "probe.h"

/* Right, or wrong with the first trial in which it was, which is then in *now. Right for an op without extremes. */
check_result peaks_try(device *on, const lathe_variant *v, uint64_t seed, trial *now);

#endif
