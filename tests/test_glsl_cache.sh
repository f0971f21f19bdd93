#!/bin/sh
# test_glsl_cache.sh - gen/cache.sh, which keeps what a build made of a file of GLSL. Needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1
XZ=xz
export XZ
cache() { sh "$LATHE_SRC/gen/cache.sh" "$@"; }
lacks() { ! cache take "$@"; }
entries() { find kept -type f | wc -l; }

echo source >in
echo made >out
is 'nothing is kept yet' lacks kept 'tool 1' in got
is 'keeps' cache keep kept 'tool 1' in out
is 'takes' cache take kept 'tool 1' in got
is 'takes what was kept' cmp out got
is 'a file of now, which ninja asks for' test got -nt out

echo 'source, changed' >other
is 'of another source there is nothing' lacks kept 'tool 1' other got.2
is 'of another tool there is nothing' lacks kept 'tool 2' in got.2
is 'nothing is left of what was not had' test -z "$(ls got.2* 2>/dev/null)"

# Whatever happens to an entry, what is taken is what was kept.
entry=$(find kept -type f)
size=$(wc -c <"$entry")
cp "$entry" whole
at=0
while [ "$at" -lt "$size" ]; do
  { head -c "$at" whole && printf '\377' && tail -c "+$((at + 2))" whole; } >"$entry"
  rm -f got
  cache take kept 'tool 1' in got
  is "byte $at is another" sh -c '[ ! -e got ] || cmp got out'
  at=$((at + 1))
done
: >"$entry"
is 'an empty entry' lacks kept 'tool 1' in got
head -c $((size - 3)) whole >"$entry"
is 'a short entry' lacks kept 'tool 1' in got
is 'one is kept in its place' cache keep kept 'tool 1' in out
is 'one is kept in its place' cache take kept 'tool 1' in got

# Many builds at once.
for n in 1 2 3 4 5 6 7 8; do
  (cache keep kept 'tool 1' in out && cache take kept 'tool 1' in "got.$n" && cmp "got.$n" out || echo "build $n" >>bad) &
done
wait
is 'builds share the folder' test ! -e bad
is 'builds share the folder' test "$(entries)" = 1

# What nobody took for a month goes, what was taken stays.
touch -d '40 days ago' "$entry"
is 'takes an old one' cache take kept 'tool 1' in got
is 'keeps another' cache keep kept 'tool 1' other out
is 'which leaves what was taken' test "$(entries)" = 2
touch -d '40 days ago' "$entry"
is 'keeps another' cache keep kept 'tool 2' other out
is 'and removes what was not' test ! -e "$entry"

# Without a cache, and where there can be none, a build goes on.
is 'no folder' lacks '' 'tool 1' in got
is 'no folder' cache keep '' 'tool 1' in out
is 'a folder that cannot be' cache keep /dev/null/kept 'tool 1' in out
is 'a folder that cannot be' lacks /dev/null/kept 'tool 1' in got
XZ=/nonexistent
is 'no xz' cache keep kept 'tool 1' other out
is 'no xz' lacks kept 'tool 1' other got

summary
