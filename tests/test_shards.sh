#!/bin/sh
# test_shards.sh - a run shared out to several: by hand, by GNU parallel, by Slurm, and over the GPUs of a machine, whose
# driver is false here. Their shares merge to the run as it is by itself, and what does not belong together is refused.
# Needs LATHE_SRC, LATHE_BENCH and LATHE_PYTHON.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1
LATHE_CPU_FEATURES=
export LATHE_CPU_FEATURES
mkdir out
ln -s "$LATHE_BENCH" out/bench
some="--check-only --no-probe --backend scalar --size 10,100,3x5,16x7"
run="out/bench $some"

edit() { # edit FROM TO PYTHON: another stored run, of which PYTHON changes `run`, its `context` and `rows`
  "$LATHE_PYTHON" -c '
import json, sys
run = json.load(open(sys.argv[1]))
context, rows = run["context"], run["benchmarks"]
exec(sys.argv[3])
json.dump(run, open(sys.argv[2], "w"))' "$@"
}
rows_of() { # rows_of FILE: what tells its rows apart, in their order
  "$LATHE_PYTHON" -c '
import json, sys
for row in json.load(open(sys.argv[1]))["benchmarks"]:
    print(row["name"], row["status"], row["family_index"], row["per_family_instance_index"])' "$1"
}
whole() { # whole FILE: it has the rows of the run by itself, in the same order
  rows_of "$1" >rows
  diff -u all.rows rows
}
$run --json all.json >output 2>&1
rows_of all.json >all.rows
is 'there are rows to share out' test "$(wc -l <all.rows)" -gt 20

# ---- by hand, for every count ---------------------------------------------------------------------

for count in 1 2 3 8 9; do
  rm -f s*.json
  for nth in $(seq $count); do
    # shellcheck disable=SC2086
    is "shard $nth/$count" $run --shard "$nth/$count" --json "s$nth.json"
  done
  is "$count shards merge" out/bench merge s*.json --json merged.json
  is "$count shards are whole and disjoint" whole merged.json
done
sort_of() { rows_of "$1" | sed 's/_f32__[^/]*//' | sort -u; }
is 'a size stays together' test -z "$(for n in 1 2 3 4 5 6 7 8 9; do sort_of s$n.json | cut -d' ' -f1 | sort -u; done | sort | uniq -d)"
is 'the shards are shared out' test "$(for n in 1 2 3; do cat "s$n.json"; done | grep -c '"run_name"')" -lt "$(wc -l <all.rows)"
is 'a share of nothing is no failure' out/bench --check-only --backend scalar --op "$("$LATHE_PYTHON" -c '
import json
print(json.load(open("all.json"))["benchmarks"][0]["op"])')" --size 10 --shard 7/10000 --json none.json
is 'and is a run without rows' test ! -s "$(rows_of none.json >none.rows; echo none.rows)"

# ---- what is refused -------------------------------------------------------------------------------

refused() { # refused WORDS ARGUMENT...: the bench program refuses these, in one line with the words
  words=$1
  shift
  out/bench "$@" >output 2>stderr
  is "refuses $*" test $? = 2
  is "refuses $* in a line" test "$(wc -l <stderr)" = 1
  is "says: $words" grep -F -e "$words" stderr
}
refused '7 of 9 shards are missing: 3/9, 4/9, 5/9, 6/9, 7/9, 8/9, 9/9' merge s1.json s2.json
cp s2.json again.json
refused 'shard 2/9 is there twice: s2.json and again.json' merge s*.json again.json
refused 'all.json is no shard: expected a run with --shard' merge all.json s1.json
refused 'all.json is no shard: expected a run with --shard' merge s1.json all.json
refused '--json s1.json would overwrite s1.json' merge s1.json s2.json --json s1.json
edit s2.json other.json 'context["commit"] = "0123abcd"'
refused "other.json is of another run: the commit is '0123abcd', and " merge s1.json other.json
edit s2.json other.json 'context["specs_hash"] = "0123abcd"'
refused "other.json is of another run: the hash of specs is '0123abcd', and " merge s1.json other.json
edit s2.json other.json 'context["asked"] = "0123abcd"'
refused "other.json is of another run: what was asked for is '0123abcd', and " merge s1.json other.json
edit s2.json other.json 'context["cpu_name"] = "another"'
refused "other.json is of another kind of machine: 'another" merge s1.json other.json
edit s2.json other.json 'context.update(interrupted=True, rows_not_run=7)'
refused 'other.json: shard 2/9 ended early, with 7 rows not run: run it again' merge s1.json other.json
edit s2.json other.json 'context["shard"] = "2/8"'
refused 'other.json is shard 2/8, and s1.json is of 9' merge s1.json other.json
edit s2.json other.json 'context["shard"] = "9/2"'
refused 'other.json is no shard' merge s1.json other.json
edit s2.json other.json 'context["json_schema_version"] = 99'
refused "'json_schema_version' is 99" merge s1.json other.json
refused 'no file; expected merge SHARD.json...' merge
for shard in 0/3 4/3 3 3/ /3 3/x 3/4x -1/3 1/0 1/10001; do
  refused "--shard takes which of how many, as in 3/8, up to 10000/10000, and was given '$shard'" --shard "$shard"
done
refused "--devices takes 'all', and was given 'cuda0' (--device takes names)" --devices cuda0
refused '--devices with --markdown: of several processes only' --devices all --markdown run.md
edit s2.json s2.json 'rows[0]["status"] = "wrong"; rows[0]["reason"] = "planted"'
out/bench merge s*.json --json merged.json >output 2>&1
is 'a wrong row is a failure of the whole' test $? = 1

# ---- the recipes of runtime/README.md ----------------------------------------------------------------------

