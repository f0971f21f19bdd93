#!/bin/sh
# test_judging.sh - what the bench program says of ops that are right and yet prove little, or nothing, and of
# indexes that rounding decides: from specs of its own, built for the processor. Needs LATHE_SRC
# and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
mkdir "$tmp/build"
cat >"$tmp/tree/specs/judged.lua" <<'SPEC'
local function judged(name, row)
  row.doc, row.dtypes, row.sizes = name, { "f64", "f32", "f16", "bf16" }, { { "S", m = 7, n = 100 } }
  row.ulp = { f64 = 4, f32 = 4, f16 = 1, bf16 = 1 }
  row.variants = { { backend = { "scalar", "avx2" } } }
  op(name)(row)
end
local function map(name, low, high, f)
  judged(name, { inputs = { x = { "m", "n", range = { low, high } } }, outputs = { y = { "m", "n" } }, compute = f })
end
local function index(name, outputs, f)
  judged(name, { inputs = { x = { "m", "n" } }, outputs = { r = outputs }, compute = f })
end
map("cut", -2, -1, function(x) return max(x, 0) end)
map("root", -2, -1, function(x) return sqrt(x) end)
map("ratio", -2, -1, function(x) return 1e-3 / (x - x) end)
map("half", -1, 1, function(x) return sqrt(x) end)
map("whole", 1, 2, function(x) return sqrt(x) end)
map("loose", 1, 2, function(x) return max(x, 1.5) end)
local function bounded(name, ulp, f)
  op(name) {
    doc = name, inputs = { x = { "n" } }, outputs = { y = { "n" } }, compute = f, sizes = { { "S", n = 1000 } },
    dtypes = { "f32", "f64" }, ulp = { f32 = ulp, f64 = ulp }, variants = { { backend = { "scalar", "avx2" } } },
  }
end
bounded("tight", 0.5, function(x) return exp(x) end)
bounded("wide", 2 ^ 19, function(x) return exp(x) end)
bounded("lost", 2, function(x) return (x + 1e9) - 1e9 end)
op "few" {
  doc = "a sum of one chain", inputs = { x = { "n", range = { 0, 1 } } }, outputs = { r = {} },
  compute = function(x) return sum(x) end, sizes = { { "S", n = 1000 } }, dtypes = { "f32" }, ulp = 0.5,
  variants = { { backend = "scalar", accumulators = 1 } },
}
index("peak", {}, function(x) return argmax(exp(-x * x)) end)
index("row_peak", { "m" }, function(x) return argmin(1 - exp(-x * x), "n") end)
index("farthest", {}, function(x) return argmax(abs(x)) end)
index("undefined", {}, function(x) return argmax(sqrt(-2 - x)) end)
SPEC
cd "$tmp/build" || exit 1
is 'configures' configure CFLAGS=-O1 KERNEL_CFLAGS=-O1 --disable-cuda --disable-vulkan --disable-avx512 --disable-sse2
is 'takes the runtime' reuse
is 'builds' ninja out/bench

bench() { # bench STATUS OPTION...: its output is in $tmp/output
  status=$1
  shift
  out/bench "$@" >"$tmp/output" 2>&1
  is "ends with $status" sh -c 'cat "$3"; [ "$1" = "$2" ]' - $? "$status" "$tmp/output"
}
says() { is "says $1" grep -E -e "$1" "$tmp/output"; }
lacks() { is "does not say $1" sh -c '! grep -E -e "$1" "$2"' - "$1" "$tmp/output"; }

# Inputs in a wrong range prove nothing: such rows are not timed, and others are.
bench 1 --op root,ratio,whole --fast
says '^root .* UNPROVED'
says 'UNPROVED root_f32__.*: every result of y is NaN, and should be, which proves'
says 'UNPROVED ratio_f32__.*: every result of y is infinite,'
says '^whole .* ns\*'
says ' unproved, 0 skipped'
bench 1 --op root --json root.json
is 'is not timed' grep '"sample_count": 0' root.json
is 'is not timed' sh -c '! grep "\"sample_count\": [1-9]" root.json'
is 'has its status' grep '"status": "unproved"' root.json
bench 1 --op undefined --check-only
says 'UNPROVED .*: every term of r is NaN'

# A bound that the spec's own rounding exceeds is one message for all; one that hides what is wrong is told.
bench 1 --op tight --dtype all --check-only
is 'says that all are off alike' sh -c 'tr -s " \n" " " <"$1" | grep -E "WRONG tight: all backends and types are off alike, by up to [0-9.]* ulp where specs/judged.lua:[0-9]* allows 0.5"' - "$tmp/output"
is 'says what is rough' sh -c 'tr -s " \n" " " <"$1" | grep "exp alone may be off by 2. Expected ulp = 2 or more"' - "$tmp/output"
is 'says it once' test "$(grep -c 'WRONG' "$tmp/output")" = 1
bench 1 --op few --check-only
is 'says which bound may be too tight' sh -c 'tr -s " \n" " " <"$1" | grep "0.5 allowed, but sum alone may be off by 16: expected ulp = 16 or more)"' - "$tmp/output"
bench 0 --op loose --dtype f32,f64 --check-only --size 50x100
is 'says which bound is wide' sh -c 'tr -s " \n" " " <"$1" | grep "may not show.*: loose f32, loose f64\|might not show.*: loose f32, loose f64\|might not show.*: loose f64, loose f32"' - "$tmp/output"
bench 0 --op wide --dtype f32 --check-only
says '^note: the largest error is below a thousandth of the bound'
bench 1 --op lost --dtype f32 --check-only
says 'UNPROVED lost_f32__.*: 0 times the right y would pass for right'
bench 0 --op lost --dtype f64 --check-only

# Special values prove what they were asked for; zeros that are right are right. Each is noted once.
bench 0 --op root --special nan
says '^note: every result is NaN, and should be, which shows little: root f32 S$'
bench 1 --op cut --dtype all
says 'UNPROVED cut_f32__.*: weak: a result of 0 would pass for y,'
is 'says what to change' sh -c 'tr -s " \n" " " <"$1" | grep "give the inputs a range where results differ by more, or the op a smaller ulp (specs/judged.lua:[0-9]*)"' - "$tmp/output"
bench 0 --op half --dtype all
says '^note: [45][0-9] % of the results are NaN, and should be, which shows nothing of them: half f64 S$'
is 'notes an op once' test "$(grep -c '^note:' "$tmp/output")" = 1
bench 0 --op whole
lacks '^note:'

# Which of many terms is the largest is rounding's choice, and right; but not which element is.
bench 0 --op peak,row_peak,farthest --dtype all --check-only --size 100K,1M,300x4000 --seed 1
bench 0 --op peak,row_peak,farthest --dtype all --check-only --size 100K,1M,300x4000 --seed 2
bench 0 --op peak,row_peak,farthest --dtype all --special nan,inf,zero,denormal --size 1,33,30x77
is 'exact where nothing is rounded' test "$(grep -c 'rounded_terms = 0' out/gen/table.c)" = 11

summary
