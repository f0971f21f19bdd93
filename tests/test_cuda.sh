#!/bin/sh
# test_cuda.sh - what of the CUDA backend can be tested without a GPU. Needs LATHE_SRC, LATHE_GEN and
# LATHE_BENCH. With LATHE_UPDATE_GOLDEN=1 in the environment the golden files are written anew.

passed=0
failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

is() { # is WHAT COMMAND...: one test
  what=$1
  shift
  if "$@" >"$tmp/said" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s: %s\n' "$what" "$*"
    sed 's/^/  /' "$tmp/said"
  fi
}

# ---- what the templates make of one small op of each family -------------------------------------

mkdir "$tmp/tree"
cp -r "$LATHE_SRC/tests/cuda/specs" "$LATHE_SRC/templates" "$tmp/tree/"
is generates "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/out" --no-line --backend cuda all
for op in map reduce rows; do
  for file in small_${op}_f32__cuda.cu small_${op}_f32__cuda_host.c; do
    golden=$LATHE_SRC/tests/cuda/expected/$file
    [ -z "${LATHE_UPDATE_GOLDEN-}" ] || cp "$tmp/out/small_$op/$file" "$golden"
    is "golden $file" diff -u "$golden" "$tmp/out/small_$op/$file"
  done
  # The host's side is C that the table calls: it must compile whether there is an nvcc or not.
  : >"$tmp/out/small_$op/small_${op}_f32__cuda.image"
  is "host's side of small_$op" cc -std=gnu11 -Wall -Wextra -Werror -I"$LATHE_SRC/runtime" \
    -Wa,-I"$tmp/out" -c "$tmp/out/small_$op/small_${op}_f32__cuda_host.c" -o "$tmp/host.o"
done

# refused WORDS PARAMETERS: a variant's row that the backend does not take
refused() {
  sed "s/block = 64, unroll = 1, waves = 2/$2/" "$LATHE_SRC/tests/cuda/specs/small.lua" \
    >"$tmp/tree/specs/small.lua"
  "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/bad" index >"$tmp/stdout" 2>"$tmp/stderr"
  is "refuses $2" test $? = 1
  is "refuses $2" grep -F -e "$1" "$tmp/stderr"
}
refused 'block = 96: expected a power of two' 'block = 96'
refused 'unroll = 3: expected a power of two' 'unroll = 3'
refused 'at most the 2048 threads' 'block = 1024, waves = 4'

# ---- the bench program --------------------------------------------------------------------------

"$LATHE_BENCH" --list-backends >"$tmp/backends"
"$LATHE_BENCH" --list-devices >"$tmp/devices"
is 'lists the backend' grep '^cuda ' "$tmp/backends"
if grep -q '^cuda[0-9]: ' "$tmp/devices"; then
  is 'is right on the GPU' "$LATHE_BENCH" --backend cuda --op add,sum,softmax --check-only
else
  is 'says why there is no device' grep '^cuda: none: NVIDIA' "$tmp/devices"
  "$LATHE_BENCH" --backend cuda --op add --size 100 --check-only --csv "$tmp/rows.csv" >/dev/null
  is 'nothing can run' test $? = 3
  is 'a row with its reason' grep -E 'skipped.*(NVIDIA|nvcc|disable-cuda)' "$tmp/rows.csv"
fi

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
