#!/bin/sh
# test_history.sh - runs of many commits in a folder: a step is found and named by its commit, a blip is none; what is no run
# is left out. And bisect.sh finds the commit that made a row slower. Needs LATHE_SRC, LATHE_BENCH and LATHE_PYTHON.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1
bench() { # bench ARGUMENT...: status, and the files output and stderr
  "$LATHE_BENCH" "$@" >output 2>stderr
  status=$?
}
says() { is "$1" grep -E -e "$2" output; }

# runs SEED STEP NOISE EDIT: run-01.json to run-30.json of a commit each, of one row of add and one of exp. From run STEP on
# exp takes 5 % longer; two runs, beside neither that one nor each other, are 30 % off. EDIT is Python that sees `run` and its number `n`.
runs() {
  rm -rf run-*.json kept
  "$LATHE_PYTHON" - "$@" <<'EOS'
import json, random, sys
seed, step, noise = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
random.seed(seed)
blips = [0, 1]
while abs(blips[0] - blips[1]) < 2:
    blips = random.sample([n for n in range(2, 29) if abs(n - step) > 1], 2)
for n in range(30):
    rows = []
    for op in ("add", "exp"):
        time = 1000 * random.gauss(1, noise) * (1.3 if n in blips else 1) * (1.05 if op == "exp" and n >= step else 1)
        rows.append({"name": f"{op}_f32__c/1K", "op": op, "dtype": "f32", "size": "1K", "device": "cpu", "threads": 1,
                     "status": "right", "real_time": time * 1.1, "best": time, "clock_mhz": 3000, "peer": False,
                     "rounds_factors": False, "samples": [time] * 50})
    context = {"cpu_name": "a processor", "cpu_features": "sse2", "date": f"2026-11-{n + 1:02d}T12:00:00+0000",
               "commit": f"{n + 1:02d}" + "c0ffee" * 6 + "00", "commit_date": f"2026-10-{n + 1:02d}T12:00:00Z",
               "devices": [{"id": "cpu", "name": "a processor"}]}
    run = {"context": context, "benchmarks": rows}
    exec(sys.argv[4] if len(sys.argv) > 4 else "")
    json.dump(run, open(f"run-{n + 1:02d}.json", "w"))
EOS
}

# Thirty histories: one step each, at its commit, in the line of exp alone.
right=0
for seed in $(seq 30); do
  step=$((5 + seed * 20 / 30))
  runs "$seed" "$step" 0.005
  bench history add kept run-*.json
  bench report --history kept
  at=$(printf '%02d' $((step + 1)))
  if [ "$(grep -c -E '^ +(SLOWER|faster)  ' output)" = 1 ] && grep -q -E "^    SLOWER  \+[4-6]\.[0-9]% at ${at}c0ffee" output; then
    right=$((right + 1))
  fi
done
is "of 30 histories $right have their step, and nothing else" test "$right" -ge 29
says 'the commit before is named' " at ${at}c0ffee[c0f]* \(2026-10-$at\), after $(printf '%02d' "$step")c0ffee"
says 'lines are counted' '^2 lines of 30 runs of 30 commits: 1 steps$'
is 'a line has its bars' grep -E '^  exp +f32 +1K +1\.[0-9]+ us  [▁▂▃▄▅▆▇█]+$' output
is 'samples are not kept' sh -c '! grep -q samples kept/*.json'
is 'files go by date and commit' test -n "$(ls kept/2026-10-01T120000Z-01c0ffeec0ff-*.json)"
bench report --history kept --html page.html
is 'a page' test "$(grep -c '<svg' page.html)" = 2
is 'has the step' grep -q 'class="slower"' page.html

# Without a step there is none, on a restless machine as well.
found=0
for seed in $(seq 20); do
  runs "$seed" 99 0.04
  bench history add kept run-*.json
  bench report --history kept
  found=$((found + $(grep -c -E '^ +(SLOWER|faster)  ' output)))
done
is "of 40 lines without a step $found have one" test $found -le 1

# The order is that of commits, not of runs; another clock, and other machines, are not the same line.
runs 1 15 0.005 'context["date"] = f"2026-12-{30 - n:02d}T12:00:00+0000"'
bench history add kept run-*.json
bench report --history kept
says 'by the dates of commits' '^    SLOWER  \+[45]\.[0-9]% at 16c0ffee'
runs 1 99 0.005 'if n % 3 == 0: rows[0].update(best=1500, clock_mhz=2000)'
bench history add kept run-*.json
bench report --history kept
says 'another clock is left out' '^2 lines of 30 runs of 30 commits: 0 steps; 10 times at another clock left out$'
runs 1 99 0.005 'if n % 2: context["devices"][0]["name"] = "another"; rows[0]["best"] *= 2'
bench history add kept run-*.json
bench report --history kept
says 'other machines are other lines' '^4 lines of 30 runs of 30 commits: 0 steps$'
runs 1 15 0.001 'context["commit"] = "ab" * 20; context["commit_date"] = "2026-10-01T12:00:00Z"'
bench history add kept run-*.json
bench report --history kept
says 'a step within a commit is said to be so' '^    SLOWER  .* of which an earlier run was otherwise: the machine\?$'