# recipe NAME: the commands of that file's block that begins with the comment `# NAME`, with fewer rows
recipe() {
  awk -v begin="    # $1" '$0 == begin { on = 1; next } on && !/^    / { exit } on { print substr($0, 5) }' \
    "$LATHE_SRC/runtime/README.md" | sed "s|out/bench --shard|$run --shard|"
}
follows() { # follows NAME: the recipe works as it stands, and leaves the run as it is by itself
  rm -f shard-*.json all-shards.json
  recipe "$1" >recipe.sh
  [ -s recipe.sh ] && timeout -s KILL 120 sh -e recipe.sh && whole all-shards.json
}
if command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
  export HOSTS=: # this machine
  is 'GNU parallel' follows 'GNU parallel'
else
  echo 'skipped: the recipe for GNU parallel: there is none here'
fi

slurm_ended() { # ends what slurm_began has started
  for name in slurmctld slurmd munged; do
    [ ! -s "$name.pid" ] || kill "$(cat "$name.pid")"
  done
}
slurm_began() { # a controller and a node of Slurm on this machine, for this test alone
  port=$((20000 + $$ % 20000))
  host=$(uname -n)
  SLURM_CONF=$tmp/slurm.conf
  export SLURM_CONF
  mkdir state spool
  head -c 64 /dev/urandom >munge.key
  chmod 600 munge.key
  printf '%s\n' ClusterName=test "SlurmctldHost=${host%%.*}(127.0.0.1)" "SlurmUser=$(id -un)" "SlurmdUser=$(id -un)" \
    AuthType=auth/munge "AuthInfo=socket=$tmp/munge.socket" ProctrackType=proctrack/linuxproc TaskPlugin=task/none \
    SelectType=select/cons_tres MpiDefault=none ReturnToService=2 SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0 \
    "SlurmctldPort=$port" "SlurmdPort=$((port + 1))" "StateSaveLocation=$tmp/state" "SlurmdSpoolDir=$tmp/spool" \
    "SlurmctldPidFile=$tmp/slurmctld.pid" "SlurmdPidFile=$tmp/slurmd.pid" \
    "NodeName=${host%%.*} NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN" \
    'PartitionName=all Nodes=ALL Default=YES State=UP' >slurm.conf
  trap 'slurm_ended; sleep 1; rm -rf "$tmp"' EXIT
  chmod 755 "$tmp"
  munged --force --key-file="$tmp/munge.key" --socket="$tmp/munge.socket" --pid-file="$tmp/munged.pid" \
    --seed-file="$tmp/munge.seed" --log-file="$tmp/munged.log" && slurmctld -L "$tmp/slurmctld.log" &&
    slurmd -L "$tmp/slurmd.log" || return 1
  for _ in $(seq 100); do
    ! sinfo --noheader --format=%t 2>/dev/null | grep -q idle || return 0
    sleep 0.1
  done
  false
}
if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
  echo 'skipped: the recipe for Slurm: there is none here'
elif [ "$(id -u)" != 0 ]; then
  echo 'skipped: the recipe for Slurm: its node daemon needs root'
elif slurm_began >slurm.out 2>&1; then
  is 'Slurm' follows 'Slurm'
else
  is 'Slurm starts' sh -c 'cat slurm.out slurm*.log munged.log; false'
fi

# ---- the GPUs of a machine -------------------------------------------------------------------------

cc -std=gnu11 -D_GNU_SOURCE -O2 -shared -fPIC -I"$LATHE_SRC/runtime" "$LATHE_SRC/tests/cuda/driver/driver.c" \
  "$LATHE_SRC/tests/cuda/driver/device.c" "$LATHE_SRC/tests/cuda/driver/defaults.c" -o libcuda.so.1 -lm
export LD_LIBRARY_PATH="$tmp" VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent
if ! out/bench --op exp --backend cuda --size 10 --check-only >/dev/null 2>&1; then
  echo 'skipped: rows over GPUs: there are no CUDA kernels of exp'
else
  gpu="--op exp --backend cuda,scalar --size 2^4:2^12 --fast --seed 1"
  # shellcheck disable=SC2086
  one() { out/bench $gpu --json "$@" >output 2>stderr; }
  is 'one GPU' one all.json
  rows_of all.json >all.rows
  FAKE_DEVICES=3 one three.json --devices all
  is 'three GPUs' test $? = 0
  is 'have the rows of one' whole three.json
  is 'each has some' test "$(grep -c '"device": "cuda[012]"' three.json)" = "$(grep -c '"device": "cuda0"' all.json)"
  for nth in 0 1 2; do
    is "cuda$nth has some" grep -q "\"device\": \"cuda$nth\"" three.json
  done
  is 'the processor has its own' grep -q '"device": "cpu"' three.json
  is 'its table comes last' sh -c 'grep -e "^----" output | tail -n 1 | grep -q "^---- cpu: "'
  is 'rows are counted' test "$(tail -n 1 output)" = "$(wc -l <all.rows) rows: $(wc -l <all.rows) right, 0 wrong, 0 skipped"
  out/bench compare all.json three.json >output
  is 'a row is found again on another GPU of the kind' grep -q "^$(wc -l <all.rows) rows compared: .*; 0 in the base alone, 0 new" output
  FAKE_DEVICES=3 one h1.json --devices all --shard 1/2
  FAKE_DEVICES=3 one h2.json --devices all --shard 2/2
  is 'hosts with several GPUs merge' out/bench merge h1.json h2.json --json merged.json
  is 'to the same rows' whole merged.json
  FAKE_DEVICES=2 FAKE_CUDA='crash at the start' one crashed.json --devices all
  is 'GPUs that cannot be had leave the processor' test $? = 0
fi

summary
