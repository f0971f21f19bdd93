#!/bin/sh
# test_against.sh - another build has its turn in the same rounds: what is slower than there is found, the same program
# is not, and what takes no turns is refused. A slower program is one by whose clock all takes longer (slow_clock.c).
# Needs LATHE_SRC, LATHE_BENCH and LATHE_PYTHON.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1
cc -O2 -shared -fPIC "$LATHE_SRC/tests/slow_clock.c" -o slow_clock.so -ldl
clock=$tmp/slow_clock.so
[ -z "${LATHE_SANITIZE-}" ] || clock="$(cc -print-file-name=libasan.so) $clock" # which wants to be first

program() { # program NAME COMMAND: a bench program that is a script
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
program plain "unset LD_PRELOAD; exec '$LATHE_BENCH' \"\$@\""
program slow "SLOW_CLOCK=1.06 LD_PRELOAD='$clock' exec '$LATHE_BENCH' \"\$@\""
# Rows of some microseconds, of which 6 % are not the luck of where code lies, and of long waits for results: a neighbour
# on the same core, who takes turns at loads and stores, is felt least there.
bench() { # bench PROGRAM ARGUMENT...: status, and the files output and stderr
  "$@" --op exp,gelu --backend scalar --size 1K,10K --seed 1 >output 2>stderr
  status=$?
}
says() { is "$1" grep -e "$2" output; }
# A neighbour on the same core may hide some per cent for a while: the planted ones are to be found in one of five runs.
finds() { # finds CHECK PROGRAM ARGUMENT...: runs it until the check passes
  check=$1
  shift
  for _ in 1 2 3 4 5; do
    bench "$@"
    if "$check" >/dev/null 2>&1; then break; fi
  done
}

# A difference that chance has made: in at most 5 % of the rows, all runs together.
told=0
for run in 1 2 3 4 5; do
  bench ./plain --against ./plain --markdown same.md
  says "the same program, run $run: all rows are compared" '^8 rows against [^ ]*: [0-9] slower, [0-9] faster, '
  counts=$(sed -n 's/^8 rows against [^ ]*: \([0-9]\) slower, \([0-9]\) faster, .*/\1 \2/p' output)
  : "${counts:=9 9}"
  is "the same program, run $run: exit status" test $status = $((${counts% *} > 0))
  told=$((told + ${counts% *} + ${counts#* }))
done
is "the same program is told from itself in $told of 40 rows: expected 2 at most" test $told -le 2
is 'so in Markdown' grep -A 2 -e '^## Against the base' same.md
slower='^SLOWER  exp_f32__scalar_u1/10K  *[0-9.]* us  *[0-9.]* us  *+[567]\.[0-9]%  +[2-9]\.[0-9] to +[0-9.]*%$'
counted='^8 rows against [^ ]*: [678] slower, 0 faster, '
in_json() {
  "$LATHE_PYTHON" -c '
import json
run = json.load(open("slow.json"))
assert run["context"]["against"]["program"] == "./plain", run["context"]["against"]
assert run["context"]["against"]["commit"] == run["context"]["commit"]
for row in run["benchmarks"]:
    if row["change"] == "slower":
        assert 1.03 < row["base_ratio_low"] <= row["base_ratio"] <= row["base_ratio_high"], row
        assert abs(row["base_ratio"] * row["base_time"] / row["real_time"] - 1) < 0.05, row
        assert row["base_probability"] < 0.01 and row["base_status"] == "right", row
assert sum(row["change"] == "slower" for row in run["benchmarks"]) >= 6'
}
told_slower() { grep -e "$slower" output && grep -e "$counted" output && in_json; }
finds told_slower ./slow --against ./plain --json slow.json --markdown slow.md --csv slow.csv
is 'a slower program: exit status' test $status = 1
says 'its rows are named, with the interval' "$slower"
says 'and counted' "$counted"
is 'in Markdown' grep -E '^\| \*\*slower\*\* \| exp_f32__scalar_u1/10K \| [0-9.]+ us \| [0-9.]+ us \| \+[567]\.[0-9] % ' slow.md
is 'in JSON' in_json
faster='^faster  exp_f32__scalar_u1/10K '
told_faster() { grep -e "$faster" output; }
finds told_faster ./plain --against ./slow
is 'a faster program: exit status' test $status = 0
says 'its rows are named too' "$faster"

# What takes from round to round another time, as long as the base on the whole, is not told from it.
program restless "SLOW_CLOCK=0.83 SLOW_CLOCK_SPREAD=0.4 LD_PRELOAD='$clock' exec '$LATHE_BENCH' \"\$@\""
for _ in 1 2; do
  bench ./plain --against ./restless
  is 'a restless program: exit status' test $status = 0
  says 'is not told' '^8 rows against [^ ]*: 0 slower, 0 faster, '
done

# A base without some of the rows, and one where they are not right.
program fewer "exec ./plain \"\$@\" --variant '*_u1'"
bench ./plain --against ./fewer
is 'new rows' test $status = 0
says 'are counted' '^4 rows against .*; 4 new$'
program other "exec ./plain \"\$@\" --variant nothing_of_ours"
bench ./plain --against ./other
is 'a base without any' test $status = 2
is 'says why' grep -F -e "--against ./other: it takes no turns: bench: unknown variant 'nothing_of_ours'" stderr

# What takes no turns, and what stops taking them.
refused() { # refused WORDS OPTION...: in one line
  words=$1
  shift
  bench ./plain "$@"
  is "refuses $*" test $status = 2
  is "in a line: $*" test "$(wc -l <stderr)" = 1
  is "says: $words" grep -F -e "$words" stderr
}
refused '--against ./missing: it takes no turns: it cannot be started' --against ./missing
program old 'echo "bench: '"'turns'"' is not an option" >&2; exit 2'
refused "--against ./old: it takes no turns: bench: 'turns' is not an option" --against ./old
program odd 'echo hello'
refused "--against ./odd: it says 'hello'; expected 'lathe turns 1', as a build of this program does" --against ./odd
program newer 'echo lathe turns 2 -'
refused "--against ./newer: it says 'lathe turns 2 -'" --against ./newer
refused '--check-only with --against' --check-only --against ./plain
refused '--against with --peers' --peers numpy --against ./plain
refused '--against with --in-process' --in-process --against ./plain
program dying "exec timeout -s KILL 0.6 ./plain \"\$@\""
bench ./plain --against ./dying --rounds 40
is 'a base that dies: exit status' test $status -ge 1
is 'says so' grep -F -e '--against ./dying ended: it ended with status 137; later rounds are without it' stderr
says 'all rows are there' '^8 rows: 8 right'

summary
