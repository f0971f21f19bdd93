# check.sh - what the tests in shell share; to be read by them, with `.`. $tmp is a folder for the test's
# own, gone at its end.

passed=0
failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

is() { # is WHAT COMMAND...: one test, of what a file `stderr` here may tell more
  what=$1
  shift
  if "$@" >"$tmp/said" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s: %s\n' "$what" "$*"
    sed 's/^/  /' "$tmp/said"
    [ ! -s stderr ] || sed 's/^/  stderr: /' stderr
  fi
}

tree() { # a source tree in $tmp/tree that is LATHE_SRC's but for its specs, which it has none of
  mkdir -p "$tmp/tree/specs"
  for name in configure build.ninja.in gen templates runtime tests; do
    ln -s "$LATHE_SRC/$name" "$tmp/tree/"
  done
}

configure() { # configure OPTION...: that tree, from a folder beside it, with the sanitizers of the build under test
  ../tree/configure ${LATHE_SANITIZE:+--sanitize="$LATHE_SANITIZE"} "$@"
}

damaged_bench() { # damaged_bench IMAGE: $tmp/damaged, a copy of LATHE_BENCH in which a byte of what it carries is another
  "$LATHE_PYTHON" -c '
import sys
program, image = (bytearray(open(name, "rb").read()) for name in sys.argv[1:3])
program[program.index(image) + len(image) // 2] ^= 255
open(sys.argv[3], "wb").write(program)' "$LATHE_BENCH" "$(dirname "$LATHE_BENCH")/gen/$1" "$tmp/damaged"
  chmod +x "$tmp/damaged"
}

# shellcheck disable=SC2086
references() { # references FILE: builds a problem-dump of the tree's ops that has no kernels
  "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/references" --disabled scalar=off --disabled sse2=off \
    --disabled avx2=off --disabled avx512=off --disabled cuda=off --disabled vulkan=off all &&
    cc -std=gnu11 -O0 -I"$LATHE_SRC/runtime" -I"$LATHE_SRC/templates/c" -o "$1" "$LATHE_SRC/tests/problem_dump.c" \
      "$tmp/references/table.c" "$tmp"/references/*/*_reference.c "${LATHE_DUMP%/tests/*}/runtime.a" \
      $LATHE_LIBRARIES
}

reuse() { # in a folder that was configured: its runtime and generator are those of the build under test, built once
  built=$(dirname "$LATHE_BENCH")
  mkdir -p out/obj/runtime &&
    cp -p "$built/runtime.a" "$built/lathe-gen" out/ && cp -p "$built/obj/runtime/bench.o" out/obj/runtime/ &&
    awk '/^build/ { built = $2 ~ /^out\/(obj\/runtime\/|obj\/gen\/|runtime\.a:|lathe-gen:)/ }
      /^($|[^b ])/ { built = 0 } !built' build.ninja >build.reused && mv build.reused build.ninja
}

summary() { # the last line, and the exit status, that tests/run looks for
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}
