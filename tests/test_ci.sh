#!/bin/sh
# test_ci.sh - the steps of ci/lathe.yml that run the bench program, as GitHub would run them, and the badge. Needs LATHE_SRC,
# LATHE_BENCH and LATHE_PYTHON.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1

# step NAME SHARD: what that step runs, on the runner of a shard
step() {
  awk -v name="      - name: $1" '
    $0 == name { on = 1; next }
    on && /^      - / { exit }
    on && /^        run: \|$/ { body = 1; next }
    body { print substr($0, 11) }
  ' "$LATHE_SRC/tests/ci/lathe.yml" | sed "s/\${{ matrix.shard }}/$2/g"
}
runner() { # runner FOLDER NAME SHARD: the exit status of a step, in a folder as GitHub calls it
  step "$2" "$3" >step.sh
  [ -s step.sh ] || return 99
  ! grep -F '${{' step.sh || return 98
  (cd "$1" && GITHUB_STEP_SUMMARY="$tmp/summary.$3" bash -e -o pipefail "$tmp/step.sh") >output 2>stderr
}
program() { # program FILE COMMAND: a bench program that is a script
  mkdir -p "$(dirname "$1")"
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
# Fewer rows than a run of everything has.
narrow="case \$1 in merge | badge) exec '$LATHE_BENCH' \"\$@\" ;; esac
exec '$LATHE_BENCH' \"\$@\" --op exp,add --backend scalar --size 10,100,1K,10K"
program tree/out/bench "$narrow"
for shard in 1 2 3 4; do
  runner tree 'Check and time' $shard
  is "shard $shard" test $? = 0
  is "shard $shard has a summary" grep -q '^# ' summary.$shard
done
is 'nothing was compared without a base' sh -c '! grep -q "^## Against the base" summary.1'
runner tree Merge whole
is 'merges' test $? = 0
is 'all of it' test "$(grep -c '"run_name"' tree/all.json)" = 16
is 'a badge' test "$(cat tree/badge.json)" = \
  '{"schemaVersion":1,"label":"kernels","message":"16 right, 0 wrong","color":"brightgreen"}'

# Of a pull request, with a base that is quicker: its rows are in the summary, and the job fails.
cc -O2 -shared -fPIC "$LATHE_SRC/tests/slow_clock.c" -o slow_clock.so -ldl
clock=$tmp/slow_clock.so
[ -z "${LATHE_SANITIZE-}" ] || clock="$(cc -print-file-name=libasan.so) $clock"
program base/out/bench "SLOW_CLOCK=0.8 LD_PRELOAD='$clock' exec '$LATHE_BENCH' \"\$@\""
failed_shards=0
for shard in 1 2 3 4; do
  runner tree 'Check and time' $shard || failed_shards=$((failed_shards + 1))
done
is 'slower rows fail their jobs' test $failed_shards -gt 0
is 'and are in the summary' grep -q -E '^\| \*\*slower\*\* \| (exp|add)_f32__scalar' summary.1 summary.2 summary.3 summary.4
rm -r base

# Shares that are of no one run are told of, and fail nothing more.
"$LATHE_PYTHON" -c '
import json
run = json.load(open("tree/shard-2.json"))
run["context"]["cpu_name"] = "another"
json.dump(run, open("tree/shard-2.json", "w"))'
runner tree Merge whole
is 'several kinds of runners' test $? = 0
is 'are told of' grep -q 'shard-2.json is of another kind of machine' summary.whole

# A badge of rows that are wrong, and of what is no run.
"$LATHE_PYTHON" -c '
import json
run = json.load(open("tree/shard-1.json"))
run["benchmarks"] = [{"name": "a", "status": "wrong"}, {"name": "b", "status": "right"}]
json.dump(run, open("wrong.json", "w"))'
is 'a badge of a wrong row' test "$("$LATHE_BENCH" badge wrong.json)" = \
  '{"schemaVersion":1,"label":"kernels","message":"1 right, 1 wrong","color":"red"}'
"$LATHE_BENCH" badge step.sh >output 2>stderr
is 'a badge of no run is refused' test $? = 2
is 'in a line' test "$(wc -l <stderr)" = 1
"$LATHE_BENCH" badge 2>stderr
is 'a badge of nothing is refused' test $? = 2

# What GitHub reads is YAML, and each name of a step is one.
if "$LATHE_PYTHON" -c 'import yaml' 2>/dev/null; then
  is 'YAML' "$LATHE_PYTHON" -c '
import sys, yaml
jobs = yaml.safe_load(open(sys.argv[1]))["jobs"]
assert set(jobs) == {"rows", "whole"} and jobs["whole"]["needs"] == "rows", jobs
for job in jobs.values():
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step), step' "$LATHE_SRC/tests/ci/lathe.yml"
fi
if command -v actionlint >/dev/null; then is actionlint actionlint "$LATHE_SRC/tests/ci/lathe.yml"; fi

summary
