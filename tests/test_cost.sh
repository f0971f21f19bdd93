#!/bin/sh
# test_cost.sh - how many kernels there are of each op and backend, and how long their sources are, is what
# tests/cost.expected says: growth is to be decided. Needs LATHE_SRC and LATHE_GEN.

. "$LATHE_SRC/tests/check.sh"

expected=$LATHE_SRC/tests/cost.expected
is 'counts' sh -c '"$LATHE_GEN" --src "$LATHE_SRC" size >"$1"' sh "$tmp/size"
is 'in 100 columns' test "$(tail -n +2 "$tmp/size" | wc -L)" -le 100
if [ "${LATHE_UPDATE_GOLDEN-}" ]; then
  cp "$tmp/size" "$expected"
elif ! diff -U 0 "$expected" "$tmp/size" >"$tmp/changes"; then
  grep '^[-+][a-z]' "$tmp/changes"
  echo 'the kernels of these ops have become more or fewer, or their sources (KB) longer or shorter, than'
  echo 'tests/cost.expected says; if that is as wanted: LATHE_UPDATE_GOLDEN=1 TESTS=cost ninja test'
  is 'as decided' false
else
  is 'as decided' true
fi

summary
