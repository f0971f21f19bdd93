#!/bin/sh
# test_launch.sh - which kernels calls launch on GPUs, by the functions that the generator writes: of drawn calls, on many
# kinds of devices, what launch/check.c says. Needs LATHE_SRC and LATHE_GEN, and no GPU.

. "$LATHE_SRC/tests/check.sh"

mkdir "$tmp/tree"
cp -r "$LATHE_SRC/tests/launch/specs" "$LATHE_SRC/templates" "$tmp/tree/"
is generates "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/out" --backend cuda --backend vulkan all
for image in $(cat "$tmp"/out/*/*_host.c | sed -n 's/.*incbin \\"\(.*\)\\".*/\1/p'); do
  : >"$tmp/out/$image"
done
schedules=$(cat "$tmp"/out/*/*_host.c | sed -n 's/^extern const lathe_schedule \(.*\)_schedule;/X(\1)/p')
library=$LATHE_SRC/runtime/library
includes="-I$library -I$LATHE_SRC/templates/gpu"
for deal in tiles waves rows blocks stay parts_of_rows join columns merge take; do
  checked="${checked-} -Dlathe_$deal=checked_$deal"
done
cc="cc -std=gnu11 -O1 -Wall -Wextra -Werror $includes"
mkdir "$tmp/objects"
is compiles sh -c "cd '$tmp/objects' && $cc $checked -Wa,-I'$tmp/out' -c '$tmp'/out/*/*_host.c"
is 'compiles the check' $cc -DSCHEDULES="$(echo $schedules)" "$LATHE_SRC/tests/launch/check.c" "$library/launch.c" \
  "$LATHE_SRC/templates/gpu/launches.c" "$tmp"/objects/*.o -o "$tmp/check"
"$tmp/check" >"$tmp/found"
head -20 "$tmp/found"
is 'launches what there is to do' test ! -s "$tmp/found"

summary