# ---- what is refused, and nothing is lost -----------------------------------------------------------

refused() { # refused WORDS ARGUMENT...: in one line
  words=$1
  shift
  bench "$@"
  is "refuses $*" test $status = 2
  is "in a line: $*" test "$(wc -l <stderr)" = 1
  is "says: $words" grep -F -e "$words" stderr
}
runs 1 99 0.005
bench history add kept run-*.json
refused 'run-01.json is there already as kept/2026-10-01T120000Z-01c0ffeec0ff-' history add kept run-01.json
echo '{"context": {}, "benchmarks": []}' >none.json
refused 'none.json: its context names no commit: build the program in a Git checkout' history add kept none.json
echo 'no JSON' >foreign.json
refused 'no JSON; expected what out/bench --json writes' history add kept foreign.json
refused 'unable to open missing.json' history add kept missing.json
refused 'cannot make the folder none.json/x' history add none.json/x run-01.json
refused 'expected history add FOLDER RUN.json...' history add kept
refused 'expected history add FOLDER RUN.json...' history
refused 'cannot read the folder missing: No such file or directory' report --history missing
mkdir empty
refused 'empty has no stored run' report --history empty
refused "'run-01.json' beside --history" report run-01.json --history kept
cp foreign.json kept/foreign.json
echo hello >kept/notes.txt
bench report --history kept
is 'foreign files: exit status' test $status = 0
is 'a line of each' test "$(grep -c '^bench: warning: left out: kept/' stderr)" = 2
says 'the others are there' '^2 lines of 30 runs of 30 commits'
is 'foreign files are left' test -s kept/notes.txt

# ---- bisection: 16 commits of which the 11th is slower -----------------------------------------------

# Each commit's configure makes a bench program that takes as long as a file says.
cc -O2 -shared -fPIC "$LATHE_SRC/tests/slow_clock.c" -o slow_clock.so -ldl
clock=$tmp/slow_clock.so
[ -z "${LATHE_SANITIZE-}" ] || clock="$(cc -print-file-name=libasan.so) $clock"
printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@"\n' "$LATHE_BENCH" >plain
chmod +x plain
mkdir repository && cd repository || exit 1
cat >configure <<EOF
#!/bin/sh
mkdir -p out
echo built >>"$tmp/built"
if grep -q broken ../../times; then exit 1; fi
printf '#!/bin/sh\nSLOW_CLOCK=%s LD_PRELOAD="%s" exec %s "\$@"\n' "\$(cat ../../times)" '$clock' '$LATHE_BENCH' >out/bench
chmod +x out/bench
echo 'build out/bench: phony' >build.ninja
EOF
chmod +x configure
printf 'out/\n' >.gitignore
git init -q . && git config user.email a@b.c && git config user.name a
for n in $(seq 16); do
  times=1
  [ "$n" -lt 11 ] || times=1.1
  [ "$n" != 8 ] || times=broken
  printf '%s\n' "$times" >times
  echo "$n" >number
  git add . && git commit -qm "commit $n"
done
mkdir -p out
cp "$LATHE_SRC/tests/bisect.sh" out/
git bisect start HEAD HEAD~15 >../bisected 2>&1
git bisect run out/bisect.sh exp_f32__scalar_u1/10K ../plain --disable-cuda >>../bisected 2>&1
is 'bisects to the commit' grep -e 'is the first bad commit' ../bisected
is 'which is the 11th' test "$(git show -s --format=%s refs/bisect/bad)" = 'commit 11'
builds=$(wc -l <../built)
is "in $builds builds" test "$builds" -le 5
git bisect reset >/dev/null 2>&1
git checkout -q HEAD~8
out/bisect.sh exp_f32__scalar_u1/10K ../plain >said 2>stderr
is 'a commit that does not build' test $? = 125
is 'says so' grep -q 'bisect.sh: it does not build' stderr
out/bisect.sh exp_f32__scalar_u1 ../plain 2>stderr
is 'no row ends the bisection' test $? = 255
git checkout -q HEAD~1
out/bisect.sh exp_f32__nothing/10K ../plain >said 2>stderr
is 'a row that there is not' test $? = 125

summary
