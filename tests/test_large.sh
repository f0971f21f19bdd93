#!/bin/sh
# test_large.sh - every op on the processor at more than 2^21 and 2^24 points, for what is wrong only there: counts
# that no longer fit, blocks that only long inputs have. Takes minutes; a part of `ninja test-long`. Needs
# LATHE_BENCH and LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"

for size in 2097155 2097169x1 4099x4099; do
  is "is right at $size" "$LATHE_BENCH" --backend cpu --check-only --size "$size"
done

summary
