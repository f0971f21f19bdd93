#!/bin/sh
# test_counts.sh - counts.sh, by which `ninja lint` holds how long files and lines are. Needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"

is 'no count is above its limit' sh "$LATHE_SRC/tests/counts.sh" "$LATHE_SRC"

# over LINE: what it says of the copy has this line alone; the copy is made anew.
over() {
  sh "$LATHE_SRC/tests/counts.sh" "$tmp/copy" >"$tmp/said"
  [ $? = 1 ] && [ "$(cat "$tmp/said")" = "$1" ]
}
copy() {
  rm -rf "$tmp/copy"
  mkdir "$tmp/copy"
  for name in README.md build.ninja.in configure gen runtime specs templates tests; do
    cp -R "$LATHE_SRC/$name" "$tmp/copy/"
  done
}
lines() { awk -v count="$1" 'BEGIN { for (i = 0; i < count; i++) print "-- a line" }'; }

copy
lines 601 >"$tmp/copy/gen/load/long.lua"
is 'finds a long file' over 'gen/load/long.lua: expected at most 600 lines, found 601; cut it by purpose'
copy
lines 201 >"$tmp/copy/README.md"
is 'finds a long README' over 'README.md: expected at most 200 lines, found 201'
copy
printf -- '-- %0120d\n' 0 >"$tmp/copy/gen/load/wide.lua"
is 'finds a wide line' over 'gen/load/wide.lua:1: expected at most 120 columns, found 123'
copy
printf 'A %0120d\n' 0 >"$tmp/copy/specs/README.md"
is 'finds a wide paragraph' over './specs/README.md:1: expected at most 120 columns, found 122'
copy
printf '| %0120d |\n\n    %0120d\n' 0 0 >"$tmp/copy/specs/README.md"
is 'lets tables and commands be' sh "$LATHE_SRC/tests/counts.sh" "$tmp/copy"
for name in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  lines 600 >"$tmp/copy/runtime/base/$name.c"
done
# shellcheck disable=SC2016
is 'finds a runtime that grows' sh -c 'sh "$1" "$2" | grep "^runtime/: expected at most"' - \
  "$LATHE_SRC/tests/counts.sh" "$tmp/copy"

summary
