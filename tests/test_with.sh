#!/bin/sh
# test_with.sh - kernels that somebody else wrote, judged: ways to look right or fast without being so, of which none
# passes; kernels that are right, of which none is refused; and what each costs. Needs LATHE_SRC, LATHE_GEN, LATHE_BENCH,
# and LATHE_PYTHON, a Python with NumPy.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1
if [ "${LATHE_SANITIZE-}" ]; then
  echo 'SKIPPED kernels that somebody else wrote: what they keep is not told from what sanitizers keep'
  summary
  exit
fi
export VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent

# judge OPTION...: status, and the files verdicts.json, `output` and `stderr`
patience=60 # seconds that a call may take; fewer where one never ends
judge() {
  timeout -s KILL 80 "$LATHE_BENCH" --fast --timeout "$patience" --json verdicts.json "$@" >output 2>stderr
  status=$?
}
ends() { # ends STATUS
  is "ends with $1" test "$status" = "$1"
}
fails() { ! "$@"; }
# verdicts EXPRESSION: it is true of the verdicts, a list by file, and the rows
verdicts() {
  "$LATHE_PYTHON" - verdicts.json "$1" <<'EOS'
import json, sys
rows = json.load(open(sys.argv[1]))["benchmarks"]
foreign = [r for r in rows if r["foreign"]]
verdict = {}
for r in foreign:
    verdict.setdefault(r["with"], []).append(r["verdict"])
if not eval(sys.argv[2]):
    for r in foreign:
        print(*(str(r[field])[:100] for field in "name verdict reason real_time ratio".split()))
    sys.exit(1)
EOS
}
all() { # all NAME...: the files' verdicts are `wanted`
  for one; do
    is "$one is $wanted" verdicts "verdict['$one'] and all(v == '$wanted' for v in verdict['$one'])"
  done
}
library() { # library SOURCE OUTPUT OPTION...
  source=$LATHE_SRC/tests/with/$1 output=$2
  shift 2
  "${CC:-cc}" -O1 -w -shared -fPIC "$@" "$source" -o "$output" -lm -pthread
}
joined() { echo "$*" | tr ' ' ,; }

# ---- none that cheats passes ------------------------------------------------------------------------

cheats=$(grep -oE '(^#(el)?if|\|\|) defined [A-Z_]+' "$LATHE_SRC/tests/with/cheats.c" | awk '{ print $NF }' | grep -v __ | sort -u)
shut='READS_THE_JUDGE SPEAKS_TO_THE_NETWORK WRITES_FILES' # these want --trust none
files='' open=''
for name in $cheats; do
  is "compiles $name" library cheats.c "$name.so" -fvisibility=hidden "-D$name"
  files="$files $name.so"
  case " $shut " in *" $name "*) ;; *) open="$open $name.so" ;; esac
done
is 'there are 36 of them and more' test "$(echo "$files" | wc -w)" -ge 36
patience=5
# shellcheck disable=SC2086
judge --op softmax --size 10K --with "$(joined $open)"
ends 1
is 'each has a verdict' verdicts "len(verdict) == $(echo "$open" | wc -w)"
is 'none is right' verdicts 'all("right" not in v and "skipped" not in v for v in verdict.values())'
is 'ours is right all the same' verdicts 'all(r["status"] == "right" and r["real_time"] > 0 for r in rows if not r["foreign"])'
wanted=stateful
all COUNTS_CALLS_IN_A_VARIABLE.so KEEPS_A_CACHE_IN_A_VARIABLE.so KEEPS_A_THREADS_VARIABLE.so KEEPS_ALLOCATED_MEMORY.so \
  KEEPS_TWO_PROBLEMS.so REPLAYS_BY_PLACE.so REPLAYS_BY_A_FINGERPRINT.so
wanted=crashed
all FAULTS.so ABORTS.so ENDS.so ENDS_WHEN_LOADED.so KILLS_ITS_PARENT.so READS_BEHIND_ITS_INPUT.so WRITES_ITS_INPUT.so \
  ANSWERS_ITSELF.so
wanted='timed out'
all SPINS.so
is 'a process was left' test -s left
is 'and is no more' fails kill -0 "$(cat left)"
wanted=wrong
all ZEROS.so NOTHING.so COARSE.so NARROWER.so ONE_CALL_OF_FIFTEEN.so RETURNS_AN_ERROR.so FLUSHES_NUMBERS.so
is 'in words' grep -q '^verdict: softmax_f32__ZEROS.so/10K: wrong' output

