#!/bin/sh
# test_rooms.sh - a folder of runtime/ includes only what stands below it, and asks for a property of a device by its
# name (devices/common/kind.h), not by the device's kind. Needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"

# From the bottom to the top.
rooms='library base problem devices/common devices/cpu devices/cuda devices/foreign devices/vulkan devices/peer devices check
  measure rows report bench'

# above FOLDER: what in a tree of the runtime includes a folder that is not below its own, or one that has no place here.
above() (
  cd "$1" || exit 1
  find . -name '*.[ch]' | sort | xargs awk -v rooms="$rooms" '
    BEGIN { count = split(rooms, list); for (i = 1; i <= count; i++) floor[list[i]] = i }
    FNR == 1 { own = FILENAME; sub("^\\./", "", own); if (!sub("/[^/]*$", "", own)) own = "."
      if (!(own in floor)) print FILENAME ": a folder that test_rooms.sh has no place for" }
    /^#include "[^"]*\// {
      split($0, part, "\""); other = part[2]; sub("/[^/]*$", "", other)
      if (!(other in floor) || floor[other] >= floor[own])
        printf "%s:%d: includes %s, which does not stand below %s\n", FILENAME, FNR, part[2], own
    }'
)

# by_kind FOLDER: where a device is asked for its kind.
by_kind() { grep -rnE '[=!]= *LATHE_(CPU|CUDA|VULKAN)\b' "$1"; }

nothing() { # nothing COMMAND...: it prints nothing
  "$@" >"$tmp/found"
  cat "$tmp/found"
  [ ! -s "$tmp/found" ]
}

is 'every folder includes what stands below it' nothing above "$LATHE_SRC/runtime"

is 'nothing asks for a kind' nothing by_kind "$LATHE_SRC/runtime"

# The faults that this is to find.
cp -R "$LATHE_SRC/runtime" "$tmp/runtime"
echo '#include "report/report.h"' >>"$tmp/runtime/measure/measure.h"
echo '#include "devices/vulkan/vulkan.h"' >>"$tmp/runtime/devices/cuda/driver.h"
mkdir "$tmp/runtime/attic" && echo >"$tmp/runtime/attic/old.c"
above "$tmp/runtime" >"$tmp/found"
is 'finds a circle' grep -q '^./measure/measure.h:[0-9]*: includes report/report.h' "$tmp/found"
is 'finds one among devices' grep -q '^./devices/cuda/driver.h:[0-9]*: includes devices/vulkan/vulkan.h' "$tmp/found"
is 'finds a folder of no place' grep -q '^./attic/old.c: a folder' "$tmp/found"
is 'finds no more' test "$(wc -l <"$tmp/found")" -eq 3

echo 'bool is_host(const device *on) { return on->kind == LATHE_CPU; }' >>"$tmp/runtime/measure/measure.c"
is 'finds what asks for a kind' test "$(by_kind "$tmp/runtime" | wc -l)" -eq 1

summary
