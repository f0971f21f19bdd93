#!/bin/sh
# test_run.sh - tests/run itself: what it adds up, and that it ends what does not. Needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1
unset TESTS

run() { # run COMMAND...: its output is in the file `output`
  TEST_SECONDS=2 timeout 60 sh "$LATHE_SRC/tests/run" "$@" >output 2>&1
  status=$?
}
says() { is "says: $1" grep -x -e "$1" output; }
gone() { ! grep '^State:.[^ZX]' "/proc/$(cat pid)/status"; } # one that nobody has asked after is a zombie

run 'echo 2 passed, 0 failed' 'echo 3 passed, 0 failed'
is 'ends with 0' test "$status" = 0
says '5 passed, 0 failed'
run 'sleep 0.5; echo 1 passed, 0 failed' 'echo 2 passed, 0 failed'
is 'shows them in their order' test "$(grep -x '[0-9]* passed, 0 failed' output | tr '\n' ' ')" = \
  '1 passed, 0 failed 2 passed, 0 failed 3 passed, 0 failed '
run 'echo 1 passed, 0 failed' 'sleep 1.1; echo 2 passed, 0 failed'
is 'shows the slowest first' test "$(sed -n '/^seconds/{n;s/ *[1-9] *[0-9]*  //p;}' output)" = 'sleep 1.1; echo 2 passed, 0 failed'
run 'echo 2 passed, 1 failed; exit 1' 'echo 1 passed, 0 failed; exit 3' 'echo nothing' nosuchprogram
is 'ends with 1' test "$status" = 1
says 'FAILED echo 1 passed, 0 failed; exit 3: status 3, yet no test failed'
says 'FAILED echo nothing: ended with status 0 and without a summary'
says 'FAILED nosuchprogram: was not built; configure says what is missing'
says '3 passed, 4 failed'
printf 'echo "FAILED a line: test 1 = 2"; echo "  more of it"; echo 1 passed, 1 failed; exit 1\n' >test_bad.sh
run "sh \"$tmp/test_bad.sh\"" nosuchprogram
is 'says once more, at the end, what failed' test "$(sed '1,/^what failed$/d' output | tr '\n' '|')" = \
  'FAILED test_bad.sh: a line: test 1 = 2|FAILED nosuchprogram: was not built; configure says what is missing|1 passed, 2 failed|'

# The one ends when it is asked to, and is to take along what it started; the other has to be killed.
run 'echo 1 passed, 0 failed' 'echo so far; sleep 300 & echo $! >pid; wait'
is 'ends with 1' test "$status" = 1
says 'so far'
says 'FAILED echo so far; .*: did not end within 2 s (TEST_SECONDS) and was killed; .*'
says '1 passed, 1 failed'
is 'ends what it started' gone
run 'trap "" TERM; echo $$ >pid; while :; do sleep 1; done'
is 'ends with 1' test "$status" = 1
says 'FAILED trap .*: did not end within 2 s .*'
is 'kills what does not listen' gone

summary