# Without symbols it is not known what 8 bytes are for; what the compiler has there is then counted as well.
is 'strips' strip -o stripped.so KEEPS_A_CACHE_IN_A_VARIABLE.so
judge --op softmax --size 10K --with stripped.so
ends 1
wanted=stateful
all stripped.so

# ---- what is not trusted ----------------------------------------------------------------------------

# shellcheck disable=SC2086
judge --op softmax --size 10K --trust none --with "$(joined $files)"
if grep -q 'cannot be had here' stderr; then
  echo "test_with.sh: --trust none is not tried: $(cat stderr)"
else
  ends 1
  is 'none is right' verdicts 'all("right" not in v and "skipped" not in v for v in verdict.values())'
  is 'no file was written' fails test -e written
  wanted=crashed
  all SPEAKS_TO_THE_NETWORK.so WRITES_FILES.so FORKS.so KILLS_ITS_PARENT.so TAKES_ALL_MEMORY.so
  wanted=wrong
  all READS_THE_JUDGE.so
fi

patience=60

# ---- functions of Python -----------------------------------------------------------------------------

cp "$LATHE_SRC/tests/with/functions.py" . || exit 1
python() { # python NAME...: as many words for --with
  list=''
  for one; do list=$list${list:+,}functions.py:$one; done
}
if "$LATHE_PYTHON" -c 'import numpy' 2>/dev/null; then
  for trust in some none; do
    # shellcheck disable=SC2086
    [ "$trust" = some ] || grep -q 'cannot be had here' stderr && continue
    shut=$([ "$trust" = some ] || echo "--trust $trust")
    python zeros widens by_place by_fingerprint lazy later writes_input raises ends kills spins
    patience=5
    # shellcheck disable=SC2086
    judge --op softmax --size 10K --with "$list" $shut
    patience=60
    ends 1
    is "none is right, trust $trust" verdicts 'len(verdict) == 11 and all(v not in (["right"], ["skipped"]) for v in verdict.values())'
    wanted=crashed
    all functions.py:ends
    [ "$trust" = none ] || all functions.py:kills
    wanted='timed out'
    all functions.py:spins
    wanted=wrong
    all functions.py:zeros functions.py:by_place functions.py:by_fingerprint functions.py:lazy
    python multiplies
    # shellcheck disable=SC2086
    judge --op matmul --size 33x65x129 --with "$list" $shut
    if [ "$status" != 3 ]; then # as in a build without the op
      ends 0
      wanted=right
      all functions.py:multiplies
    fi
    python plain in_f64 to_out row_by_row stops_clocks
    # shellcheck disable=SC2086
    judge --op softmax --size 7x33,10K --with "$list" $shut
    ends 0
    wanted=right
    all functions.py:plain functions.py:in_f64 functions.py:to_out functions.py:row_by_row
    is 'a clock that stands still is not asked' verdicts \
      'all(r["real_time"] > 1e6 for r in foreign if r["with"] == "functions.py:stops_clocks")'
  done
  judge --op softmax --size 100 --trust none --with functions.py:opens
  grep -q 'cannot be had here' stderr || ends 1
  is 'no file was written' fails test -e written
  judge --op softmax,sum --with functions.py:plain
  ends 2
  is 'whose function it is' grep -q -e '--op is to name the op that it computes' stderr
else
  echo 'test_with.sh: functions of Python are not tried: there is no NumPy'
fi

# Those of PyTorch, where it is beside the build or LATHE_PYTHON has it.
torch=$(dirname "$LATHE_BENCH")/peers/bin/python3
[ -x "$torch" ] || torch=$LATHE_PYTHON
if "$torch" -c 'import numpy, torch' 2>/dev/null; then
  cp "$LATHE_SRC/tests/with/others.py" .
  judged=0 # 32 in a build of all these ops
  for op in $("$LATHE_BENCH" --list-ops | awk '{ print $1 }' | grep -xE 'softmax|gelu|matmul|add|sum|argmax|exp'); do
    list=$(sed -n "s/^def \(${op}_[a-z0-9_]*\)(.*/others.py:\1/p" others.py | paste -sd,)
    size=10K
    [ "$op" != matmul ] || size=65x33x129
    LATHE_PYTHON=$torch judge --op "$op" --size "$size" --with "$list"
    ends 0
    wanted=right
    # shellcheck disable=SC2046 # words
    all $(echo "$list" | tr , ' ')
    judged=$((judged + $(echo "$list" | tr , '\n' | wc -l)))
  done
  echo "test_with.sh: $judged functions of PyTorch and NumPy"
else
  echo 'test_with.sh: functions of PyTorch are not tried: there is none (configure --install-deps=peers)'
