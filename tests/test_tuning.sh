#!/bin/sh
# test_tuning.sh - `bench tune` writes a file of choices that later runs take, adds to one that is there, and refuses what
# does not fit. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1

bench() { # bench ARGUMENT...: status, and the files `output` and `stderr`
  "$LATHE_BENCH" "$@" >output 2>stderr
  status=$?
}
ends() { is "$1: ends with $2" test "$status" = "$2"; }
says() { is "$1" grep -e "$2" output; }
complains() { is "$1" grep -e "$2" stderr; }
tune() { bench tune choices --backend cpu --fast --iterations 3 "$@"; }
lines() { grep -c -e "$1" choices; }

tune --op exp,sum --size 1K,100K
ends 'tune' 0
says 'tells what the table loses' '^4 calls in choices: the table.s own choice takes at most 3 % longer'
is 'begins with its kind' test "$(head -n 1 choices)" = 'lathe-tuning 1'
is 'names the device' test "$(lines '^device cpu .')" = 1
is 'names no other device' test "$(lines '^device ')" = 1
is 'has a line for each call' test "$(lines '^[es][xu][pm] f32 cpu 100*0 [es][xu][pm]_f32__')" = 4

tune --op exp --size 100K,64K
ends 'tune again' 0
is 'keeps other calls, and has one line for each' test "$(lines ' f32 cpu ')" = 5
is 'measured one again' test "$(lines '^exp f32 cpu 100000 ')" = 1

# A run that leaves out the table's own choice knows of nothing that is faster.
cp choices choices.before
tune --op exp,sum --size 1K --variant 'exp_f32__scalar_u1,sum*'
ends 'tune of a part' 0
complains 'tells of calls that it leaves out' '^bench: warning: 1 calls are not in choices: '
says 'and counts them not' '^1 calls in choices: '
is 'their lines stay' test "$(grep '^exp f32 cpu 1000 ' choices)" = "$(grep '^exp f32 cpu 1000 ' choices.before)"
bench tune nothing --op exp --size 1K --fast --iterations 3 --variant exp_f32__scalar_u1
ends 'tune of nothing' 2
complains 'tells that nothing was measured' 'no call was measured with all of its variants: nothing is left as it was'
is 'writes no file' test ! -e nothing

bench tune --help
ends 'tune --help' 0
says 'tells how it is used' '^usage: bench tune FILE \[OPTION\]\.\.\.$'

# What the file says is what is chosen: the slowest kernel, where a line has it.
sed 's/^\(exp f32 cpu 1000\) [^ ]*/\1 exp_f32__scalar_u1/' choices >planted
cp choices choices.good
is 'plants' grep -q '^exp f32 cpu 1000 exp_f32__scalar_u1 ' planted
bench --op exp --size 1K --backend cpu --fast --iterations 3
is 'the table chooses another' sh -c '! grep "^[* ]>exp_f32__scalar_u1 " output'
bench --op exp --size 1K --backend cpu --fast --iterations 3 --tuning planted
ends '--tuning' 0
says 'the choice of a file' '^[* ]>exp_f32__scalar_u1 '
LATHE_TUNING=planted bench --op exp --size 2K --list-variants
ends 'LATHE_TUNING' 0

sed '/^device/!s/ [0-9a-f]*$/ 0/' planted | sed '1s/ 0$/ 1/' >stale
bench --op exp --size 1K --backend cpu --fast --iterations 3 --tuning stale
complains 'tells of choices among other variants' 'choices of stale are of other variants'
is 'and leaves them out' sh -c '! grep "^[* ]>exp_f32__scalar_u1 " output'

sed 's/^device cpu .*/device cpu another/' choices >elsewhere
bench --op exp --tuning elsewhere
ends 'another device' 2
complains 'names both devices' "elsewhere:2: expected device '.*', found 'another'"
cp elsewhere choices
tune --op exp
ends 'tune for another device' 2
is 'leaves the file' cmp -s elsewhere choices
echo '{}' >choices
tune --op exp
ends 'tune over another file' 2
complains 'says what it is not' "choices:1: expected 'lathe-tuning 1', found '{}'"
bench tune --op exp
ends 'tune without a file' 2
bench tune choices --check-only
ends 'tune without measuring' 2
bench tune no/such/folder/choices --op exp
ends 'tune into no folder' 2

# A build that is given a file: what only the library's own object knows of it, linked with all else as it is.
mkdir built && cp "$(dirname "$LATHE_BENCH")/tuning" built/was
is 'carries nothing unless told' test ! -s built/was
built=$(dirname "$LATHE_BENCH")
relink() { # relink FILE: the program with that file in the place of none
  cp "$1" built/tuning
  cc -std=gnu11 -O1 ${LATHE_SANITIZE:+-fsanitize="$LATHE_SANITIZE"} -I"$LATHE_SRC/runtime" -Wa,-Ibuilt \
    -c "$LATHE_SRC/runtime/library/tuning.c" -o built/tuning.o &&
    (cd "$built/.." && sh -c "$(ninja -t commands out/bench | tail -n 1 |
      sed "s#-o out/bench#-o $tmp/built/bench#; s# out/obj/# $tmp/built/tuning.o&#")")
}
is 'links' relink planted
if [ -x built/bench ]; then
  built/bench --op exp --size 1K --backend cpu --fast --iterations 3 >output 2>stderr
  says 'a file that was built in' '^[* ]>exp_f32__scalar_u1 '
  built/bench --op exp --size 1K --backend cpu --fast --iterations 3 --tuning choices.good >output 2>stderr
  is 'one that is named goes before it' sh -c '! grep "^[* ]>exp_f32__scalar_u1 " output'
  sed 's/^device cpu .*/device cpu another/' planted >elsewhere
  is 'links' relink elsewhere
  built/bench --op exp --size 1K --backend cpu --fast --iterations 3 >output 2>stderr
  is 'on another device there is none' sh -c '! grep "^[* ]>exp_f32__scalar_u1 " output && ! grep tuning stderr'
fi

summary
