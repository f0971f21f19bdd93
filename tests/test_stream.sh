#!/bin/sh
# test_stream.sh - streams (tests/specs-stream) by CUDA on tests/cuda/emulator, in each way to cut them, and faults planted
# in their templates, which the check must find. Needs LATHE_SRC, LATHE_GEN and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
templates_of_its_own
cp "$LATHE_SRC"/tests/specs-stream/* "$tmp/tree/specs/"

shows() { # shows OP TEXT: what its program is
  "$LATHE_GEN" --src "$tmp/tree" show "$1" --stage program | tr -s ' \n' ' ' | grep -F -e "$2"
}
is 'finds streams' shows causal 'stream of causal_f32__cuda_stream'
is 'has queries of a group as rows' shows causal 'm = { g s }, n = { t }, k = { d }'
is 'finds what is gathered with a maximum' shows window 'sum1 = sum of e^(power - peak)'
is 'takes what does not vary over keys out of a sum' shows biased 'step2 / (sum1 + exp('
is 'has sums without powers' shows normed 'between = weight'

if ! command -v "${CXX:-c++}" >/dev/null; then
  echo 'skipped: streams by CUDA on the processor: there is no C++ compiler'
  summary
  exit
fi

mkdir -p "$tmp/cuda/out" && cd "$tmp/cuda" || exit 1
is 'builds the driver' emulator_driver
is 'configures' configure_emulator
is 'takes the runtime' reuse
is 'builds kernels' ninja out/bench
streams() { emulated --variant '*stream*' "$@"; }
# Tiles of 64 and 128 rows, keys and columns, and parts of them; terms for both depths, and beyond both.
grouped=b=1xh=2xg=2xs=70xt=140xd=24xe=40
is 'is right' streams --op causal,window --size "$grouped,b=2xh=1xg=1xs=150xt=200xd=72xe=136"
is 'is right of biases at points' streams --op biased --size b=2xh=3xs=70xt=140xd=24xe=40,b=1xh=1xs=130xt=70xd=72xe=72
is 'is right by plain arithmetic' streams --op weighted,normed --size s=70xt=140xd=24xe=40,s=9xt=70xd=72xe=136
is 'is right of many terms' streams --op causal --size b=1xh=1xg=3xs=20xt=90xd=200xe=8,b=1xh=1xg=1xs=9xt=70xd=300xe=8
is 'is right where rows are not aligned' streams --op causal --size b=1xh=2xg=1xs=40xt=70xd=23xe=21
is 'is right of special values' streams --op causal,window --special nan,inf,zero,denormal --size b=1xh=2xg=2xs=30xt=70xd=8xe=8

# fault OP DTYPE FILE FROM TO SIZE: with that in place of a text some rows are wrong
fault() {
  plant "$tmp/tree/templates/cuda/$3" "$4" "$5" && ninja out/bench
  built=$?
  LD_LIBRARY_PATH=. out/bench --backend cuda --check-only --seed 3470038501 --variant '*stream*' --op "$1" --dtype "$2" \
    --size "$6" >"$tmp/rows" 2>&1
  wrong=$?
  cp "$LATHE_SRC/templates/cuda/$3" "$tmp/tree/templates/cuda/$3"
  [ $built = 0 ] && [ $wrong = 1 ] && grep ' wrong' "$tmp/rows"
}
is 'finds sums that are not made smaller' fault causal bf16 stream_tensor.h 'shrink(second, i, half, by);' '' "$grouped"
is 'finds keys that are not gathered' fault weighted f32 stream.h 'sums.add(b, r.s.second, m, n, key, key + keys);' \
  'sums.add(b, r.s.second, m, n, key, key + keys - 1);' s=70xt=140xd=24xe=40
is 'finds a tile left out' fault window f16 stream_rows.h 'from / within, last = to / within' \
  'from / within, last = from / within' "$grouped"
is 'finds a mask that is not asked' fault causal bf16 stream_tensor.h 'Rows::FREE && Rows::is_free(at, a, key, KEYS)' \
  'Rows::FREE' "$grouped"

summary