fi

# ---- none that is right is refused ------------------------------------------------------------------

rights=''
for name in PLAIN ONLINE BACKWARDS SINGLE ALLOCATES IN_PLACE; do
  is "compiles $name" library right.c "$name.so" "-D$name"
  rights="$rights $name.so"
done
is 'compiles by -O0' library right.c slow.so -O0
is 'compiles by -O3' library right.c fast.so -O3 -march=native
is 'strips' strip -o bare.so PLAIN.so
rights="$rights slow.so fast.so bare.so"
if command -v clang >/dev/null; then
  is 'compiles by clang' clang -O2 -w -shared -fPIC "$LATHE_SRC/tests/with/right.c" -o clang.so -lm
  rights="$rights clang.so"
fi
if library right.c threads.so -fopenmp -DSHARED_BY_THREADS 2>/dev/null; then
  rights="$rights threads.so"
fi
is exports "$LATHE_GEN" --src "$LATHE_SRC" export softmax --dtypes f32 --out .
is 'compiles ours' "${CC:-cc}" -O3 -shared -fPIC softmax.c -o ours.so
is 'compiles ours without vectors' "${CC:-cc}" -O3 -shared -fPIC -DSOFTMAX_FEATURES=1 softmax.c -o ours_sse2.so
rights="$rights ours.so ours_sse2.so"
for trust in some none; do
  [ "$trust" = some ] || grep -q 'cannot be had here' stderr && continue
  # shellcheck disable=SC2046,SC2086
  judge --op softmax --size 7x33,10K --with "$(joined $rights)" $([ "$trust" = some ] || echo "--trust $trust")
  ends 0
  wanted=right
  # shellcheck disable=SC2086
  all $rights
done

# Other ops, one with a scalar and one with a workspace, and another type.
judge --op softmax,sum,gelu,lerp,matmul --size 100,9x17x33 --dtype f32 --with PLAIN.so
if [ "$status" = 3 ]; then # a build of fewer ops
  judge --op softmax,sum,gelu --size 100,9x17 --dtype f32,f16 --with PLAIN.so
fi
ends 0
wanted=right
all PLAIN.so
is 'and other ops' verdicts 'len({r["op"] for r in foreign}) > 2'

# ---- device code -------------------------------------------------------------------------------------

for name in PLAIN KEEPS_RESULTS COMPARES_INPUTS WORKS_WHERE_IT_FINDS_POISON ZEROS WRITES_BEHIND WRITES_ITS_INPUT; do
  { echo "#define $name" && cat "$LATHE_SRC/tests/with/softmax.cu"; } >"$name.cu"
  cp "$LATHE_SRC/tests/with/softmax.json" "$name.json"
done
cuda='KEEPS_RESULTS.cu COMPARES_INPUTS.cu WORKS_WHERE_IT_FINDS_POISON.cu ZEROS.cu WRITES_BEHIND.cu WRITES_ITS_INPUT.cu'
if command -v "${CXX:-c++}" >/dev/null; then
  is 'builds the driver' emulator_driver
  (
    NVCC=$emulator/nvcc NVCCFLAGS='-O1 -gencode arch=compute_80,code=sm_80' LD_LIBRARY_PATH=.
    export NVCC NVCCFLAGS LD_LIBRARY_PATH
    # shellcheck disable=SC2086
    judge --check-only --op softmax --size 33x65 --with "$(joined PLAIN.cu $cuda)"
    echo $status >status
  )
  status=$(cat status)
  ends 1
  wanted=wrong
  # shellcheck disable=SC2046,SC2086
  all $(echo $cuda | sed 's/COMPARES_INPUTS.cu //')
  wanted=right
  all PLAIN.cu
  # What a workspace had is gone at the next call: it computes anew each time.
  all COMPARES_INPUTS.cu
else
  echo 'test_with.sh: CUDA code is not tried: there is no C++ compiler for the emulator'
fi
if command -v nvcc >/dev/null; then
  NVCCFLAGS=-arch=sm_80
  export NVCCFLAGS
  judge --check-only --op softmax --size 33x65 --with KEEPS_RESULTS.cu,PLAIN.cu
  unset NVCCFLAGS
  wanted=stateful
  all KEEPS_RESULTS.cu
  is 'and no other' verdicts '"stateful" not in verdict["PLAIN.cu"]'
