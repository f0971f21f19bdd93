#!/bin/sh
# test_faults.sh - what the bench program makes of trouble that is not its kernels': a process of its own that
# somebody kills or stops. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

children() { # children PID: its processes that are not zombies; a name in parentheses may hold anything
  cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^\([0-9]*\) .*) [RSDT] $1 .*/\1/p"
}

# disturbed SIGNAL TIMES OPTION...: the bench program on one row of a second or so, with its worker sent a signal
# so many times, each time another worker; its output is in $tmp/output, its messages in $tmp/messages.
disturbed() {
  signal=$1 left=$2 last=''
  shift 2
  : >"$tmp/output"
  "$LATHE_BENCH" --op exp --dtype f32 --variant '*scalar_u1' --size 8M --check-only --csv "$tmp/rows.csv" "$@" \
    >>"$tmp/output" 2>"$tmp/messages" &
  bench=$!
  while [ "$left" -gt 0 ] && kill -0 "$bench" 2>/dev/null; do
    sleep 0.05
    [ -s "$tmp/output" ] || continue # it looks for devices still
    for worker in $(children "$bench"); do
      [ "$worker" != "$last" ] && kill -s "$signal" "$worker" 2>/dev/null && last=$worker left=$((left - 1))
    done
  done
  wait "$bench"
  status=$?
}

disturbed KILL 1
is 'killed once: the row is right' grep ' 1 right, 0 wrong, 0 skipped' "$tmp/output"
is 'killed once: ends with 0' test "$status" = 0
is 'killed once: says so' grep 'warning: exp_f32__scalar_u1: its process was killed .* once more' "$tmp/messages"
disturbed KILL 2
is 'killed twice: no wrong kernel' grep ' 0 right, 0 wrong, 1 killed, 0 skipped' "$tmp/output"
is 'killed twice: says how' grep 'KILLED exp_f32__scalar_u1: .* killed from outside: signal 9' "$tmp/output"
is 'killed twice: ends with 4' test "$status" = 4
is 'killed twice: a status of its own' grep '^"exp_f32__scalar_u1/.*,"killed",' "$tmp/rows.csv"
disturbed STOP 2 --timeout 0.5
is 'stopped: no wrong kernel' grep ' 0 right, 0 wrong, 1 killed, 0 skipped' "$tmp/output"
is 'stopped: says how' grep 'stopped, and did not go on within 0.5 s' "$tmp/output"
is 'stopped: ends with 4' test "$status" = 4

summary
