#!/bin/sh
# test_launch.sh - which kernels calls launch on GPUs, by the rows that the generator makes: the same as expected.txt
# says, of many sizes and kinds of devices. Needs LATHE_SRC and LATHE_GEN, and no GPU. With LATHE_UPDATE_GOLDEN=1 in
# the environment that file is written anew.

. "$LATHE_SRC/tests/check.sh"

here=$LATHE_SRC/tests/launch
mkdir "$tmp/tree"
cp -r "$here/specs" "$LATHE_SRC/templates" "$tmp/tree/"
is generates "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/out" --backend cuda --backend vulkan all
for image in $(cat "$tmp"/out/*/*_host.c | sed -n 's/.*incbin \\"\(.*\)\\".*/\1/p'); do
  : >"$tmp/out/$image"
done
schedules=$(cat "$tmp"/out/*/*_host.c | sed -n 's/^extern const lathe_schedule \(.*\)_schedule;/X(\1)/p')
is 'compiles' cc -std=gnu11 -Wall -Wextra -Werror -I"$LATHE_SRC/runtime/library" -Wa,-I"$tmp/out" -DSCHEDULES="$(echo $schedules)" \
  "$here/dump.c" "$LATHE_SRC/runtime/library/launch.c" "$LATHE_SRC/runtime/library/steps.c" "$tmp"/out/*/*_host.c -o "$tmp/dump"
"$tmp/dump" >"$tmp/launches.txt"
[ -z "${LATHE_UPDATE_GOLDEN-}" ] || cp "$tmp/launches.txt" "$here/expected.txt"
is 'launches the same kernels' diff -u "$here/expected.txt" "$tmp/launches.txt"

summary