fi
cp PLAIN.json counts.json
printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 calls;\n' >counts.ptx
judge --check-only --op softmax --size 33x65 --with counts.ptx
ends 1
wanted=stateful
all counts.ptx
judge --check-only --op softmax --size 33x65 --with "$LATHE_SRC/tests/with/sum.comp"
ends 2
rm counts.json
judge --check-only --op softmax --size 33x65 --with counts.ptx
ends 2
is 'what is launched' grep -q 'what is launched is said in a file beside it' stderr

# A driver on which memory is slower than the kernel: no result can have come from there so fast.
if "$LATHE_BENCH" --list-ops | grep -q '^ *exp ' && [ -e "$LATHE_SRC/tests/cuda/driver/driver.c" ]; then
  mkdir slow
  driver=$LATHE_SRC/tests/cuda/driver
  is 'builds a driver of slow memory' cc -std=gnu11 -shared -fPIC -I"$LATHE_SRC/runtime" "$driver/driver.c" "$driver/device.c" \
    "$driver/defaults.c" -o slow/libcuda.so.1 -lm
  cat >fast.json <<'JSON'
{"op": "exp", "kinds": {"cuda": {"f32": {
  "arguments": {"fields": [
    {"name": "x", "offset": 0, "type": "address"},
    {"name": "y", "offset": 8, "type": "address"},
    {"name": "n", "offset": 256, "type": "u64"}
  ]},
  "variants": [{"ways": [{"launches": [{"kernel": "exp", "grid": ["1", "1", "1"], "block": ["32", "1", "1"]}]}]}]
}}}}
JSON
  printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry exp() { ret; }\n' >fast.ptx
  for wish in '' 'slow memory'; do
    FAKE_CUDA=$wish LD_LIBRARY_PATH=slow judge --backend cuda --op exp --size 10000 --with fast.ptx
    wanted=right
    [ -z "$wish" ] || wanted='above the ceiling'
    all fast.ptx
    ends "$([ -z "$wish" ] && echo 0 || echo 1)"
  done
fi

unset VK_DRIVER_FILES VK_ICD_FILENAMES
if command -v glslangValidator >/dev/null && "$LATHE_BENCH" --list-devices | grep -q '^ *vulkan0'; then
  for name in SUM ZEROS; do
    is "compiles $name" glslangValidator -V --target-env vulkan1.2 "-D$name" "$LATHE_SRC/tests/with/sum.comp" -o "$name.spv"
    cp "$LATHE_SRC/tests/with/sum.json" "$name.json"
  done
  judge --op sum --size 1000 --with SUM.spv,ZEROS.spv
  ends 1
  wanted=wrong
  all ZEROS.spv
  wanted=right
  all SUM.spv
  judge --op sum --size 1000 --with SUM.spv
  ends 0
  if "$LATHE_GEN" --src "$LATHE_SRC" export softmax --raw --backends vulkan --dtypes f32 \
    --images "$(dirname "$LATHE_BENCH")/gen" --out . 2>stderr; then
    judge --op softmax --size 33x65 --backend vulkan --with softmax.json
    ends 0
    wanted=right
    all softmax.json
  fi
else
  echo 'test_with.sh: SPIR-V is not tried: there is no glslangValidator, or no Vulkan device'
fi
export VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent

# ---- beside ours -------------------------------------------------------------------------------------

judge --op softmax --size 100,10K,1M --rounds 6 --with ours.so
ends 0
is 'ours is what dispatch chooses alone' verdicts 'len(rows) == 6 and all(r["dispatched"] for r in rows if not r["foreign"])'
is 'both have times' verdicts 'all(r["ratio"] > 0.2 and r["real_time"] > 0 for r in foreign)'
"$LATHE_PYTHON" -c '
import json
print("test_with.sh: the same kernel as foreign:", *("%s in %.3f the time," % (r["size"], r["ratio"])
      for r in json.load(open("verdicts.json"))["benchmarks"] if r["foreign"]))'
is 'two of the same verdict' verdicts 'all(r["status"] == r["verdict"] == "right" for r in foreign)'

# ---- what is no request ------------------------------------------------------------------------------

judge --op gelu --with ours.so
ends 2
is 'says what was expected' grep -q 'it has no gelu_f32; expected int gelu_f32(const float \*x, float \*y, size_t n)' stderr
judge --op softmax --with nothing.so
ends 2
is 'no such file' grep -q 'nothing.so: No such file' stderr
echo text >text.so
judge --op softmax --with text.so
ends 2
is 'no library' grep -q 'text.so: it is no library' stderr
judge --op softmax --with "$LATHE_SRC/tests/with/right.c"
ends 2
is 'no such kind' grep -q 'expected a library (mine.so)' stderr
judge --op softmax --with ours.so --trust all
ends 2

summary
