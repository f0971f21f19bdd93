#!/bin/sh
# test_explain.sh - what --explain says of a variant is so. Needs LATHE_SRC and LATHE_BENCH, in the folder of the build.

. "$LATHE_SRC/tests/check.sh"

export VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent LATHE_CPU_FEATURES=''

explain() { "$LATHE_BENCH" --explain "$1" 2>&1 | tr -s '\n ' ' '; }
says() { # says ROW WORDS: they are in what is told of a row
  is "$1: $2" sh -c 'printf "%s\n" "$1" | grep -F -e "$2"' - "$(explain "$1")" "$2"
}

# Without vectors dispatch has scalar code alone: of its variants one is chosen, and the others are not.
variants=$("$LATHE_BENCH" --list-variants --op exp --backend scalar | grep -o '^exp_f32__[a-z0-9_]*')
for v in $variants; do
  explain "$v/10K" >"$tmp/$v"
done
is 'there are some' test -n "$variants"
is 'one is chosen' test "$(grep -l 'dispatch chosen:' "$tmp"/exp_* | wc -l)" = 1
chosen=$(basename "$(grep -l 'dispatch chosen:' "$tmp"/exp_*)")
is 'as the list has it' sh -c '"$LATHE_BENCH" --list-variants --variant "$1" --size 10K | grep -q "dispatch chooses it at 10K"' - "$chosen"
is 'for which others are passed over' test "$(grep -l "passed over for $chosen" "$tmp"/exp_* | wc -l)" = \
  "$(($(echo "$variants" | wc -w) - 1))"
says "$chosen" 'asked for specs/activations.lua:'
says "$chosen" 'generated out/gen/exp/exp__scalar.c, from templates/c/map.c'
says exp_f32__avx2_u4/10K 'passed over: '
is 'the command is one' sh -c "$(explain "$chosen" | grep -o 'objdump [^ ]* [^ ]* [^ ]* [^ ]*') | grep -q ret"
is 'the file is there' test -f "$(dirname "$LATHE_BENCH")/gen/exp/exp__scalar.c"


says no_such_variant 'unknown variant'
says /10K 'names no variant'

# Without a device, and on one.
case $(explain 'exp_f32__cuda_b128_u1/10K') in
*disabled* | *unknown*) echo 'there are no CUDA kernels here' ;;
*)
  says exp_f32__cuda_b128_u1/10K 'dispatch not here: '
  says exp_f32__cuda_b128_u1/10K 'kernel exp_f32__cuda_b128_u1: sm_'
  says exp_f32__cuda_b128_u1/10K ' registers'
  cc -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -shared -fPIC -I"$LATHE_SRC/runtime" \
    "$LATHE_SRC/tests/cuda/driver/driver.c" "$LATHE_SRC/tests/cuda/driver/device.c" \
    "$LATHE_SRC/tests/cuda/driver/defaults.c" -o "$tmp/libcuda.so.1" -lm
  export LD_LIBRARY_PATH="$tmp"
  says exp_f32__cuda_b128_u1/10K \
    'blocks of 128x1x1 threads, 40 registers, 16.0 B of shared memory, 12 blocks at once on a multiprocessor, occupancy 75%'
  ;;
esac

summary
