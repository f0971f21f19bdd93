# check.sh - what the tests in shell share; to be read by them, with `.`. $tmp is a folder for the test's
# own, gone at its end.

passed=0
failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
case ${TEST_TIMES-} in '' | /*) ;; *) TEST_TIMES=$PWD/$TEST_TIMES ;; esac

# Of what Mesa's lavapipe takes, compiling kernels is nearly all; they need not be fast.
export GALLIVM_PERF=nopt

is() { # is WHAT COMMAND...: one test, of what a file `stderr` here may tell more. Rows that are right are not shown.
  what=$1
  shift
  if "$@" >"$tmp/said" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s: %s\n' "$what" "$*"
    sed -E '/ ok /{/ (wrong|unproved|skipped)/!d;};s/^/  /' "$tmp/said"
    [ ! -s stderr ] || sed 's/^/  stderr: /' stderr
  fi
  [ ! "${TEST_TIMES-}" ] || took "$what" >>"$TEST_TIMES"
}

took() { # took WHAT: what the processes of this test took since the last call, in seconds of processors
  times >"$tmp/times"
  sed -n '2s/[ms]/ /gp' "$tmp/times" | awk -v before="${taken:-0}" -v what="$1" \
    '{ now = 60 * ($1 + $3) + $2 + $4; printf "%7.1f  %s\n", now - before, what; print now >"'"$tmp/taken"'" }'
  taken=$(cat "$tmp/taken")
}

tree() { # a source tree in $tmp/tree that is LATHE_SRC's but for its specs, which it has none of
  mkdir -p "$tmp/tree/specs"
  for name in configure build.ninja.in gen templates runtime tests; do
    ln -s "$LATHE_SRC/$name" "$tmp/tree/"
  done
}

templates_of_its_own() { # the templates of that tree are a copy, to plant faults in
  rm "$tmp/tree/templates"
  cp -R "$LATHE_SRC/templates" "$tmp/tree/"
}

plant() { # plant FILE FROM TO: puts that in place of a text, which is there once
  "$LATHE_PYTHON" -c '
import sys
path, old, new = sys.argv[1:]
text = open(path).read()
assert text.count(old) == 1, text.count(old)
open(path, "w").write(text.replace(old, new))' "$@"
}

# fault OP FILE FROM TO OPTION...: with that in place of a text of templates/FILE, which is there once, the op's kernels
# alone are built, and the test's own `checked OPTION...`, which runs $bench, finds some of them wrong.
bench=out/bench
fault() {
  op=$1 template=$tmp/tree/templates/$2
  cp "$template" "$tmp/kept"
  plant "$template" "$3" "$4" && ninja "$op"
  built=$?
  shift 4
  bench=out/bench-$op
  checked "$@" >"$tmp/rows" 2>&1
  status=$?
  bench=out/bench
  cp "$tmp/kept" "$template"
  cat "$tmp/rows"
  [ $built = 0 ] && [ $status = 1 ] && grep ' wrong' "$tmp/rows"
}

# That tree, from a folder beside it, with the sanitizers and the generator of the build under test. References take
# longer to compile than to run here. Where there is ccache, it keeps what tests compile for the next time; compilers'
# own lists of headers save it from preprocessing each file by itself first.
configure() { # configure OPTION...
  GENERATOR=$LATHE_GEN ../tree/configure --disable-tests ${LATHE_SANITIZE:+--sanitize="$LATHE_SANITIZE"} $kept \
    REFERENCE_CFLAGS='-Og -DREFERENCE_SETS=' "$@"
}
kept=
if command -v ccache >/dev/null; then
  kept=--launcher=ccache
  export CCACHE_DIR="${LATHE_BENCH%/bench}/tests/cache" CCACHE_MAXSIZE=1G CCACHE_DEPEND=1
fi

# What leaves out the instruction sets that this processor lacks, and of those by one template all but the widest that
# it has: to compile kernels takes longer than to check them.
runnable='' widest='--disable-sse2 --disable-avx2'
if ! grep -qw avx512f /proc/cpuinfo; then
  runnable=--disable-avx512 widest='--disable-sse2 --disable-avx512'
fi

damaged_bench() { # damaged_bench IMAGE: $tmp/damaged, a copy of LATHE_BENCH in which a byte of what it carries is another
  "$LATHE_PYTHON" -c '
import sys
program, image = (bytearray(open(name, "rb").read()) for name in sys.argv[1:3])
program[program.index(image) + len(image) // 2] ^= 255
open(sys.argv[3], "wb").write(program)' "$LATHE_BENCH" "$(dirname "$LATHE_BENCH")/gen/$1" "$tmp/damaged"
  chmod +x "$tmp/damaged"
}

# shellcheck disable=SC2086
references() { # references FILE OPTION...: builds a problem-dump of the tree's ops that has no kernels
  program=$1
  shift
  "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/references" --disabled scalar=off --disabled sse2=off \
    --disabled avx2=off --disabled avx512=off --disabled amx=off --disabled cuda=off --disabled vulkan=off "$@" all &&
    cc -std=gnu11 -O0 -I"$LATHE_SRC/runtime" -I"$LATHE_SRC/runtime/library" -I"$LATHE_SRC/templates/c" -o "$program" \
      "$LATHE_SRC/tests/problem_dump.c" \
      "$tmp/references/table.c" "$tmp"/references/*/*_reference.c "${LATHE_DUMP%/tests/*}/runtime.a" \
      $LATHE_LIBRARIES
}

