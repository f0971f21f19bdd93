#!/bin/sh
# test_compare.sh - runs held against earlier ones: what is slower is found, chance is not taken for it, and files that
# are no runs, or another machine's, are refused. Needs LATHE_SRC, LATHE_BENCH and LATHE_PYTHON.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1

# runs SEED BETWEEN EDIT: base.json and new.json, of 200 rows whose medians are known within 1 %, and differ from run to run
# by BETWEEN of one standard deviation; EDIT is Python that sees `new`, the later one's rows.
runs() {
  "$LATHE_PYTHON" - "$@" <<'EOS'
import json, random, sys
random.seed(int(sys.argv[1]))
between = float(sys.argv[2])
def run(shift):
    rows = []
    for i in range(200):
        noise = 0.01
        time = 1000 * (i + 1) * (1 + random.gauss(0, noise / 1.96)) * (1 + random.gauss(0, between))
        rows.append({"name": f"op{i}/1K", "device": "cpu", "status": "right", "real_time": time, "noise": noise})
    return {"context": {"cpu_name": "a processor", "cpu_features": "sse2"}, "benchmarks": rows}
base, later = run(0), run(1)
new, context = later["benchmarks"], later["context"]
exec(sys.argv[3])
json.dump(base, open("base.json", "w"))
json.dump(later, open("new.json", "w"))
EOS
}
compare() { # compare ARGUMENT...: status, and the files `output` and `stderr`
  "$LATHE_BENCH" compare "$@" >output 2>stderr
  status=$?
}
ends() { is "$1: ends with $2" test "$status" = "$2"; }
says() { is "$1" grep -e "$2" output; }

# Of ten pairs of runs in which nothing changed none may be called different, on a quiet and on a loaded machine.
for between in 0 0.03; do
  different=0
  for seed in 1 2 3 4 5 6 7 8 9 10; do
    runs $seed $between ''
    compare base.json new.json
    grep -q '^200 rows compared: 0 slower, 0 faster, ' output || different=$((different + 1))
  done
  is "the same program differs by chance in $different of 10 runs" test $different -le 1
done

runs 1 0 'new[7]["real_time"] = base["benchmarks"][7]["real_time"] * 1.08'
compare base.json new.json
ends 'a row that is slower' 1
says 'it is named, with its interval' '^SLOWER  op7/1K  *[0-9.]* us  *[0-9.]* us  *+8.0%  +[0-9.]* to +[0-9.]*%'
says 'and counted' '^200 rows compared: 1 slower, 0 faster, '
runs 1 0 'new[7]["real_time"] /= 1.5'
compare base.json new.json
ends 'a row that is faster' 0
says 'is named as well' '^faster  op7/1K '
# The best rounds count, where both runs have them: a busy machine makes medians longer.
best='for row in base["benchmarks"] + new: row.update(best=0.98 * row["real_time"], best_noise=0.01)'
runs 1 0 "$best"'
for row in new[:9]: row["real_time"] *= 1.5'
compare base.json new.json
ends 'longer medians' 0
says 'are not slower rows' '^200 rows compared: 0 slower, 0 faster, '
runs 1 0 "$best"'
new[7].update(best=base["benchmarks"][7]["best"] * 1.08, real_time=base["benchmarks"][7]["real_time"])'
compare base.json new.json
ends 'a best round by luck' 0
runs 1 0 "$best"'
new[7].update(best=base["benchmarks"][7]["best"] * 1.08, real_time=base["benchmarks"][7]["real_time"] * 1.02)'
compare base.json new.json
ends 'longer at best' 1
says 'is' '^SLOWER  op7/1K  *7.[0-9]* us  *8.[0-9]* us  *+8.0%'
# A comparison of nothing is none, and no file that is compared with is written over.
"$LATHE_PYTHON" -c 'import json
run = json.load(open("base.json"))
for row in run["benchmarks"]:
    row["name"] += "/other"
json.dump(run, open("other.json", "w"))'
compare base.json other.json
ends 'nothing to compare' 1
says 'is told' '^0 rows compared: .* 200 in the base alone, 200 new$'
cp base.json kept.json
"$LATHE_BENCH" --op add --size 100 --backend scalar --compare base.json --json ./base.json 2>stderr
is 'the base in the place of a file is refused' test $? = 2
is 'and is kept' cmp base.json kept.json
# 1 % is seen, and is nothing to speak of; where the machine is restless 8 % are not told from chance, and 80 % are.
runs 1 0 'for row, old in zip(new, base["benchmarks"]): row["noise"] = old["noise"] = 0.0001; row["real_time"] = old["real_time"] * 1.01'
compare base.json new.json
ends 'too little' 0
says 'is the same' ', 200 the same, '
runs 1 0.04 'new[7]["real_time"] = base["benchmarks"][7]["real_time"] * 1.08'
compare base.json new.json
ends 'a restless machine' 0
runs 1 0.04 'new[7]["real_time"] = base["benchmarks"][7]["real_time"] * 1.8'
compare base.json new.json
ends 'much slower' 1

