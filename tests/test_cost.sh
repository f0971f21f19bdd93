#!/bin/sh
# test_cost.sh - how many kernels there are of each op and backend is what tests/cost.expected says, and so is how
# long their sources are, to 2 % and without #line, whose paths are as long as those of the tree: growth is to be decided. Needs LATHE_SRC and LATHE_GEN.

. "$LATHE_SRC/tests/check.sh"

expected=$LATHE_SRC/tests/cost.expected
is 'counts' sh -c '"$LATHE_GEN" --src "$LATHE_SRC" --no-line size >"$1"' sh "$tmp/size"
is 'in 100 columns' test "$(tail -n +2 "$tmp/size" | wc -L)" -le 100
[ -z "${LATHE_UPDATE_GOLDEN-}" ] || cp "$tmp/size" "$expected"

# changed FILE FILE: the lines of ops that differ, as far as templates may not let them without a word.
changed() {
  awk '
    function near(a, b) { return a == b || (a - b) ^ 2 <= (b / 50 > 1 ? b / 50 : 1) ^ 2 }
    FNR < 3 { if (FNR == NR) head[FNR] = $0; else if (head[FNR] != $0) print "+" $0; next }
    FNR == NR { line[$1] = $0; next }
    {
      fields = split(line[$1], was)
      same = fields == NF
      for (i = 2; i <= NF; i += 2) same = same && $i == was[i] && near($(i + 1), was[i + 1])
      if (!same) print (fields ? "-" line[$1] "\n" : "") "+" $0
      delete line[$1]
    }
    END { for (op in line) print "-" line[op] }
  ' "$1" "$2"
}
changed "$expected" "$tmp/size" >"$tmp/changes"
cat "$tmp/changes"
is 'as decided: kernels and KB of sources as in tests/cost.expected, or accept: LATHE_UPDATE_GOLDEN=1 TESTS=cost ninja test' \
  test ! -s "$tmp/changes"

# What it would not let pass.
differs() { # differs SCRIPT LINES: so many, of the table changed by sed
  sed "$1" "$expected" >"$tmp/other"
  [ "$(changed "$tmp/other" "$expected" | wc -l)" = "$2" ]
}
is 'an op more' differs '/^softmax /d' 1
is 'an op less' differs 's/^softmax .*/&\n&/; s/^softmax /more /' 1
is 'a kernel more' differs '/^softmax /s/ 8 / 7 /' 2
is 'kilobytes more' differs '/^softmax /s/ 8  \([0-9]*\)/ 8  1\1/' 2
is 'a backend more' differs 's/ avx2/     /' 1

summary
