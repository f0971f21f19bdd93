#!/bin/sh
# bisect.sh - the commit from which on a row takes longer, by `git bisect run`. The script is copied out of the tree first,
# for commits that have another one or none:
#
#   cp tests/bisect.sh out/ && git bisect start BAD GOOD && git bisect run out/bisect.sh ROW BASE [CONFIGURE-OPTION...]
#
# ROW is a row's name in files, such as softmax_f32__avx2_a4_u1/10K; BASE is out/bench, or out/bench-OP, of a good commit,
# copied elsewhere as well. The op alone is built, in out/bisect, and has its turn with BASE's in the same rounds, in up
# to three runs. Exit status: 0 where the row takes no longer in any, 1 where it does, 125 where this commit cannot tell: it
# does not build, has no such row, or the row is not right.

set -u
row=${1-} base=${2-}
case $row in */*) ;; *) row='' ;; esac
if [ -z "$row" ] || [ ! -x "$base" ]; then
  echo "usage: bisect.sh VARIANT/SIZE BASE [CONFIGURE-OPTION...], where BASE is a good commit's out/bench" >&2
  exit 255 # which ends the bisection
fi
shift 2
case $base in /*) ;; *) base=$PWD/$base ;; esac
variant=${row%/*} size=${row##*/}
op=${variant%%__*}
dtype=${op##*_}
op=${op%_*}

cannot_tell() {
  echo "bisect.sh: $1; out/bisect/log has the details" >&2
  exit 125
}
cd "$(git rev-parse --show-toplevel)" && mkdir -p out/bisect && cd out/bisect || exit 255
{ ../../configure --ops="${op%_backward}" --dtypes="$dtype" "$@" && ninja out/bench; } >log 2>&1 || cannot_tell 'it does not build'
[ -x out/bench ] || cannot_tell 'it makes no bench program'
# A neighbour on the same core may hide a step for a while: it is to show in one of three runs.
for _ in 1 2 3; do
  out/bench --variant "$variant" --dtype "$dtype" --size "$size" --against "$base" >told 2>&1
  status=$?
  cat told >>log
  grep -E "^(SLOWER|faster|BROKEN)  $variant/|^[0-9]+ rows against " told
  if grep -q "^SLOWER  $variant/" told; then exit 1; fi
done
[ $status = 0 ] && grep -q '^[1-9][0-9]* rows against ' told || cannot_tell "$row is not timed in both"