runs 1 0 'new[3].update(status="wrong", reason="y[0] is 1, expected 2", real_time=None)'
compare base.json new.json
ends 'a row that is no longer right' 1
says 'is named with its reason' '^BROKEN  op3/1K  *wrong: y\[0\] is 1'
runs 1 0 'new[3].update(status="skipped", reason="no such device", real_time=None); del new[9]; new[10]["name"] = "other"'
compare base.json new.json
ends 'rows that were not run' 0
says 'are counted' '^197 rows compared: .*; 2 in the base alone, 1 new'

# ---- what is refused ------------------------------------------------------------------------------

refused() { # refused WORDS ARGUMENT...
  words=$1
  shift
  compare "$@"
  is "refuses $*" test "$status" = 2
  is "refuses $* in a line" test "$(wc -l <stderr)" = 1
  is "says: $words" grep -F -e "$words" stderr
}
runs 1 0 'context["cpu_name"] = "another"'
refused "cpu_name is 'a processor' in the base and 'another' now" base.json new.json
compare base.json new.json --any-machine
ends 'another machine when asked' 0
refused 'unable to open missing.json' missing.json new.json
echo '{"context": {}' >cut.json
refused 'no JSON; expected what out/bench --json writes' base.json cut.json
echo '[]' >list.json
refused "list.json: it has no object 'context'" base.json list.json
echo '{"context": {}, "benchmarks": [{"name": "a", "status": "right"}, 3]}' >odd.json
refused "odd.json: row 2 of 'benchmarks' has no 'name' and 'status'" base.json odd.json
odd() { # odd WORDS EDIT: a run is refused, with where it is wrong; EDIT is Python that changes `row`, the second, or `context`
  runs 1 0 "context = base['context']; row = base['benchmarks'][1]; $2"
  refused "$1" base.json new.json
}
row="base.json: row 2 of 'benchmarks', op1/1K: "
odd "$row'real_time' is -5, expected a number of 0 or more, or null" 'row["real_time"] = -5'
odd "$row'real_time' is \"fast\", expected a number of 0 or more, or null" 'row["real_time"] = "fast"'
odd "$row'device' is 3, expected a text or null" 'row["device"] = 3'
odd "$row'sample_count' is 2.5, expected a whole number of 0 or more" 'row["sample_count"] = 2.5'
odd "$row'fastest' is null, expected true or false" 'row["fastest"] = None'
odd "$row'samples' is \"foo\", expected a list" 'row["samples"] = "foo"'
odd "$row'samples[1]' is -1.5, expected a number of 0 or more, or null" 'row["samples"] = [1, -1.5]'
odd "$row'sizes' is [], expected an object" 'row["sizes"] = []'
odd "base.json: 'context': 'json_schema_version' is 99, expected 1, which this program knows" \
  'context["json_schema_version"] = 99'
odd "base.json: 'context': 'json_schema_version' is \"1\", expected 1" 'context["json_schema_version"] = "1"'
refused '1 files; expected compare BASE.json NEW.json' base.json
refused "unknown option '--all'" base.json new.json --all

# ---- in a run -------------------------------------------------------------------------------------

bench() {
  "$LATHE_BENCH" --backend scalar --op add --size 100,1K --seed 1 "$@" >output 2>stderr
  status=$?
}
bench --fast --json base.json
"$LATHE_PYTHON" -c '
import json
run = json.load(open("base.json"))
for row in run["benchmarks"]:
    if row["real_time"]:
        row.update(real_time=row["real_time"] * 9, noise=0.001, best=row["best"] * 9, best_noise=0.001)
json.dump(run, open("slow.json", "w"))
for row in run["benchmarks"]:
    if row["real_time"]:
        row["real_time"] /= 81
        row["best"] /= 81
json.dump(run, open("quick.json", "w"))'
bench --compare slow.json
ends 'a run that is faster' 0
says 'says so' '^faster  add_f32__scalar'
bench --compare quick.json --json later.json
ends 'a run that is slower' 1
says 'says so' '^SLOWER  add_f32__scalar'
is 'and is written all the same' test -s later.json
bench --compare cut.json
ends 'a base that is none' 2

# What a stored run or a command line says is text: not what a terminal, Markdown or a spreadsheet does.
runs 1 0 'new[0]["status"] = "wrong"; new[0]["reason"] = "\x1b[31m\u202e"; new[1]["real_time"] *= 9; new[1]["name"] += "\x07"
base["benchmarks"][1]["name"] += "\x07"'
compare base.json new.json
is 'escapes are shown' grep -F '\x1b[31m\xe2\x80\xae' output
is 'no byte of them is left' test -z "$(tr -d '\n -~' <output)"
compare "$(printf 'no\033[31m\233such')" new.json
is 'in messages too' grep -F 'no\x1b[31m\x9bsuch' stderr
LATHE_PYTHON=/nonexistent "$LATHE_BENCH" --op add --size 16 --check-only --variant '*scalar_u1' --csv 'a|<b>`' \
  --markdown run.md >output 2>&1
is 'no end of a cell or of code in Markdown' grep -e '^| command | `` .*a\\|<b>` .* `` |$' run.md
summary