reuse() { # in a folder that was configured: its runtime and generator are those of the build under test, built once
  built=$(dirname "$LATHE_BENCH")
  mkdir -p out/obj/runtime/bench &&
    cp -p "$built/runtime.a" "$built/library.a" "$built/lathe-gen" out/ &&
    cp -p "$built/obj/runtime/bench/bench.o" out/obj/runtime/bench/ &&
    awk '/^build/ { built = $2 ~ /^out\/(obj\/(runtime|gen)\/|(runtime|library)\.a:|lathe-gen:)/ && $2 !~ /gen\/tools\// }
      /^($|[^b ])/ { built = 0 } !built' build.ninja >build.reused && mv build.reused build.ninja
}

# What runs CUDA kernels on the processor (tests/cuda/emulator): a driver for them, libcuda.so.1 here, and configure with
# its nvcc.
emulator=$LATHE_SRC/tests/cuda/emulator
emulator_driver() {
  cc -std=gnu11 -D_GNU_SOURCE -U_FORTIFY_SOURCE -O2 -march=native -Wall -Wextra \
    -Wno-unused-parameter -Werror -shared -fPIC -I"$LATHE_SRC/runtime" -I"$emulator" -I"$LATHE_SRC/tests/cuda" \
    "$emulator/emulator.c" "$emulator/device.c" "$LATHE_SRC/tests/cuda/driver/device.c" \
    "$LATHE_SRC/tests/cuda/driver/defaults.c" -o libcuda.so.1 -lm -lpthread
}
configure_emulator() { # configure_emulator OPTION...
  configure CFLAGS=-O1 KERNEL_CFLAGS=-O0 NVCC="$emulator/nvcc" NVCCFLAGS=-Og --cuda-arch=sm_80,sm_90a \
    --disable-vulkan --disable-amx --disable-avx512 --disable-avx2 --disable-sse2 --disable-scalar "$@"
}
emulated() { # emulated OPTION...: checks CUDA kernels and says which are not right; true where all are, and there are some
  LD_LIBRARY_PATH=. out/bench --backend cuda --dtype all --check-only "$@" >"$tmp/rows" 2>&1
  grep -E -A 3 'wrong|skipped' "$tmp/rows"
  grep -q -E '^[0-9]+ rows: [1-9][0-9]* right, 0 wrong, 0 skipped' "$tmp/rows"
}
all_ran() { # all_ran BUT OP...: says which of their kernels, but those with such names, are not in $EMULATOR_RAN
  but=$1
  shift
  for op; do
    grep -oh '[a-z0-9_]*(const __grid_constant__' "out/gen/$op/$op"_*__cuda*.cu
  done | sed 's/(.*//' | grep -vE "$but" | sort -u >"$tmp/there"
  [ -s "$tmp/there" ] && sort -u "$EMULATOR_RAN" | comm -23 "$tmp/there" - >"$tmp/missing"
  cat "$tmp/missing"
  [ ! -s "$tmp/missing" ]
}

summary() { # the last line, and the exit status, that tests/run looks for
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}
